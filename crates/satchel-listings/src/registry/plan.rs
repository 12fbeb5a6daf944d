//! Turns a description and a person's answers into a command line or an address. Pure and deterministic.

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::server_json::{Answers, Argument, Input, Named, Package, Remote, ServerDocument, Variables};
use crate::model::caution::{Caution, CautionCode};

/// The chosen way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Choice {
    /// The package with this index.
    Package(usize),
    /// The remote address with this index.
    Remote(usize),
}

/// An input.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Prompt {
    /// The key of its answer, for example `env.API_KEY` or `package.--dsn.password`.
    pub id: String,
    /// Its description.
    pub description: Option<String>,
    /// It is required.
    pub required: bool,
    /// It is a credential.
    pub secret: bool,
    /// `string`, `number`, `boolean` or `filepath`.
    pub format: Option<String>,
    /// Its default.
    pub default: Option<String>,
    /// A sample value.
    pub placeholder: Option<String>,
    /// The allowed values.
    pub choices: Vec<String>,
    /// It takes several values.
    pub repeated: bool,
}

/// How a server will be run.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// The inputs, in order.
    pub prompts: Vec<Prompt>,
    /// The way, as far as answered.
    pub way: Way,
    /// Required inputs without an answer.
    pub missing: Vec<String>,
    /// Ids of inputs that are credentials.
    pub secrets: Vec<String>,
    /// Indices of arguments that are or contain credentials.
    pub secret_args: Vec<usize>,
    /// Warnings for the user.
    pub warnings: Vec<Caution>,
    /// Required programs.
    pub precheck: Vec<String>,
}

/// How a server is reached.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Way {
    /// A program on standard input and output.
    Stdio(Command),
    /// An address.
    Http {
        /// The address.
        url: String,
        /// Headers of every request.
        headers: Map<String, Value>,
        /// A program that has to run first.
        spawn: Option<Command>,
        /// The older transport with server-sent events.
        sse: bool,
    },
    /// A bundle to download.
    Bundle {
        /// Its address.
        url: String,
        /// Its SHA-256, in hexadecimal.
        sha256: String,
    },
}

/// A command line. Runs without a shell.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Command {
    /// The program.
    pub command: String,
    /// Its arguments.
    pub args: Vec<String>,
    /// Its environment variables.
    pub env: Map<String, Value>,
}

impl Way {
    /// As a JSON value.
    pub fn to_value(&self) -> Value {
        match self {
            Way::Stdio(command) => {
                json!({"transport": "stdio", "command": command.command, "args": command.args, "env": command.env})
            }
            Way::Http { url, headers, spawn, sse } => {
                let mut value =
                    json!({"transport": if *sse { "sse" } else { "http" }, "url": url, "headers": headers});
                if let (Some(spawn), Some(map)) = (spawn, value.as_object_mut()) {
                    map.insert("spawn".into(), json!(spawn));
                }
                value
            }
            Way::Bundle { url, sha256 } => json!({"install": "mcpb", "url": url, "sha256": sha256}),
        }
    }
}

/// Why there is no plan.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    /// There is no such way.
    #[error("the description has no such package or address")]
    Choice,
    /// This package type is not supported.
    #[error("packages of the kind \"{0}\" cannot be run here")]
    Kind(String),
    /// The bundle has no hash.
    #[error("the bundle's SHA-256 is missing, so it cannot be checked")]
    NoHash,
    /// This transport is not supported.
    #[error("it uses the transport \"{0}\", which is not supported")]
    Transport(String),
}

/// By package type: launcher, arguments before the package, and default registry.
const RUNTIMES: &[(&str, &str, &[&str], &str)] = &[
    ("npm", "npx", &["-y"], "https://registry.npmjs.org"),
    ("pypi", "uvx", &[], "https://pypi.org"),
    ("nuget", "dnx", &[], "https://api.nuget.org"),
    ("oci", "docker", &["run", "-i", "--rm"], "https://docker.io"),
];

