//! The WebSocket protocol of Foxglove: topics of ROS 2 messages, and parameters.
//!
//! A [`Live`] view holds the topics and passes messages to the connected clients that subscribe to them. A session
//! shows its sweeps or the recorded run of its robot there, and offers its numbers as parameters; `etendue run`
//! shows the data of a robot as they arrive ([`LiveServer`]).
//!
//! The protocol is served on the HTTP server of the studio, behind its token: the servers of Foxglove's own libraries
//! accept the pages of every site.

mod connection;
mod live;
mod live_server;
mod message;
mod parameters;
mod replay;

pub(crate) use connection::{Served, upgraded};
pub(crate) use live::Live;
pub use live_server::LiveServer;
pub(crate) use parameters::{Parameter, parameters};
pub(crate) use replay::replay;
