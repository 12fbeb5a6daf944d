//! The real window, driven through WebDriver by WebKit's own driver.

use std::{net::TcpListener, path::Path, time::Duration};

use fantoccini::{ClientBuilder, Locator, elements::Element, error::CmdError, key::Key};
use hyper_util::client::legacy::connect::HttpConnector;
use satchel_tests::{eventually, process};
use serde_json::{Value, json};
use tokio::{net::TcpStream, process::Child, sync::Mutex, time::timeout};

use crate::{app::satchel_app, desktop::Desktop};

/// Held while a driver starts an app: two drivers that choose a free port for their apps at once may choose the same, and then
/// both drive the app that opened it first, for ever.
static STARTING: Mutex<()> = Mutex::const_new(());

/// Maximum time until a window can be driven: drivers wait without end.
const OPENING: Duration = Duration::from_secs(120);

/// What WebKit says in an app that cannot be driven, because another program took the port that the driver chose for it.
const PORT_TAKEN: &str = "Failed to start remote inspector server";

/// The window's page. The driver starts the app under it and ends it.
pub(crate) struct Page {
    driver: fantoccini::Client,
    process: Child,
}

impl Desktop {
    /// Starts the app with a drivable window, and waits until it serves.
    pub(crate) async fn open_window(&self, arguments: &[&str]) -> Page {
        let page = self.open_page(&[&["--port", "0", "--trust-config"], arguments].concat()).await;
        self.serves().await;
        page
    }

    /// The same, for a user who has never started it.
    pub(crate) async fn open_first(&self, arguments: &[&str]) -> Page {
        let app = satchel_app().canonicalize().expect("the app is built");
        let page = self.drive(&app, &[&["--port", "0", "--trust-config"], arguments].concat()).await;
        self.serves().await;
        page
    }

    /// Starts the app with a drivable window, for a user who has completed the first minute.
    pub(crate) async fn open_page(&self, arguments: &[&str]) -> Page {
        let app = satchel_app().canonicalize().expect("the app is built");
        let page = self.drive(&app, arguments).await;
        // In one step: the first minute opens with the hub, or never.
        let been = "localStorage.setItem('first-minute', 'closed'); \
                    if (location.hash.startsWith('#/welcome')) location.hash = '#/servers';";
        eventually("the page of the window is there", async || page.driver.execute(been, vec![]).await.ok())
            .await;
        page
    }

    async fn drive(&self, program: &Path, arguments: &[&str]) -> Page {
        let capabilities = json!({ "webkitgtk:browserOptions": { "binary": program, "args": arguments } });
        let capabilities = capabilities.as_object().expect("capabilities are an object").clone();
        let mut builder = ClientBuilder::new(HttpConnector::new());
        builder.capabilities(capabilities);
        loop {
            let (mut process, port) = self.driver().await;
            let address = format!("http://127.0.0.1:{port}");
            let _alone = STARTING.lock().await;
            let before = self.ports_taken();
            tokio::select! {
                opened = timeout(OPENING, builder.connect(&address)) => match opened {
                    Ok(Ok(driver)) => return Page { driver, process },
                    Ok(Err(error)) => panic!("no session: {error}; the app said: {}", self.said()),
                    Err(_) => panic!("no session in time; the app said: {}", self.said()),
                },
                () = eventually("the app's port is taken", async || (self.ports_taken() > before).then_some(())) => {
                    for started in process.id().map(process::descendants).unwrap_or_default() {
                        process::signal(started.pid, process::Signal::KILL);
                    }
                    process.kill().await.expect("a driver can be ended");
                }
            }
        }
    }

    fn ports_taken(&self) -> usize {
        self.said().matches(PORT_TAKEN).count()
    }

    /// The driver cannot choose a free port itself, and another program may take ours first: then try again.
    async fn driver(&self) -> (Child, u16) {
        loop {
            let free = TcpListener::bind("127.0.0.1:0").expect("a port is free");
            let port = free.local_addr().expect("a listener has an address").port();
            drop(free);
            let mut driver = self.command("WebKitWebDriver");
            driver.args([&format!("--port={port}"), "--host=127.0.0.1"]);
            driver.stdout(self.output()).stderr(self.output());
            driver.env("TAURI_WEBVIEW_AUTOMATION", "true");
            let mut driver = driver.spawn().expect("webkit2gtk-driver is installed");
            let listens = eventually("the driver listens or has ended", async || {
                if driver.try_wait().expect("a child can be looked at").is_some() {
                    return Some(false);
                }
                TcpStream::connect(("127.0.0.1", port)).await.ok().map(|_| true)
            });
            if listens.await {
                return (driver, port);
            }
        }
    }
}

