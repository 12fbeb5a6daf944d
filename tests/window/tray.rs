//! The desktop's side of the tray: takes the icon as a panel does, reads its menu, clicks.
//!
//! The protocols are StatusNotifierItem
//! (<https://www.freedesktop.org/wiki/Specifications/StatusNotifierItem/>) and `com.canonical.dbusmenu`.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex},
};

use satchel_tests::eventually;
use zbus::{
    Connection, interface,
    message::Header,
    object_server::SignalEmitter,
    proxy,
    zvariant::{OwnedObjectPath, OwnedValue, Value},
};

use crate::desktop::Desktop;

/// A panel that shows every registered icon.
pub(crate) struct Panel {
    bus: Connection,
    items: Items,
}

/// The bus name and object path of every registered icon.
type Items = Arc<Mutex<Vec<(String, String)>>>;

struct Watcher(Items);

#[interface(name = "org.kde.StatusNotifierWatcher")]
impl Watcher {
    /// libayatana-appindicator passes its object's path; others pass their bus name.
    async fn register_status_notifier_item(
        &self,
        service: &str,
        #[zbus(header)] header: Header<'_>,
        #[zbus(signal_emitter)] emitter: SignalEmitter<'_>,
    ) -> zbus::fdo::Result<()> {
        let sender = header.sender().map(ToString::to_string).unwrap_or_default();
        let item = match service.strip_prefix('/') {
            Some(_) => (sender, service.to_owned()),
            None => (service.to_owned(), "/StatusNotifierItem".to_owned()),
        };
        let name = format!("{}{}", item.0, item.1);
        self.0.lock().expect("no holder panics").push(item);
        Self::status_notifier_item_registered(&emitter, &name).await?;
        Ok(())
    }

    fn register_status_notifier_host(&self, _service: &str) {}

    #[zbus(property)]
    fn registered_status_notifier_items(&self) -> Vec<String> {
        self.0.lock().expect("no holder panics").iter().map(|(name, path)| format!("{name}{path}")).collect()
    }

    #[zbus(property)]
    fn is_status_notifier_host_registered(&self) -> bool {
        true
    }

    #[zbus(property)]
    fn protocol_version(&self) -> i32 {
        0
    }

