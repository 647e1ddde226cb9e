//! A server of topics alone.

use super::connection::{Served, upgraded};
use super::live::Live;
use crate::refusal::Refusal;
use crate::server::{Guard, StudioOptions, bound, check, session_name};
use axum::Router;
use axum::extract::{State, WebSocketUpgrade};
use axum::middleware;
use axum::routing::get;
use etendue::io::ros2::{Topic, TopicMessage};
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::Builder;

/// Longest time for which the last messages are on their way.
const END: Duration = Duration::from_secs(5);

/// A server that shows topics in Foxglove, on a thread of its own.
///
/// ```
/// use etendue_studio::{LiveServer, StudioOptions};
///
/// let server = LiveServer::start(&StudioOptions::default())?;
/// assert!(server.url().starts_with("ws://127.0.0.1:") && server.url().ends_with("/foxglove"));
/// # Ok::<(), etendue_studio::Refusal>(())
/// ```
#[derive(Debug)]
pub struct LiveServer {
    live: Arc<Live>,
    url: String,
}

impl LiveServer {
    /// Binds the port and serves until the process ends.
    ///
    /// # Errors
    /// If the port is not free, or no thread can be started.
    pub fn start(options: &StudioOptions) -> Result<Self, Refusal> {
        let runtime = Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| cannot_start(&error))?;
        let (listener, address) = bound(&runtime, options)?;
        let guard = Arc::new(Guard::new(address)?);
        let url = format!("ws://{address}/{}/foxglove", guard.token());
        let live = Arc::new(Live::default());
        let served = Served {
            live: live.clone(),
            session: None,
            clients: Arc::default(),
            connected: Arc::default(),
            name: session_name(),
        };
        let connect = |State(served): State<Served>, upgrade: WebSocketUpgrade| async {
            upgraded(served, upgrade)
        };
        let router = Router::new()
            .route("/{token}/foxglove", get(connect))
            .layer(middleware::from_fn_with_state(guard, check))
            .with_state(served);
        let thread = std::thread::Builder::new().name("foxglove".into());
        let served = thread.spawn(move || {
            // It serves until the process ends
            let _ = runtime.block_on(axum::serve(listener, router).into_future());
        });
        served.map_err(|error| cannot_start(&error))?;
        Ok(Self { live, url })
    }

    /// Address for Foxglove, with the token of the session.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Makes these the topics.
    pub fn set_topics(&self, topics: &[Topic]) {
        self.live.set_topics(topics);
    }

    /// Sends messages to the clients that subscribe to their topics.
    pub fn publish(&self, messages: Vec<TopicMessage>) {
        self.live.publish(messages);
    }

    /// Sends messages to each client that subscribes to their topics, now and later.
    pub fn latch(&self, messages: Vec<TopicMessage>) {
        self.live.latch(messages);
    }

    /// Waits until a client subscribes to a topic.
    pub fn wait_until_wanted(&self) {
        self.live.wait_until_wanted();
    }

    /// Waits until the clients have received all messages, for 5 s at most.
    pub fn wait_until_sent(&self) {
        self.live.wait_until_sent(END);
    }
}

fn cannot_start(error: &std::io::Error) -> Refusal {
    Refusal::new(
        format!("the topics cannot be served: {error}"),
        "end other programs",
    )
}
