//! Tests of the studio's session and server.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod foxglove;
mod page;
mod profile;
mod robot;
mod security;
mod session;
mod socket;