/// Plans one way.
///
/// # Errors
/// [`PlanError`]
pub fn plan(document: &ServerDocument, choice: Choice, answers: &Answers) -> Result<Plan, PlanError> {
    let mut asking =
        Asking { answers, prompts: vec![], missing: vec![], secrets: vec![], secret_args: vec![] };
    let (way, warnings, precheck) = match choice {
        Choice::Package(index) => {
            let package = document.packages.get(index).ok_or(PlanError::Choice)?;
            of_package(package, &mut asking)?
        }
        Choice::Remote(index) => {
            let remote = document.remotes.get(index).ok_or(PlanError::Choice)?;
            of_remote(remote, &mut asking)?
        }
    };
    let Asking { prompts, missing, secrets, secret_args, .. } = asking;
    Ok(Plan { prompts, way, missing, secrets, secret_args, warnings, precheck })
}

type Planned = (Way, Vec<Caution>, Vec<String>);

fn of_remote(remote: &Remote, asking: &mut Asking<'_>) -> Result<Planned, PlanError> {
    let sse = is_sse(&remote.kind)?;
    let url = asking.fill("url", &remote.url, &remote.variables, false).unwrap_or_else(|| remote.url.clone());
    let headers = asking.all("header", &remote.headers);
    let plain = url.starts_with("http://") && !is_here(&url);
    let warning = plain.then(|| Caution::from(CautionCode::AddressPlain));
    Ok((Way::Http { url, headers, spawn: None, sse }, warning.into_iter().collect(), vec![]))
}

fn is_sse(kind: &str) -> Result<bool, PlanError> {
    match kind {
        "streamable-http" | "streamable_http" | "http" | "streamable" => Ok(false),
        "sse" => Ok(true),
        other => Err(PlanError::Transport(other.to_owned())),
    }
}

fn is_here(url: &str) -> bool {
    let host = url.split("://").nth(1).unwrap_or_default();
    ["127.0.0.1", "localhost", "[::1]"].iter().any(|name| {
        host.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with([':', '/']))
    })
}

fn of_package(package: &Package, asking: &mut Asking<'_>) -> Result<Planned, PlanError> {
    let kind = package.registry_type.as_str();
    if kind == "mcpb" {
        let sha256 = package.file_sha256.clone().ok_or(PlanError::NoHash)?;
        return Ok((Way::Bundle { url: package.identifier.clone(), sha256 }, vec![], vec![]));
    }
    let known = RUNTIMES.iter().find(|(known, ..)| *known == kind);
    let (_, program, before, base) = known.ok_or_else(|| PlanError::Kind(kind.to_owned()))?;
    let mut warnings = Vec::new();
    // A description may not choose an arbitrary program.
    if let Some(hint) = package.runtime_hint.as_deref().filter(|hint| hint != program) {
        warnings.push(CautionCode::OtherProgram.with([hint, *program]));
    }
    if let Some(other) = package.registry_base_url.as_deref().filter(|url| !url.starts_with(base)) {
        warnings.push(CautionCode::OtherSource.with([other]));
    }
    let runtime = asking.words("runtime", package.runtime_arguments.iter().enumerate().collect());
    let (arguments, variables) = off_the_command_line(package, asking.answers);
    let own = asking.words("package", arguments);
    let env = asking.all("env", &variables);
    let name = match (&package.version, kind) {
        // An image's tag is part of its name.
        (Some(version), "oci") if !package.identifier.contains(':') && !package.identifier.contains('@') => {
            format!("{}:{version}", package.identifier)
        }
        (_, "oci") | (None, _) => package.identifier.clone(),
        (Some(version), _) => format!("{}@{version}", package.identifier),
    };
    if package.version.as_deref().map_or(kind != "oci", floats) {
        warnings.push(CautionCode::NoExactVersion.into());
    }
    let mut args: Vec<String> = before.iter().map(|word| (*word).to_owned()).collect();
    if kind == "oci" {
        args.extend(env.keys().flat_map(|name| ["-e".to_owned(), name.clone()]));
    }
    let runtime = runtime.into_iter().filter(|(word, _)| !before.contains(&word.as_str()));
    asking.append(&mut args, runtime.collect());
    args.push(name);
    if kind == "nuget" {
        args.push("--yes".into());
        if !own.is_empty() {
            args.push("--".into());
        }
    }
    asking.append(&mut args, own);
    let command = Command { command: (*program).to_owned(), args, env };
    let precheck = vec![(*program).to_owned()];
    let transport = &package.transport;
    let way = match transport.kind.as_deref().unwrap_or("stdio") {
        "stdio" => Way::Stdio(command),
        kind => {
            let sse = is_sse(kind)?;
            let url = transport.url.as_deref().unwrap_or_default();
            let url = asking.refer(url, package);
            let headers = asking.all("header", &transport.headers);
            Way::Http { url, headers, spawn: Some(command), sse }
        }
    };
    Ok((way, warnings, precheck))
}

