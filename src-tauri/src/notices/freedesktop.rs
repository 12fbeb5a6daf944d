//! Notifications of Linux desktops, and clicks on them, over the session bus. Other crates for this listen for
//! clicks only once a notification is shown, and miss the one that comes before.
//!
//! The protocol is <https://specifications.freedesktop.org/notification-spec/latest/>.

use std::collections::HashMap;

use futures_util::StreamExt;
use zbus::{Connection, zvariant::Value};

/// Names a click on the notification itself rather than on one of its buttons.
const DEFAULT: &str = "default";
/// The desktop decides how long a notification is shown.
const ITS_TIME: i32 = -1;

#[zbus::proxy(
    interface = "org.freedesktop.Notifications",
    default_service = "org.freedesktop.Notifications",
    default_path = "/org/freedesktop/Notifications"
)]
trait Notifications {
    #[expect(clippy::too_many_arguments, reason = "the protocol has them")]
    fn notify(
        &self,
        app_name: &str,
        replaces_id: u32,
        app_icon: &str,
        summary: &str,
        body: &str,
        actions: &[&str],
        hints: HashMap<&str, Value<'_>>,
        expire_timeout: i32,
    ) -> zbus::Result<u32>;

    fn close_notification(&self, id: u32) -> zbus::Result<()>;

    #[zbus(signal)]
    fn action_invoked(&self, id: u32, action_key: &str) -> zbus::Result<()>;

    #[zbus(signal)]
    fn notification_closed(&self, id: u32, reason: u32) -> zbus::Result<()>;
}

/// Shows a notification, waits until it is gone, and tells whether it was clicked. `open` is the label of the button
/// with which some desktops offer the click. It is withdrawn when `over` ends.
pub(super) async fn clicked(
    title: &str,
    text: &str,
    open: &str,
    over: impl Future<Output = ()>,
) -> zbus::Result<bool> {
    let bus = Connection::session().await?;
    let notifications = NotificationsProxy::new(&bus).await?;
    let mut clicks = notifications.receive_action_invoked().await?;
    let mut ends = notifications.receive_notification_closed().await?;
    let (actions, hints) = ([DEFAULT, open], HashMap::new());
    let own = notifications.notify("Satchel", 0, "satchel", title, text, &actions, hints, ITS_TIME).await?;
    let mut over = std::pin::pin!(over);
    loop {
        // A click often closes the notification, too.
        tokio::select! {
            biased;
            click = clicks.next() => {
                let Some(click) = click else { return Ok(false) };
                let click = click.args()?;
                if click.id == own {
                    return Ok(click.action_key == DEFAULT);
                }
            }
            () = &mut over => {
                // One that the desktop has closed already is no error to anybody.
                let _ = notifications.close_notification(own).await;
                return Ok(false);
            }
            end = ends.next() => {
                let Some(end) = end else { return Ok(false) };
                if end.args()?.id == own {
                    return Ok(false);
                }
            }
        }
    }
}
