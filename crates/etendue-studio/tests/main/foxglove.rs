//! Clients of the protocol of Foxglove.

use crate::page::{Page, Server};
use etendue::io::ros2::{parse_clouds, recorded_messages};
use futures_util::{SinkExt, StreamExt};
use serde_json::{Value as Json, json};
use std::path::Path;
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::runtime::{Builder, Runtime};
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::http::{HeaderValue, StatusCode};
use tokio_tungstenite::tungstenite::{Error, Message};
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async};

const WALL: &str = "materials.wall.diffuse.reflectance";

/// A connected client.
struct Client {
    runtime: Runtime,
    socket: WebSocketStream<MaybeTlsStream<TcpStream>>,
}

/// What a client receives.
#[derive(Debug)]
enum Received {
    Text(Json),
    /// Subscription, time and content.
    Data(u32, u64, Vec<u8>),
}

impl Client {
    /// Connects as a page of another server does.
    fn connect(server: &Server, protocol: &'static str) -> Result<Self, Error> {
        let runtime = Builder::new_current_thread().enable_all().build().unwrap();
        let url = format!("ws://{}/{}/foxglove", server.host, server.token);
        let mut request = url.into_client_request().unwrap();
        let headers = request.headers_mut();
        headers.insert("sec-websocket-protocol", HeaderValue::from_static(protocol));
        headers.insert(
            "origin",
            HeaderValue::from_static("https://app.foxglove.dev"),
        );
        let (socket, _) = runtime.block_on(connect_async(request))?;
        Ok(Self { runtime, socket })
    }

    fn open(server: &Server) -> Self {
        Self::connect(server, "foxglove.sdk.v1").unwrap()
    }

    fn send(&mut self, message: &Json) {
        let message = Message::text(message.to_string());
        self.runtime.block_on(self.socket.send(message)).unwrap();
    }

    fn receive(&mut self) -> Received {
        let next =
            async { tokio::time::timeout(Duration::from_secs(60), self.socket.next()).await };
        let message = self.runtime.block_on(next).expect("a message in a minute");
        match message.unwrap().unwrap() {
            Message::Text(text) => Received::Text(serde_json::from_str(&text).unwrap()),
            Message::Binary(bytes) => {
                assert_eq!(bytes[0], 1);
                let subscription = u32::from_le_bytes(bytes[1..5].try_into().unwrap());
                let time = u64::from_le_bytes(bytes[5..13].try_into().unwrap());
                Received::Data(subscription, time, bytes[13..].to_vec())
            }
            other => panic!("{other:?}"),
        }
    }

    /// The next message of an operation; others are skipped.
    fn text(&mut self, op: &str) -> Json {
        loop {
            if let Received::Text(json) = self.receive()
                && json["op"] == op
            {
                return json;
            }
        }
    }

    /// The channels of topics, with others that are advertised before. A client that connects before the first sweep gets
    /// the channels after it.
    fn advertised(&mut self, topics: &[&str]) -> Json {
        let mut channels: Vec<Json> = Vec::new();
        let is_there =
            |channels: &[Json], topic: &str| channels.iter().any(|own| own["topic"] == topic);
        while !topics.iter().all(|topic| is_there(&channels, topic)) {
            let new = self.text("advertise");
            channels.extend(new["channels"].as_array().unwrap().iter().cloned());
        }
        json!({ "channels": channels })
    }

    /// The next message with data; others are skipped.
    fn data(&mut self) -> (u32, u64, Vec<u8>) {
        loop {
            if let Received::Data(subscription, time, bytes) = self.receive() {
                return (subscription, time, bytes);
            }
        }
    }

    fn set(&mut self, name: &str, value: &Json) {
        let parameters = json!([{ "name": name, "value": value, "type": "float64" }]);
        self.send(&json!({ "op": "setParameters", "parameters": parameters, "id": "set" }));
    }
}

/// The channel of a topic.
fn channel<'a>(advertised: &'a Json, topic: &str) -> &'a Json {
    let channels = advertised["channels"].as_array().unwrap();
    let found = channels.iter().find(|channel| channel["topic"] == topic);
    found.unwrap_or_else(|| panic!("{topic} in {advertised}"))
}

/// Number of a channel.
fn number(channel: &Json) -> u64 {
    channel["id"].as_u64().unwrap()
}

/// Messages of a topic in a recording.
fn recorded(mcap: &[u8], topic: &str) -> Vec<Vec<u8>> {
    let (topics, messages) = recorded_messages(mcap).unwrap();
    let messages = messages.map(Result::unwrap);
    let own = messages.filter(|message| topics[message.topic].name == topic);
    own.map(|message| message.bytes).collect()
}

