//! The connection of a page.
//!
//! The page sends `{"id": 1, "request": {...}}` and receives `{"answer": {"id": 1, "ok": ...}}` or
//! `{"answer": {"id": 1, "refusal": {...}}}`. It receives the newest state after each change, and the newest sweep
//! whenever it has drawn the one before (`{"drawn": revision}`), so that no sweeps pile up on a slow connection.

use super::Shared;
use crate::message::hello::Hello;
use crate::refusal::Refusal;
use crate::worker::{Job, Request};
use axum::body::Bytes;
use axum::extract::State;
use axum::extract::ws::{Message, Utf8Bytes, WebSocket, WebSocketUpgrade};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use serde_json::{Value as Json, json};
use std::sync::atomic::Ordering;
use std::time::Duration;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::{Instant, sleep_until};

/// Largest message of a page, bytes.
const MAX_MESSAGE: usize = 1 << 20;

/// Maximum number of pages.
const MAX_PAGES: usize = 8;

/// Maximum number of requests of a page without an answer; more wait in the connection.
const MAX_WAITING: usize = 64;

/// Time after which a sweep counts as drawn.
const DRAWN_AFTER: Duration = Duration::from_secs(5);

/// A message of a page.
#[derive(Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
struct Incoming {
    /// Number of the request.
    #[serde(default)]
    id: u64,
    request: Option<Request>,
    /// Revision of a sweep that is drawn.
    drawn: Option<u64>,
}

/// Accepts the connection of a page.
pub async fn connect(State(shared): State<Shared>, upgrade: WebSocketUpgrade) -> Response {
    if shared.connected.load(Ordering::Relaxed) >= MAX_PAGES {
        return (StatusCode::SERVICE_UNAVAILABLE, "too many pages are open").into_response();
    }
    let upgrade = upgrade
        .max_message_size(MAX_MESSAGE)
        .max_frame_size(MAX_MESSAGE);
    upgrade.on_upgrade(|socket| async move {
        shared.connected.fetch_add(1, Ordering::Relaxed);
        let number = shared.clients.fetch_add(1, Ordering::Relaxed) + 1;
        Connection::new(socket, &shared).serve(number).await;
        shared.connected.fetch_sub(1, Ordering::Relaxed);
    })
}

/// A connected page.
struct Connection<'a> {
    socket: WebSocket,
    shared: &'a Shared,
    /// Whether the page draws a sweep.
    is_drawing: bool,
    drawn_at_latest: Instant,
    answers: mpsc::Sender<String>,
    to_send: mpsc::Receiver<String>,
}

impl<'a> Connection<'a> {
    fn new(socket: WebSocket, shared: &'a Shared) -> Self {
        let (answers, to_send) = mpsc::channel(MAX_WAITING);
        Self {
            socket,
            shared,
            is_drawing: false,
            drawn_at_latest: Instant::now(),
            answers,
            to_send,
        }
    }

    /// Sends and receives until the page leaves.
    async fn serve(mut self, number: u64) {
        let hello = json!({ "hello": Hello::new(number) }).to_string();
        let published = &self.shared.session.published;
        let (mut states, mut sweeps) = (published.state.clone(), published.sweep.clone());
        let mut events = published.events.subscribe();
        states.mark_changed();
        sweeps.mark_changed();
        let mut is_open = self.send(Message::Text(hello.into())).await;
        while is_open {
            let may_send = !self.is_drawing;
            let may_read = self.answers.capacity() > 0;
            is_open = tokio::select! {
                biased;
                Some(answer) = self.to_send.recv() => self.send(Message::Text(answer.into())).await,
                Ok(()) = states.changed() => self.send_state(&mut states).await,
                Ok(()) = sweeps.changed(), if may_send => self.send_sweep(&mut sweeps).await,
                Ok(event) = events.recv() => self.send(Message::Text(Utf8Bytes::from(&*event))).await,
                () = sleep_until(self.drawn_at_latest), if !may_send => {
                    self.is_drawing = false;
                    true
                }
                message = self.socket.recv(), if may_read => match message {
                    Some(Ok(message)) => self.receive(&message).await,
                    _ => false,
                },
            };
        }
    }

    async fn send(&mut self, message: Message) -> bool {
        self.socket.send(message).await.is_ok()
    }

    async fn send_state(
        &mut self,
        states: &mut watch::Receiver<Option<std::sync::Arc<str>>>,
    ) -> bool {
        let state = states.borrow_and_update().clone();
        match state {
            Some(state) => self.send(Message::Text(Utf8Bytes::from(&*state))).await,
            None => true,
        }
    }

    async fn send_sweep(
        &mut self,
        sweeps: &mut watch::Receiver<Option<std::sync::Arc<[u8]>>>,
    ) -> bool {
        let sweep = sweeps.borrow_and_update().clone();
        let Some(sweep) = sweep else {
            return true;
        };
        self.is_drawing = true;
        self.drawn_at_latest = Instant::now() + DRAWN_AFTER;
        self.send(Message::Binary(Bytes::from_owner(sweep))).await
    }

    /// Carries out a message; false where the page leaves.
    async fn receive(&mut self, message: &Message) -> bool {
        let text = match message {
            Message::Text(text) => text.as_str(),
            Message::Binary(_) => "",
            Message::Close(_) => return false,
            Message::Ping(_) | Message::Pong(_) => return true,
        };
        match serde_json::from_str::<Incoming>(text) {
            Ok(incoming) => {
                if incoming.drawn.is_some() {
                    self.is_drawing = false;
                }
                if let Some(request) = incoming.request {
                    self.forward(incoming.id, request);
                }
                true
            }
            Err(error) => {
                let refusal =
                    Refusal::new(format!("malformed message: {error}"), "reload the page");
                self.send(Message::Text(answer(0, Err(refusal)).into()))
                    .await
            }
        }
    }

    /// Passes a request to the session; its answer is sent when it is there.
    fn forward(&self, id: u64, request: Request) {
        let (sender, waiting) = oneshot::channel();
        self.shared.session.send(Job::Request(request, sender));
        let answers = self.answers.clone();
        tokio::spawn(async move {
            let done = waiting.await.unwrap_or_else(|_| {
                Err(Refusal::new(
                    "the session has ended",
                    "start etendue studio again",
                ))
            });
            let _ = answers.send(answer(id, done)).await;
        });
    }
}

/// The message of an answer.
fn answer(id: u64, done: Result<Json, Refusal>) -> String {
    let answer = match done {
        Ok(done) => json!({ "id": id, "ok": done }),
        Err(refusal) => json!({ "id": id, "refusal": refusal }),
    };
    json!({ "answer": answer }).to_string()
}
