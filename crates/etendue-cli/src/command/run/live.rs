//! The data of a run in Foxglove.

use crate::failure::Failure;
use crate::output::{print, remark, warn};
use clap::Args;
use etendue::io::ros2::{RigMessages, TopicMessage};
use etendue_studio::{LiveServer, StudioOptions};
use std::net::{IpAddr, Ipv4Addr};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Where Foxglove connects to.
#[derive(Debug, Args)]
pub struct LiveArguments {
    /// Show the data in Foxglove too: prints the address for its WebSocket connection, and runs at
    /// real time from the first subscription on
    #[arg(long)]
    foxglove: bool,
    /// Port for Foxglove; 0 for any free one
    #[arg(long, default_value_t = 0, requires = "foxglove")]
    port: u16,
    /// Address on which the server for Foxglove listens
    #[arg(long, value_name = "ADDRESS", default_value_t = Ipv4Addr::LOCALHOST.into(), requires = "foxglove")]
    listen: IpAddr,
}

/// Viewers of a run, who see its data at real time.
pub struct LiveView {
    server: LiveServer,
    start: Instant,
}

impl LiveArguments {
    /// Waits for a viewer, if one is wanted.
    pub fn open(&self, messages: &RigMessages) -> Result<Option<LiveView>, Failure> {
        if !self.foxglove {
            return Ok(None);
        }
        let server = LiveServer::start(&StudioOptions {
            address: self.listen,
            port: self.port,
            ..StudioOptions::default()
        })?;
        server.set_topics(messages.topics());
        server.latch(messages.mounts());
        if !self.listen.is_loopback() {
            warn(["other computers can reach the server: who has its address sees the data"]);
        }
        print(&format!("{}\n", server.url()))?;
        remark("the run begins when Foxglove subscribes to a topic at this address");
        server.wait_until_wanted();
        Ok(Some(LiveView {
            server,
            start: Instant::now(),
        }))
    }
}

impl LiveView {
    /// Shows messages at their time; later where the simulation is slower.
    pub fn show(&self, messages: Vec<TopicMessage>) {
        let Some(last) = messages.iter().map(|message| message.time).max() else {
            return;
        };
        let at = self.start + Duration::from_nanos(last);
        sleep(at.saturating_duration_since(Instant::now()));
        self.server.publish(messages);
    }

    /// Waits until the viewers have all messages.
    pub fn end(&self) {
        self.server.wait_until_sent();
    }
}