    #[zbus(signal)]
    async fn status_notifier_item_registered(emitter: &SignalEmitter<'_>, item: &str) -> zbus::Result<()>;

    #[zbus(signal)]
    async fn status_notifier_item_unregistered(emitter: &SignalEmitter<'_>, item: &str) -> zbus::Result<()>;

    #[zbus(signal)]
    async fn status_notifier_host_registered(emitter: &SignalEmitter<'_>) -> zbus::Result<()>;
}

#[proxy(interface = "org.kde.StatusNotifierItem", assume_defaults = false)]
trait StatusNotifierItem {
    #[zbus(property)]
    fn menu(&self) -> zbus::Result<OwnedObjectPath>;
    #[zbus(property(emits_changed_signal = "false"))]
    fn status(&self) -> zbus::Result<String>;
    #[zbus(property)]
    fn icon_name(&self) -> zbus::Result<String>;
    #[zbus(property)]
    fn title(&self) -> zbus::Result<String>;
}

/// An item's id, its properties, and its children, which are layouts again.
type Layout = (i32, HashMap<String, OwnedValue>, Vec<OwnedValue>);

#[proxy(interface = "com.canonical.dbusmenu", assume_defaults = false)]
trait DbusMenu {
    fn about_to_show(&self, id: i32) -> zbus::Result<bool>;
    fn get_layout(&self, parent: i32, depth: i32, properties: &[&str]) -> zbus::Result<(u32, Layout)>;
    fn event(&self, id: i32, event: &str, data: &Value<'_>, timestamp: u32) -> zbus::Result<()>;
}

/// The icon in the panel.
pub(crate) struct Icon {
    item: StatusNotifierItemProxy<'static>,
    menu: DbusMenuProxy<'static>,
}

/// One line of the menu.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Line {
    id: i32,
    /// Its text; empty for a separator.
    pub(crate) label: String,
    /// Can it be clicked?
    pub(crate) enabled: bool,
    /// Its check mark; `None` if it cannot have one.
    pub(crate) ticked: Option<bool>,
}

impl Desktop {
    /// Adds a panel to the desktop. Without one, icons wait.
    pub(crate) async fn panel(&self) -> Panel {
        let items = Items::default();
        let bus = zbus::connection::Builder::address(self.bus.as_str()).expect("the bus has an address");
        let bus = bus.serve_at("/StatusNotifierWatcher", Watcher(items.clone())).expect("the path is free");
        let bus = bus.name("org.kde.StatusNotifierWatcher").expect("the name is a name");
        Panel { bus: bus.build().await.expect("the panel can reach the bus"), items }
    }
}

impl Panel {
    /// The icon, once it exists.
    pub(crate) async fn icon(&self) -> Icon {
        let find = async || self.items.lock().expect("no holder panics").last().cloned();
        let (name, path) = eventually("an icon is in the tray", find).await;
        let item = StatusNotifierItemProxy::builder(&self.bus)
            .cache_properties(zbus::proxy::CacheProperties::No)
            .destination(name.clone())
            .and_then(|builder| builder.path(path))
            .expect("what registered can be addressed")
            .build()
            .await
            .expect("the icon answers");
        let menu = item.menu().await.expect("the icon has a menu");
        let menu = DbusMenuProxy::builder(&self.bus)
            .destination(name)
            .and_then(|builder| builder.path(menu))
            .expect("the menu can be addressed")
            .build()
            .await
            .expect("the menu answers");
        Icon { item, menu }
    }
}

impl Icon {
    /// `Active` if a panel should show it, `Passive` if not.
    pub(crate) async fn status(&self) -> String {
        self.item.status().await.expect("the icon says how it stands")
    }

    /// What panels show where somebody points at it.
    pub(crate) async fn title(&self) -> String {
        self.item.title().await.expect("the icon has a title")
    }

    /// The current menu from top to bottom; a submenu comes after its line.
    pub(crate) async fn lines(&self) -> Vec<Line> {
        // A panel announces that it opens the menu; some menus are only filled then.
        let _ = self.menu.about_to_show(0).await;
        let (_, (_, _, children)) = self.menu.get_layout(0, -1, &[]).await.expect("the menu can be read");
        let mut all = Vec::new();
        for child in children {
            let (id, properties, inside) = Layout::try_from(child).expect("a child is a layout");
            all.push(line((id, properties, vec![])));
            all.extend(
                inside.into_iter().map(|child| line(Layout::try_from(child).expect("a child is a layout"))),
            );
        }
        all
    }

    /// The menu's text as a person reads it.
    pub(crate) async fn text(&self) -> String {
        let lines = self.lines().await;
        let shown = lines.iter().map(|line| match (line.ticked, line.label.as_str()) {
            (_, "") => "---".to_owned(),
            (Some(true), label) => format!("✓ {label}"),
            (_, label) => format!("  {label}"),
        });
        shown.collect::<Vec<_>>().join("\n")
    }

    /// Waits for a line with this prefix, and returns it.
    pub(crate) async fn line(&self, beginning: &str) -> Line {
        self.until(beginning, |_| true).await
    }

    /// Waits until a line with this prefix is as wanted.
    pub(crate) async fn until(&self, beginning: &str, wanted: impl Fn(&Line) -> bool) -> Line {
        let mut last = Vec::new();
        eventually(&format!("\"{beginning}\" in the tray's menu"), async || {
            let lines = self.lines().await;
            if lines != last {
                // The test harness shows this only if the test fails.
                eprintln!("the menu is {lines:#?}");
            }
            last = lines.clone();
            lines.into_iter().find(|line| line.label.starts_with(beginning) && wanted(line))
        })
        .await
    }

    /// Clicks the line with this prefix.
    pub(crate) async fn click(&self, beginning: &str) {
        let line = self.line(beginning).await;
        assert!(line.enabled, "{line:?} can be clicked");
        self.menu.event(line.id, "clicked", &Value::from(0i32), 0).await.expect("the menu takes a click");
    }

    /// The icon file it shows.
    pub(crate) async fn picture(&self) -> Vec<u8> {
        let name = self.item.icon_name().await.expect("the icon has a picture");
        std::fs::read(name).expect("the picture is a file")
    }
}

fn line((id, properties, _): Layout) -> Line {
    let text =
        |name: &str| properties.get(name).and_then(|value| <&str>::try_from(value).ok()).unwrap_or_default();
    let number = |name: &str| properties.get(name).and_then(|value| i32::try_from(value).ok());
    let rule = text("type") == "separator";
    // GTK writes an access key as `_` and an underscore as `__`.
    let label = text("label").replace("__", "\u{0}").replace('_', "").replace('\u{0}', "_");
    Line {
        id,
        label: if rule { String::new() } else { label },
        enabled: properties.get("enabled").and_then(|value| bool::try_from(value).ok()).unwrap_or(true),
        ticked: (text("toggle-type") == "checkmark").then(|| number("toggle-state") == Some(1)),
    }
}
