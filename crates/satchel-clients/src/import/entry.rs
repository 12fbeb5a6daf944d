//! Reads one server entry of a client, as described in the client table.

use satchel_entry::{
    credential::{self, FieldKind},
    launcher::program_name,
    placeholder::{setting_in, without_unset},
    slips::{self, Meant, Slip},
    template::{Piece, rewrite},
};
use serde_json::{Map, Value};

use super::{
    FoundEntry, Target, TransportKind, Unwrap, Words, command_line::split, plain_secrets, synonyms::widened,
};
use crate::{
    model::remark::RemarkKind,
    references::References,
    table::{Shape, Untyped},
};

type EntryFields = Map<String, Value>;

/// Parses an entry.
///
/// # Errors
/// The code of why Satchel cannot use it.
pub(super) fn read(
    shape: &Shape,
    name: &str,
    fields: &EntryFields,
    references: &mut References<'_>,
) -> Result<FoundEntry, String> {
    let shape = &widened(shape, fields);
    let mut remarks = Vec::new();
    let moved = address_as_command(shape, fields);
    remarks.extend(moved.as_ref().map(|_| RemarkKind::AddressAsCommand));
    let entry = EntryReader::new(shape, moved.as_ref().unwrap_or(fields));
    let kind = entry.kind()?;
    let target = match kind {
        TransportKind::Stdio => entry.program(references),
        TransportKind::Http | TransportKind::Sse => entry.address(references)?,
    };
    let target = mended(target, &mut remarks);
    let target = off_the_command_line(without_settings(target, &mut remarks));
    let secret_fields = plain_secrets::plain(&target);
    let unwrap = unwrap(&target);
    let left: Vec<String> = match (&unwrap, &target) {
        // Its program fills them in itself.
        (Some(_), Target::Program { env, .. }) => env.keys().map(|name| format!("${{env:{name}}}")).collect(),
        _ => vec![],
    };
    let mut unknown = entry.unknown();
    remarks.extend(take_app(&mut unknown));
    Ok(FoundEntry {
        name: name.to_owned(),
        transport: kind,
        enabled: entry.enabled(),
        secret_fields,
        unwrap,
        target,
        timeout_ms: entry.timeout(),
        tools_allow: entry.tools_allow(),
        tools_deny: entry.list(shape.tools_deny.as_deref()),
        auto_approve: match entry.outer(shape.auto_approve.as_deref()) {
            Some(Value::Bool(true)) => vec!["*".into()],
            _ => entry.list(shape.auto_approve.as_deref()),
        },
        refs: references.found.iter().filter(|one| !left.contains(*one)).cloned().collect(),
        keychain_env: entry.list(shape.keychain_env.as_deref()),
        scope: None,
        project: None,
        disabled_in_projects: vec![],
        unknown,
        remarks,
        words: Words::default(),
    })
}

/// The fields of an entry whose command is an address, as an entry with an address.
fn address_as_command(shape: &Shape, fields: &EntryFields) -> Option<EntryFields> {
    let command = fields.get(&shape.command)?;
    let url = match command {
        Value::Array(words) if words.len() == 1 => words.first(),
        command => Some(command),
    };
    let url = url.and_then(Value::as_str).filter(|text| slips::is_address(text.trim()))?;
    let mut moved = fields.clone();
    moved.shift_remove(&shape.command);
    moved.insert(shape.url.first()?.clone(), url.trim().into());
    if let (Some(field), Some(http)) = (&shape.type_field, shape.http_types.first()) {
        moved.insert(field.clone(), http.clone().into());
    }
    Some(moved)
}

/// What was meant by a command that is none. Control characters are told.
fn mended(target: Target, remarks: &mut Vec<RemarkKind>) -> Target {
    let Target::Program { command, args, env, cwd, env_file } = target else { return target };
    let odd = slips::with_control_characters(&command, &args, cwd.as_deref());
    if !odd.is_empty() {
        remarks.push(RemarkKind::ControlCharacters { fields: odd });
    }
    let is_file = |path: &str| std::path::Path::new(path).is_file();
    let Some((meant, slip)) = slips::meant(&command, &args, cfg!(windows), is_file) else {
        return Target::Program { command, args, env, cwd, env_file };
    };
    let (command, args) = match meant {
        Meant::Program { command, args } => (command, args),
        // Read as one before.
        Meant::Address(_) => (command, args),
    };
    match slip {
        Slip::OfWindows => remarks.push(RemarkKind::OfWindows),
        Slip::WholeLine => remarks.push(RemarkKind::WholeLine),
        Slip::Address => {}
    }
    Target::Program { command, args, env, cwd, env_file }
}

