//! `connect`: adds our entry to a client's configuration, or creates a token and prints how to use it.

use std::process::ExitCode;

use satchel_core::{
    files::Places,
    model::{control::Connection, request::MakeToken, shell},
};
use serde_json::json;

use super::clients;
use crate::{
    args::Connect,
    output::{Lines, say, say_aside, say_json},
    reach::{Reached, reach},
};

pub(crate) async fn run(places: &Places, connect: Connect, json: bool) -> anyhow::Result<ExitCode> {
    if !connect.by_hand() {
        return clients::connect(places, &connect, connect.who(), json).await;
    }
    let request = MakeToken { client: connect.who().to_owned(), ephemeral: false };
    let hub = reach(places).await?;
    let running = matches!(hub, Reached::Running(_));
    let answer = hub.ask(request).await;
    hub.leave().await;
    let connection: Connection = answer?;
    match (json, connect.print) {
        (true, _) => say_json(&connection)?,
        (false, true) => say(plain(&connection)),
        (false, false) => say(instructions(&connection)),
    }
    if !running {
        say_aside(
            "No hub is running yet. Start one with `satchel serve`; the address is valid if its port is free then.",
        );
    }
    Ok(ExitCode::SUCCESS)
}

fn plain(connection: &Connection) -> Lines {
    let headers = connection.headers.iter().map(|(name, value)| format!("{name}: {value}"));
    std::iter::once(connection.url.clone()).chain(headers).collect()
}

fn instructions(connection: &Connection) -> Lines {
    let Connection { url, headers } = connection;
    let entry = json!({"mcpServers": {"satchel": {"type": "http", "url": url, "headers": headers}}});
    let flags: Vec<String> = headers
        .iter()
        .map(|(name, value)| format!(" --header {}", shell::word(&format!("{name}: {value}"))))
        .collect();
    let code = json!({"name": "satchel", "type": "http", "url": url, "headers": headers}).to_string();
    let bridge = json!({"mcpServers": {"satchel": {"command": "satchel", "args": ["bridge"]}}});
    Lines::paragraphs([
        plain(connection),
        "Clients that read an \"mcpServers\" block (Cursor, Windsurf, Cline and many others):".into(),
        Lines::block("", &format!("{entry:#}")),
        "Claude Code:".into(),
        format!("  claude mcp add --transport http satchel {url}{}", flags.concat()).into(),
        "VS Code:".into(),
        format!("  code --add-mcp {}", shell::word(&code)).into(),
        "Clients that only start programs:".into(),
        Lines::block("", &format!("{bridge:#}")),
        "Anyone who has the token can use your servers. A new token for the same client revokes this one."
            .into(),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn connection() -> Connection {
        let headers = [("Authorization".to_owned(), "Bearer t0ken".to_owned())].into();
        Connection { url: "http://127.0.0.1:7411/mcp".into(), headers }
    }

    #[test]
    fn the_plain_form_is_the_address_and_its_headers() {
        assert_eq!(
            plain(&connection()).to_string(),
            "http://127.0.0.1:7411/mcp\nAuthorization: Bearer t0ken"
        );
    }

    #[test]
    fn the_instructions_can_be_pasted() {
        let text = instructions(&connection()).to_string();
        for part in [
            "claude mcp add --transport http satchel http://127.0.0.1:7411/mcp --header 'Authorization: Bearer t0ken'\n",
            "      \"url\": \"http://127.0.0.1:7411/mcp\",\n",
            "\"args\": [\n        \"bridge\"\n      ]",
            "code --add-mcp '{\"name\":\"satchel\"",
        ] {
            assert!(text.contains(part), "{part}\n---\n{text}");
        }
    }
}
