//! Topics and their messages on the way to clients.

use super::message::{advertise, unadvertise};
use axum::body::Bytes;
use etendue::io::ros2::{Topic, TopicMessage};
use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::Notify;

/// Largest size of the messages that wait for a client, bytes; beyond it the oldest are lost.
const MAX_WAITING: usize = 64 << 20;

/// The topics, and the clients that receive their messages.
#[derive(Debug, Default)]
pub struct Live {
    content: Mutex<Content>,
    /// Notified when a client subscribes, and when it has taken its messages.
    changed: Condvar,
}

#[derive(Debug, Default)]
struct Content {
    /// Number of channels so far.
    channels: u64,
    /// The topics with the numbers of their channels.
    topics: Vec<(u64, Topic)>,
    /// Messages that a client receives when it subscribes.
    latched: Vec<Data>,
    clients: Vec<Arc<Outbox>>,
}

/// A message of a channel.
#[derive(Clone, Debug)]
pub(super) struct Data {
    pub channel: u64,
    pub time: u64,
    pub bytes: Bytes,
}

/// What waits for a client.
#[derive(Clone, Debug)]
pub(super) enum Waiting {
    /// Text of a message about channels.
    Channels(String),
    Data(Data),
}

/// Messages that wait for a client.
#[derive(Debug, Default)]
pub(super) struct Outbox {
    queue: Mutex<Queue>,
    /// Notified when a message waits.
    pub ready: Notify,
}

#[derive(Debug, Default)]
struct Queue {
    waiting: VecDeque<Waiting>,
    bytes: usize,
    /// Channels with a subscription.
    wanted: Vec<u64>,
    /// Whether a taken message is on its way.
    is_sending: bool,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Live {
    /// Makes these the topics. Channels of topics that stay keep their numbers.
    pub fn set_topics(&self, topics: &[Topic]) {
        let mut content = locked(&self.content);
        let Content {
            channels,
            topics: known,
            latched,
            clients,
        } = &mut *content;
        // Number the new topics
        let mut added = Vec::new();
        let mut numbered = |topic: &Topic| {
            if let Some(same) = known.iter().find(|(_, own)| own == topic) {
                return same.clone();
            }
            *channels += 1;
            added.push((*channels, topic.clone()));
            (*channels, topic.clone())
        };
        let new: Vec<(u64, Topic)> = topics.iter().map(&mut numbered).collect();
        let is_there = |channel: u64| new.iter().any(|(number, _)| *number == channel);
        let gone = known.iter().map(|(number, _)| *number);
        let gone: Vec<u64> = gone.filter(|number| !is_there(*number)).collect();
        *known = new;
        latched.retain(|data| !gone.contains(&data.channel));
        // Tell the clients
        for client in clients {
            if !gone.is_empty() {
                client.push(Waiting::Channels(unadvertise(&gone)));
            }
            if !added.is_empty() {
                client.push(Waiting::Channels(advertise(&added)));
            }
        }
    }

    /// Sends messages, whose topics are indices of those of [`Live::set_topics`], to the clients that subscribe.
    pub fn publish(&self, messages: Vec<TopicMessage>) {
        let content = locked(&self.content);
        for data in content.numbered(messages) {
            for client in &content.clients {
                client.push(Waiting::Data(data.clone()));
            }
        }
    }

    /// Sends messages to each client that subscribes, now and later.
    pub fn latch(&self, messages: Vec<TopicMessage>) {
        let mut content = locked(&self.content);
        content.latched = content.numbered(messages).collect();
    }

    /// Whether a client subscribes to a channel.
    pub fn is_wanted(&self) -> bool {
        locked(&self.content).is_wanted()
    }

    /// Waits until a client subscribes to a channel.
    pub fn wait_until_wanted(&self) {
        let mut content = locked(&self.content);
        while !content.is_wanted() {
            let woken = self.changed.wait(content);
            content = woken.unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Waits until the clients have received all messages, at most for a duration.
    pub fn wait_until_sent(&self, at_most: Duration) {
        let until = Instant::now() + at_most;
        let mut content = locked(&self.content);
        while content.clients.iter().any(|client| client.is_waiting()) {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            let woken = self.changed.wait_timeout(content, left);
            content = woken.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Adds a client, which first receives the channels.
    pub(super) fn connect(&self) -> Arc<Outbox> {
        let client = Arc::new(Outbox::default());
        let mut content = locked(&self.content);
        client.push(Waiting::Channels(advertise(&content.topics)));
        content.clients.push(client.clone());
        client
    }

    /// Removes a client.
    pub(super) fn disconnect(&self, client: &Arc<Outbox>) {
        let mut content = locked(&self.content);
        content.clients.retain(|other| !Arc::ptr_eq(other, client));
        drop(content);
        self.changed.notify_all();
    }

    /// Sets the channels that a client subscribes to. It receives the latched messages of the new ones.
    pub(super) fn subscribe(&self, client: &Outbox, channels: Vec<u64>) {
        let content = locked(&self.content);
        let before = std::mem::replace(&mut locked(&client.queue).wanted, channels);
        let is_new = |data: &&Data| !before.contains(&data.channel);
        for data in content.latched.iter().filter(is_new) {
            client.push(Waiting::Data(data.clone()));
        }
        drop(content);
        self.changed.notify_all();
    }

    /// Notes that a client has received what it took.
    pub(super) fn sent(&self) {
        self.changed.notify_all();
    }
}

impl Content {
    fn is_wanted(&self) -> bool {
        let mut clients = self.clients.iter();
        clients.any(|client| !locked(&client.queue).wanted.is_empty())
    }

    fn numbered(&self, messages: Vec<TopicMessage>) -> impl Iterator<Item = Data> {
        let numbered = |message: TopicMessage| {
            let (channel, _) = self.topics.get(message.topic)?;
            Some(Data {
                channel: *channel,
                time: message.time,
                bytes: message.bytes.into(),
            })
        };
        messages.into_iter().filter_map(numbered)
    }
}

impl Outbox {
    /// Appends a message, if the client subscribes to its channel.
    fn push(&self, message: Waiting) {
        let mut queue = locked(&self.queue);
        if let Waiting::Data(data) = &message {
            if !queue.wanted.contains(&data.channel) {
                return;
            }
            queue.bytes += data.bytes.len();
        }
        queue.waiting.push_back(message);
        // Drop the oldest data of a slow client
        while queue.bytes > MAX_WAITING {
            let is_data = |waiting: &Waiting| matches!(waiting, Waiting::Data(_));
            let Some(oldest) = queue.waiting.iter().position(is_data) else {
                break;
            };
            if let Some(Waiting::Data(data)) = queue.waiting.remove(oldest) {
                queue.bytes -= data.bytes.len();
            }
        }
        drop(queue);
        self.ready.notify_one();
    }

    /// Takes the oldest message; the one before has been sent.
    pub(super) fn take(&self) -> Option<Waiting> {
        let mut queue = locked(&self.queue);
        let message = queue.waiting.pop_front();
        queue.is_sending = message.is_some();
        if let Some(Waiting::Data(data)) = &message {
            queue.bytes -= data.bytes.len();
        }
        message
    }

    fn is_waiting(&self) -> bool {
        let queue = locked(&self.queue);
        queue.is_sending || !queue.waiting.is_empty()
    }
}
