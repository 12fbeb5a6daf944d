//! Types for questions to a person: permission for a call, and servers' elicitations.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::nature::Effect;

/// A call that waits for a person's word. Hidden characters are written out in all of it, but for what an answer names.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Ask {
    /// Names it.
    pub id: u64,
    /// Who wants to call.
    pub client: String,
    /// Whose tool it is.
    pub server: String,
    /// The tool, as clients see it.
    pub tool: String,
    /// What it does.
    pub effect: Effect,
    /// Its server says so itself.
    pub stated: bool,
    /// Its arguments, one by one, with the titles of its schema.
    pub arguments: Vec<AskArgument>,
    /// Its arguments as they were written.
    pub json: String,
    /// The rule that wants a person asked.
    pub rule: String,
    /// When it began to wait, in milliseconds since the Unix epoch.
    pub since_ms: u64,
    /// When silence becomes a no, in milliseconds since the Unix epoch.
    pub until_ms: u64,
    /// What the tool's server wants to know; without it a rule asks whether the call may be made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub question: Option<ServerQuestion>,
}

/// What a server wants to know of a person in the middle of a call (`2026-07-28/client/elicitation.mdx`).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct ServerQuestion {
    /// What it says about it.
    pub message: String,
    /// What it wants.
    #[serde(flatten)]
    pub wants: Wanted,
}

/// What a server's question wants.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Wanted {
    /// Some fields filled in; without any, a plain yes.
    Form {
        /// In the order of its schema.
        fields: Vec<FormField>,
    },
    /// What looks like a secret, which a form may not ask for: it can only be declined.
    Secret {
        /// The fields that say so, by their titles.
        fields: Vec<String>,
    },
    /// A value that the server cannot start without. Satchel asks for it, not the server, and it goes into the keychain
    /// alone; see [`super::request::AnswerSecret`].
    Credential {
        /// Its name, as in `${secret:NAME}`.
        name: String,
    },
    /// A visit to a page.
    Page {
        /// Its address, as it would be opened.
        url: String,
        /// The host, as the network knows it.
        host: String,
    },
}

/// One field of a form.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct FormField {
    /// How the answer names it, exactly as the server wrote it.
    pub name: String,
    /// What it is called.
    pub title: String,
    /// More about it; may be empty.
    pub description: String,
    /// It has to be there.
    pub required: bool,
    /// What goes into it.
    #[serde(flatten)]
    pub input: FieldInput,
}

/// What goes into a field.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum FieldInput {
    /// Words.
    Text {
        /// What they have to be.
        format: Option<TextFormat>,
        /// The fewest characters.
        min: Option<u64>,
        /// The most.
        max: Option<u64>,
        /// What stands in it at first.
        initial: String,
    },
    /// A number.
    Number {
        /// It has no fraction.
        whole: bool,
        /// The least.
        min: Option<f64>,
        /// The greatest.
        max: Option<f64>,
        /// What stands in it at first.
        initial: Option<f64>,
    },
    /// Yes or no.
    Toggle {
        /// What it is at first.
        initial: bool,
    },
    /// One of some.
    Choice {
        /// Which.
        options: Vec<FieldOption>,
        /// The one chosen at first.
        initial: Option<String>,
    },
    /// Any of some.
    Several {
        /// Which.
        options: Vec<FieldOption>,
        /// The fewest.
        min: Option<u64>,
        /// The most.
        max: Option<u64>,
        /// Those chosen at first.
        initial: Vec<String>,
    },
}

impl FieldInput {
    /// What stands in it at first; `None` where nothing does.
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

/// What a text has to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "kebab-case")]
pub enum TextFormat {
    /// An e-mail address.
    Email,
    /// An absolute address.
    Uri,
    /// A day, as in 2026-07-28.
    Date,
    /// A moment (RFC 3339).
    DateTime,
}

/// Something to choose.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct FieldOption {
    /// How the answer names it, exactly as the server wrote it.
    pub value: String,
    /// What it is called.
    pub title: String,
}

/// A person's answer to a server's question.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(tag = "action", rename_all = "snake_case")]
pub enum QuestionAnswer {
    /// Yes: these values, or the page may be opened.
    Accept {
        /// The fields by their names; none for a page.
        #[serde(default)]
        #[cfg_attr(test, ts(type = "Record<string, unknown>"))]
        content: Map<String, Value>,
    },
    /// No.
    Decline,
    /// Neither: the call should stop asking.
    Cancel,
    /// No, and no more questions of this server at Satchel's faces until the hub ends.
    Mute,
}

/// One argument as a person reads it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct AskArgument {
    /// What it is called.
    pub title: String,
    /// What it says.
    pub value: String,
}

/// What waits for a person: one of each client before the second of any.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct AskList {
    /// Those that wait.
    pub asks: Vec<Ask>,
}

/// A person's word about a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum AskAnswer {
    /// Yes, this once.
    Once,
    /// Yes, and every time for this client until it has not used it for an hour, or the hub ends.
    Session,
    /// Yes, and from now on: a rule of the configuration says so.
    Always,
    /// No.
    No,
    /// No, and no more questions of this client about this server until the hub ends.
    Mute,
}

impl AskAnswer {
    /// Every answer, for tables and tests.
    pub const ALL: [AskAnswer; 5] =
        [AskAnswer::Once, AskAnswer::Session, AskAnswer::Always, AskAnswer::No, AskAnswer::Mute];

    /// May the call be made?
    pub fn is_yes(self) -> bool {
        match self {
            AskAnswer::Once | AskAnswer::Session | AskAnswer::Always => true,
            AskAnswer::No | AskAnswer::Mute => false,
        }
    }
}