/// The package's arguments with their places, and its variables, with each secret that both can take in its variable
/// alone: every program of the computer can read the arguments of another. An argument with an answer stays.
fn off_the_command_line<'a>(
    package: &'a Package,
    answers: &Answers,
) -> (Vec<(usize, &'a Argument)>, Vec<Named>) {
    let mut variables = package.environment_variables.clone();
    let mut arguments: Vec<_> = package.package_arguments.iter().enumerate().collect();
    arguments.retain(|(index, argument)| {
        let answered = answers.contains_key(&format!("package.{}", label(argument, *index)));
        let input = &argument.input;
        let is_asked = input.is_secret && input.value.is_none() && !answered;
        let name = argument.name.as_deref().filter(|_| is_asked);
        let Some(variable) = name.and_then(|name| twin_of(name, &mut variables)) else { return true };
        variable.input.is_required |= input.is_required;
        variable.input.is_secret = true;
        false
    });
    (arguments, variables)
}

/// The variable for the same secret: `API_KEY` or `ACME_API_KEY` for `--api-key`, if there is one.
fn twin_of<'a>(argument: &str, variables: &'a mut [Named]) -> Option<&'a mut Named> {
    let wanted = argument.trim_matches(['-', '=']).replace('-', "_").to_uppercase();
    let same =
        |name: &str| name == wanted || name.strip_suffix(&wanted).is_some_and(|before| before.ends_with('_'));
    let mut found = variables.iter_mut().filter(|one| !wanted.is_empty() && same(&one.name.to_uppercase()));
    let first = found.next()?;
    found.next().is_none().then_some(first)
}

/// The inputs and their values.
struct Asking<'a> {
    answers: &'a Answers,
    prompts: Vec<Prompt>,
    missing: Vec<String>,
    secrets: Vec<String>,
    secret_args: Vec<usize>,
}

/// An argument, and whether it is or contains a credential.
type CommandWord = (String, bool);

