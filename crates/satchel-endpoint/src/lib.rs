//! The localhost face: one MCP endpoint for clients, and a control channel for our other faces.
//!
//! Two channels, never one: the TCP port knows no management verb, and the control channel is a Unix socket or named
//! pipe that only this user can open.
//!
//! A request passes `serve`, `connection`, `guard` and `token`; `http`, `modern` and `compat` are the transports,
//! `session` and `exchange` carry one request to its answer, `downstream` and `meta` answer it. `control` is the
//! other channel. Knows no server: it asks the hub.
//! A test to copy: `auth_throttle.rs::a_minute_bears_so_many`.
#![warn(missing_docs)]

mod address_file;
mod api;
mod auth_throttle;
mod busy;
mod callback;
mod compat;
mod connection;
mod control;
mod downstream;
mod exchange;
mod fitted;
mod guard;
mod http;
mod kept_sessions;
mod meta;
mod metrics;
mod modern;
mod notifications;
mod observe;
mod origins;
mod otlp;
mod params;
mod parked;
mod reply;
mod roots;
mod serve;
mod session;
#[cfg(unix)]
mod sockets;
mod stream;
mod surface;
mod token;

pub use callback::callbacks;
pub use guard::{Guard, Refused};
pub use meta::menu::menu;
pub use serve::{Endpoint, Port, ServeError, listen, serve};
pub use token::bearer;
