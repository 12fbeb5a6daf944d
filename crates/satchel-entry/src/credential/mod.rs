//! Whether a text is a credential, in one place for every room: by the name it stands under, by its own form, and by where
//! it stands. Finds the parts of a text that are one. Keeps, stores and hides nothing.

mod arguments;
mod inside;
mod names;
mod values;

use std::{fmt, ops::Range};

pub use arguments::{InArgument, in_arguments};
pub use inside::{decoded, inner, within};
pub use values::looks_like_key;

use names::NamedField;
use values::Form;

/// Where a text stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FieldKind {
    /// A variable of the environment.
    Variable,
    /// A header of HTTP.
    Header,
    /// The value of a command-line option.
    Flag,
    /// A parameter of an address.
    Query,
    /// The part of an address before the `@`.
    UserInfo,
    /// A field of a JSON object: arguments and results of tools, settings.
    Field,
    /// A field of a form, which a person fills in; the value is not known.
    Label,
}

/// The answer, with its reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// It is one.
    Credential(CredentialSign),
    /// It is none.
    Plain(Why),
}

/// Why a text is a credential.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CredentialSign {
    /// Its name says so.
    Name,
    /// It begins like the keys of a service.
    Key,
    /// It is a private key.
    PrivateKey,
    /// It is, or contains, an address with a password.
    Password,
    /// It contains an address with a credential among its parameters or in its path.
    Address,
    /// It contains a setting or a field that is one.
    Setting,
    /// It is random, which no setting is.
    Random,
}

/// Why a text is no credential.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Why {
    /// There is nothing.
    Empty,
    /// It refers to a value elsewhere.
    Reference,
    /// It stands for a value to be filled in.
    Placeholder,
    /// It switches something: `true`, `none`.
    Switch,
    /// It is a number, and the name is not one of a secret number.
    Number,
    /// It is a path.
    Path,
    /// It is an address without a credential.
    Address,
    /// The name says what it is instead: a limit, a file, an identifier.
    Name,
    /// Neither the name nor the value looks like one.
    Nothing,
}

impl Verdict {
    /// Is it one?
    pub fn is_credential(self) -> bool {
        matches!(self, Verdict::Credential(_))
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Verdict::Credential(CredentialSign::Name) => "its name is that of a credential",
            Verdict::Credential(CredentialSign::Key) => "it begins like the key of a service",
            Verdict::Credential(CredentialSign::PrivateKey) => "it is a private key",
            Verdict::Credential(CredentialSign::Password) => "it contains an address with a password",
            Verdict::Credential(CredentialSign::Address) => "it contains an address with a credential",
            Verdict::Credential(CredentialSign::Setting) => "it contains a setting that is a credential",
            Verdict::Credential(CredentialSign::Random) => "it is random like a key",
            Verdict::Plain(Why::Empty) => "it is empty",
            Verdict::Plain(Why::Reference) => "it refers to a value elsewhere",
            Verdict::Plain(Why::Placeholder) => "it is a placeholder",
            Verdict::Plain(Why::Switch) => "it is a switch",
            Verdict::Plain(Why::Number) => "it is a number",
            Verdict::Plain(Why::Path) => "it is a path",
            Verdict::Plain(Why::Address) => "it is an address without a credential",
            Verdict::Plain(Why::Name) => "its name is that of something else",
            Verdict::Plain(Why::Nothing) => "nothing about it looks like a credential",
        })
    }
}

/// A part of a text that is a credential.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CredentialPart {
    /// What it belongs to, if that is not the text as a whole: `password`, the name of a parameter.
    pub label: Option<String>,
    /// Where it stands, in bytes.
    pub range: Range<usize>,
    /// Why it is one.
    pub evidence: CredentialSign,
}

/// Variables whose value decides what code runs, which a person sees whole.
const CODE_VARIABLES: &[&str] = &[
    "NODE_OPTIONS",
    "BASH_ENV",
    "PYTHONSTARTUP",
    "PERL5OPT",
    "RUBYOPT",
    "JAVA_TOOL_OPTIONS",
    "JDK_JAVA_OPTIONS",
    "LD_PRELOAD",
    "PROMPT_COMMAND",
];

/// Is the text under this name, in this place, a credential?
pub fn of(name: &str, value: &str, place: FieldKind) -> Verdict {
    let named = names::of(name, place);
    if place == FieldKind::Variable && CODE_VARIABLES.contains(&name) {
        return Verdict::Plain(Why::Name);
    }
    if place == FieldKind::Label {
        return match named {
            NamedField::Secret { .. } | NamedField::Connection => Verdict::Credential(CredentialSign::Name),
            NamedField::Likely | NamedField::Webhook | NamedField::Harmless => Verdict::Plain(Why::Name),
            NamedField::Nothing => Verdict::Plain(Why::Nothing),
        };
    }
    let value = value.trim();
    let form = values::form(value);
    match form {
        Form::Empty => return Verdict::Plain(Why::Empty),
        Form::Reference => return Verdict::Plain(Why::Reference),
        Form::Placeholder => return Verdict::Plain(Why::Placeholder),
        Form::Switch | Form::Number { .. } | Form::Path | Form::Address | Form::Text => {}
    }
    if let Some(evidence) = inside::evidence(value) {
        return Verdict::Credential(evidence);
    }
    if is_behind_scheme(value) {
        return Verdict::Credential(CredentialSign::Name);
    }
    by_name(named, form, value, place)
}