/// Without variables, headers and arguments that are nothing but a setting of a bundle: outside of the bundle nobody fills
/// it in.
fn without_settings(mut target: Target, remarks: &mut Vec<RemarkKind>) -> Target {
    let mut left: Vec<String> = Vec::new();
    let mut keep = |value: &Value| match value.as_str().and_then(setting_in) {
        Some(setting) => {
            left.push(format!("${{user_config.{setting}}}"));
            false
        }
        None => true,
    };
    match &mut target {
        Target::Program { args, env, .. } => {
            env.retain(|_, value| keep(value));
            let given = std::mem::take(args).into_iter();
            *args = without_unset(
                given.map(|arg| if keep(&Value::String(arg.clone())) { Ok(arg) } else { Err(arg) }).collect(),
            );
        }
        Target::Address { headers, .. } => headers.retain(|_, value| keep(value)),
    }
    left.sort();
    left.dedup();
    if !left.is_empty() {
        remarks.push(RemarkKind::Unfilled { fields: left });
    }
    target
}

/// Translates a user-registered app from other programs' field names. Returns a remark if its secret is left out.
fn take_app(unknown: &mut Map<String, Value>) -> Option<RemarkKind> {
    let text = |fields: &Map<String, Value>, name: &str| {
        fields.get(name).and_then(Value::as_str).filter(|text| !text.trim().is_empty()).map(ToOwned::to_owned)
    };
    let auth = match unknown.get("auth") {
        Some(Value::Object(auth)) if text(auth, "CLIENT_ID").is_some() => auth.clone(),
        _ => Map::new(),
    };
    let (nested, flat) = (text(&auth, "CLIENT_ID"), text(unknown, "oauth_client_id"));
    for (name, taken) in [("auth", nested.is_some()), ("oauth_client_id", flat.is_some())] {
        if taken {
            unknown.shift_remove(name);
        }
    }
    let id = nested.or(flat)?;
    // `false` means that nobody signs in, whatever else is configured.
    let oauth = unknown.entry("oauth").or_insert_with(|| Value::Object(Map::new())).as_object_mut()?;
    if !oauth.contains_key("client_id") {
        oauth.entry("clientId").or_insert(id.into());
    }
    if let Some(scopes) = auth.get("scopes").filter(|scopes| scopes.is_array()) {
        oauth.entry("scopes").or_insert(scopes.clone());
    }
    text(&auth, "CLIENT_SECRET").map(|_| RemarkKind::AppSecret)
}

struct EntryReader<'a> {
    shape: &'a Shape,
    fields: &'a EntryFields,
    /// The transport's fields, which some clients wrap in an object.
    inner: &'a EntryFields,
}

impl<'a> EntryReader<'a> {
    fn new(shape: &'a Shape, fields: &'a EntryFields) -> Self {
        let nested = shape.nested_transport.as_deref().and_then(|field| fields.get(field));
        let inner = nested.and_then(Value::as_object).unwrap_or(fields);
        Self { shape, fields, inner }
    }

    fn kind(&self) -> Result<TransportKind, String> {
        let shape = self.shape;
        let word =
            shape.type_field.as_deref().and_then(|field| self.inner.get(field)).and_then(Value::as_str);
        let (has_command, has_url) = (self.has_command(), self.url().is_some());
        if let Some(word) = word {
            let is = |words: &[String]| words.iter().any(|known| known == word);
            if is(&shape.host_internal_types) {
                return Err(format!("host-internal:{word}"));
            }
            let kind = if is(&shape.stdio_types) {
                TransportKind::Stdio
            } else if is(&shape.http_types) {
                TransportKind::Http
            } else if is(&shape.sse_types) {
                TransportKind::Sse
            } else {
                return Err(format!("unsupported-transport:{word}"));
            };
            // The arguments of such programs are where addresses are otherwise.
            let only_program = kind == TransportKind::Stdio && shape.stdio_args_in_url;
            if has_command && has_url && !only_program {
                return Err("command-and-url".into());
            }
            return match (kind, has_command, has_url) {
                (TransportKind::Stdio, true, _) | (TransportKind::Http | TransportKind::Sse, _, true) => {
                    let always_http = kind != TransportKind::Stdio && self.has_http_url();
                    Ok(if always_http { TransportKind::Http } else { kind })
                }
                _ => Err(self.nothing()),
            };
        }
        match (has_command, has_url) {
            (true, true) if shape.stdio_args_in_url => Ok(TransportKind::Stdio),
            (true, true) => Err("command-and-url".into()),
            (true, false) => Ok(TransportKind::Stdio),
            (false, false) => Err(self.nothing()),
            (false, true) if self.has_http_url() => Ok(TransportKind::Http),
            (false, true) => match shape.url_without_type {
                Untyped::Http => Ok(TransportKind::Http),
                Untyped::Sse => Ok(TransportKind::Sse),
                Untyped::Skip => Err("url-without-type".into()),
                Untyped::Unsupported => Err("unsupported-transport:http".into()),
            },
        }
    }

