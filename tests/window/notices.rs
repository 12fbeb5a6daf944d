//! Notifications, at a desktop's end of them: a stand-in of the service on the private bus takes what is shown, and clicks.
//!
//! The protocol is <https://specifications.freedesktop.org/notification-spec/latest/>.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
};

use satchel_tests::{Answer, eventually};
use serde_json::json;
use tokio::task::JoinHandle;
use zbus::{Connection, interface, object_server::SignalEmitter, zvariant::OwnedValue};

use crate::{
    app::until_offered,
    asking::{self, TOOL, call},
    desktop::Desktop,
};

const PATH: &str = "/org/freedesktop/Notifications";

/// The notifications shown.
#[derive(Debug, Clone)]
struct Shown {
    id: u32,
    title: String,
    text: String,
    actions: Vec<String>,
}

type All = Arc<Mutex<Vec<Shown>>>;

struct Service {
    all: All,
    /// Clicks come before the answer to the call that shows a notification.
    at_once: Arc<AtomicBool>,
}

#[interface(name = "org.freedesktop.Notifications")]
impl Service {
    fn get_capabilities(&self) -> Vec<String> {
        vec!["body".into(), "actions".into()]
    }

    fn get_server_information(&self) -> (String, String, String, String) {
        ("stand-in".into(), "tests".into(), "1".into(), "1.2".into())
    }

    #[expect(clippy::too_many_arguments, reason = "the protocol has them")]
    async fn notify(
        &self,
        #[zbus(signal_emitter)] emitter: SignalEmitter<'_>,
        _app: &str,
        _replaces: u32,
        _icon: &str,
        summary: &str,
        body: &str,
        actions: Vec<String>,
        _hints: HashMap<String, OwnedValue>,
        _timeout: i32,
    ) -> u32 {
        let id = {
            let mut all = self.all.lock().expect("no holder panics");
            let id = u32::try_from(all.len()).expect("few are shown") + 1;
            all.push(Shown { id, title: summary.into(), text: body.into(), actions });
            id
        };
        if self.at_once.load(Ordering::Relaxed) {
            Self::action_invoked(&emitter, id, "default").await.expect("it can be told");
        }
        id
    }

    fn close_notification(&self, _id: u32) {}

    #[zbus(signal)]
    async fn action_invoked(emitter: &SignalEmitter<'_>, id: u32, action: &str) -> zbus::Result<()>;

    #[zbus(signal)]
    async fn notification_closed(emitter: &SignalEmitter<'_>, id: u32, reason: u32) -> zbus::Result<()>;
}

/// The part of a desktop that shows notifications.
struct Corner {
    bus: Connection,
    all: All,
    at_once: Arc<AtomicBool>,
}

impl Corner {
    async fn of(desktop: &Desktop) -> Self {
        let (all, at_once) = (All::default(), Arc::<AtomicBool>::default());
        let service = Service { all: all.clone(), at_once: at_once.clone() };
        let bus = zbus::connection::Builder::address(desktop.bus.as_str()).expect("the bus has an address");
        let bus = bus.serve_at(PATH, service).expect("the path is free");
        let bus = bus.name("org.freedesktop.Notifications").expect("the name is a name");
        Self { bus: bus.build().await.expect("the service can reach the bus"), all, at_once }
    }

    async fn shown(&self, title: &str) -> Shown {
        eventually(&format!("a notification says {title:?}"), async || {
            self.all.lock().expect("no holder panics").iter().find(|shown| shown.title == title).cloned()
        })
        .await
    }

    async fn click(&self, shown: &Shown) {
        let emitter = SignalEmitter::new(&self.bus, PATH).expect("the path is one");
        Service::action_invoked(&emitter, shown.id, "default").await.expect("it can be told");
    }
}

fn now_ms() -> u64 {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    u64::try_from(now.expect("it is past 1970").as_millis()).expect("it is not the end of time")
}

#[tokio::test]
async fn a_waiting_question_is_notified_once_and_a_click_opens_it() {
    let desktop = asking::desktop().await;
    let corner = Corner::of(&desktop).await;
    let _manager = desktop.start_window_manager().await;
    let editor = desktop.somebodys_window("an editor").await;
    let _app = desktop.start(&["--hidden"]).await;
    let client = desktop.client("editor").await;
    until_offered(&client, "toolbox", true).await;
    let called = call(&client, TOOL, json!({}));

    let shown = corner.shown("editor wants to run toolbox:generate_uuid").await;
    assert!(shown.text.contains("says no"), "it says all of it: {shown:?}");
    assert!(shown.actions.contains(&"default".to_owned()), "{shown:?}");
    assert_eq!(desktop.active_window().await, editor);
    corner.click(&shown).await;
    has_the_keyboard(&desktop).await;
    refuse(&desktop, called).await;
    assert_eq!(corner.all.lock().expect("no holder panics").len(), 1, "nothing else is worth a word");

    // The earliest click there can be.
    desktop.activate(&editor).await;
    corner.at_once.store(true, Ordering::Relaxed);
    let called = call(&client, TOOL, json!({}));
    has_the_keyboard(&desktop).await;
    refuse(&desktop, called).await;
}

async fn has_the_keyboard(desktop: &Desktop) {
    eventually("the question has the keyboard", async || {
        let active = desktop.active_window().await;
        (desktop.name_of(&active).await == "Satchel asks").then_some(())
    })
    .await;
}

async fn refuse(desktop: &Desktop, called: JoinHandle<Answer>) {
    let ask = desktop.home.satchel(&["asks", "--json"]).await.json()["asks"][0]["id"].to_string();
    desktop.home.satchel(&["answer", &ask, "no"]).await.succeeded();
    assert!(called.await.expect("the call ends").complaint().contains("did not allow"));
}

#[tokio::test]
async fn none_are_shown_if_turned_off() {
    let desktop = asking::desktop().await;
    let corner = Corner::of(&desktop).await;
    let _manager = desktop.start_window_manager().await;
    let editor = desktop.somebodys_window("an editor").await;
    let page = desktop.open_window(&[]).await;
    let client = desktop.client("editor").await;
    until_offered(&client, "toolbox", true).await;
    page.run("location.hash = '#/settings'").await;
    page.click("[aria-label=Notifications] label:nth-child(3)").await;
    eventually("the choice is kept", async || {
        (page.invoke("choices", json!({})).await.is_ok_and(|chosen| chosen["notifications"] == "none"))
            .then_some(())
    })
    .await;
    let called = call(&client, TOOL, json!({}));
    // Its time for a notification is over, and none was shown; the next one is shown, because somebody wants it now.
    eventually("it waits for some seconds", async || {
        let asks = desktop.home.satchel(&["asks", "--json"]).await.json()["asks"].clone();
        let since = asks[0]["since_ms"].as_u64()?;
        (now_ms() > since + 6_000).then_some(())
    })
    .await;
    page.click("[aria-label=Notifications] label:nth-child(1)").await;
    eventually("the choice is kept", async || {
        (page.invoke("choices", json!({})).await.is_ok_and(|chosen| chosen["notifications"] == "all"))
            .then_some(())
    })
    .await;
    desktop.activate(&editor).await;
    let next = call(&desktop.client("another").await, TOOL, json!({}));
    corner.shown("another wants to run toolbox:generate_uuid").await;
    assert_eq!(corner.all.lock().expect("no holder panics").len(), 1, "the first one is not told of");
    called.abort();
    next.abort();
    page.close().await;
}
