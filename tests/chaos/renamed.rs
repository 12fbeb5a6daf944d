//! S13: while somebody makes a file a link, a pipe or a device and back, as fast as they can, nothing of ours is written
//! to where it leads, and nobody waits. What is ours is nobody else's, whatever umask we are started with.

use std::{
    fs,
    os::unix::fs::{PermissionsExt, symlink},
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
};

use satchel_core::{
    clients::{connect, document::read_bytes},
    files::Access,
    registry::bundle,
    upstream::log::ServerLog,
};
use satchel_tests::repository;
use serde_json::json;
use tokio::process::Command;

use crate::{
    arena::{Arena, Chaos, known},
    measured, sized,
};

/// A directory that is exchanged together with its file, and one that nothing may get into.
struct Race {
    within: PathBuf,
    outside: PathBuf,
    swaps: Arc<AtomicUsize>,
    over: Arc<AtomicBool>,
    swapper: std::thread::JoinHandle<()>,
}

const OURS: &[u8] = b"{\"mcpServers\": {}}";
const THEIRS: &[u8] = b"{\"theirs\": 1}";

impl Race {
    /// Begins to exchange `file` for `instead`, and, if `directory` is set, the directory around it for the one
    /// outside.
    fn begin(
        arena: &Arena,
        file: &str,
        instead: impl Fn(&Path, &Path) + Send + 'static,
        directory: bool,
    ) -> Self {
        let (within, outside) = (arena.home.file("within"), arena.home.file("outside"));
        for place in [&within, &outside] {
            fs::create_dir(place).expect("the home can be written to");
        }
        fs::write(within.join(file), OURS).expect("the home can be written to");
        fs::write(outside.join(file), THEIRS).expect("the home can be written to");
        let (swaps, over) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicBool::new(false)));
        let (counted, ended) = (swaps.clone(), over.clone());
        let (path, aside) = (within.join(file), within.join("aside"));
        let (victim, room, room_aside) = (outside.join(file), within.clone(), within.with_extension("aside"));
        let beyond = outside.clone();
        let most = sized(10_000, 100_000);
        let swapper = std::thread::spawn(move || {
            while counted.fetch_add(1, Ordering::Relaxed) < most {
                let _ = fs::rename(&path, &aside);
                instead(&path, &victim);
                (0..500).for_each(|_| std::hint::spin_loop());
                let _ = fs::remove_file(&path);
                let _ = fs::rename(&aside, &path);
                // Time for somebody to find the original.
                (0..4_000).for_each(|_| std::hint::spin_loop());
                if directory && fs::rename(&room, &room_aside).is_ok() {
                    let _ = symlink(&beyond, &room);
                    (0..500).for_each(|_| std::hint::spin_loop());
                    let _ = fs::remove_file(&room);
                    let _ = fs::rename(&room_aside, &room);
                }
            }
            ended.store(true, Ordering::Release);
        });
        Self { within, outside, swaps, over, swapper }
    }

    /// Repeats this while the exchange runs; returns how often it succeeded.
    fn meanwhile(&self, mut work: impl FnMut(usize) -> bool) -> (usize, usize) {
        let (mut done, mut tried) = (0, 0);
        while !self.over.load(Ordering::Acquire) {
            done += usize::from(work(tried));
            tried += 1;
        }
        (done, tried)
    }

    /// How often something escaped.
    fn escapes(self) -> usize {
        self.swapper.join().expect("it exchanges to the end");
        assert!(self.swaps.load(Ordering::Relaxed) >= 10_000);
        let there = fs::read_dir(&self.outside).expect("it is there").flatten();
        let strange = there.filter(|entry| fs::read(entry.path()).ok().as_deref() != Some(THEIRS));
        strange.count()
    }
}

fn link(path: &Path, victim: &Path) {
    let _ = symlink(victim, path);
}

#[tokio::test]
async fn no_write_follows_a_link_created_meanwhile() {
    for directory in [false, true] {
        let arena = Arena::new().await;
        let race = Race::begin(&arena, "mcp.json", link, directory);
        let path = race.within.join("mcp.json");
        let other = b"{\"mcpServers\": {\"ours\": 1}}";
        let (done, tried) = race.meanwhile(|_| {
            let there = connect::write(&path, Some(OURS), other, Access::Kept).is_ok();
            let _ = connect::write(&path, Some(other), OURS, Access::Kept);
            there
        });
        let escapes = race.escapes();
        measured!(
            "a client's file, directory too {directory}: {tried} tries, {done} written, {escapes} escapes"
        );
        assert!(done > 0 && escapes == 0, "{done} of {tried}, {escapes} escapes");
    }
    let arena = Arena::new().await;
    let race = Race::begin(&arena, "x.log", link, false);
    let path = race.within.join("x.log");
    let (done, tried) = race.meanwhile(|_| {
        ServerLog::at(&path).stderr("a line");
        fs::read(&path).is_ok_and(|text| text.ends_with(b"a line\n"))
    });
    let escapes = race.escapes();
    measured!("a server's log: {tried} lines, {done} seen, {escapes} escapes");
    assert!(done > 0 && escapes == 0, "{done} of {tried}, {escapes} escapes");

    let arena = Arena::new().await;
    let race = Race::begin(&arena, "unpacked", link, false);
    let bytes =
        fs::read(repository().join("tests/clients/mcpb/bundles/good-node.mcpb")).expect("it is there");
    let target = race.within.join("unpacked");
    let (done, tried) = race.meanwhile(|number| {
        let _ = bundle::unpack(&bytes, &target);
        bundle::unpack(&bytes, &target.with_extension(number.to_string())).is_ok()
    });
    let escapes = race.escapes();
    measured!("bundles: {tried} unpacked, {done} whole, {escapes} escapes");
    assert!(done > 0 && escapes == 0, "{done} of {tried}, {escapes} escapes");
}

