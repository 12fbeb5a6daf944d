//! The followed folder: what of this computer's setup is written there.

use std::sync::Arc;

use serde_json::json;

use super::{
    house::House,
    server::{TestServer, tool},
};
use crate::{
    config::Config,
    hub::registry,
    model::request::{FollowSetup, GetFollowedSetup},
    review::Accepted,
};

#[tokio::test]
async fn a_changed_entry_is_not_shared_before_it_is_judged() {
    let server = TestServer::start(vec![tool("echo", "Says it again.")]).await;
    let house = House::with(&[("notes", &server)]).await;
    let folder = tempfile::tempdir().unwrap();
    house.ask(FollowSetup { folder: Some(folder.path().to_owned()) }).await.unwrap();
    let written = || {
        let mut files = std::fs::read_dir(folder.path()).unwrap().flatten();
        let file = files.find(|file| file.file_name().to_string_lossy().ends_with(".satchel.json")).unwrap();
        std::fs::read_to_string(file.path()).unwrap()
    };
    assert!(written().contains("notes"), "{}", written());

    let mut config = house.config();
    config["mcpServers"]["notes"]["headers"] = json!({ "X-Team": "blue" });
    let config = Config::parse(&config.to_string()).unwrap();
    // The moment between a change of the file and the judgement of the servers in it.
    house.hub.inner.configured.replace(Arc::new(config.clone()));
    house.ask(GetFollowedSetup {}).await.unwrap();
    assert!(written().contains("notes") && !written().contains("blue"), "{}", written());

    registry::reconcile(&house.hub, config, Accepted::File).await;
    house.ask(GetFollowedSetup {}).await.unwrap();
    assert!(written().contains("blue"), "{}", written());
}