impl Asking<'_> {
    fn append(&mut self, args: &mut Vec<String>, words: Vec<CommandWord>) {
        for (word, is_secret) in words {
            self.secret_args.extend(is_secret.then_some(args.len()));
            args.push(word);
        }
    }

    /// All arguments that have a value.
    fn words(&mut self, group: &str, arguments: Vec<(usize, &Argument)>) -> Vec<CommandWord> {
        let mut words = Vec::new();
        for (index, argument) in arguments {
            let id = format!("{group}.{}", label(argument, index));
            let Some(values) = self.values(&id, &argument.input, argument.is_repeated) else { continue };
            let is_secret = self.secrets.contains(&id);
            for value in values {
                match argument.name.as_deref().filter(|_| argument.kind != "positional") {
                    None => words.push((value, is_secret)),
                    Some(name) if value.is_empty() => words.push((name.to_owned(), false)),
                    Some(name) if name.ends_with('=') => words.push((format!("{name}{value}"), is_secret)),
                    Some(name) => words.extend([(name.to_owned(), false), (value, is_secret)]),
                }
            }
        }
        words
    }

    /// All variables or headers that have a value.
    fn all(&mut self, group: &str, named: &[Named]) -> Map<String, Value> {
        let mut values = Map::new();
        for named in named {
            let id = format!("{group}.{}", named.name);
            if let Some(value) =
                self.values(&id, &named.input, false).and_then(|values| values.into_iter().next())
            {
                values.insert(named.name.clone(), value.into());
            }
        }
        values
    }

    /// The values of an input; `None` if it is left out.
    fn values(&mut self, id: &str, input: &Input, repeated: bool) -> Option<Vec<String>> {
        let values = match &input.value {
            Some(template) => vec![self.fill(id, template, &input.variables, input.is_secret)?],
            None => self.ask(id, input, repeated)?,
        };
        Some(values)
    }

    /// Substitutes `{name}`. Unknown names stay as they are. `None` if an answer is missing.
    fn fill(&mut self, id: &str, template: &str, variables: &Variables, secret: bool) -> Option<String> {
        let at = self.secrets.len();
        let mut inputs = Vec::new();
        for (name, input) in &variables.0 {
            if template.contains(&format!("{{{name}}}")) {
                inputs.push((name, self.values(&format!("{id}.{name}"), input, false)));
            }
        }
        let mut filled = String::new();
        let mut rest = template;
        let mut complete = true;
        while let Some(start) = rest.find('{') {
            let (before, from) = rest.split_at(start);
            filled.push_str(before);
            let known = inputs.iter().find(|(name, _)| {
                from[1..].strip_prefix(name.as_str()).is_some_and(|rest| rest.starts_with('}'))
            });
            rest = match known {
                Some((name, values)) => {
                    // Some descriptions write a variable as `${name}`.
                    if filled.ends_with('$') {
                        filled.pop();
                    }
                    let value = values.as_ref().and_then(|values| values.first());
                    complete &= value.is_some();
                    filled.push_str(value.map_or("", String::as_str));
                    &from[name.len() + 2..]
                }
                None => {
                    filled.push('{');
                    &from[1..]
                }
            };
        }
        filled.push_str(rest);
        // A value that contains a credential is one too.
        if complete && (secret || self.secrets.len() > at) {
            self.secrets.insert(at, id.to_owned());
        }
        complete.then_some(filled)
    }

    fn ask(&mut self, id: &str, input: &Input, repeated: bool) -> Option<Vec<String>> {
        self.prompts.push(Prompt {
            id: id.to_owned(),
            description: input.description.clone(),
            required: input.is_required,
            secret: input.is_secret,
            format: input.format.clone(),
            default: input.default.clone(),
            placeholder: input.placeholder.clone(),
            choices: input.choices.clone(),
            repeated,
        });
        let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), ToOwned::to_owned);
        let answered: Vec<String> = match self.answers.get(id) {
            Some(Value::Array(several)) => several.iter().map(text).collect(),
            Some(Value::Null) | None => vec![],
            Some(one) => vec![text(one)],
        };
        let mut values: Vec<String> = answered.into_iter().filter(|value| !value.is_empty()).collect();
        if values.is_empty() {
            values.extend(input.default.clone());
        }
        if values.is_empty() {
            if input.is_required {
                self.missing.push(id.to_owned());
            }
            return None;
        }
        if input.is_secret {
            self.secrets.push(id.to_owned());
        }
        Some(values)
    }

    /// Substitutes the package's own values for `{name}` in its address.
    fn refer(&self, template: &str, package: &Package) -> String {
        let value_of = |name: &str| -> Option<String> {
            let bare = |text: &str| text.trim_start_matches('-').trim_end_matches('=').to_owned();
            let arguments = package.package_arguments.iter().map(|one| ("package", one));
            let runtime = package.runtime_arguments.iter().map(|one| ("runtime", one));
            let (id, input) = arguments
                .chain(runtime)
                .enumerate()
                .find(|(index, (_, one))| {
                    let label = label(one, *index);
                    label == name || bare(&label) == bare(name)
                })
                .map(|(index, (group, one))| (format!("{group}.{}", label(one, index)), &one.input))
                .or_else(|| {
                    let variables = package.environment_variables.iter();
                    let found = variables.into_iter().find(|variable| variable.name == name)?;
                    Some((format!("env.{name}"), &found.input))
                })?;
            let answer = self
                .answers
                .get(&id)
                .map(|value| value.as_str().map_or_else(|| value.to_string(), ToOwned::to_owned));
            answer.or_else(|| input.value.clone()).or_else(|| input.default.clone())
        };
        let mut filled = String::new();
        let mut rest = template;
        while let Some(start) = rest.find('{') {
            let Some(length) = rest[start..].find('}') else { break };
            filled.push_str(&rest[..start]);
            match value_of(&rest[start + 1..start + length]) {
                Some(value) => filled.push_str(&value),
                None => filled.push_str(&rest[start..=start + length]),
            }
            rest = &rest[start + length + 1..];
        }
        filled + rest
    }
}