impl Page {
    /// Waits for an element.
    pub(crate) async fn find(&self, css: &str) -> Element {
        eventually(&format!("{css} is in the window"), async || {
            self.driver.find(Locator::Css(css)).await.ok()
        })
        .await
    }

    /// Waits until the element contains this text, visible or for a screen reader.
    pub(crate) async fn says(&self, css: &str, words: &str) {
        let script =
            "return [...document.querySelectorAll(arguments[0])].map((found) => found.innerText).join('\\n')";
        let mut last = Value::Null;
        eventually(&format!("{css} says {words:?}"), async || {
            let said = self.driver.execute(script, vec![css.into()]).await.ok()?;
            if said != last {
                // The test harness shows this only if the test fails.
                eprintln!("{css} says {said}");
            }
            last = said;
            last.as_str()?.contains(words).then_some(())
        })
        .await;
    }

    /// Waits until an attribute has this value.
    pub(crate) async fn has(&self, css: &str, attribute: &str, value: &str) {
        eventually(&format!("{css} has {attribute}={value:?}"), async || {
            let found = self.driver.find(Locator::Css(css)).await.ok()?.attr(attribute).await.ok()?;
            (found.as_deref() == Some(value)).then_some(())
        })
        .await;
    }

    /// Says yes where a person is asked: reads what it is about to its end, then clicks.
    pub(crate) async fn agree(&self, consent: &str) {
        let end = format!("{consent} [data-end]");
        self.find(&end).await;
        let look = format!("document.querySelector(\"{end}\").scrollIntoView({{ block: 'end' }})");
        self.run(&look).await;
        self.click(&format!("{consent} [data-yes]")).await;
    }

    /// Clicks the element once it exists, is stable and enabled; repeats if the click went elsewhere because the
    /// layout changed meanwhile.
    pub(crate) async fn click(&self, css: &str) {
        let find = "const [wanted] = arguments; \
                    const found = document.querySelector(wanted); \
                    if (!found || found.matches(':disabled, [aria-disabled=true]')) return null; \
                    if (!window.aimed) document.addEventListener('click', ({ target }) => { \
                        window.aimed.hit ||= Boolean(target.closest(window.aimed.wanted)); \
                    }, true); \
                    window.aimed = { wanted, hit: false }; \
                    const { x, y, width, height } = found.getBoundingClientRect(); \
                    return [x, y, width, height];";
        eventually(&format!("{css} can be clicked"), async || {
            let place = self.driver.execute(find, vec![css.into()]).await.ok()?;
            self.settled().await;
            let unmoved = self.driver.execute(find, vec![css.into()]).await.ok()? == place;
            if place.is_null() || !unmoved {
                return None;
            }
            // The driver waits for ever if the page closes during a click.
            let limit = Duration::from_secs(20);
            let click = async { self.driver.find(Locator::Css(css)).await?.click().await };
            let _ = timeout(limit, click).await;
            let hit = self.driver.execute("return window.aimed.hit", vec![]);
            match timeout(limit, hit).await {
                Ok(Ok(hit)) => (hit == true).then_some(()),
                Ok(Err(_)) | Err(_) => Some(()),
            }
        })
        .await;
    }

    /// Types into the element.
    pub(crate) async fn write(&self, css: &str, text: &str) {
        self.find(css).await.send_keys(text).await.expect("the field takes text");
    }

    /// Presses a key wherever the focus is.
    pub(crate) async fn press(&self, key: Key) {
        let active = self.driver.active_element().await.expect("something has the focus");
        active.send_keys(&char::from(key).to_string()).await.expect("it takes a key");
    }

    /// Types wherever the focus is.
    pub(crate) async fn type_here(&self, text: &str) {
        let active = self.driver.active_element().await.expect("something has the focus");
        active.send_keys(text).await.expect("it takes text");
    }

    /// Presses Tab until the focused element contains this text.
    pub(crate) async fn tab_to(&self, words: &str) {
        let script = "const at = document.activeElement; \
                      if (!at.matches('a, button, input, textarea, summary, [role]')) return ''; \
                      return (at.getAttribute('aria-label') ?? '') + ' ' + (at.labels?.[0] ?? at.closest('label') ?? at).innerText";
        let mut said = Vec::new();
        for _ in 0..60 {
            let here = self.run(script).await.as_str().unwrap_or_default().to_owned();
            if here.contains(words) {
                return;
            }
            said.push(here);
            self.press(Key::Tab).await;
        }
        panic!("the Tab key does not come to {words:?}: {said:#?}");
    }

