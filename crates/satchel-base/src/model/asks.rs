//! Types for questions to a person: permission for a call, and servers' elicitations.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::nature::{Effect, UsualRule};

/// A call that waits for a person's decision. Hidden characters are escaped in all fields except those that an answer
/// has to repeat.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Ask {
    /// Identifies the question.
    pub id: u64,
    /// The client that made the call.
    pub client: String,
    /// The server that owns the tool.
    pub server: String,
    /// The tool, as clients see it.
    pub tool: String,
    /// What it does.
    pub effect: Effect,
    /// The effect is declared by the server itself, not derived.
    pub stated: bool,
    /// Its arguments, one by one, with titles from the schema.
    pub arguments: Vec<AskArgument>,
    /// Its arguments as the client wrote them.
    pub json: String,
    /// The rule that requires asking a person.
    pub rule: String,
    /// The default behind it, if no rule of the user decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub usual: Option<UsualRule>,
    /// When it began to wait, in milliseconds since the Unix epoch.
    pub since_ms: u64,
    /// When it is refused for lack of an answer, in milliseconds since the Unix epoch.
    pub until_ms: u64,
    /// The server's question. `None` if a rule asks whether the call may be made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub question: Option<ServerQuestion>,
}

/// A question from a server during a call: an elicitation (`2026-07-28/client/elicitation.mdx`).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ServerQuestion {
    /// The server's message.
    pub message: String,
    /// What it asks for.
    #[serde(flatten)]
    pub wants: Wanted,
}

/// What a server's question asks for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Wanted {
    /// A form to fill in; without fields, a confirmation.
    Form {
        /// In the order of its schema.
        fields: Vec<FormField>,
    },
    /// Fields that look like secrets, which a form may not ask for. The question can only be declined.
    Secret {
        /// The titles of those fields.
        fields: Vec<String>,
    },
    /// A value that the server needs to start. Satchel asks for it, not the server, and stores it in the keychain
    /// only; see [`super::request::AnswerSecret`].
    Credential {
        /// Its name, as in `${secret:NAME}`.
        name: String,
    },
    /// A page to open.
    Page {
        /// Its address, as it would be opened.
        url: String,
        /// The host, in ASCII (punycode) form.
        host: String,
    },
}

/// One field of a form.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct FormField {
    /// Its key in the answer, exactly as the server wrote it.
    pub name: String,
    /// Its title.
    pub title: String,
    /// Its description; may be empty.
    pub description: String,
    /// It is required.
    pub required: bool,
    /// Its type and constraints.
    #[serde(flatten)]
    pub input: FieldInput,
}

/// The type and constraints of a field.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum FieldInput {
    /// Text.
    Text {
        /// The required format.
        format: Option<TextFormat>,
        /// Minimum length in characters.
        min: Option<u64>,
        /// Maximum length in characters.
        max: Option<u64>,
        /// Default value.
        initial: String,
    },
    /// A number.
    Number {
        /// Integers only.
        whole: bool,
        /// Minimum.
        min: Option<f64>,
        /// Maximum.
        max: Option<f64>,
        /// Default value.
        initial: Option<f64>,
    },
    /// Yes or no.
    Toggle {
        /// Default value.
        initial: bool,
    },
    /// One of several options.
    Choice {
        /// The options.
        options: Vec<FieldOption>,
        /// The default option.
        initial: Option<String>,
    },
    /// Any number of several options.
    Several {
        /// The options.
        options: Vec<FieldOption>,
        /// Minimum number of selected options.
        min: Option<u64>,
        /// Maximum number of selected options.
        max: Option<u64>,
        /// The default options.
        initial: Vec<String>,
    },
}

impl FieldInput {
    /// The default value as JSON; `None` if there is none.
    pub fn initial(&self) -> Option<Value> {
        match self {
            FieldInput::Text { initial, .. } => (!initial.is_empty()).then(|| initial.clone().into()),
            FieldInput::Number { initial: None, .. } => None,
            FieldInput::Number { whole: true, initial: Some(number), .. } if number.fract() == 0.0 => {
                // Whole numbers beyond what an f64 holds exactly are not written in forms.
                #[expect(
                    clippy::cast_possible_truncation,
                    reason = "it saturates, and the form is checked then"
                )]
                Some((*number as i64).into())
            }
            FieldInput::Number { initial: Some(number), .. } => Some((*number).into()),
            FieldInput::Toggle { initial } => Some((*initial).into()),
            FieldInput::Choice { initial, .. } => initial.clone().map(Value::from),
            FieldInput::Several { initial, .. } => (!initial.is_empty()).then(|| initial.clone().into()),
        }
    }
}

/// The required format of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "kebab-case")]
pub enum TextFormat {
    /// An e-mail address.
    Email,
    /// An absolute URI.
    Uri,
    /// A date, as in 2026-07-28.
    Date,
    /// A date and time (RFC 3339).
    DateTime,
}

/// An option of a choice.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct FieldOption {
    /// Its value in the answer, exactly as the server wrote it.
    pub value: String,
    /// Its title.
    pub title: String,
}

/// A person's answer to a server's question.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(tag = "action", rename_all = "snake_case")]
pub enum QuestionAnswer {
    /// Accept: submit these values, or allow opening the page.
    Accept {
        /// The values by field name; empty for a page.
        #[serde(default)]
        #[cfg_attr(feature = "typescript", ts(type = "Record<string, unknown>"))]
        content: Map<String, Value>,
    },
    /// Decline.
    Decline,
    /// Cancel: neither accepted nor declined.
    Cancel,
    /// Decline, and suppress further questions of this server until the hub stops.
    Mute,
}

/// One argument, formatted for people.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct AskArgument {
    /// Its title.
    pub title: String,
    /// Its value.
    pub value: String,
}

/// The waiting questions, interleaved so that every client's first comes before any client's second.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct AskList {
    /// The waiting questions.
    pub asks: Vec<Ask>,
}

/// A person's decision about a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum AskAnswer {
    /// Allow this call.
    Once,
    /// Allow this client's calls of the tool until it has not used the tool for an hour, or the hub stops.
    Session,
    /// Allow from now on; writes a rule to the configuration.
    Always,
    /// Refuse this call.
    No,
    /// Refuse, and suppress further questions of this client about this server until the hub stops.
    Mute,
}

impl AskAnswer {
    /// Every answer, for tables and tests.
    pub const ALL: [AskAnswer; 5] =
        [AskAnswer::Once, AskAnswer::Session, AskAnswer::Always, AskAnswer::No, AskAnswer::Mute];

    /// Does it allow the call?
    pub fn is_yes(self) -> bool {
        match self {
            AskAnswer::Once | AskAnswer::Session | AskAnswer::Always => true,
            AskAnswer::No | AskAnswer::Mute => false,
        }
    }
}
