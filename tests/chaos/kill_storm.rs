//! Servers are killed under load: no call is lost, doubled or told wrongly, and afterwards everything works.

use std::{sync::Arc, time::Duration};

use satchel_tests::{Client, Hub};

use crate::{
    arena::{Arena, Chaos, Ledger, known},
    journal::{Journal, Outcome},
    measured,
    processes::{self, Signal},
    random, sized,
    storm::{Killer, Storm},
};

const SERVERS: usize = 8;
const CALLERS: usize = 32;

/// Calls a hub with servers in these modes while they are killed; returns the judged journal, and a way to continue.
struct Blown<'a> {
    hub: Hub<'a>,
    clients: Vec<Client>,
    servers: Vec<String>,
    ledger: Ledger,
}

async fn blow<'a>(
    arena: &'a mut Arena,
    modes: &[&str],
    pause: Duration,
    signals: &'static [Signal],
    calls: usize,
) -> Blown<'a> {
    let ledger = arena.ledger("servers");
    let servers: Vec<String> = (0..SERVERS).map(|at| format!("s{at}")).collect();
    let mut listed = Vec::new();
    for (at, name) in servers.iter().enumerate() {
        let mode = modes[at % modes.len()];
        arena.add(name, Chaos::mode(mode).writing(&ledger));
        // Beside enough load, one that dies soon never gets to tell its lists.
        if mode != "random_death" {
            listed.push(name.clone());
        }
    }
    let hub = arena.open().await;
    known(&arena.home, &listed).await;
    let client = hub.client("storm").await;
    let clients: Vec<Client> = (0..CALLERS).map(|_| client.clone()).collect();
    let (seed, generator) = random();
    let journal = Arc::new(Journal::new(arena.home.file("callers.jsonl")));
    let killer = Killer::start(&arena.run, pause, signals, generator);
    let (callers, targets) = (clients.clone(), servers.clone());
    let storm = Storm { clients: callers, servers: targets, calls, a_second: 100, prefix: "storm" };
    let reasons = storm.blow(&journal).await;
    let kills = killer.end().await;
    let verdict = journal.judge(&ledger).await;
    measured!(
        "kill storm of {modes:?}: seed {seed}, {calls} calls, {kills} kills, {:?}, {reasons:?}",
        verdict.outcomes
    );
    assert!(kills > calls / 100, "hardly any server was killed: {kills}");
    verdict.clean(calls);
    assert_eq!(processes::zombies_of(hub.pid), [], "the hub waits for its children");
    Blown { hub, clients, servers, ledger }
}

/// R1, kill storm: lost 0, duplicated 0, misreported 0, processes left 0; 95 of 100 calls work once it is calm.
#[tokio::test]
async fn no_call_is_lost_doubled_or_misreported_while_servers_are_killed() {
    let mut arena = Arena::new().await;
    let often = Duration::from_millis(200);
    let storm = blow(&mut arena, &["normal"], often, &[Signal::KILL], sized(2_000, 10_000)).await;

    // Right after the last kill: the servers recover by themselves.
    let seconds = sized(8, 60);
    let calm = Arc::new(Journal::new(storm.ledger.path().with_file_name("calm.jsonl")));
    let (clients, servers) = (storm.clients, storm.servers);
    let storm_after = Storm { clients, servers, calls: seconds * 20, a_second: 20, prefix: "calm" };
    let reasons = storm_after.blow(&calm).await;
    let verdict = calm.judge(&storm.ledger).await;
    measured!("kill storm: {seconds} calm seconds after it, {:?}, {reasons:?}", verdict.outcomes);
    assert!(
        verdict.count(Outcome::Result) * 100 >= verdict.issued * 95,
        "at least 95 of 100 calls work in the calm after the storm: {:?}",
        verdict.outcomes
    );
    assert_eq!(storm.hub.terminate().await, Some(0));
    arena.gone("the hub ended", Arena::everything).await;
}

/// R1b: the same with servers that are suspended, asked to exit, and exit by themselves.
#[tokio::test]
async fn nor_while_they_are_also_stopped_and_die_by_themselves() {
    let mut arena = Arena::new().await;
    let modes = ["normal", "random_death", "exit_mid_call", "normal", "jitter"];
    let signals = &[Signal::KILL, Signal::TERM, Signal::STOP];
    let storm = blow(&mut arena, &modes, Duration::from_millis(50), signals, sized(200, 10_000)).await;
    assert_eq!(storm.hub.terminate().await, Some(0));
    arena.gone("the hub ended", Arena::everything).await;
}