    /// Pastes the clipboard into a field, and returns the field's value.
    pub(crate) async fn paste(&self, css: &str) -> String {
        let keys = format!("{}v", char::from(Key::Control));
        self.write(css, &keys).await;
        let read = async || {
            let value = self.driver.find(Locator::Css(css)).await.ok()?.prop("value").await.ok()??;
            (!value.is_empty()).then_some(value)
        };
        eventually("something was pasted", read).await
    }

    /// Switches to the prompt window, once there is one.
    pub(crate) async fn to_questions(&self) {
        self.to_window("a window of questions", |place| place == Some("/ask")).await;
    }

    /// Switches to the window of a server's own page, once there is one.
    pub(crate) async fn to_own_page(&self) {
        self.to_window("a window of a page", |place| place == Some("/page")).await;
    }

    /// Switches to the main window.
    pub(crate) async fn to_main(&self) {
        self.to_window("the main window", |place| !matches!(place, Some("/ask" | "/page"))).await;
    }

    async fn to_window(&self, what: &str, is_at: impl Fn(Option<&str>) -> bool) {
        eventually(&format!("there is {what}"), async || {
            for window in self.driver.windows().await.ok()? {
                // A page that never ends answers nothing.
                let here = async {
                    self.driver.switch_to_window(window).await?;
                    self.driver.current_url().await
                };
                if let Ok(Ok(url)) = timeout(Duration::from_secs(10), here).await
                    && is_at(url.fragment())
                {
                    return Some(());
                }
            }
            None
        })
        .await;
    }

    /// Switches back to the remaining window after the prompt window has closed.
    pub(crate) async fn to_first_and_only(&self) {
        eventually("the window of questions has gone", async || {
            let windows = self.driver.windows().await.ok()?;
            let [window] = windows.as_slice() else { return None };
            self.driver.switch_to_window(window.clone()).await.ok()
        })
        .await;
    }

    /// Waits until the page has been drawn twice.
    pub(crate) async fn settled(&self) {
        let script = "const done = arguments[0]; setTimeout(() => requestAnimationFrame(() => requestAnimationFrame(() => done())), 120)";
        // A page that is not drawn never calls back; then there is nothing to wait for.
        let drawn = self.driver.execute_async(script, vec![]);
        let _ = tokio::time::timeout(Duration::from_secs(10), drawn).await;
    }

    /// Runs a script in the page.
    pub(crate) async fn run(&self, script: &str) -> Value {
        self.driver.execute(script, vec![]).await.expect("the script runs")
    }

    /// Runs what gives a promise in the page, and returns what came of it.
    pub(crate) async fn run_until_done(&self, promise: &str) -> Value {
        let script =
            format!("const done = arguments[0]; {promise}.then(done, (error) => done(String(error)))");
        self.driver.execute_async(&script, vec![]).await.expect("the script runs")
    }

    /// Goes on within a frame.
    pub(crate) async fn enter_frame_at(&self, css: &str) {
        self.find(css).await.enter_frame().await.expect("the frame is there");
    }

    /// Goes back to the window around a frame.
    pub(crate) async fn out_of_frame(&self) {
        self.driver.enter_parent_frame().await.expect("a frame has a window around it");
    }

    /// Sends the app a command, as a script in the page could. `Err` is its refusal.
    pub(crate) async fn invoke(&self, command: &str, arguments: Value) -> Result<Value, Value> {
        let script = "const [command, args, done] = arguments; \
                      window.__TAURI_INTERNALS__.invoke(command, args).then((ok) => done({ ok }), (error) => done({ error }));";
        let asked = self.driver.execute_async(script, vec![command.into(), arguments]);
        let said = asked.await.expect("the app answers");
        said.get("error").map_or_else(|| Ok(said["ok"].clone()), |error| Err(error.clone()))
    }

    /// The processes of pages of the app that the driver started.
    pub(crate) fn page_processes(&self) -> Vec<u32> {
        let all = self.process.id().map(process::descendants).unwrap_or_default();
        all.into_iter().filter(|one| one.command.contains("WebKitWebProcess")).map(|one| one.pid).collect()
    }

    /// Is the page still there?
    pub(crate) async fn is_open(&self) -> bool {
        let title: Result<String, CmdError> = self.driver.title().await;
        title.is_ok()
    }

    /// Ends the session and with it the app's window.
    pub(crate) async fn close(self) {
        // The app may have exited already, and the session with it.
        let _ = tokio::time::timeout(Duration::from_secs(20), self.driver.close()).await;
    }
}

/// The switch of a server in the list.
pub(crate) fn switch(server: &str) -> String {
    format!("[data-server=\"{server}\"] [role=switch]")
}
