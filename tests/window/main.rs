//! The desktop face as a person meets it: a real tray, a real window, a real keychain, on a private desktop.
//!
//! What a click changes is always looked at from the other side too: what a client sees over the endpoint.

mod alive;
mod app;
mod asking;
mod attacks;
mod browser;
mod calls;
mod careless;
mod desktop;
mod elsewhere;
mod hostile;
mod journeys;
mod keyring;
mod life;
mod limits;
mod login;
mod makes;
mod notices;
mod page;
mod pages;
mod registry;
mod secrets;
mod setup;
mod sign_in;
mod spoofed;
mod switching;
mod tray;
mod trying;
mod watching;
