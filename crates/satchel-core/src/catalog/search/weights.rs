//! What each kind of evidence is worth. Found by trying on halves of a collection of queries that share no server, and
//! looking at the other half; the exact figures matter little.

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
    name: 2.0,
    name_b: 0.3,
    server: 2.8,
    title: 2.0,
    /// The first sentence of the description.
    lead: 2.4,
    lead_b: 0.8,
    /// Its other sentences.
    rest: 0.8,
    rest_b: 0.5,
    /// What the server says of itself.
    summary: 0.2,
    parameter: 0.6,
    parameter_b: 0.6,
    parameter_text: 0.4,
    /// Two words together, compared with one.
    pairs: 0.4,
    /// How soon a word that comes again counts no more.
    saturation: 2.0,

    // The same for a server as a whole.
    own_name: 4.5,
    own_summary: 1.0,
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
    cover: 3.0,
    cover_sum: 0.2,
    /// The tool does what the query's first verb says, or another one, or the opposite.
    verb: 0.7,
    any_verb: 0.3,
    contradiction: 0.9,

    /// How much less a part of the request counts when a tool for it has been found.
    found: 0.4,

    /// What the best tool of a server adds to the others.
    kin: 0.2,

    // A word of the query.
    quoted: 0.3,
    address: 0.25,
    /// That it gives a URL, a mail address, a path.
    value: 0.5,
    again: 0.25,
    /// Words of a conversation, compared with others.
    chatter: 0.5,
    pair: 0.45,
    // What stands for it, compared with the word itself.
    same: 0.6,
    related: 0.7,
    same_verb: 0.3,
    near: 1.1,
}
