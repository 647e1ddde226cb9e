//! Messages of the protocol: <https://github.com/foxglove/ws-protocol/blob/main/docs/spec.md>.

use etendue::io::ros2::Topic;
use serde::Deserialize;
use serde_json::{Value as Json, json};

/// Names of the protocol; the second is the older one.
pub(super) const PROTOCOLS: [&str; 2] = ["foxglove.sdk.v1", "foxglove.websocket.v1"];

/// A message of a client that the server understands.
#[derive(Debug, Deserialize, PartialEq)]
#[serde(tag = "op", rename_all = "camelCase")]
pub(super) enum Incoming {
    Subscribe {
        subscriptions: Vec<Subscription>,
    },
    #[serde(rename_all = "camelCase")]
    Unsubscribe {
        subscription_ids: Vec<u32>,
    },
    #[serde(rename_all = "camelCase")]
    GetParameters {
        /// All where it is empty.
        parameter_names: Vec<String>,
        id: Option<String>,
    },
    SetParameters {
        parameters: Vec<Assignment>,
        id: Option<String>,
    },
    #[serde(rename_all = "camelCase")]
    SubscribeParameterUpdates {
        parameter_names: Vec<String>,
    },
    #[serde(rename_all = "camelCase")]
    UnsubscribeParameterUpdates {
        parameter_names: Vec<String>,
    },
}

/// A subscription to a channel.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub(super) struct Subscription {
    /// Number of the subscription, chosen by the client.
    pub id: u32,
    pub channel_id: u64,
}

/// A new value of a parameter.
#[derive(Debug, Deserialize, PartialEq)]
pub(super) struct Assignment {
    pub name: String,
    #[serde(default)]
    pub value: Json,
}

/// Severity of a status.
#[derive(Clone, Copy, Debug)]
pub(super) enum Level {
    Warning = 1,
    Error = 2,
}

/// The first message to a client.
pub(super) fn server_info(session: &str, with_parameters: bool) -> String {
    let capabilities: &[&str] = if with_parameters {
        &["parameters", "parametersSubscribe"]
    } else {
        &[]
    };
    let info = json!({
        "op": "serverInfo", "name": "etendue", "capabilities": capabilities, "supportedEncodings": ["cdr"],
        "metadata": {}, "sessionId": session,
    });
    info.to_string()
}

/// New channels: their numbers and topics.
pub(super) fn advertise(channels: &[(u64, Topic)]) -> String {
    let channels = channels.iter().map(|(id, topic)| {
        json!({
            "id": id, "topic": topic.name, "encoding": "cdr", "schemaName": topic.schema_name,
            "schemaEncoding": "ros2msg", "schema": topic.schema,
        })
    });
    let channels: Vec<Json> = channels.collect();
    json!({ "op": "advertise", "channels": channels }).to_string()
}

/// Channels that are no longer there.
pub(super) fn unadvertise(channels: &[u64]) -> String {
    json!({ "op": "unadvertise", "channelIds": channels }).to_string()
}

/// A note for the user.
pub(super) fn status(level: Level, message: &str) -> String {
    json!({ "op": "status", "level": level as u8, "message": message }).to_string()
}

/// Values of parameters; `id` is that of the request that they answer.
pub(super) fn parameter_values(values: &[Json], id: Option<&str>) -> String {
    let mut message = json!({ "op": "parameterValues", "parameters": values });
    if let Some(id) = id {
        message["id"] = id.into();
    }
    message.to_string()
}

/// A message of a subscription.
pub(super) fn message_data(subscription: u32, time: u64, bytes: &[u8]) -> Vec<u8> {
    let mut message = Vec::with_capacity(13 + bytes.len());
    message.push(1);
    message.extend(subscription.to_le_bytes());
    message.extend(time.to_le_bytes());
    message.extend(bytes);
    message
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    #[test]
    fn messages_of_clients_are_those_of_the_specification() {
        let parsed = |text: &str| serde_json::from_str::<Incoming>(text).unwrap();
        assert_eq!(
            parsed(r#"{"op": "subscribe", "subscriptions": [{"id": 0, "channelId": 3}]}"#),
            Incoming::Subscribe {
                subscriptions: vec![Subscription {
                    id: 0,
                    channel_id: 3
                }]
            }
        );
        assert_eq!(
            parsed(r#"{"op": "unsubscribe", "subscriptionIds": [0, 1]}"#),
            Incoming::Unsubscribe {
                subscription_ids: vec![0, 1]
            }
        );
        assert_eq!(
            parsed(
                r#"{"op": "setParameters", "parameters": [{"name": "/a", "value": 3, "type": "float64"}], "id": "r"}"#
            ),
            Incoming::SetParameters {
                parameters: vec![Assignment {
                    name: "/a".into(),
                    value: json!(3)
                }],
                id: Some("r".into())
            }
        );
        assert_eq!(
            parsed(r#"{"op": "getParameters", "parameterNames": []}"#),
            Incoming::GetParameters {
                parameter_names: vec![],
                id: None
            }
        );
    }

    #[test]
    fn message_data_is_that_of_the_specification() {
        let message = message_data(7, 0x0102, b"cdr");
        assert_eq!(message[0], 1);
        assert_eq!(message[1..5], [7, 0, 0, 0]);
        assert_eq!(message[5..13], [2, 1, 0, 0, 0, 0, 0, 0]);
        assert_eq!(&message[13..], b"cdr");
    }
}
