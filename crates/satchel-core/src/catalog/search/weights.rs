//! Weights for each kind of evidence, tuned on a collection of queries: as written, with one typo each, and among
//! 10,000 tools. On halves of it that share no server, the exact values make little difference.

macro_rules! weights {
    ($($(#[$doc:meta])* $name:ident: $value:expr,)*) => {
        /// See the module.
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
    /// What the server says of itself.
    summary: 0.26,
    parameter: 0.6,
    parameter_b: 0.6,
    parameter_text: 0.44,
    /// Two words together, compared with one.
    pairs: 0.2,
    /// How soon a word that comes again counts no more.
    saturation: 2.0,

    // The same for a server as a whole.
    own_name: 6.5,
    own_summary: 0.8,
    own_tool: 0.3,
    own_lead: 0.17,
    own_saturation: 3.0,
    /// What its server's fitting adds to a tool.
    server_share: 0.3,
    /// A server that the query names, …
    mention: 7.0,
    /// … after a word like "in" or "using".
    mention_place: 1.45,

    /// How much of the tool's name the query says.
    cover: 2.6,
    cover_sum: 0.18,
    /// The tool does what the query's first verb says, or another one, or the opposite.
    verb: 0.7,
    any_verb: 0.26,
    contradiction: 1.3,

    /// The tool deals with one or with many, as the query says, or the other way round.
    number: 0.36,

    /// How much less a part of the request counts when a tool for it has been found.
    found: 0.4,

    /// What the best tool of a server adds to the others.
    kin: 0.25,
    /// What it adds to a server's tools that some of them serve parts of the request.
    serves: 0.08,

    /// Where meaning is known: how much a tool falls behind the sibling that has more of the words that tell the tools of
    /// one server apart.
    sibling: 0.2,

    // A word of the query.
    quoted: 0.26,
    address: 0.25,
    /// That it gives a URL, a mail address, a path.
    value: 0.83,
    again: 0.17,
    /// Words of a conversation, compared with others.
    chatter: 0.44,
    pair: 0.45,
    // What stands for it, compared with the word itself.
    same: 0.6,
    related: 0.77,
    same_verb: 0.3,
    /// What a word hints at that no tool says, …
    hint: 0.8,
    /// … and that few say: fewer than one in 150.
    hint_rare: 0.83,
    rare: 5.0,
    /// How much more what stands for a word counts when no tool says the word itself.
    unsaid: 1.1,
    near: 1.25,

    /// What likeness of meaning is worth, compared with all that words say of the best tool: half and half, …
    meaning: 1.0,
    /// … and where a request has several parts, which one vector for all would blur: that of the whole, and of each part.
    meaning_among: 0.15,
    meaning_part: 0.15,
    /// Tools without any word of the query come in when they are meant so much, compared with the one that is most.
    alike: 0.6,
}
