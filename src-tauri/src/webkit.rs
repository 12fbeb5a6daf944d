//! What WebKit keeps in memory on Linux after the last page is gone: its process for the network, some 20 MB, which wry holds
//! for the life of the program. Other systems end it themselves.

use std::time::Duration;

use tauri::{AppHandle, Manager};

/// Ends that process after a while, if no window has a page then. WebKit starts another one for the next page.
pub(crate) async fn rest_after(app: AppHandle, pause: Duration) {
    tokio::time::sleep(pause).await;
    let own = app.clone();
    // Windows are created on that thread, so none is just being created.
    let asked = app.run_on_main_thread(move || {
        if own.webview_windows().is_empty() {
            end_network_processes();
        }
    });
    if let Err(error) = asked {
        tracing::debug!("WebKit's process for the network stays: {error}");
    }
}

#[cfg(target_os = "linux")]
fn end_network_processes() {
    use nix::{
        sys::signal::{Signal, kill},
        unistd::Pid,
    };
    for process in network_processes() {
        // An error means that it is gone already.
        let _ = kill(Pid::from_raw(process), Signal::SIGTERM);
    }
}

#[cfg(not(target_os = "linux"))]
fn end_network_processes() {}

/// Those of this program's own children that run WebKit's program for the network.
#[cfg(target_os = "linux")]
fn network_processes() -> Vec<i32> {
    let runs_it = |process: &i32| {
        let program = std::fs::read_link(format!("/proc/{process}/exe")).unwrap_or_default();
        program.file_name().is_some_and(|name| name == "WebKitNetworkProcess")
    };
    // Each thread lists the children that it started. Old kernels list none.
    let threads = std::fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    let children = threads.filter_map(|thread| std::fs::read_to_string(thread.path().join("children")).ok());
    let children: Vec<String> = children.collect();
    let numbers = children.iter().flat_map(|line| line.split_whitespace());
    numbers.filter_map(|number| number.parse().ok()).filter(runs_it).collect()
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::{os::unix::process::ExitStatusExt, process::Command};

    #[test]
    fn only_children_that_run_webkits_network_program_are_ended() {
        let place = tempfile::tempdir().unwrap();
        let program = place.path().join("WebKitNetworkProcess");
        std::fs::copy("/bin/sleep", &program).unwrap();
        let mut network = Command::new(&program).arg("60").spawn().unwrap();
        let mut other = Command::new("/bin/sleep").arg("60").spawn().unwrap();
        super::end_network_processes();
        assert_eq!(network.wait().unwrap().signal(), Some(15));
        assert!(other.try_wait().unwrap().is_none());
        other.kill().unwrap();
        other.wait().unwrap();
    }
}
