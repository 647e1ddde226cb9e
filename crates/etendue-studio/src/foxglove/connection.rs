//! The connection of a client.

use super::live::{Live, Outbox, Waiting};
use super::message::{
    Assignment, Incoming, Level, PROTOCOLS, Subscription, message_data, parameter_values,
    server_info, status,
};
use super::parameters::Parameter;
use crate::refusal::Refusal;
use crate::worker::{Job, Request, SessionHandle};
use axum::extract::ws::{Message, WebSocket, WebSocketUpgrade};
use axum::response::{IntoResponse, Response};
use serde_json::Value as Json;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use tokio::sync::{oneshot, watch};

/// Largest message of a client, bytes.
const MAX_MESSAGE: usize = 1 << 20;

/// Maximum number of clients.
const MAX_CLIENTS: usize = 8;

/// Largest number of subscriptions of a client.
const MAX_SUBSCRIPTIONS: usize = 1024;

/// Gestures of a client, the number of which is that of a page.
const GESTURES: u64 = 1_000_000;

/// What clients are connected to.
#[derive(Clone)]
pub(crate) struct Served {
    /// The topics.
    pub live: Arc<Live>,
    /// The session with its parameters; `None` for a view of a run.
    pub session: Option<SessionHandle>,
    /// Number of the next client.
    pub clients: Arc<AtomicU64>,
    /// Number of connected clients.
    pub connected: Arc<AtomicUsize>,
    /// Name of the server's start, so that a client knows a new server.
    pub name: Arc<str>,
}

/// Accepts the connection of a client.
pub(crate) fn upgraded(served: Served, upgrade: WebSocketUpgrade) -> Response {
    use axum::http::StatusCode;
    if served.connected.load(Ordering::Relaxed) >= MAX_CLIENTS {
        return (StatusCode::SERVICE_UNAVAILABLE, "too many clients").into_response();
    }
    let upgrade = upgrade.protocols(PROTOCOLS);
    if upgrade.selected_protocol().is_none() {
        let message = "the protocol is foxglove.sdk.v1 or foxglove.websocket.v1";
        return (StatusCode::BAD_REQUEST, message).into_response();
    }
    let upgrade = upgrade
        .max_message_size(MAX_MESSAGE)
        .max_frame_size(MAX_MESSAGE);
    upgrade.on_upgrade(|socket| async move {
        served.connected.fetch_add(1, Ordering::Relaxed);
        let number = served.clients.fetch_add(1, Ordering::Relaxed) + 1;
        let client = Client {
            socket,
            outbox: served.live.connect(),
            served: &served,
            subscriptions: Vec::new(),
            watched: Vec::new(),
            shown: BTreeMap::new(),
            next_gesture: number * GESTURES,
        };
        client.serve().await;
        served.connected.fetch_sub(1, Ordering::Relaxed);
    })
}

struct Client<'a> {
    socket: WebSocket,
    served: &'a Served,
    outbox: Arc<Outbox>,
    subscriptions: Vec<Subscription>,
    /// Names of the parameters whose changes the client receives.
    watched: Vec<String>,
    /// Values of watched parameters that the client has received.
    shown: BTreeMap<String, Json>,
    next_gesture: u64,
}

/// The next revision of a session; never for a view of a run.
async fn next_state(states: &mut Option<watch::Receiver<Option<Arc<str>>>>) {
    let changed = match states {
        Some(states) => states.changed().await.is_ok(),
        None => false,
    };
    if !changed {
        std::future::pending::<()>().await;
    }
}

