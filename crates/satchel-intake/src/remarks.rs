//! What is said about an entry before it is taken in: what its launch may do besides, where its references go, how its
//! restrictions are translated, and why others are left out.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::{
    clients::import::{FoundEntry, Target, Words},
    model::{
        Code,
        caution::{self, Caution, CautionCode},
        control::Refusal,
        name::in_path,
        remark::{NameFault, RemarkKind},
    },
    registry::launch_risks,
};

/// Prefix of the answer `yes` that accepts a risky launch, followed by the server's name.
pub(crate) const ACCEPT: &str = "accept.";

/// Side effects of the server's launch or address that someone else may have written.
pub(crate) fn risks(server: &FoundEntry, answers: &BTreeMap<String, Value>) -> Vec<Caution> {
    let chosen: Vec<String> = answers.values().filter_map(Value::as_str).map(ToOwned::to_owned).collect();
    let mut risks = match &server.target {
        Target::Program { command, args, env, .. } => {
            // As the entry will say it.
            let args: Vec<String> = args.iter().map(|arg| arg.replace("${host:", "${")).collect();
            launch_risks::of_program(command, &args, env, &chosen)
        }
        // What a person pastes or has configured may be on this computer.
        Target::Address { url, headers } if server.words == Words::Described => {
            launch_risks::of_address(url, headers)
        }
        Target::Address { .. } => vec![],
    };
    // In the words of another program, what would run for a secret becomes a secret to enter.
    risks.retain(|risk| !risk.parts.first().is_some_and(|part| part.starts_with("${")));
    risks
}

/// A description may do nothing but run the server it names.
pub(crate) fn refuse_risks(
    name: &str,
    server: &FoundEntry,
    answers: &BTreeMap<String, Value>,
) -> Result<(), Refusal> {
    let risks = risks(server, answers);
    if risks.is_empty() {
        return Ok(());
    }
    let message = format!("\"{name}\" is not imported: its description {}", caution::joined(&risks));
    let action = "If you know its authors and want exactly that, add it by hand with `satchel add`.";
    Err(Refusal { why: risks, ..Refusal::new(Code::BadDescription, message, action) })
}

/// Remarks that matter before an import; others are listed beside it.
pub(crate) fn coded(remark: &RemarkKind) -> Vec<Caution> {
    match remark {
        RemarkKind::Renamed { given, name, because } => {
            because.iter().map(|fault| renamed(given, name, fault)).collect()
        }
        RemarkKind::PlainSignIns { who, file } => vec![CautionCode::KeepsSignIns.with([who, file])],
        RemarkKind::NeedsSecret { .. }
        | RemarkKind::NeedsVariable { .. }
        | RemarkKind::EnvFile { .. }
        | RemarkKind::OtherSandbox { .. }
        | RemarkKind::NotTaken { .. }
        | RemarkKind::HoldsSecret { .. }
        | RemarkKind::NoEffect { .. }
        | RemarkKind::AppSecret
        | RemarkKind::AgentSwitches
        | RemarkKind::OffWithMore { .. }
        | RemarkKind::OfWindows
        | RemarkKind::WholeLine
        | RemarkKind::AddressAsCommand
        | RemarkKind::ControlCharacters { .. }
        | RemarkKind::Unfilled { .. } => vec![],
    }
}

fn renamed(given: &str, name: &str, fault: &NameFault) -> Caution {
    let (code, what) = match fault {
        NameFault::Path => (CautionCode::RenamedPath, String::new()),
        NameFault::Control => (CautionCode::RenamedControl, String::new()),
        NameFault::Blank => (CautionCode::RenamedBlank, String::new()),
        NameFault::Option => (CautionCode::RenamedOption, String::new()),
        NameFault::Unseen => (CautionCode::RenamedUnseen, String::new()),
        NameFault::Nothing => (CautionCode::RenamedNothing, String::new()),
        NameFault::Long(most) => (CautionCode::RenamedLong, most.to_string()),
        NameFault::LookAlikes(letters) => (CautionCode::RenamedAlike, letters.clone()),
        NameFault::Taken(other) => (CautionCode::RenamedTaken, other.clone()),
    };
    code.with([given, name, &what])
}

/// Remarks on an imported entry: where its references go, and how its restrictions are translated.
pub(crate) fn told(server: &FoundEntry) -> Vec<Caution> {
    let goes_to = match &server.target {
        Target::Address { url, .. } => url.split('?').next().unwrap_or(url),
        Target::Program { command, .. } => command,
    };
    let refs = server.refs.iter().filter(|reference| !reference.starts_with("${host:"));
    let mut told: Vec<Caution> = match server.words {
        Words::Own => refs.map(|reference| of_reference(reference, goes_to)).collect(),
        Words::Pasted => {
            refs.map(|reference| CautionCode::GetsStored.with([reference.as_str(), goes_to])).collect()
        }
        Words::Described => vec![],
    };
    told.extend(server.tools_allow.as_ref().map(|tools| match tools.as_slice() {
        [] => CautionCode::NoToolThere.into(),
        tools => CautionCode::OnlyToolsThere.with([tools.join(", ")]),
    }));
    if !server.tools_deny.is_empty() {
        told.push(CautionCode::ToolsOffThere.with([server.tools_deny.join(", ")]));
    }
    if !server.auto_approve.is_empty() {
        told.push(CautionCode::ToolsUnaskedThere.with([server.auto_approve.join(", ")]));
    }
    told
}

/// The use of a reference in a client's own file. What only the other program can resolve becomes a secret.
fn of_reference(reference: &str, goes_to: &str) -> Caution {
    match reference.trim_start_matches("${").split(':').next() {
        Some("input") => CautionCode::AskedThere.with([reference]),
        Some("cmd") => CautionCode::CommandThere.with([reference]),
        Some("file") => CautionCode::FileThere.with([reference]),
        _ => CautionCode::GoesTo.with([reference, goes_to]),
    }
}

/// The restrictions on its tools, as Satchel rules.
pub(crate) fn rules_of(server: &FoundEntry, name: &str) -> Vec<Value> {
    let path = |tool: &str| format!("{}:{tool}", in_path(name));
    let allow = server.tools_allow.iter().map(|tools| {
        let except: Vec<String> = tools.iter().map(|tool| path(tool)).collect();
        match except.is_empty() {
            true => json!({ "tool": path("*"), "permit": "off" }),
            false => json!({ "tool": path("*"), "except": except, "permit": "off" }),
        }
    });
    let deny = server.tools_deny.iter().map(|tool| json!({ "tool": path(tool), "permit": "off" }));
    allow.chain(deny).collect()
}
