//! What a sign-in costs a call: the same server once with a header of the user's own and once signed in to, in turns, so that
//! both meet the same computer. Figures for people; nothing is judged.

use satchel_tests::{Home, protected};
use serde_json::json;
use tokio::time::Instant;

use super::{millis, report};

const CALLS: usize = 1_000;

/// Prints both, and what a sign-in adds to a call.
pub(super) async fn overhead() {
    let home = Home::empty();
    let server = protected(&home, "plain").await;
    let signed = json!({ "url": server.url() });
    home.write_config(&json!({ "mcpServers": { "signed": signed } }));
    let hub = home.start_hub().await;
    home.satchel_reading(&["secrets", "use-file"], "correct horse\n").await.succeeded();
    home.sign_in("signed").await;
    let client = hub.client("bench").await;
    client.execute("signed:echo", json!({ "text": "x" })).await.text();
    let log = server.log().await;
    let token =
        log.iter().rev().find_map(|event| event["auth"].as_str().filter(|auth| auth.starts_with("Bearer ")));
    let header = token.expect("the server was called with a token");
    let fixed = json!({ "url": server.url(), "headers": { "Authorization": header } });
    home.write_config(&json!({ "mcpServers": { "signed": signed, "fixed": fixed } }));
    hub.terminate().await;
    let hub = home.start_hub().await;
    home.satchel_reading(&["secrets", "unlock"], "correct horse\n").await.succeeded();
    let client = hub.client("bench").await;
    for tool in ["fixed:echo", "signed:echo"] {
        client.execute(tool, json!({ "text": "x" })).await.text();
    }
    let (mut times, mut differences) = ([vec![], vec![]], vec![]);
    for at in 0..CALLS {
        let mut pair = [0.0; 2];
        // Alternates which one goes first.
        for which in if at % 2 == 0 { [0, 1] } else { [1, 0] } {
            let start = Instant::now();
            client.execute(["fixed:echo", "signed:echo"][which], json!({ "text": "x" })).await.text();
            let spent = start.elapsed();
            pair[which] = millis(spent);
            times[which].push(spent);
        }
        differences.push(pair[1] - pair[0]);
    }
    let [fixed, signed] = times;
    let median = |times: &[std::time::Duration]| {
        let mut times = times.to_vec();
        times.sort();
        millis(times[times.len() / 2])
    };
    println!("signed in, beside a header     {:>9.3} times the median", median(&signed) / median(&fixed));
    differences.sort_by(f64::total_cmp);
    println!("a sign-in costs a call         {:>9.3} ms median of pairs", differences[differences.len() / 2]);
    report("hosted, own header", fixed);
    report("hosted, signed in", signed);
}