impl Client<'_> {
    /// Sends and receives until the client leaves.
    async fn serve(mut self) {
        let session = self.served.session.as_ref();
        let mut states = session.map(|session| session.published.state.clone());
        let info = server_info(&self.served.name, session.is_some());
        let outbox = self.outbox.clone();
        let mut is_open = self.send(info).await;
        while is_open {
            is_open = tokio::select! {
                message = self.socket.recv() => match message {
                    Some(Ok(message)) => self.receive(&message).await,
                    _ => false,
                },
                () = outbox.ready.notified() => self.send_waiting().await,
                () = next_state(&mut states) => self.send_changed_parameters().await,
            };
        }
        self.served.live.disconnect(&self.outbox);
    }

    async fn send(&mut self, text: String) -> bool {
        self.socket.send(Message::Text(text.into())).await.is_ok()
    }

    /// Sends what waits.
    async fn send_waiting(&mut self) -> bool {
        while let Some(message) = self.outbox.take() {
            let is_sent = match message {
                Waiting::Channels(text) => self.send(text).await,
                Waiting::Data(data) => {
                    let mut is_sent = true;
                    for at in 0..self.subscriptions.len() {
                        let Subscription { id, channel_id } = self.subscriptions[at];
                        if channel_id == data.channel {
                            let bytes = message_data(id, data.time, &data.bytes);
                            is_sent &= self
                                .socket
                                .send(Message::Binary(bytes.into()))
                                .await
                                .is_ok();
                        }
                    }
                    is_sent
                }
            };
            if !is_sent {
                return false;
            }
        }
        self.served.live.sent();
        true
    }

    /// Carries out a message; false where the client leaves.
    async fn receive(&mut self, message: &Message) -> bool {
        let text = match message {
            Message::Text(text) => text.as_str(),
            Message::Binary(_) => "",
            Message::Close(_) => return false,
            Message::Ping(_) | Message::Pong(_) => return true,
        };
        match serde_json::from_str(text) {
            Ok(incoming) => self.carry_out(incoming).await,
            Err(error) => {
                let message = format!("this message is not understood: {error}");
                self.send(status(Level::Warning, &message)).await
            }
        }
    }

    async fn carry_out(&mut self, incoming: Incoming) -> bool {
        match incoming {
            Incoming::Subscribe { subscriptions } => {
                self.subscriptions.extend(subscriptions);
                self.subscriptions.truncate(MAX_SUBSCRIPTIONS);
                self.subscribe();
                true
            }
            Incoming::Unsubscribe { subscription_ids } => {
                self.subscriptions
                    .retain(|own| !subscription_ids.contains(&own.id));
                self.subscribe();
                true
            }
            Incoming::GetParameters {
                parameter_names,
                id,
            } => self.send_values(&parameter_names, id.as_deref()).await,
            Incoming::SetParameters { parameters, id } => {
                let names: Vec<String> = parameters.iter().map(|one| one.name.clone()).collect();
                let refusals = self.set(parameters).await;
                for refusal in refusals {
                    let text = format!("{}: {}", refusal.message, refusal.remedy);
                    if !self.send(status(Level::Error, &text)).await {
                        return false;
                    }
                }
                // The values as they are now: a refused one is put back
                self.send_values(&names, id.as_deref()).await
            }
            Incoming::SubscribeParameterUpdates { parameter_names } => {
                self.watched.extend(parameter_names);
                self.watched.sort();
                self.watched.dedup();
                self.send_changed_parameters().await
            }
            Incoming::UnsubscribeParameterUpdates { parameter_names } => {
                self.watched.retain(|name| !parameter_names.contains(name));
                self.shown.retain(|name, _| !parameter_names.contains(name));
                true
            }
        }
    }

    fn subscribe(&self) {
        let channels = self.subscriptions.iter().map(|own| own.channel_id);
        let live = &self.served.live;
        live.subscribe(&self.outbox, channels.collect());
        // The sweep at rest, for the new subscription
        if let Some(session) = &self.served.session {
            session.send(Job::Show);
        }
    }

    /// The parameters of the session.
    async fn parameters(&mut self) -> Vec<Parameter> {
        let Some(session) = &self.served.session else {
            return Vec::new();
        };
        let (answer, waiting) = oneshot::channel();
        session.send(Job::Parameters(answer));
        waiting.await.unwrap_or_default()
    }

    /// Sends the values of parameters, all of them without names.
    async fn send_values(&mut self, names: &[String], id: Option<&str>) -> bool {
        let found = self.parameters().await;
        let is_wanted = |one: &&Parameter| names.is_empty() || names.contains(&one.name);
        let values: Vec<Json> = found
            .iter()
            .filter(is_wanted)
            .map(Parameter::to_json)
            .collect();
        self.send(parameter_values(&values, id)).await
    }

    /// Sends the watched parameters that have changed.
    async fn send_changed_parameters(&mut self) -> bool {
        if self.watched.is_empty() {
            return true;
        }
        let mut changed = Vec::new();
        for parameter in self.parameters().await {
            let is_watched = self.watched.binary_search(&parameter.name).is_ok();
            if is_watched && self.shown.get(&parameter.name) != Some(&parameter.value) {
                changed.push(parameter.to_json());
                self.shown.insert(parameter.name, parameter.value);
            }
        }
        changed.is_empty() || self.send(parameter_values(&changed, None)).await
    }

    /// Gives parameters new values; returns why some keep theirs.
    async fn set(&mut self, assignments: Vec<Assignment>) -> Vec<Refusal> {
        let mut refusals = Vec::new();
        for Assignment { name, value } in assignments {
            if let Err(refusal) = self.set_one(&name, &value).await {
                refusals.push(Refusal {
                    message: format!("{name} keeps its value: {}", refusal.message),
                    ..refusal
                });
            }
        }
        refusals
    }

    async fn set_one(&mut self, name: &str, value: &Json) -> Result<(), Refusal> {
        let parameters = self.parameters().await;
        let found = parameters.iter().find(|parameter| parameter.name == name);
        let parameter = found.ok_or_else(|| {
            let remedy =
                "read the parameters again: their names are those of the present scene and sensor";
            Refusal::new("there is no such parameter", remedy)
        })?;
        let edits = vec![parameter.edit(value)?];
        self.next_gesture += 1;
        let request = Request::Edit {
            gesture: self.next_gesture,
            edits,
        };
        let ended = || Refusal::new("the session has ended", "start etendue studio again");
        let session = self.served.session.as_ref().ok_or_else(ended)?;
        let (answer, waiting) = oneshot::channel();
        session.send(Job::Request(request, answer));
        waiting.await.map_err(|_| ended())??;
        Ok(())
    }
}
