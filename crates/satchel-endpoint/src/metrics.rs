//! The report and the snapshot in the Prometheus text format 0.0.4
//! (prometheus.io/docs/instrumenting/exposition_formats).

use std::fmt::Write;

use satchel_core::model::{
    Snapshot, ToolPath,
    ledger::{Report, ReportLine},
};

/// All metrics as text. `report` is grouped by tool.
pub(crate) fn text(report: &Report, snapshot: &Snapshot) -> String {
    let mut text = Text::default();
    let tools: Vec<(String, &ReportLine)> =
        report.lines.iter().map(|line| (labels(&line.name), line)).collect();
    let per_tool = |of: fn(&ReportLine) -> u64| {
        tools.iter().map(move |(labels, line)| (labels.clone(), of(line) as f64))
    };
    text.counter(
        "satchel_calls_total",
        "Calls of servers' tools and resources.",
        per_tool(|line| line.totals.calls),
    );
    text.counter(
        "satchel_call_failures_total",
        "Calls that failed or were refused.",
        per_tool(|line| line.totals.failures),
    );
    text.counter(
        "satchel_searches_total",
        "Requests that the hub answered itself.",
        per_tool(|line| line.totals.searches),
    );
    let tokens = "Tokens of calls as clients wrote them.";
    text.counter("satchel_request_tokens_total", tokens, per_tool(|line| line.totals.request_tokens));
    text.counter(
        "satchel_result_tokens_total",
        "Tokens of results.",
        per_tool(|line| line.totals.result_tokens),
    );
    let took = &report.totals.took;
    let parts = [
        ("wait", took.wait_ms),
        ("start", took.start_ms),
        ("upstream", took.upstream_ms),
        ("hub", took.ours_ms),
    ];
    let parts = parts.map(|(part, ms)| (label("part", part), ms / 1000.0));
    text.counter("satchel_call_seconds_total", "Duration of calls, by phase.", parts);
    let savings = &report.savings;
    let one = |value: i64| [(String::new(), value as f64)];
    text.gauge("satchel_sessions", "Sessions in the ledger.", [(String::new(), savings.sessions as f64)]);
    text.gauge(
        "satchel_tokens_without",
        "Tokens of the tool lists that clients would have received without the hub.",
        one(savings.without),
    );
    let spent = &savings.spent;
    let spent = [
        ("definitions", spent.definitions),
        ("find", spent.find),
        ("describe", spent.describe),
        ("wrapping", spent.wrapping),
    ];
    let spent = spent.map(|(part, tokens)| (label("part", part), tokens as f64));
    text.gauge("satchel_tokens_with", "Tokens of the hub's own definitions and answers.", spent);
    text.gauge("satchel_tokens_net", "Tokens saved; negative if the hub cost more.", one(savings.net));
    let up = snapshot.servers.iter().map(|server| {
        let labels = format!("{{server=\"{}\",state=\"{}\"}}", escaped(&server.name), server.state.name());
        (labels, 1.0)
    });
    text.gauge("satchel_server_state", "The state each server is in.", up);
    let memory = snapshot
        .servers
        .iter()
        .filter_map(|server| Some((label("server", &server.name), server.usage.memory_bytes? as f64)));
    text.gauge("satchel_server_memory_bytes", "Resident memory of each server's processes.", memory);
    let avoided = &snapshot.avoided;
    text.gauge(
        "satchel_processes_avoided",
        "Processes that sharing avoids.",
        [(String::new(), avoided.processes as f64)],
    );
    let bytes = [(String::new(), avoided.memory_bytes as f64)];
    text.gauge("satchel_memory_avoided_bytes", "Memory that sharing avoids.", bytes);
    let sharing = &report.sharing;
    let seconds = sharing.measured_hours * 3600.0;
    text.counter(
        "satchel_process_seconds_avoided_total",
        "Process-seconds that sharing avoided.",
        [(String::new(), (sharing.processes * seconds).round())],
    );
    text.counter(
        "satchel_memory_byte_seconds_avoided_total",
        "Byte-seconds of memory that sharing avoided.",
        [(String::new(), (sharing.memory_bytes as f64 * seconds).round())],
    );
    text.0
}

#[derive(Default)]
struct Text(String);

impl Text {
    fn counter(&mut self, name: &str, help: &str, values: impl IntoIterator<Item = (String, f64)>) {
        self.metric("counter", name, help, values);
    }

    fn gauge(&mut self, name: &str, help: &str, values: impl IntoIterator<Item = (String, f64)>) {
        self.metric("gauge", name, help, values);
    }

    fn metric(
        &mut self,
        kind: &str,
        name: &str,
        help: &str,
        values: impl IntoIterator<Item = (String, f64)>,
    ) {
        // Writing to a string never fails.
        let _ = writeln!(self.0, "# HELP {name} {help}\n# TYPE {name} {kind}");
        for (labels, value) in values {
            let _ = writeln!(self.0, "{name}{labels} {value}");
        }
    }
}

fn labels(path: &str) -> String {
    let parsed = path.parse::<ToolPath>().ok();
    let (server, tool) =
        parsed.as_ref().map_or(("", path), |parsed| (parsed.server.as_str(), parsed.tool.as_str()));
    format!("{{server=\"{}\",tool=\"{}\"}}", escaped(server), escaped(tool))
}

fn label(name: &str, value: &str) -> String {
    format!("{{{name}=\"{}\"}}", escaped(value))
}

fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use satchel_core::model::ledger::Totals;

    #[test]
    fn a_metric_has_help_type_and_one_line_a_value() {
        let totals = Totals { calls: 3, ..Totals::default() };
        let line = ReportLine { name: "git:\"log\"".into(), totals, ..ReportLine::default() };
        let report = Report { lines: vec![line], ..Report::default() };
        let text = text(&report, &Snapshot::default());
        let expected = "\
# HELP satchel_calls_total Calls of servers' tools and resources.
# TYPE satchel_calls_total counter
satchel_calls_total{server=\"git\",tool=\"\\\"log\\\"\"} 3
";
        assert!(text.starts_with(expected), "{text}");
        assert!(text.contains("satchel_tokens_net 0\n"), "{text}");
    }
}