    /// Why an entry without program and address exists.
    fn nothing(&self) -> String {
        let switches = [&self.shape.enabled_field, &self.shape.disabled_field];
        let is_switch = |key: &String| switches.iter().any(|known| known.as_ref() == Some(key));
        match &self.shape.settings_only {
            Some(reason) if self.fields.contains_key("settings") => reason.clone(),
            _ if self.shape.enablement_only && self.fields.keys().all(is_switch) => "enablement-only".into(),
            _ => "no-command-or-url".into(),
        }
    }

    fn has_command(&self) -> bool {
        match self.inner.get(&self.shape.command) {
            Some(Value::String(command)) => !command.trim().is_empty(),
            Some(Value::Array(words)) => words.first().is_some_and(Value::is_string),
            Some(Value::Object(nested)) => {
                self.shape.nested_command && nested.get("path").is_some_and(Value::is_string)
            }
            _ => false,
        }
    }

    fn has_http_url(&self) -> bool {
        let key = self.shape.http_url_key.as_deref();
        key.and_then(|key| self.inner.get(key)).and_then(Value::as_str).is_some_and(|url| !url.is_empty())
    }

    fn url(&self) -> Option<&'a str> {
        let urls = self.shape.url.iter().filter_map(|field| self.inner.get(field)?.as_str());
        urls.into_iter().find(|url| !url.trim().is_empty())
    }

    fn program(&self, references: &mut References<'_>) -> Target {
        let shape = self.shape;
        let (command, mut args, own_env) = match self.inner.get(&shape.command) {
            Some(Value::Array(words)) => {
                let mut words = strings(words).into_iter();
                (words.next().unwrap_or_default(), words.collect(), None)
            }
            Some(Value::Object(nested)) => (
                nested.get("path").and_then(Value::as_str).unwrap_or_default().to_owned(),
                nested.get("args").and_then(Value::as_array).map(|args| strings(args)).unwrap_or_default(),
                nested.get("env").and_then(Value::as_object),
            ),
            other => (other.and_then(Value::as_str).unwrap_or_default().to_owned(), vec![], None),
        };
        if shape.stdio_args_in_url {
            let words = self.url().unwrap_or_default().split(' ').filter(|word| !word.is_empty());
            args.extend(words.map(ToOwned::to_owned));
        } else {
            match self.inner.get(&shape.args) {
                Some(Value::Array(more)) => args.extend(strings(more)),
                Some(Value::String(line)) => args.extend(split(line).unwrap_or_else(|| vec![line.clone()])),
                _ => {}
            }
        }
        let mut env = Map::new();
        let given = own_env.cloned().or_else(|| pairs(self.inner.get(&shape.env)?, '='));
        for (key, value) in given.iter().flatten() {
            let value = match value {
                Value::Null if shape.empty_env_means_inherit => String::new(),
                Value::Null => continue,
                value => text(value),
            };
            let value = match shape.empty_env_means_inherit && value.is_empty() {
                true => references.note(format!("${{env:{key}}}")),
                false => references.translate(&value),
            };
            env.insert(key.clone(), value.into());
        }
        for name in self.list(shape.env_vars.as_deref()) {
            let value = references.note(format!("${{env:{name}}}"));
            env.insert(name, value.into());
        }
        let mut translated = |key: &str| {
            let value = self.inner.get(key).or_else(|| self.fields.get(key)).and_then(Value::as_str);
            value.map(|value| references.translate(value))
        };
        let (cwd, env_file) = (translated(&shape.cwd), translated("envFile"));
        Target::Program {
            command: references.translate(&command),
            args: args.iter().map(|arg| references.translate(arg)).collect(),
            env,
            cwd,
            env_file,
        }
    }

    fn address(&self, references: &mut References<'_>) -> Result<Target, String> {
        let shape = self.shape;
        let url = references.translate(self.url().unwrap_or_default().trim());
        let lower = url.to_ascii_lowercase();
        if !["http://", "https://", "${"].iter().any(|start| lower.starts_with(start)) {
            let scheme = lower.split("://").next().filter(|scheme| scheme.len() < lower.len());
            return Err(match scheme {
                Some(scheme) => format!("unsupported-url-scheme:{scheme}"),
                None => "invalid-url".into(),
            });
        }
        let mut headers = Map::new();
        let given = shape.headers.iter().find_map(|path| {
            let mut parts = path.split('.');
            let first = parts.next()?;
            let first = self.inner.get(first).or_else(|| self.fields.get(first))?;
            pairs(parts.try_fold(first, |value, key| value.get(key))?, ':')
        });
        for (key, value) in given.iter().flatten().filter(|(_, value)| !value.is_null()) {
            headers.insert(key.clone(), references.translate(&text(value)).into());
        }
        let text_of = |field: &Option<String>| {
            field.as_deref().and_then(|field| self.inner.get(field)).and_then(Value::as_str)
        };
        if let Some(variable) = text_of(&shape.bearer_env) {
            let reference = references.note(format!("${{env:{variable}}}"));
            headers.insert("Authorization".into(), format!("Bearer {reference}").into());
        }
        if let Some(key) = text_of(&shape.api_key_bearer) {
            headers.insert("Authorization".into(), format!("Bearer {}", references.translate(key)).into());
        }
        let variables =
            shape.env_headers.as_deref().and_then(|field| self.inner.get(field)).and_then(Value::as_object);
        for (key, variable) in variables.into_iter().flatten() {
            let reference = references.note(format!("${{env:{}}}", text(variable)));
            headers.insert(key.clone(), reference.into());
        }
        Ok(Target::Address { url, headers })
    }

    fn enabled(&self) -> bool {
        let switch = |field: &Option<String>| self.outer(field.as_deref()).and_then(Value::as_bool);
        let state = self.outer(self.shape.state_field.as_deref()).and_then(Value::as_str);
        !switch(&self.shape.disabled_field).unwrap_or(false)
            && switch(&self.shape.enabled_field).unwrap_or(true)
            && state.is_none_or(|state| state == "enabled")
    }

    fn timeout(&self) -> Option<u64> {
        let number = self.outer(self.shape.timeout_field.as_deref())?.as_f64()?;
        let ms = if self.shape.timeout_in_seconds { number * 1000.0 } else { number };
        // A time that is negative, zero or longer than a year is ignored.
        (ms > 0.0 && ms < 31_536_000_000.0).then(|| ms.round() as u64)
    }

    fn tools_allow(&self) -> Option<Vec<String>> {
        let field = self.shape.tools_allow.as_deref();
        self.outer(field)?.as_array()?;
        let list = self.list(field);
        // `--include-tools a,b` of a client's command line writes one name.
        let list: Vec<String> = list
            .iter()
            .flat_map(|names| names.split(','))
            .map(|name| name.trim().to_owned())
            .filter(|name| !name.is_empty())
            .collect();
        let all = list.iter().any(|tool| tool == "*") || (list.is_empty() && !self.shape.empty_allows_none);
        (!all).then_some(list)
    }

    fn outer(&self, field: Option<&str>) -> Option<&'a Value> {
        field.and_then(|field| self.fields.get(field).or_else(|| self.inner.get(field)))
    }

    fn list(&self, field: Option<&str>) -> Vec<String> {
        self.outer(field).and_then(Value::as_array).map(|items| strings(items)).unwrap_or_default()
    }

    fn unknown(&self) -> Map<String, Value> {
        let shape = self.shape;
        let first = |path: &String| path.split('.').next().unwrap_or(path).to_owned();
        let options = [
            &shape.name_field,
            &shape.name_fallback,
            &shape.type_field,
            &shape.env_vars,
            &shape.keychain_env,
            &shape.env_headers,
            &shape.bearer_env,
            &shape.api_key_bearer,
            &shape.disabled_field,
            &shape.enabled_field,
            &shape.state_field,
            &shape.timeout_field,
            &shape.tools_allow,
            &shape.tools_deny,
            &shape.auto_approve,
            &shape.nested_transport,
        ];
        let mut known: Vec<String> = options.into_iter().flatten().cloned().collect();
        known.extend([&shape.command, &shape.args, &shape.env, &shape.cwd].into_iter().cloned());
        known.extend(shape.url.iter().cloned());
        known.extend(shape.headers.iter().map(first));
        known.extend(["type", "envFile", "source"].map(ToOwned::to_owned));
        let unknown = self.fields.iter().filter(|(key, _)| !known.contains(key));
        unknown.map(|(key, value)| (key.clone(), value.clone())).collect()
    }
}

fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), ToOwned::to_owned)
}

/// Names with values: an object, a list of `NAME=value` or `Name: value`, or one of objects with a name and a value.
fn pairs(value: &Value, sign: char) -> Option<Map<String, Value>> {
    let items = match value {
        Value::Object(map) => return Some(map.clone()),
        Value::Array(items) => items,
        _ => return None,
    };
    let pair = |item: &Value| match item {
        Value::String(text) => {
            let (name, value) = text.split_once(sign).or_else(|| text.split_once('='))?;
            Some((name.trim().to_owned(), value.trim().into()))
        }
        Value::Object(one) => {
            let name = one.get("name").or_else(|| one.get("key"))?.as_str()?;
            Some((name.to_owned(), one.get("value").cloned().unwrap_or_default()))
        }
        _ => None,
    };
    Some(items.iter().filter_map(pair).collect())
}

fn strings(values: &[Value]) -> Vec<String> {
    values.iter().filter(|value| !value.is_null()).map(text).collect()
}

/// Detects `npx mcp-remote URL` and the like, which only forward to a hosted server.
fn unwrap(target: &Target) -> Option<Unwrap> {
    let Target::Program { command, args, env, .. } = target else { return None };
    let runner = |word: &str| {
        let name = word.rsplit(['/', '\\']).next().unwrap_or(word);
        let name = name.strip_suffix(".cmd").or_else(|| name.strip_suffix(".exe")).unwrap_or(name);
        matches!(name, "npx" | "bunx" | "pnpx" | "pnpm" | "yarn" | "bun")
    };
    let is_remote = |word: &str| word == "mcp-remote" || word.starts_with("mcp-remote@");
    let direct = is_remote(command.rsplit(['/', '\\']).next().unwrap_or(command));
    let rest = match args.iter().position(|word| is_remote(word)) {
        Some(at) if runner(command) || args[..at].iter().any(|word| runner(word)) => &args[at + 1..],
        None if direct => args,
        _ => return None,
    };
    let url = rest.iter().find(|word| word.starts_with("http://") || word.starts_with("https://"))?;
    let after = |flag: &str| rest.iter().position(|word| word == flag).and_then(|at| rest.get(at + 1));
    let sse = after("--transport").is_some_and(|word| word.starts_with("sse"));
    let mut headers = Map::new();
    for pair in rest.windows(2).filter(|pair| pair[0] == "--header") {
        if let Some((name, value)) = pair[1].split_once(':') {
            headers.insert(name.trim().to_owned(), filled(value.trim(), env).into());
        }
    }
    let transport = if sse { TransportKind::Sse } else { TransportKind::Http };
    Some(Unwrap { via: "mcp-remote".into(), transport, url: url.clone(), headers })
}

