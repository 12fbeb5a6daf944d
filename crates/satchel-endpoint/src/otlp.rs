//! Exports calls as spans to a collector that the user names (`otlpEndpoint`, else `OTEL_EXPORTER_OTLP_ENDPOINT`), with
//! OTLP over HTTP. Sends nothing while neither is set.

use satchel_core::hub::Hub;
use tokio_util::{sync::CancellationToken, task::TaskTracker};

/// The standard variable with the collector's address.
const VARIABLE: &str = "OTEL_EXPORTER_OTLP_ENDPOINT";

/// Starts exporting if a collector is configured.
pub(crate) fn begin(hub: &Hub, stop: &CancellationToken, tracker: &TaskTracker) {
    let named = || std::env::var(VARIABLE).ok().filter(|named| !named.trim().is_empty());
    let Some(collector) = hub.otlp_endpoint().or_else(named) else { return };
    export(hub, &collector, stop, tracker);
}

#[cfg(not(feature = "otlp"))]
fn export(_hub: &Hub, collector: &str, _stop: &CancellationToken, _tracker: &TaskTracker) {
    tracing::warn!(
        collector,
        "traces are not exported: this program was built without the feature `otlp`; build it with `--features otlp`"
    );
}

#[cfg(feature = "otlp")]
fn export(hub: &Hub, collector: &str, stop: &CancellationToken, tracker: &TaskTracker) {
    let url = exporting::traces_url(collector);
    match exporting::exporter(&url) {
        Ok(exporter) => {
            let Some(spans) = hub.recorder().spans() else { return };
            tracing::info!(url, "exporting traces");
            tracker.spawn(exporting::run(exporter, spans, stop.clone()));
        }
        Err(error) => tracing::warn!(url, "traces are not exported: {error}"),
    }
}

#[cfg(feature = "otlp")]
mod exporting {
    use std::time::Duration;

    use opentelemetry::{
        InstrumentationScope, KeyValue,
        trace::{SpanContext, SpanId, SpanKind, Status, TraceFlags, TraceId, TraceState},
    };
    use opentelemetry_otlp::{ExporterBuildError, Protocol, SpanExporter, WithExportConfig};
    use opentelemetry_sdk::{
        Resource,
        trace::{SpanData, SpanExporter as _},
    };
    use satchel_core::stats::trace::CallSpan;
    use tokio::{sync::mpsc, time::timeout};
    use tokio_util::sync::CancellationToken;

    /// Maximum number of spans in a request.
    const BATCH: usize = 512;
    /// How long a span waits for others.
    const GATHERING: Duration = Duration::from_secs(2);
    /// Timeout of an export.
    const EXPORT_TIME: Duration = Duration::from_secs(5);

    /// The collector's address for traces: by the specification, the signal's path is appended to a base address.
    pub(super) fn traces_url(collector: &str) -> String {
        let base = collector.trim().trim_end_matches('/');
        if base.ends_with("/v1/traces") { base.to_owned() } else { format!("{base}/v1/traces") }
    }

    pub(super) fn exporter(url: &str) -> Result<SpanExporter, ExporterBuildError> {
        // Fails if one is installed already, which is fine.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let exporter = SpanExporter::builder().with_http();
        let exporter =
            exporter.with_protocol(Protocol::HttpBinary).with_endpoint(url).with_timeout(EXPORT_TIME);
        let mut exporter = exporter.build()?;
        let version = KeyValue::new("service.version", env!("CARGO_PKG_VERSION"));
        let resource = Resource::builder_empty().with_service_name("satchel").with_attribute(version);
        exporter.set_resource(&resource.build());
        Ok(exporter)
    }

    /// Exports until the hub stops, and then the remaining spans within a time limit.
    pub(super) async fn run(
        exporter: SpanExporter,
        mut spans: mpsc::Receiver<CallSpan>,
        stop: CancellationToken,
    ) {
        let mut complained = false;
        loop {
            let mut batch = Vec::new();
            let ended = tokio::select! {
                got = spans.recv_many(&mut batch, BATCH) => got == 0,
                () = stop.cancelled() => true,
            };
            if !ended && batch.len() < BATCH {
                // Wait briefly, to send several in one request.
                tokio::select! {
                    () = tokio::time::sleep(GATHERING) => {}
                    () = stop.cancelled() => {}
                }
            }
            while batch.len() < BATCH
                && let Ok(span) = spans.try_recv()
            {
                batch.push(span);
            }
            if !batch.is_empty() {
                let batch = batch.into_iter().map(data).collect();
                let sent = timeout(EXPORT_TIME, exporter.export(batch)).await;
                let problem = match sent {
                    Ok(Ok(())) => None,
                    Ok(Err(error)) => Some(error.to_string()),
                    Err(_) => Some("it did not answer in time".to_owned()),
                };
                // Logged once rather than for every batch: outages last.
                if let Some(problem) = &problem
                    && !complained
                {
                    tracing::warn!("the trace collector accepts nothing: {problem}");
                }
                complained = problem.is_some();
            }
            if ended || stop.is_cancelled() {
                return;
            }
        }
    }

    fn data(span: CallSpan) -> SpanData {
        let id = SpanId::from_bytes;
        let context = SpanContext::new(
            TraceId::from_bytes(span.context.trace),
            id(span.context.span),
            TraceFlags::SAMPLED,
            false,
            TraceState::default(),
        );
        let ms = |duration: Duration| duration.as_secs_f64() * 1e3;
        let status = if span.outcome == "ok" { Status::Unset } else { Status::error(span.outcome) };
        // OpenTelemetry's conventions for MCP where they exist, own names otherwise.
        let mut attributes = vec![
            KeyValue::new("satchel.client", span.client),
            KeyValue::new("satchel.outcome", span.outcome),
            KeyValue::new("satchel.wait_ms", ms(span.split.wait)),
            KeyValue::new("satchel.start_ms", ms(span.split.start)),
            KeyValue::new("satchel.upstream_ms", ms(span.split.upstream)),
            KeyValue::new("satchel.own_ms", ms(span.split.ours)),
        ];
        if !span.server.is_empty() {
            attributes.push(KeyValue::new("satchel.server", span.server.clone()));
        }
        let name = match span.kind {
            "call" => {
                attributes.push(KeyValue::new("mcp.method.name", "tools/call"));
                attributes.push(KeyValue::new("gen_ai.tool.name", span.tool.clone()));
                format!("tools/call {}", span.tool)
            }
            "read" => {
                attributes.push(KeyValue::new("mcp.method.name", "resources/read"));
                attributes.push(KeyValue::new("mcp.resource.uri", span.tool));
                "resources/read".to_owned()
            }
            other => other.to_owned(),
        };
        let (start_time, end_time) = span.time;
        SpanData {
            span_context: context,
            parent_span_id: span.context.parent.map_or(SpanId::INVALID, id),
            parent_span_is_remote: span.context.parent.is_some(),
            span_kind: SpanKind::Server,
            name: name.into(),
            start_time,
            end_time,
            attributes,
            dropped_attributes_count: 0,
            events: Default::default(),
            links: Default::default(),
            status,
            instrumentation_scope: InstrumentationScope::builder("satchel").build(),
        }
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn the_name_of_the_signal_is_added_to_a_base() {
            for given in
                ["http://127.0.0.1:4318", "http://127.0.0.1:4318/", " http://127.0.0.1:4318/v1/traces"]
            {
                assert_eq!(traces_url(given), "http://127.0.0.1:4318/v1/traces");
            }
        }
    }
}