fn mean_intensity(mcap: &[u8]) -> f64 {
    let clouds = parse_clouds(Path::new("run.mcap"), mcap).unwrap().clouds;
    let values = clouds[0].field("intensity").unwrap();
    values.iter().sum::<f64>() / values.len() as f64
}

#[test]
fn a_set_parameter_changes_the_cloud() {
    let server = Server::start_with_foxglove("arena");
    let mut client = Client::open(&server);
    let info = client.text("serverInfo");
    assert_eq!(
        info["capabilities"],
        json!(["parameters", "parametersSubscribe"])
    );
    let advertised = client.advertised(&["/points", "/points/scan", "/tf"]);
    for (topic, schema) in [
        ("/points", "sensor_msgs/msg/PointCloud2"),
        ("/points/scan", "sensor_msgs/msg/LaserScan"),
        ("/tf", "tf2_msgs/msg/TFMessage"),
    ] {
        let channel = channel(&advertised, topic);
        assert_eq!(channel["schemaName"], schema);
        assert_eq!(channel["encoding"], "cdr");
        assert_eq!(channel["schemaEncoding"], "ros2msg");
    }
    assert!(
        channel(&advertised, "/points")["schema"]
            .as_str()
            .unwrap()
            .contains("uint8[] data")
    );

    // The cloud is that of the recording of the page, which is that of `etendue simulate`
    let points = number(channel(&advertised, "/points"));
    client.send(&json!({ "op": "subscribe", "subscriptions": [{ "id": 9, "channelId": points }] }));
    let (subscription, time, cloud) = client.data();
    let before = server.get("record/1").1;
    assert_eq!((subscription, time), (9, 0));
    assert!(vec![cloud] == recorded(&before, "/points"));

    // A darker wall gives lower intensities
    client.send(&json!({ "op": "getParameters", "parameterNames": [WALL], "id": "get" }));
    let values = client.text("parameterValues");
    let value = json!([{ "name": WALL, "value": 0.8, "type": "float64" }]);
    assert_eq!(values["parameters"], value);
    assert_eq!(values["id"], "get");
    client.set(WALL, &json!(0.2));
    let (_, _, cloud) = client.data();
    let after = server.get("record/1").1;
    assert!(vec![cloud] == recorded(&after, "/points"));
    let [before, after] = [&before, &after].map(|mcap| mean_intensity(mcap));
    assert!(after < 0.5 * before, "{before} and {after}");

    // Without the subscription nothing comes before the answer
    client.send(&json!({ "op": "unsubscribe", "subscriptionIds": [9] }));
    client.set(WALL, &json!(0.3));
    loop {
        match client.receive() {
            Received::Text(values) if values["parameters"][0]["value"] == json!(0.3) => break,
            Received::Text(_) => {}
            Received::Data(..) => panic!("data without a subscription"),
        }
    }
}

#[test]
fn impossible_values_are_refused_and_put_back() {
    let server = Server::start_with_foxglove("arena");
    let mut client = Client::open(&server);
    for (name, value, part) in [
        (WALL, json!(1.5), "wall"),
        (WALL, json!("white"), "no value"),
        (WALL, json!([0.1, 0.2]), "no value"),
        ("seed", json!(-3), "whole number"),
        ("weather.rain_mm_h", json!(-1), "impossible"),
        ("pose", json!([1, 2]), "give 6 numbers"),
        ("sensor.range.step_mm", json!(-1), "step_mm is -1"),
        ("materials.none.diffuse.reflectance", json!(0.5), "no such"),
    ] {
        client.set(name, &value);
        let status = client.text("status");
        let message = status["message"].as_str().unwrap();
        assert_eq!(status["level"], 2, "{status}");
        assert!(message.starts_with(name), "{status}");
        assert!(message.contains(part), "{status}");
        let values = client.text("parameterValues");
        assert_eq!(values["id"], "set");
        if name == WALL {
            assert_eq!(values["parameters"][0]["value"], 0.8);
        }
    }
    // Messages that are none are answered, and the connection goes on
    for text in [
        "",
        "{}",
        "[]",
        "null",
        r#"{"op": "subscribe"}"#,
        r#"{"op": "fetchAsset"}"#,
        "\u{0}",
    ] {
        let message = Message::text(text);
        client
            .runtime
            .block_on(client.socket.send(message))
            .unwrap();
        assert_eq!(client.text("status")["level"], 1, "{text}");
    }
    let page = Page::open(&server);
    assert_eq!(page.state["steps"], json!([0, 0]));
}