/// Gives a container its credentials by variables of its engine: `-e NAME=value` stands on a command line, which every program of
/// the computer can read, and `-e NAME` passes the variable on.
fn off_the_command_line(target: Target) -> Target {
    let Target::Program { command, mut args, mut env, cwd, env_file } = target else { return target };
    let is_engine = matches!(program_name(&command).as_str(), "docker" | "podman" | "nerdctl" | "finch");
    let mut at = 0;
    while is_engine && at < args.len() {
        let (flag, set) = match args[at].as_str() {
            "-e" | "--env" => {
                at += 1;
                ("", args.get(at).cloned().unwrap_or_default())
            }
            word => match word.strip_prefix("--env=") {
                Some(set) => ("--env=", set.to_owned()),
                None => ("", String::new()),
            },
        };
        if let Some((name, value)) = set.split_once('=')
            && credential::of(name, value, FieldKind::Variable).is_credential()
            && !env.contains_key(name)
        {
            env.insert(name.to_owned(), value.into());
            args[at] = format!("{flag}{name}");
        }
        at += 1;
    }
    Target::Program { command, args, env, cwd, env_file }
}

/// Substitutes the entry's own variables.
fn filled(value: &str, env: &Map<String, Value>) -> String {
    rewrite(value, &|piece| match piece {
        Piece::Variable { name, default: None } => {
            Some(env.get(name)?.as_str().unwrap_or_default().to_owned())
        }
        Piece::Variable { .. } | Piece::Secret(_) | Piece::Source(_) | Piece::Text(_) => None,
    })
}