/// Is it one word behind `Bearer` or the like that is no word of a language?
fn is_behind_scheme(value: &str) -> bool {
    let word = after_scheme(value);
    let is_odd = |c: char| c.is_ascii_digit() || c.is_ascii_uppercase() || matches!(c, '_' | '-' | '.' | '=');
    word.len() < value.len()
        && word.len() >= 8
        && !word.contains(char::is_whitespace)
        && word.chars().skip(1).any(is_odd)
}

fn by_name(named: NamedField, form: Form, value: &str, place: FieldKind) -> Verdict {
    let yes = Verdict::Credential(CredentialSign::Name);
    match (named, form) {
        (_, Form::Empty) => Verdict::Plain(Why::Empty),
        (_, Form::Reference) => Verdict::Plain(Why::Reference),
        (_, Form::Placeholder) => Verdict::Plain(Why::Placeholder),
        (_, Form::Switch) => Verdict::Plain(Why::Switch),
        (NamedField::Secret { numeric: true }, Form::Number { .. }) => yes,
        (NamedField::Secret { .. } | NamedField::Likely, Form::Number { digits }) if digits >= 8 => yes,
        (_, Form::Number { .. }) => Verdict::Plain(Why::Number),
        (_, Form::Path) => Verdict::Plain(Why::Path),
        (NamedField::Webhook, Form::Address) if inside::has_secret_path(value) => {
            Verdict::Credential(CredentialSign::Address)
        }
        // `https://KEY@host`: the user name is the key.
        (NamedField::Secret { .. } | NamedField::Likely | NamedField::Connection, Form::Address)
            if inside::is_signed_in(value) =>
        {
            Verdict::Credential(CredentialSign::Password)
        }
        (_, Form::Address) => Verdict::Plain(Why::Address),
        (NamedField::Connection, Form::Text) if values::is_settings(value) => Verdict::Plain(Why::Address),
        (NamedField::Secret { .. } | NamedField::Connection, Form::Text) => yes,
        (NamedField::Likely, Form::Text) if values::is_likely(value) => yes,
        (NamedField::Likely | NamedField::Webhook | NamedField::Harmless, Form::Text) => {
            Verdict::Plain(Why::Name)
        }
        // A document of a tool may contain many identifiers; a setting of a server hardly does.
        (NamedField::Nothing, Form::Text) if place != FieldKind::Field && values::is_random(value) => {
            Verdict::Credential(CredentialSign::Random)
        }
        (NamedField::Nothing, Form::Text) => Verdict::Plain(Why::Nothing),
    }
}

/// The parts of a text that are credentials: the whole of it behind the scheme of a header, or passwords and parameters
/// within addresses.
pub fn parts(name: &str, value: &str, place: FieldKind) -> Vec<CredentialPart> {
    let Verdict::Credential(evidence) = of(name, value, place) else { return vec![] };
    let inner = match evidence {
        CredentialSign::Password | CredentialSign::Address => inside::of_addresses(value),
        CredentialSign::Key => inside::of_keys(value),
        CredentialSign::Name
        | CredentialSign::PrivateKey
        | CredentialSign::Setting
        | CredentialSign::Random => vec![],
    };
    if !inner.is_empty() {
        return inner;
    }
    let start = value.len() - after_scheme(value.trim_start()).len();
    let range = start..start + value[start..].trim_end().len();
    vec![CredentialPart { label: None, range, evidence }]
}

/// The credential behind `Bearer`, `Basic` and the like.
pub fn after_scheme(value: &str) -> &str {
    let Some((scheme, rest)) = value.split_once(' ') else { return value };
    let known = ["bearer", "basic", "token", "apikey", "api-key", "bot", "digest", "negotiate", "splunk"];
    match known.iter().any(|known| scheme.eq_ignore_ascii_case(known)) && !rest.trim().is_empty() {
        true => rest.trim_start(),
        false => value,
    }
}

/// Does a name alone denote a credential?
pub fn is_named(name: &str) -> bool {
    of(name, "", FieldKind::Label).is_credential()
}

/// A name and a value, and whether that is a credential: what each room that answers this is tested with.
#[derive(Debug, Clone, Copy)]
pub struct CredentialExample {
    /// The name.
    pub name: &'static str,
    /// The value.
    pub value: &'static str,
    /// The right answer.
    pub is_credential: bool,
}

/// The examples, more than 120.
pub fn examples() -> impl Iterator<Item = CredentialExample> {
    include_str!("table.tsv").lines().filter(|line| !line.starts_with('#')).filter_map(|line| {
        let mut fields = line.split('\t');
        let (verdict, name, value) = (fields.next()?, fields.next()?, fields.next()?);
        Some(CredentialExample { name, value, is_credential: verdict == "yes" })
    })
}

/// Does a name denote a secret and nothing else? A connection may have none.
pub fn is_of_a_secret(name: &str) -> bool {
    matches!(names::of(name, FieldKind::Field), NamedField::Secret { .. })
}

#[cfg(test)]
mod tests;