#[test]
fn changes_of_a_page_reach_the_watching_clients() {
    let server = Server::start_with_foxglove("arena");
    let mut page = Page::open(&server);
    let mut client = Client::open(&server);
    client.send(&json!({ "op": "getParameters", "parameterNames": [] }));
    let all = client.text("parameterValues");
    let names: Vec<&str> = all["parameters"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|parameter| parameter["name"].as_str())
        .collect();
    for name in [
        WALL,
        "sensor.wavelength_nm",
        "weather.rain_mm_h",
        "pose",
        "seed",
    ] {
        assert!(names.contains(&name), "{name} in {names:?}");
    }
    client.send(&json!({ "op": "subscribeParameterUpdates", "parameterNames": [WALL, "pose"] }));
    let first = client.text("parameterValues");
    assert_eq!(first["parameters"].as_array().unwrap().len(), 2, "{first}");
    let path = ["materials", "wall", "diffuse", "reflectance"];
    let edit = json!([{ "set": { "document": "scene", "path": path, "value": 0.45 } }]);
    page.edit(1, &edit);
    let changed = client.text("parameterValues");
    let value = json!([{ "name": WALL, "value": 0.45, "type": "float64" }]);
    assert_eq!(changed["parameters"], value);
    // The page sees changes of the client
    client.set("pose", &json!([0.1, 0.0, 0.0, 5.0, 0.0, 0.0]));
    page.until(|page| page.state["pose"][0] == json!(0.1));
    page.request(&json!("undo"));
    page.until(|page| page.state["pose"][0] == json!(0.0));
}

#[test]
fn another_sensor_has_other_topics() {
    let server = Server::start_with_foxglove("arena");
    let mut page = Page::open(&server);
    let mut client = Client::open(&server);
    let advertised = client.advertised(&["/points", "/points/scan", "/tf"]);
    let scan = number(channel(&advertised, "/points/scan"));
    page.edit(1, &json!([{ "sensor": "velodyne-vlp-16" }]));
    assert_eq!(client.text("unadvertise")["channelIds"], json!([scan]));
    page.request(&json!("undo"));
    let new = client.text("advertise");
    assert_eq!(new["channels"].as_array().unwrap().len(), 1, "{new}");
    assert_ne!(number(channel(&new, "/points/scan")), scan);
}

#[test]
fn the_run_of_a_robot_is_played_at_its_own_pace() {
    let cart = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/cart.toml");
    let server = Server::start_with_foxglove(cart);
    let mut client = Client::open(&server);
    let advertised = client.advertised(&["/imu", "/tf_static"]);
    let channels = ["/imu", "/tf_static"].map(|topic| number(channel(&advertised, topic)));
    let subscriptions = json!([
        { "id": 0, "channelId": channels[0] }, { "id": 1, "channelId": channels[1] },
    ]);
    client.send(&json!({ "op": "subscribe", "subscriptions": subscriptions }));
    // The mounts first, then the readings
    let mut played = [vec![], vec![]];
    let mut begin = None;
    let mut times = Vec::new();
    while played[0].len() < 50 {
        let (subscription, time, bytes) = client.data();
        begin.get_or_insert_with(std::time::Instant::now);
        times.push(time);
        played[subscription as usize].push(bytes);
    }
    let passed = begin.unwrap().elapsed().as_secs_f64();
    let simulated = 1e-9 * *times.last().unwrap() as f64;
    assert!(
        simulated > 0.45 && passed > simulated - 0.05,
        "{passed} s for {simulated} s"
    );
    let (status, recording) = server.get("robot/run.mcap");
    assert_eq!(status, 200);
    assert!(played[1] == recorded(&recording, "/tf_static"));
    assert!(played[0][..] == recorded(&recording, "/imu")[..50]);
}

#[test]
fn foxglove_needs_the_token_and_the_option() {
    let refused = |error: Error| match error {
        Error::Http(answer) => answer.status(),
        other => panic!("{other}"),
    };
    let status = |server: &Server, protocol| {
        let connected = Client::connect(server, protocol);
        refused(connected.err().expect("no connection"))
    };
    let plain = Server::start("arena");
    assert_eq!(status(&plain, "foxglove.sdk.v1"), StatusCode::NOT_FOUND);
    let mut server = Server::start_with_foxglove("arena");
    assert_eq!(status(&server, "chat"), StatusCode::BAD_REQUEST);
    Client::connect(&server, "foxglove.websocket.v1").unwrap();
    // Its origin does not open the page
    let path = format!("/{}/", server.token);
    let foreign = format!(
        "Host: {}\r\nOrigin: https://app.foxglove.dev\r\n",
        server.host
    );
    assert_eq!(server.status(&path, &foreign), 403);
    // A foreign host, and a wrong token
    let path = format!("/{}/foxglove", server.token);
    assert_eq!(server.status(&path, "Host: evil.example\r\n"), 403);
    server.token = "0".repeat(server.token.len());
    assert_eq!(status(&server, "foxglove.sdk.v1"), StatusCode::FORBIDDEN);
}
