//! Names the files in which other programs keep sign-ins in plain text, so that a person can sign out there. Reads none.

use super::{Candidate, FoundEntry, Origin, Target};
use crate::{
    machine::Machine,
    model::remark::RemarkKind,
    table::{self, Client},
};

/// Where `mcp-remote` stores the sign-ins of all servers, whichever client starts it.
const MCP_REMOTE: [&str; 2] =
    ["${MCP_REMOTE_CONFIG_DIR:-${HOME}/.mcp-auth}", "${MCP_REMOTE_CONFIG_DIR:-${USERPROFILE}\\.mcp-auth}"];

/// A remark for each existing file that may contain a sign-in to this server.
pub fn left_behind(candidate: &Candidate, machine: &Machine) -> Vec<RemarkKind> {
    let server = &candidate.server;
    let mut kept = vec![];
    if let Some(relay) = &server.unwrap {
        let places = MCP_REMOTE.iter().flat_map(|place| machine.paths(place));
        kept.extend(places.map(|path| (relay.via.clone(), path)));
    } else if is_signed_in_to(server) {
        let clients = candidate.origins.iter().filter_map(|Origin { client, .. }| table::client(client));
        let files = |client: &'static Client| {
            machine.all_paths(&client.token_files).into_iter().map(|path| (client.name.clone(), path))
        };
        kept.extend(clients.flat_map(files));
    }
    kept.retain(|(_, path)| path.exists());
    kept.dedup();
    let remark = |(who, path): (String, std::path::PathBuf)| RemarkKind::PlainSignIns {
        who,
        file: path.display().to_string(),
    };
    kept.into_iter().map(remark).collect()
}

/// An address without an authorization header.
fn is_signed_in_to(server: &FoundEntry) -> bool {
    match &server.target {
        Target::Address { headers, .. } => {
            !headers.keys().any(|name| name.eq_ignore_ascii_case("authorization"))
        }
        Target::Program { .. } => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{
        import::{candidates, read_text},
        platform::{Environment, Platform},
    };

    #[test]
    fn files_with_sign_ins_are_named_where_they_are_there_and_may_hold_one() {
        let home = tempfile::tempdir().unwrap();
        let variables = [("HOME", home.path().to_str().unwrap())];
        let machine = Machine { environment: Environment::new(Platform::Linux, variables) };
        let told = |client: &str, entry: serde_json::Value| {
            let block = json!({ "mcpServers": { "a": entry } }).to_string();
            let found = read_text(&block).unwrap().servers.into_iter().map(|server| {
                let (client, name) = (client.to_owned(), server.name.clone());
                (Origin { client, path: "x".into(), scope: "user".into(), name }, server)
            });
            let all = candidates(found.collect(), &Default::default(), |_| false);
            left_behind(&all[0], &machine).iter().map(ToString::to_string).collect::<Vec<_>>()
        };
        let relay = json!({ "command": "npx", "args": ["-y", "mcp-remote", "https://mcp.example.com/mcp"] });
        let address = json!({ "url": "https://mcp.example.com/mcp" });
        assert!(told("cursor", relay.clone()).is_empty() && told("gemini-cli", address.clone()).is_empty());
        std::fs::create_dir_all(home.path().join(".mcp-auth")).unwrap();
        std::fs::create_dir_all(home.path().join(".gemini")).unwrap();
        std::fs::write(home.path().join(".gemini/mcp-oauth-tokens.json"), "no JSON").unwrap();
        assert!(told("cursor", relay)[0].contains("/.mcp-auth, which Satchel does not read"));
        assert!(told("gemini-cli", address.clone())[0].starts_with("Gemini CLI keeps sign-ins"));
        assert!(told("cursor", address).is_empty(), "another client's file says nothing of this one");
        let own = json!({ "url": "https://mcp.example.com/mcp", "headers": { "authorization": "Bearer x" } });
        let program = json!({ "command": "npx", "args": ["-y", "a-server"] });
        assert!(told("gemini-cli", own).is_empty() && told("gemini-cli", program).is_empty());
    }
}
