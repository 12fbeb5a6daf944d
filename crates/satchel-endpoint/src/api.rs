//! Read-only HTTP on the control channel: status, reports, metrics and events. Actions go through requests.

use std::convert::Infallible;

use axum::{
    Extension, Json, Router,
    body::{Body, Bytes},
    extract::{RawQuery, State},
    http::{StatusCode, header},
    response::{IntoResponse, Response},
    routing::get,
};
use futures_util::stream;
use satchel_core::model::{
    Code, Origin,
    control::Refusal,
    ledger::{By, ReportAsk},
    request::GetStatus,
};
use satchel_mcp::sse;
use serde_json::json;
use tokio::sync::broadcast::error::RecvError;

use crate::{
    control::{self, Channel},
    metrics, reply,
};

pub(crate) fn routes() -> Router<Channel> {
    Router::new()
        .route("/api/status", get(status))
        .route("/api/status/debug", get(debug))
        .route("/api/report", get(report))
        .route("/api/report.csv", get(report_as_csv))
        .route("/api/metrics", get(prometheus))
        .route("/api/events", get(events))
}

fn refused(refusal: Refusal) -> Response {
    control::refused(StatusCode::UNPROCESSABLE_ENTITY, refusal)
}

/// The snapshot, and the report by server over all time.
async fn status(State(channel): State<Channel>, Extension(origin): Extension<Origin>) -> Response {
    let snapshot = match channel.hub.request(GetStatus {}, &origin).await {
        Ok(snapshot) => snapshot,
        Err(refusal) => return refused(refusal),
    };
    match channel.hub.recorder().report(ReportAsk::default()).await {
        Ok(report) => Json(json!({ "snapshot": snapshot, "report": report })).into_response(),
        Err(refusal) => refused(refusal),
    }
}

async fn debug(State(channel): State<Channel>) -> Response {
    match channel.hub.debug_status() {
        Ok(status) => Json(status).into_response(),
        Err(refusal) => refused(refusal),
    }
}

async fn report(State(channel): State<Channel>, RawQuery(query): RawQuery) -> Response {
    let ask = match ask(query.as_deref()) {
        Ok(ask) => ask,
        Err(refusal) => return refused(refusal),
    };
    match channel.hub.recorder().report(ask).await {
        Ok(report) => Json(report).into_response(),
        Err(refusal) => refused(refusal),
    }
}

async fn report_as_csv(State(channel): State<Channel>, RawQuery(query): RawQuery) -> Response {
    let ask = match ask(query.as_deref()) {
        Ok(ask) => ask,
        Err(refusal) => return refused(refusal),
    };
    match channel.hub.recorder().report(ask).await {
        Ok(report) => ([(header::CONTENT_TYPE, "text/csv; charset=utf-8")], report.to_csv()).into_response(),
        Err(refusal) => refused(refusal),
    }
}

async fn prometheus(State(channel): State<Channel>) -> Response {
    match channel.hub.recorder().report(ReportAsk { by: By::Tool, ..ReportAsk::default() }).await {
        Ok(report) => {
            let text = metrics::text(&report, &channel.hub.snapshot());
            ([(header::CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")], text).into_response()
        }
        Err(refusal) => refused(refusal),
    }
}

/// Live events. A slow reader misses some, and is told how many.
async fn events(State(channel): State<Channel>) -> Response {
    let events = channel.hub.recorder().events().subscribe();
    let first = stream::once(async { Ok::<_, Infallible>(Bytes::from_static(b": listening\n\n")) });
    let stream = stream::unfold((events, channel.stop), |(mut events, stop)| async {
        let happened = tokio::select! {
            happened = events.recv() => happened,
            () = stop.cancelled() => return None,
        };
        let text = match happened {
            Ok(event) => serde_json::to_string(&event).ok()?,
            Err(RecvError::Lagged(missed)) => json!({ "event": "missed", "events": missed }).to_string(),
            Err(RecvError::Closed) => return None,
        };
        let event = sse::SseEvent::message(text).to_wire();
        Some((Ok::<_, Infallible>(Bytes::from(event)), (events, stop)))
    });
    reply::events(Body::from_stream(futures_util::StreamExt::chain(first, stream))).into_response()
}

/// Parses a query such as `by=tool&days=7`.
fn ask(query: Option<&str>) -> Result<ReportAsk, Refusal> {
    let wrong = |what: &str| {
        Refusal::new(
            Code::BadQuery,
            format!("{what} is not understood"),
            "Use by=client|server|tool|day, days=N, hours=N.",
        )
    };
    let mut ask = ReportAsk::default();
    for pair in query.unwrap_or_default().split('&').filter(|pair| !pair.is_empty()) {
        let (name, value) = pair.split_once('=').ok_or_else(|| wrong(pair))?;
        let number = || value.parse::<u32>().ok().filter(|number| (1..=876_000).contains(number));
        match name {
            "by" => ask.by = serde_json::from_value(json!(value)).map_err(|_| wrong(pair))?,
            "days" => ask.days = Some(number().ok_or_else(|| wrong(pair))?),
            "hours" => ask.hours = Some(number().ok_or_else(|| wrong(pair))?),
            _ => return Err(wrong(pair)),
        }
    }
    Ok(ask)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_parses_completely_or_is_refused() {
        let of = |query| ask(Some(query)).map_err(|refusal| refusal.code);
        assert_eq!(ask(None), Ok(ReportAsk::default()));
        assert_eq!(
            of("by=tool&days=7"),
            Ok(ReportAsk { by: By::Tool, days: Some(7), ..ReportAsk::default() })
        );
        for wrong in ["by=x", "days=0", "days=-1", "hours=", "x=1", "by"] {
            assert_eq!(of(wrong), Err(Code::BadQuery), "{wrong}");
        }
    }
}
