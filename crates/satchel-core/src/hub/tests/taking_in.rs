//! What was read of a pasted text is what is added, under the name and in the way that a person chose.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::house::House;
use crate::model::{
    Code,
    clients::From,
    request::{FindServers, ImportServers},
};

const PASTED: &str =
    r#"{"mcpServers": {"lab": {"command": "no-such-program", "args": ["-c", "a  b", "", "-x"]}}}"#;

fn take(named: &[(&str, &str)], replace: &[&str], off: bool) -> ImportServers {
    ImportServers {
        from: From::Text(PASTED.into()),
        names: Some(vec!["lab".into()]),
        answers: BTreeMap::from([("accept.lab".to_owned(), "yes".into())]),
        seen: None,
        take_out: false,
        dry_run: false,
        named: named.iter().map(|(from, to)| ((*from).to_owned(), (*to).to_owned())).collect(),
        replace: replace.iter().map(|name| (*name).to_owned()).collect(),
        off,
        environment: BTreeMap::new(),
    }
}

fn entry(house: &House, name: &str) -> Value {
    house.config()["mcpServers"][name].clone()
}

#[tokio::test]
async fn the_words_of_a_launch_are_told_one_by_one() {
    let house = House::open(json!({})).await;
    let request = FindServers {
        from: From::Text(PASTED.into()),
        answers: BTreeMap::new(),
        environment: BTreeMap::new(),
    };
    let found = house.ask(request).await.unwrap();
    assert_eq!(found.servers[0].words, ["no-such-program", "-c", "a  b", "", "-x"]);
}

#[tokio::test]
async fn a_server_comes_under_another_name_and_switched_off() {
    let house = House::open(json!({})).await;
    let imported = house.ask(take(&[("lab", "other lab")], &[], true)).await.unwrap();
    assert_eq!(imported.added, ["other lab"], "{:?}", imported.left);
    assert_eq!(entry(&house, "lab"), Value::Null);
    assert_eq!(entry(&house, "other lab")["enabled"], json!(false));
    assert_eq!(entry(&house, "other lab")["args"], json!(["-c", "a  b", "", "-x"]));
}

#[tokio::test]
async fn a_server_of_the_same_name_is_replaced_only_where_a_person_said_so() {
    let house = House::open(
        json!({ "mcpServers": { "lab": { "url": "https://lab.example/mcp", "enabled": false } } }),
    )
    .await;
    let refused = house.ask(take(&[("lab-2", "lab")], &[], true)).await.unwrap();
    assert_eq!(refused.added, [""; 0]);
    let named = ImportServers {
        names: Some(vec!["lab-2".into()]),
        answers: BTreeMap::from([("accept.lab-2".to_owned(), "yes".into())]),
        ..take(&[("lab-2", "lab")], &[], true)
    };
    let refused = house.ask(named).await.unwrap();
    assert_eq!(refused.left[0].refusal.as_ref().unwrap().code, Code::ServerExists);
    assert_eq!(entry(&house, "lab")["url"], json!("https://lab.example/mcp"));
    let named = ImportServers {
        names: Some(vec!["lab-2".into()]),
        answers: BTreeMap::from([("accept.lab-2".to_owned(), "yes".into())]),
        ..take(&[("lab-2", "lab")], &["lab-2"], true)
    };
    let imported = house.ask(named).await.unwrap();
    assert_eq!(imported.added, ["lab"], "{:?}", imported.left);
    assert_eq!(entry(&house, "lab")["command"], json!("no-such-program"));
}
