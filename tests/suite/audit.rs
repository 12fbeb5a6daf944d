//! S32: one record of each thing that was started, allowed, refused, approved, read and changed; and nobody takes one
//! away unseen.

use satchel_tests::{Client, Fake, Home};
use serde_json::{Value, json};

use crate::{
    approvals::approve_once_held,
    offered,
    permissions::{answered, asked, said},
};

const SECRET: &str = "canary-77c1-0e55-aa02";

async fn records(home: &Home) -> Vec<Value> {
    let log = home.satchel(&["audit", "--json"]).await.json();
    log.as_array().expect("a list of records").clone()
}

fn of<'a>(records: &'a [Value], kind: &str) -> Vec<(&'a str, &'a str, &'a str)> {
    let text = |record: &'a Value, key: &str| record[key].as_str().expect("a text");
    let kind = records.iter().filter(|record| record["kind"] == kind);
    kind.map(|record| (text(record, "who"), text(record, "subject"), text(record, "detail"))).collect()
}

async fn verified(home: &Home) -> Value {
    let ran = home.satchel(&["audit", "verify", "--json"]).await;
    ran.succeeded();
    ran.json()
}

fn is_at_a_terminal(who: &str) -> bool {
    who.starts_with("person at a terminal (pid ")
}

#[tokio::test]
async fn each_event_has_one_record_and_a_killed_hub_loses_none() {
    let home = Home::empty();
    let words = home.file("words");
    std::fs::write(&words, "Says it back.").expect("the home can be written to");
    let words_path = words.to_str().expect("the path is plain");
    let fake = Fake::new(&home, "fake").behaving(&["--words", words_path]).env("TOKEN", "${secret:TOKEN}");
    home.write_config(&json!({
        "toolRules": [
            { "tool": "fake:echo", "permit": "ask" },
            { "tool": "fake:about", "permit": "off" },
        ],
        "mcpServers": { "fake": fake.entry() },
    }));
    let hub = home.start_hub().await;
    home.satchel_reading(&["secrets", "use-file"], "correct horse\n").await.succeeded();
    home.satchel_reading(&["secrets", "set", "TOKEN"], &format!("{SECRET}\n")).await.succeeded();
    let connection = hub.connection("one").await;
    let client = Client::open(&connection, "2025-11-25").await;
    offered(&client, "fake:echo").await;

    // Refused by a rule; asked, and allowed or not.
    client.execute("fake:about", json!({})).await.complaint();
    for (word, works) in [("yes", true), ("no", false)] {
        let (call, ask) = asked(&home, &client, "fake:echo").await;
        said(&home, &ask, word).await;
        let answer = answered(call).await;
        if works {
            assert_eq!(answer.text(), "x")
        } else {
            answer.complaint();
        }
    }
    // Rejected for its token.
    let url = &connection.url;
    let attempt = satchel_tests::plain_http().post(url).bearer_auth("sat_wrong").body("{}").send().await;
    assert_eq!(attempt.expect("it answers").status(), 401);
    let foreign = satchel_tests::plain_http().post(url).header("Origin", "https://evil.example").send().await;
    assert_eq!(foreign.expect("it answers").status(), 403);
    // A definition changes, is held back, and is approved.
    std::fs::write(&words, "Says it back, twice.").expect("the home can be written to");
    client.execute("fake:grow", json!({})).await;
    approve_once_held(&home, "fake", "echo").await;
    home.satchel_agreeing(&["rule", "fake:about", "usual"]).await.succeeded();

    let records = records(&home).await;
    assert!(records.iter().zip(1u64..).all(|(record, seq)| record["seq"] == seq), "{records:#?}");
    let denied = of(&records, "denied");
    let rules: Vec<_> = denied.iter().filter(|(who, ..)| *who == "one").collect();
    assert_eq!(rules.len(), 2, "{denied:?}");
    assert!(rules[0].2.contains("switched off") && rules[1].2.contains("did not allow"), "{rules:?}");
    let door: Vec<_> =
        denied.iter().filter(|(who, ..)| who.is_empty()).map(|(_, path, why)| (*path, *why)).collect();
    assert_eq!(door, [("/mcp", "not a client's token"), ("/mcp", "web pages may not use this endpoint")]);
    assert_eq!(of(&records, "consent"), [("one", "fake:echo", "fake:echo: ask; allowed once")]);
    assert_eq!(of(&records, "secret_read"), [("fake", "TOKEN", "")]);
    assert_eq!(of(&records, "secret_changed").len(), 2);
    assert_eq!(of(&records, "started").len(), fake.ledger().starts().len());
    let held = of(&records, "held");
    assert!(held.iter().any(|(who, server, what)| {
        *who == "satchel" && *server == "fake" && what.starts_with("tool \"echo\"")
    }));
    let approved = of(&records, "approval");
    let (given, by_person): (Vec<_>, Vec<_>) =
        approved.iter().copied().partition(|(who, ..)| *who == "satchel");
    assert!(given.len() == 1 && given[0].2.starts_with("secret TOKEN for "), "{approved:?}");
    assert!(
        by_person.len() == 1
            && is_at_a_terminal(by_person[0].0)
            && by_person[0].2.starts_with("tool \"echo\""),
        "{approved:?}"
    );
    let policy = of(&records, "policy");
    assert!(policy.len() == 1 && is_at_a_terminal(policy[0].0), "{policy:?}");
    assert_eq!((policy[0].1, policy[0].2), ("fake:about", "rule: as usual"));
    // The test's own process ran a command without a prompt.
    let access = of(&records, "access");
    assert!(access.len() == 1 && access[0].0.starts_with("program satchel (pid "), "{access:?}");
    assert!(access[0].0.contains(", started by suite"), "{access:?}");
    assert_eq!((access[0].1, access[0].2), ("one", "a token"));
    assert!(!format!("{records:?}").contains(SECRET));

    // The log survives a kill and continues.
    let before = verified(&home).await;
    let head = format!("{}:{}", before["head"]["seq"], before["head"]["hash"].as_str().expect("a hash"));
    hub.kill().await;
    let hub = home.start_hub().await;
    home.satchel(&["rule", "fake:about", "off"]).await.succeeded();
    let after = verified(&home).await;
    assert!(after["records"].as_u64() > before["records"].as_u64(), "{before} {after}");
    home.satchel(&["audit", "verify", "--head", &head]).await.succeeded();
    let forged = head.replace(|c: char| c.is_ascii_hexdigit() && c > '9', "0");
    home.satchel(&["audit", "verify", "--head", &forged]).await.failed_with(1);
    let table = home.satchel(&["audit", "--csv"]).await.stdout;
    assert!(table.starts_with("seq,time_ms,kind,who,subject,detail,hash"), "{table}");

    // A missing ledger is reported, and stays reported.
    assert_eq!(hub.terminate().await, Some(0));
    let is_ledger = |path: &std::path::Path| {
        path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("ledger.db"))
    };
    let ledger: Vec<_> =
        home.files().into_iter().map(|(path, _)| path).filter(|path| is_ledger(path)).collect();
    assert!(!ledger.is_empty());
    for file in ledger {
        std::fs::remove_file(&file).expect("it can be removed");
    }
    for _ in 0..2 {
        let ran = home.satchel(&["audit", "verify"]).await;
        ran.failed_with(1);
        assert!(ran.stdout.contains("it ended at record"), "{}", ran.stdout);
    }
}
