//! Finds credentials among the arguments of a program: values of options, variables, headers, and parts of addresses.

use std::ops::Range;

use super::{CredentialPart, CredentialSign, FieldKind, inside, of, parts};

/// Options whose value is a header of HTTP.
const HEADERS: &[&str] = &["-H", "--header", "--headers"];
/// Options whose value is a variable: of a container, of a wrapper.
const VARIABLES: &[&str] = &["-e", "--env", "--set-env", "--build-arg"];

/// Options whose value is a name with a password.
const LOGINS: &[&str] =
    &["-u", "--user", "--auth", "--basic-auth", "--login", "--credentials", "--proxy-user"];

/// Options whose value is code.
const CODE: &[&str] = &[
    "-c",
    "-e",
    "-p",
    "-ec",
    "-lc",
    "-ic",
    "-lic",
    "--eval",
    "--print",
    "--command",
    "-Command",
    "-EncodedCommand",
    "/c",
    "/k",
];

/// A credential in an argument.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InArgument {
    /// Which argument.
    pub at: usize,
    /// What it belongs to: an option, a variable, a header, or a part of an address.
    pub label: String,
    /// Where it stands in the argument, in bytes.
    pub range: Range<usize>,
    /// Why it is one.
    pub evidence: CredentialSign,
}

/// The credentials in arguments.
pub fn in_arguments(args: &[String]) -> Vec<InArgument> {
    let mut found = Vec::new();
    let mut before = None;
    for (at, arg) in args.iter().enumerate() {
        found.extend(in_argument(before, arg).into_iter().map(|(label, part)| InArgument {
            at,
            label,
            range: part.range,
            evidence: part.evidence,
        }));
        before = Some(arg.as_str());
    }
    found
}

fn in_argument(before: Option<&str>, arg: &str) -> Vec<(String, CredentialPart)> {
    let (flag, start) = match arg.strip_prefix('-').and_then(|rest| rest.find('=')) {
        Some(end) => (Some(&arg[..=end]), end + 2),
        None => (before.filter(|before| before.starts_with('-') && !before.contains('=')), 0),
    };
    let value = &arg[start..];
    if start == 0 && value.starts_with('-') && !value.starts_with("-----BEGIN") {
        return vec![];
    }
    if is_code(flag, value) {
        return in_code(value);
    }
    let inner = of_header(flag, value)
        .or_else(|| of_variable(flag, value))
        .or_else(|| of_login(flag, value))
        .or_else(|| of_windows(value))
        .unwrap_or_else(|| of_value(flag, value));
    let shift = |(label, part): (String, CredentialPart)| {
        let range = part.range.start + start..part.range.end + start;
        (label, CredentialPart { range, ..part })
    };
    inner.into_iter().map(shift).collect()
}

/// Is it several words that somebody executes? What they do is shown to a person whole, so they are no credential as a whole.
fn is_code(flag: Option<&str>, value: &str) -> bool {
    let of_option = flag.is_none_or(|flag| CODE.contains(&flag));
    // `-e` sets a variable of a container, and is code for others.
    let is_variable = flag.is_some_and(|flag| VARIABLES.contains(&flag))
        && value.split_once('=').is_some_and(|(name, _)| is_name(name))
        && !value.contains([';', '(', '&', '|', '\n']);
    of_option && !is_variable && value.trim().contains(|c: char| c.is_whitespace() || c == ';')
}

/// The keys and addresses in code, and the value of a variable that it begins with.
fn in_code(value: &str) -> Vec<(String, CredentialPart)> {
    let mut found: Vec<(String, CredentialPart)> = inside::of_keys(value)
        .into_iter()
        .map(|part| (part.label.clone().unwrap_or_else(|| "key".into()), part))
        .collect();
    let first =
        value.split(|c: char| c.is_whitespace() || matches!(c, ';' | '&' | '|')).next().unwrap_or_default();
    if let Some((name, text)) = first.split_once('=').filter(|(name, _)| is_name(name))
        && !text.contains(['"', '\'', '(', '$'])
        && of(name, text, FieldKind::Variable).is_credential()
        && found.iter().all(|(_, part)| part.range.start > first.len())
    {
        let range = name.len() + 1..first.len();
        let part = CredentialPart { label: Some(name.to_owned()), range, evidence: CredentialSign::Name };
        found.insert(0, (name.to_owned(), part));
    }
    found
}

/// `Name: value`, behind an option for headers.
fn of_header(flag: Option<&str>, value: &str) -> Option<Vec<(String, CredentialPart)>> {
    flag.filter(|flag| HEADERS.contains(flag))?;
    let (name, text) = value.split_once([':', '=']).filter(|(name, _)| is_name(name.trim()))?;
    let start = value.len() - text.trim_start().len();
    Some(labelled(name.trim(), &value[start..], FieldKind::Header, start))
}

/// `NAME=value`; `KEY==1.0` is a version.
fn of_variable(flag: Option<&str>, value: &str) -> Option<Vec<(String, CredentialPart)>> {
    let (name, text) =
        value.split_once('=').filter(|(name, text)| is_name(name) && !text.starts_with('='))?;
    let of_option = flag.is_some_and(|flag| of(bare(flag), value, FieldKind::Flag).is_credential());
    let is_variable = flag.is_none_or(|flag| VARIABLES.contains(&flag)) || !of_option;
    let found = labelled(name, text, FieldKind::Variable, name.len() + 1);
    (is_variable && !found.is_empty()).then_some(found)
}

/// `-u name:password`. The user and group of a container have neither digits beside letters nor signs.
fn of_login(flag: Option<&str>, value: &str) -> Option<Vec<(String, CredentialPart)>> {
    flag.filter(|flag| LOGINS.contains(flag))?;
    let (user, password) = value.split_once(':').filter(|(user, _)| is_name(user))?;
    let of_kind = |kind: fn(char) -> bool| password.contains(kind);
    let is_odd = of_kind(|c| c.is_ascii_alphabetic())
        && of_kind(|c| c.is_ascii_digit() || c.is_ascii_punctuation() && !matches!(c, '-' | '_' | '.'));
    (password.len() >= 6 && is_odd && !password.contains(['$', '{', '/']))
        .then(|| labelled("password", password, FieldKind::Flag, user.len() + 1))
}

/// `/password:value`, as programs of Windows take it.
fn of_windows(value: &str) -> Option<Vec<(String, CredentialPart)>> {
    let (name, text) = value.strip_prefix('/')?.split_once(':').filter(|(name, _)| is_name(name))?;
    let found = labelled(name, text, FieldKind::Flag, name.len() + 2);
    (!found.is_empty()).then_some(found)
}

fn of_value(flag: Option<&str>, value: &str) -> Vec<(String, CredentialPart)> {
    labelled(flag.map_or("", bare), value, FieldKind::Flag, 0)
}

fn labelled(name: &str, value: &str, place: FieldKind, start: usize) -> Vec<(String, CredentialPart)> {
    let label = |part: &CredentialPart| {
        part.label.clone().unwrap_or_else(|| if name.is_empty() { "key".into() } else { name.into() })
    };
    let shift = |part: CredentialPart| {
        let range = part.range.start + start..part.range.end + start;
        (label(&part), CredentialPart { range, ..part })
    };
    parts(name, value, place).into_iter().map(shift).collect()
}

fn bare(flag: &str) -> &str {
    flag.trim_matches(['-', '='])
}

fn is_name(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.'))
}
