//! Weights for each kind of evidence, tuned on a collection of queries: as written, with one typo each, and among
//! 10,000 tools. On halves of it that share no server, the exact values make little difference.

macro_rules! weights {
    ($($(#[$doc:meta])* $name:ident: $value:expr,)*) => {
        /// See the module documentation.
        #[derive(Debug, Clone)]
        pub(super) struct Weights { $($(#[$doc])* pub(super) $name: f32,)* }

        impl Default for Weights {
            fn default() -> Self {
                Self { $($name: $value,)* }
            }
        }
    };
}

weights! {
    // A word by where it stands. `…_b` says how much a word counts less among many.
    name: 1.8,
    name_b: 0.21,
    server: 3.5,
    title: 2.0,
    /// The first sentence of the description.
    lead: 2.4,
    lead_b: 0.8,
    /// Its other sentences.
    rest: 0.91,
    rest_b: 0.57,
    /// The server's own description.
    summary: 0.26,
    parameter: 0.6,
    parameter_b: 0.6,
    parameter_text: 0.44,
    /// Values that a parameter may have.
    values: 0.6,
    /// Two adjacent words, relative to one word.
    pairs: 0.2,
    /// How fast repeated words stop counting.
    saturation: 2.0,

    // The same for a server as a whole.
    own_name: 6.5,
    own_summary: 0.8,
    own_tool: 0.3,
    own_lead: 0.17,
    own_saturation: 3.0,
    /// Score of a matching server for its tools.
    server_share: 0.3,
    /// A server named in the query.
    mention: 7.0,
    /// The same after a word like "in" or "using".
    mention_place: 1.45,

    /// Share of the tool's name in the query.
    cover: 2.6,
    cover_sum: 0.18,
    /// The tool does what the query's first verb says, another one, or the opposite.
    verb: 0.7,
    any_verb: 0.26,
    contradiction: 1.3,

    /// The tool matches the query's singular or plural, or does not.
    number: 0.36,

    /// Discount of a part of the request for which a tool was already found.
    found: 0.4,

    /// What the best tool of a server adds to the others.
    kin: 0.25,
    /// What a server's tools gain if some of them serve parts of the request.
    serves: 0.08,

    /// With meaning: what a tool loses against the sibling that has more of the words that distinguish the tools of
    /// one server apart.
    sibling: 0.2,

    // A word of the query.
    quoted: 0.26,
    address: 0.25,
    /// The query contains a URL, a mail address or a path.
    value: 0.83,
    again: 0.17,
    /// Conversational words, relative to others.
    chatter: 0.44,
    pair: 0.45,
    // What stands for it, compared with the word itself.
    same: 0.6,
    related: 0.77,
    same_verb: 0.3,
    /// Loosely related words, if no tool contains the word itself.
    hint: 0.8,
    /// The same if few tools contain it: fewer than one in 150.
    hint_rare: 0.83,
    rare: 5.0,
    /// Factor for synonyms if no tool contains the word itself.
    unsaid: 1.1,
    near: 1.25,
    /// Factor for a word that a word of another language resembles: "repositorio".
    cognate: 0.6,

    /// Weight of meaning, relative to all words of the best tool: one half each.
    meaning: 1.0,
    /// The same for a request with several parts, with one vector for the whole and one for each part.
    meaning_among: 0.15,
    meaning_part: 0.15,
    /// Factor for all of them in a request in another language, if the model reads English only.
    meaning_abroad: 0.5,
    /// Tools without a matching word become candidates from this similarity on, relative to the most similar one.
    alike: 0.6,
}
