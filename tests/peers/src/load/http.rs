//! A small blocking HTTP/1.1 client on one connection: it must never be what is measured.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    time::Duration,
};

use anyhow::{Context, bail};

const BUFFER: usize = 64 * 1024;
const ACCEPT: &str = "application/json, text/event-stream";

/// One connection, kept open where the server allows it.
pub(crate) struct Http {
    host: String,
    timeout: Duration,
    io: Option<BufReader<TcpStream>>,
}

/// A whole response.
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) session: Option<String>,
    pub(crate) events: bool,
    pub(crate) body: Vec<u8>,
}

#[derive(Default)]
struct Head {
    status: u16,
    length: Option<usize>,
    chunked: bool,
    events: bool,
    close: bool,
    session: Option<String>,
}

impl Head {
    fn read(io: &mut BufReader<TcpStream>) -> anyhow::Result<Self> {
        let mut head = Self::default();
        let mut line = String::new();
        loop {
            line.clear();
            if io.read_line(&mut line)? == 0 {
                bail!("the connection was closed");
            }
            let text = line.trim_end();
            if head.status == 0 {
                head.status = text.split(' ').nth(1).context("no status line")?.parse()?;
            } else if text.is_empty() {
                return Ok(head);
            } else if let Some((name, value)) = text.split_once(':') {
                head.note(&name.to_ascii_lowercase(), value.trim());
            }
        }
    }

    fn note(&mut self, name: &str, value: &str) {
        match name {
            "content-length" => self.length = value.parse().ok(),
            "transfer-encoding" => self.chunked = value.eq_ignore_ascii_case("chunked"),
            "content-type" => self.events = value.starts_with("text/event-stream"),
            "connection" => self.close = value.eq_ignore_ascii_case("close"),
            "mcp-session-id" => self.session = Some(value.to_owned()),
            _ => {}
        }
    }

    fn has_body(&self) -> bool {
        !matches!(self.status, 202 | 204)
    }
}

/// Appends a chunk. `false`: it was the last one.
fn chunk(io: &mut BufReader<TcpStream>, body: &mut Vec<u8>) -> anyhow::Result<bool> {
    let mut line = String::new();
    io.read_line(&mut line)?;
    let size = usize::from_str_radix(line.trim().split(';').next().unwrap_or_default(), 16)?;
    let from = body.len();
    body.resize(from + size, 0);
    io.read_exact(&mut body[from..])?;
    line.clear();
    io.read_line(&mut line)?;
    Ok(size > 0)
}

impl Http {
    pub(crate) fn new(host: &str, timeout: Duration) -> Self {
        Self { host: host.to_owned(), timeout, io: None }
    }

    fn connection(&mut self) -> anyhow::Result<&mut BufReader<TcpStream>> {
        if self.io.is_none() {
            let stream = TcpStream::connect(&self.host)?;
            stream.set_nodelay(true)?;
            stream.set_read_timeout(Some(self.timeout))?;
            self.io = Some(BufReader::with_capacity(BUFFER, stream));
        }
        self.io.as_mut().context("no connection")
    }

    fn exchange(&mut self, request: &str) -> anyhow::Result<Head> {
        let io = self.connection()?;
        io.get_mut().write_all(request.as_bytes())?;
        Head::read(io)
    }

    /// Sends a request and reads the whole response. A connection that was closed meanwhile is opened once more.
    pub(crate) fn post(&mut self, path: &str, headers: &str, body: &str) -> anyhow::Result<Reply> {
        let (host, length) = (&self.host, body.len());
        let request = format!(
            "POST {path} HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\nAccept: {ACCEPT}\r\n\
             {headers}Content-Length: {length}\r\n\r\n{body}"
        );
        let was_open = self.io.is_some();
        let head = match self.exchange(&request) {
            Err(_) if was_open => {
                self.io = None;
                self.exchange(&request)?
            }
            head => head?,
        };
        let mut body = Vec::new();
        let io = self.io.as_mut().context("no connection")?;
        let mut close = head.close;
        if head.chunked {
            while chunk(io, &mut body)? {}
        } else if let Some(length) = head.length {
            body.resize(length, 0);
            io.read_exact(&mut body)?;
        } else if head.has_body() {
            io.read_to_end(&mut body)?;
            close = true;
        }
        if close {
            self.io = None;
        }
        Ok(Reply { status: head.status, session: head.session, events: head.events, body })
    }

    /// Opens a stream of events.
    pub(crate) fn listen(mut self, path: &str, headers: &str) -> anyhow::Result<Events> {
        let host = &self.host;
        let request =
            format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nAccept: text/event-stream\r\n{headers}\r\n");
        let head = self.exchange(&request)?;
        if head.status != 200 {
            bail!("HTTP {}", head.status);
        }
        let io = self.io.take().context("no connection")?;
        Ok(Events { io, chunked: head.chunked, buffer: Vec::new() })
    }
}

/// An open stream of events.
pub(crate) struct Events {
    io: BufReader<TcpStream>,
    chunked: bool,
    buffer: Vec<u8>,
}

impl Events {
    /// Waits for the next event and returns its lines.
    pub(crate) fn next(&mut self) -> anyhow::Result<String> {
        loop {
            if let Some(end) = self.end() {
                let event: Vec<u8> = self.buffer.drain(..end).collect();
                return Ok(String::from_utf8_lossy(&event).into_owned());
            }
            let more = if self.chunked {
                chunk(&mut self.io, &mut self.buffer)?
            } else {
                let seen = self.io.fill_buf()?;
                let count = seen.len();
                self.buffer.extend_from_slice(seen);
                self.io.consume(count);
                count > 0
            };
            if !more {
                bail!("the stream ended");
            }
        }
    }

    /// Where the first whole event ends.
    fn end(&self) -> Option<usize> {
        let find = |blank: &[u8]| {
            self.buffer.windows(blank.len()).position(|window| window == blank).map(|at| at + blank.len())
        };
        find(b"\n\n").into_iter().chain(find(b"\r\n\r\n")).min()
    }
}