#[tokio::test]
async fn a_file_that_becomes_a_pipe_or_a_device_blocks_nothing() {
    let arena = Arena::new().await;
    let (number, pipe) = (AtomicUsize::new(0), arena.home.file("pipe"));
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(made.is_ok_and(|made| made.success()), "mkfifo runs");
    let odd = move |path: &Path, _: &Path| match number.fetch_add(1, Ordering::Relaxed) % 3 {
        0 => drop(symlink("/dev/zero", path)),
        1 => drop(symlink(&pipe, path)),
        _ => drop(fs::hard_link(&pipe, path)),
    };
    let race = Race::begin(&arena, "mcp.json", odd, false);
    let path = race.within.join("mcp.json");
    let (mut refused, over) = (0, race.over.clone());
    let reading = tokio::task::spawn_blocking(move || {
        let mut read = 0;
        while !over.load(Ordering::Acquire) {
            match read_bytes(&path) {
                Ok(Some(bytes)) => {
                    assert_eq!(bytes, OURS);
                    read += 1;
                }
                Ok(None) => {}
                Err(_) => refused += 1,
            }
        }
        (read, refused)
    });
    let read = tokio::time::timeout(std::time::Duration::from_secs(300), reading).await;
    let (read, refused) = read.expect("it never waits").expect("no panic");
    measured!("read {read} times, refused {refused} times");
    assert!(read > 0 && refused > 0);
    assert_eq!(race.escapes(), 0);
}

#[tokio::test]
async fn planted_a_check_before_a_write_by_path_is_escaped() {
    let arena = Arena::new().await;
    let race = Race::begin(&arena, "mcp.json", link, true);
    let path = race.within.join("mcp.json");
    race.meanwhile(|_| {
        let known = fs::read(&path).is_ok_and(|bytes| bytes == OURS);
        std::thread::yield_now();
        known && fs::write(&path, OURS).is_ok()
    });
    assert!(race.escapes() > 0, "it got out");
}

/// Everything of ours that others may read or write.
fn open_to_others(place: &Path, found: &mut Vec<String>) {
    for entry in fs::read_dir(place).expect("it can be listed").flatten() {
        let about = entry.metadata().expect("it is there");
        let mode = about.permissions().mode() & 0o777;
        if mode & 0o077 != 0 && !about.is_symlink() {
            found.push(format!("{mode:o} {}", entry.path().display()));
        }
        if about.is_dir() {
            open_to_others(&entry.path(), found);
        }
    }
}

#[tokio::test]
async fn our_files_are_private_under_any_umask() {
    let mut arena = Arena::new().await;
    arena.add("one", Chaos::new());
    let satchel = satchel_tests::program("satchel");
    let open = |words: &str| format!("umask 000; exec {} {words}", satchel.display());
    // A file that a person created keeps its permissions; here we create it.
    let home = &arena.home;
    home.command("sh").args(["-c", &open("list")]).output().await.expect("sh runs");
    let entry = Chaos::new().entry(&arena.run);
    let pasted = json!({ "mcpServers": { "one": entry } }).to_string();
    home.satchel(&["import", &pasted, "--set", "accept.one=yes"]).await.succeeded();
    let hub =
        arena.launch(Path::new("sh"), &["-c", &open("serve --port 0 --json --trust-config")], |_| {}).await;
    known(home, &["one".to_owned()]).await;
    fs::create_dir(home.file(".cursor")).expect("the home can be written to");
    for words in [
        &["connect", "cursor"][..],
        &["call", "one:echo", "{\"text\": \"x\"}"],
        &[
            "import",
            repository().join("tests/clients/mcpb/bundles/good-node.mcpb").to_str().expect("it is plain"),
            "--set",
            "folders=/tmp",
            "--set",
            "write=false",
        ],
    ] {
        let mut command: Command = home.command("sh");
        command.args(["-c", "umask 000; exec \"$@\"", "sh"]).arg(&satchel).args(words);
        let ran = command.output().await.expect("sh runs");
        assert!(ran.status.success(), "{words:?}: {ran:?}");
    }
    home.satchel_reading(&["secrets", "use-file"], "correct horse\n").await.succeeded();
    let mut found = Vec::new();
    for place in ["data", "logs"] {
        open_to_others(&home.file(place), &mut found);
    }
    let config = fs::metadata(home.file("config.json")).expect("it is there").permissions().mode() & 0o777;
    let entry =
        fs::metadata(home.file(".cursor/mcp.json")).expect("it is there").permissions().mode() & 0o777;
    measured!("open to others: {}; configuration {config:o}, a client's new file {entry:o}", found.len());
    assert_eq!((found, config, entry), (vec![], 0o600, 0o600));
    let looked = home.files().len();
    assert!(looked > 10, "{looked} files");
    drop(hub);
}
