//! Transport HTTP+SSE of 2024-11-05 (`2024-11-05/basic/transports.mdx`): one GET stream carries all messages to us, and
//! names an address to POST messages to.

use std::{sync::Arc, time::Duration};

use reqwest::{Client, Response, Url};
use satchel_mcp::{envelope, framing::broken_answer, sse};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use super::{
    Connection, Signs,
    body::{AnswerBody, Looks},
    http::{Address, Undelivered, client, deliver, head, unreached},
};
use crate::{
    model::cause::FailureCause,
    upstream::{
        lifecycle::Failure,
        link::{CallError, EndReason, Link, OnChange, Outbox, Outcome, Outgoing},
        log::ServerLog,
        oauth::account::Credential,
    },
};

/// Timeout for receiving the address for POSTs.
const NAMING: Duration = Duration::from_secs(15);
/// Timeout for the acceptance of a POST; its response comes on the stream.
const ACCEPT: Duration = Duration::from_secs(30);

struct Sse {
    client: Client,
    credential: Option<Credential>,
    url: Url,
    link: Link,
    log: ServerLog,
    signs: Signs,
    stop: CancellationToken,
}

/// Creates a link to an address. Opens the stream immediately.
///
/// # Errors
/// A [`Failure`] if the address or a header is invalid.
pub fn connect(
    address: &Address,
    changed: Box<dyn OnChange>,
    log: ServerLog,
    tracker: &TaskTracker,
) -> Result<Connection, Failure> {
    let (client, url) = client(address)?;
    let (link, outbox) = Link::new(changed, log.clone());
    let (stop, done, signs) = (CancellationToken::new(), CancellationToken::new(), Signs::default());
    let credential = address.credential.clone();
    let (signs_here, stop_here) = (signs.clone(), stop.clone());
    let sse = Arc::new(Sse {
        client,
        credential,
        url,
        link: link.clone(),
        log,
        signs: signs_here,
        stop: stop_here,
    });
    let finished = done.clone();
    tracker.spawn(async move {
        tokio::select! {
            ended = sse.run(outbox) => sse.link.end(ended),
            () = sse.stop.cancelled() => sse.link.end("it was disconnected"),
            _ = sse.link.wait_ended() => {}
        }
        finished.cancel();
    });
    Ok(Connection { link, pid: None, signs, stop, done })
}

impl Sse {
    /// Returns why it ended.
    async fn run(&self, outbox: Outbox) -> EndReason {
        let get = || self.client.get(self.url.clone()).header("accept", "text/event-stream");
        let response = match deliver(self.credential.as_ref(), "its stream", get).await {
            Ok(response) => response,
            Err(Undelivered::Http(error)) => return unreached(&error),
            Err(lacking) => return lacking.to_string().into(),
        };
        let status = response.status();
        let mut body = AnswerBody::of(response);
        let looks = tokio::time::timeout(NAMING, body.looks()).await;
        if !status.is_success() || !matches!(looks, Ok(Ok(Looks::Events)) | Err(_)) {
            return format!("it offers no event stream: HTTP {status}").into();
        }
        body.remark(Looks::Events, &self.log);
        let mut stream = Stream { body, reader: sse::Reader::default(), ready: Vec::new().into_iter() };
        let place = match tokio::time::timeout(NAMING, self.place(&mut stream)).await {
            Ok(Ok(place)) => place,
            Ok(Err(reason)) => return reason.into(),
            Err(_) => {
                return format!("it named no address for messages within {} s", NAMING.as_secs()).into();
            }
        };
        tokio::select! {
            reason = self.read(stream) => reason.into(),
            () = self.write(outbox, place) => "it was disconnected".into(),
        }
    }

    /// The address for POSTs. It must have the same origin, because the headers contain credentials.
    async fn place(&self, stream: &mut Stream) -> Result<Url, String> {
        loop {
            let event = stream.next(&self.signs).await?;
            if event.event.as_deref() != Some("endpoint") {
                continue;
            }
            let place = self.url.join(event.data.trim());
            return match place {
                Ok(place) if place.origin() == self.url.origin() => Ok(place),
                _ => Err("the address it named for messages is of another origin".to_owned()),
            };
        }
    }

    async fn read(&self, mut stream: Stream) -> String {
        loop {
            let event = match stream.next(&self.signs).await {
                Ok(event) => event,
                Err(reason) => return reason,
            };
            if event.event.as_deref().is_some_and(|kind| kind != "message") || event.data.trim().is_empty() {
                continue;
            }
            match envelope::read_all(&event.data) {
                Ok(messages) => messages.into_iter().for_each(|read| {
                    for departure in read.departures {
                        self.log.remark(&format!("it {}", departure.told()));
                    }
                    self.link.incoming(read.message);
                }),
                Err(error) => {
                    self.log.noise(&format!("{error}: {}", head(&event.data)));
                    if let Some((id, reason)) = broken_answer(event.data.trim()) {
                        self.link.broken(&id, &reason);
                    }
                }
            }
        }
    }

    /// Sends messages one at a time, because this transport defines no other order.
    async fn write(&self, mut outbox: Outbox, place: Url) {
        while let Some(outgoing) = outbox.recv().await {
            let post = || {
                self.client
                    .post(place.clone())
                    .header("content-type", "application/json")
                    .body(outgoing.json.clone())
            };
            let what = outgoing.method.clone().unwrap_or_else(|| "a message".to_owned());
            let sending = deliver(self.credential.as_ref(), &what, post);
            if !outgoing.sent.leaves() {
                continue;
            }
            let refused = match tokio::time::timeout(ACCEPT, sending).await {
                Ok(Ok(response)) if response.status().is_success() => continue,
                Ok(Ok(response)) => refusal(&response),
                Ok(Err(error)) => error.into(),
                Err(_) => CallError::TimedOut(ACCEPT.as_secs(), Outcome::Unknown),
            };
            self.refuse(&outgoing, refused);
        }
    }

    fn refuse(&self, outgoing: &Outgoing, error: CallError) {
        match outgoing.id {
            Some(id) => self.link.fail(id, error),
            None => self.log.hub(&format!("a message was not accepted: {error}")),
        }
    }
}

fn refusal(response: &Response) -> CallError {
    let status = response.status();
    let cause = FailureCause::Http { status: status.as_u16(), said: None, retry_seconds: None };
    CallError::Ended(EndReason::new(format!("it answered HTTP {status}"), cause), Outcome::NotExecuted)
}

/// The events of an endless body.
struct Stream {
    body: AnswerBody,
    reader: sse::Reader,
    ready: std::vec::IntoIter<sse::SseEvent>,
}

impl Stream {
    async fn next(&mut self, signs: &Signs) -> Result<sse::SseEvent, String> {
        loop {
            if let Some(event) = self.ready.next() {
                return Ok(event);
            }
            let chunk = self.body.piece().await?;
            let chunk = chunk.ok_or_else(|| "it ended its stream".to_owned())?;
            signs.saw();
            let mut events = Vec::new();
            self.reader.push(&chunk, &mut events).map_err(|error| error.to_string())?;
            self.ready = events.into_iter();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Code;

    #[test]
    fn a_bad_address_is_a_fault_of_the_configuration() {
        let address = Address { url: "not an address".into(), headers: Default::default(), credential: None };
        assert_eq!(client(&address).unwrap_err().code, Code::ConfigInvalid);
    }
}