/// The label of an argument.
fn label(argument: &Argument, index: usize) -> String {
    let name = argument.name.as_deref().filter(|_| argument.kind != "positional");
    name.or(argument.value_hint.as_deref()).map_or_else(|| index.to_string(), ToOwned::to_owned)
}

/// Is the version not exact: a range, or a word such as `latest`?
fn floats(version: &str) -> bool {
    let begins = version.trim_start_matches('v').starts_with(|c: char| c.is_ascii_digit());
    !begins
        || version.contains(['*', ' ', ',', '|', '<', '>', '=', '^', '~'])
        || version.split('.').any(|part| matches!(part, "x" | "X"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_floats_and_one_version_does_not() {
        for version in
            ["latest", "^1.0.0", "~1.2", ">=1", "1.x", "1.*", "1.0.0 - 2.0.0", "1 || 2", "", "next"]
        {
            assert!(floats(version), "{version}");
        }
        for version in ["1.0.0", "v2.1.0-beta.3", "1.0.0rc1", "2025.11.4", "0.1"] {
            assert!(!floats(version), "{version}");
        }
    }

    #[test]
    fn a_secret_that_a_variable_takes_too_stays_off_the_command_line() {
        let planned = |variables: &[&str], answers: Value| {
            let variables: Vec<Value> = variables.iter().map(|name| json!({ "name": name })).collect();
            let package = json!({ "registryType": "npm", "identifier": "acme-mcp", "version": "1.0.0",
                "transport": { "type": "stdio" }, "environmentVariables": variables,
                "packageArguments": [{ "type": "named", "name": "--api-key", "isSecret": true, "isRequired": true }] });
            let document = json!({ "name": "io.example/acme", "description": "d", "version": "1.0.0", "packages": [package] });
            let document = ServerDocument::read(&document).unwrap();
            let answers: Answers = serde_json::from_value(answers).unwrap();
            let plan = plan(&document, Choice::Package(0), &answers).unwrap();
            (plan.missing.clone(), plan.secret_args.len())
        };
        for name in ["API_KEY", "ACME_API_KEY"] {
            assert_eq!(planned(&[name], json!({})), (vec![format!("env.{name}")], 0));
            let answered = json!({ (format!("env.{name}")): "x" });
            assert_eq!(planned(&[name], answered), (vec![], 0));
        }
        // Another variable, or two that it could be: the argument stays; so does one that was answered.
        for names in [&["REGION"] as &[&str], &["A_API_KEY", "B_API_KEY"], &["RAPI_KEY"]] {
            assert_eq!(planned(names, json!({})).0, ["package.--api-key"], "{names:?}");
        }
        assert_eq!(planned(&["API_KEY"], json!({ "package.--api-key": "x" })), (vec![], 1));
    }
}
