//! The command line that the studio exports.

use crate::etendue;
use ::etendue::io::ros2::recorded_messages;
use etendue_studio::Opening;
use etendue_studio::session::{Document, Edit, Session};
use futures_util::{SinkExt, StreamExt};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::{BufRead as _, Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use tokio_tungstenite::connect_async;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;
use tokio_tungstenite::tungstenite::http::HeaderValue;

/// Applies changes, saves the files, runs the exported command, and compares the files of points.
fn exported_equals_shown(
    scene: &str,
    sensor: Option<&str>,
    trajectory: Option<&str>,
    changes: Value,
) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("scene.toml");
    let preset = ::etendue::config::presets::SCENES
        .find(scene)
        .expect("a scene");
    std::fs::write(&path, preset.text).expect("written");
    let opening = Opening {
        scene: Some(path.display().to_string()),
        sensor: sensor.map(Into::into),
        trajectory: trajectory.map(|text| {
            let path = folder.path().join("poses.tum");
            std::fs::write(&path, text).expect("written");
            path
        }),
        seed: 11,
        ..Opening::default()
    };
    let mut session = Session::open(&opening, folder.path().to_owned()).expect("a session");
    let edits: Vec<Edit> = serde_json::from_value(changes).expect("edits");
    session.edit(&edits, 1).expect("possible");
    session.simulate().expect("a sweep");
    session.save(Document::Scene).expect("saved");
    let shown = session.points().expect("points");

    // The exported command, with an output
    let export = session.export();
    assert!(export.unsaved.is_empty(), "{:?}", export.unsaved);
    let mut words: Vec<&str> = export.words[1..].iter().map(String::as_str).collect();
    words.extend(["-o", "exported.pcd"]);
    let output = etendue(Path::new(folder.path()), &words);
    assert!(output.status.success(), "{output:?}");
    let exported = std::fs::read(folder.path().join("exported.pcd")).expect("points");
    assert!(shown.len() > 10_000, "{}", shown.len());
    assert!(
        shown == exported,
        "{} and {} bytes",
        shown.len(),
        exported.len()
    );

    // The recording of the page is that of the command
    let mut words = export.words[1..].to_vec();
    words.extend(["--sweeps", "2", "-o", "exported.mcap"].map(Into::into));
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let output = etendue(Path::new(folder.path()), &words);
    assert!(output.status.success(), "{output:?}");
    let exported = std::fs::read(folder.path().join("exported.mcap")).expect("a recording");
    assert!(
        session.record(2).expect("a recording") == exported,
        "{} bytes",
        exported.len()
    );
}

#[test]
fn the_shown_sweep_is_that_of_the_exported_command() {
    // A phase receiver, with a moved mirror and another wall
    exported_equals_shown(
        "arena",
        None,
        None,
        json!([
            { "set": { "document": "scene", "path": ["materials", "wall", "diffuse", "reflectance"], "value": 0.37 } },
            { "set": { "document": "scene", "path": ["objects", 1, "position_m"], "value": [0.45, 0.02, 0.0] } },
            { "pose": [0.05, -0.02, 0.01, 12.5, 1.0, -2.0] },
        ]),
    );
    // A pulsed receiver in rain, with a glass door
    exported_equals_shown(
        "glass-door",
        Some("velodyne-vlp-16"),
        None,
        json!([
            { "weather": { "rain_mm_h": 25.0, "fog_m": 300.0 } },
            { "seed": 4 },
            { "set": { "document": "scene", "path": ["materials", "white-paint"], "value": { "base": "white-paint", "diffuse": { "reflectance": 0.4 } } } },
        ]),
    );
}

#[test]
fn a_sweep_along_a_trajectory_is_that_of_the_exported_command() {
    let poses = "10.0 -1 0 1.2 0 0 0 1\n10.35 -0.5 0.2 1.2 0 0 0.17364818 0.98480775\n11.2 0.5 0.4 1.2 0 0 0.34202014 0.93969262\n";
    exported_equals_shown(
        "glass-door",
        Some("velodyne-vlp-16"),
        Some(poses),
        json!([{ "seed": 5 }]),
    );
}

#[test]
fn a_sensor_pose_and_a_camera_give_the_picture_of_render() {
    let folder = tempfile::tempdir().expect("a folder");
    let opening = Opening {
        scene: Some("arena".into()),
        seed: 7,
        ..Opening::default()
    };
    let session = Session::open(&opening, folder.path().to_owned()).expect("a session");
    // A small camera
    let preset = ::etendue::config::presets::CAMERAS
        .find("ideal")
        .expect("a camera");
    let small = preset.text.replace("[640, 480]", "[64, 48]");
    let path = folder.path().join("small.toml");
    std::fs::write(&path, small).expect("written");
    let camera = ::etendue::config::camera::load(&path).expect("a camera");
    let shown = session
        .picture(&camera, Some([0.1, 0.0, 0.1, 20.0, 5.0, 0.0]))
        .expect("a picture");
    let words = [
        "render",
        "arena",
        "--camera",
        "small.toml",
        "--pose",
        "0.1,0,0.1,20,5,0",
    ];
    let words = [&words[..], &["--seed", "7", "-o", "picture.png"]].concat();
    let output = etendue(folder.path(), &words);
    assert!(output.status.success(), "{output:?}");
    let written = std::fs::read(folder.path().join("picture.png")).expect("a picture");
    assert!(
        shown == written,
        "{} and {} bytes",
        shown.len(),
        written.len()
    );
}

#[test]
fn a_missing_source_of_an_aim_is_an_error_at_once() {
    let folder = tempfile::tempdir().expect("a folder");
    let words = ["studio", "--no-open", "--aim", "missing.txt"];
    let output = etendue(folder.path(), &words);
    let text = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(output.stdout.is_empty());
    for part in ["missing.txt", "No such file", "check the path"] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

/// Whether a program starts.
fn starts(program: &str) -> bool {
    let mut command = std::process::Command::new(program);
    command
        .arg("--version")
        .output()
        .is_ok_and(|output| output.status.success())
}

#[test]
fn the_page_of_the_studio_works_in_firefox() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../etendue-studio/page");
    let is_built =
        page.join("dist/index.html").exists() && page.join("node_modules/puppeteer-core").exists();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = |name: &str| {
        let paths = std::env::split_paths(&path).map(|folder| folder.join(name));
        paths.into_iter().find(|path| path.exists())
    };
    let firefox = found("firefox-esr").or_else(|| found("firefox"));
    let (true, true, Some(_), Some(firefox)) = (is_built, starts("node"), found("Xvfb"), firefox)
    else {
        eprintln!(
            "skipped: the_page_of_the_studio_works_in_firefox (needs Node, Firefox, Xvfb and `just studio-page`)"
        );
        return;
    };
    let text = drive(&page.join("test/firefox.mjs"), Some(firefox.as_ref()));
    // One line per step
    assert!(text.matches("ok: ").count() >= 4, "{text}");
}

#[test]
fn the_page_of_the_studio_works_in_a_browser() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../etendue-studio/page");
    let is_built =
        page.join("dist/index.html").exists() && page.join("node_modules/playwright-core").exists();
    let chromium = ["chromium", "chromium-browser", "google-chrome"]
        .into_iter()
        .find(|name| starts(name));
    let (true, true, Some(chromium)) = (is_built, starts("node"), chromium) else {
        eprintln!(
            "skipped: the_page_of_the_studio_works_in_a_browser (needs Node, Chromium and `just studio-page`)"
        );
        return;
    };
    let path = std::env::var_os("PATH").unwrap_or_default();
    let chromium = std::env::split_paths(&path)
        .map(|folder| folder.join(chromium))
        .find(|path| path.exists());
    let text = drive(&page.join("test/browser.mjs"), chromium.as_deref());
    // One line per step
    assert!(text.matches("ok: ").count() >= 20, "{text}");
}

/// Output of a script that drives the page in a browser, which has to succeed.
fn drive(script: &Path, browser: Option<&Path>) -> String {
    let output = std::process::Command::new("node")
        .arg(script)
        .arg(env!("CARGO_BIN_EXE_etendue"))
        .args(browser)
        .output()
        .expect("node starts");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        output.status.success(),
        "{text}{}",
        String::from_utf8_lossy(&output.stderr)
    );
    text
}

/// A program that runs until it is dropped, and the lines that it printed.
struct Running {
    child: std::process::Child,
    lines: std::io::Lines<std::io::BufReader<std::process::ChildStdout>>,
}

impl Running {
    fn start(folder: &Path, words: &[&str]) -> Self {
        let mut command = crate::command(folder, words);
        let mut child = command
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::null())
            .spawn()
            .expect("it starts");
        let output = child.stdout.take().expect("its output");
        Self {
            child,
            lines: std::io::BufReader::new(output).lines(),
        }
    }

    fn line(&mut self) -> String {
        self.lines.next().expect("a line").expect("a line")
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

const CART: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/cart.toml");

#[test]
fn a_run_in_foxglove_has_the_messages_of_its_recording() {
    let folder = tempfile::tempdir().expect("a folder");
    let words = [
        "run",
        CART,
        "--duration",
        "0.5",
        "--foxglove",
        "-o",
        "run.mcap",
    ];
    let mut running = Running::start(folder.path(), &words);
    let url = running.line();
    let received = foxglove_messages(&url);
    let status = running.child.wait().expect("it ends");
    assert!(status.success());
    // Every message, in the order of its topic
    let recording = std::fs::read(folder.path().join("run.mcap")).expect("a recording");
    let (topics, messages) = recorded_messages(&recording).expect("messages");
    let messages: Vec<_> = messages
        .map(|message| message.expect("a message"))
        .collect();
    assert!(messages.len() > 100, "{}", messages.len());
    for (number, topic) in topics.iter().enumerate() {
        let own = messages.iter().filter(|message| message.topic == number);
        let own: Vec<_> = own
            .map(|message| (message.time, message.bytes.clone()))
            .collect();
        let none = Vec::new();
        let shown = received.get(&topic.name).unwrap_or(&none);
        assert!(
            *shown == own,
            "{}: {} of {}",
            topic.name,
            shown.len(),
            own.len()
        );
    }
}

/// Subscribes to all topics, and receives until the end: times and contents by topic.
fn foxglove_messages(url: &str) -> BTreeMap<String, Vec<(u64, Vec<u8>)>> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    let mut request = url.into_client_request().expect("an address");
    let protocol = HeaderValue::from_static("foxglove.sdk.v1");
    request
        .headers_mut()
        .insert("sec-websocket-protocol", protocol);
    runtime.expect("a runtime").block_on(async {
        let (mut socket, _) = connect_async(request).await.expect("a connection");
        let mut topics = Vec::new();
        let mut received = BTreeMap::<String, Vec<_>>::new();
        while let Some(Ok(message)) = socket.next().await {
            match message {
                Message::Text(text) => {
                    let message: Value = serde_json::from_str(&text).expect("JSON");
                    let channels = message["channels"].as_array().cloned().unwrap_or_default();
                    topics.extend(
                        channels
                            .iter()
                            .map(|channel| channel["topic"].as_str().expect("a topic").to_owned()),
                    );
                    let subscriptions = channels.iter().enumerate();
                    let subscriptions: Vec<Value> = subscriptions
                        .map(|(id, channel)| json!({ "id": id, "channelId": channel["id"] }))
                        .collect();
                    if !subscriptions.is_empty() {
                        let subscribe =
                            json!({ "op": "subscribe", "subscriptions": subscriptions });
                        socket
                            .send(Message::text(subscribe.to_string()))
                            .await
                            .expect("sent");
                    }
                }
                Message::Binary(bytes) => {
                    let id = u32::from_le_bytes(bytes[1..5].try_into().expect("a number"));
                    let time = u64::from_le_bytes(bytes[5..13].try_into().expect("a time"));
                    let topic = topics[id as usize].clone();
                    received
                        .entry(topic)
                        .or_default()
                        .push((time, bytes[13..].to_vec()));
                }
                _ => break,
            }
        }
        received
    })
}

#[test]
fn the_page_records_the_run_of_a_robot_as_the_command_does() {
    let folder = tempfile::tempdir().expect("a folder");
    // A robot on a trajectory, and one that follows commands
    let car = "version = 1\nname = \"car\"\nscene = \"patio\"\nduration_s = 1.0\n[dynamics]\nmodel = \"bicycle\"\n\
        [dynamics.vehicle]\nwheelbase_m = 1.0\n[[dynamics.drive]]\nat_s = 0.2\nspeed_mps = 1.0\nsteering_deg = 5.0\n\
        [[sensors]]\nname = \"lidar\"\nposition_m = [0.2, 0.0, 0.6]\ndevice.lidar = { preset = \"hokuyo-urg-04lx\" }\n\
        [[sensors]]\nname = \"imu\"\nrate_hz = 100.0\nwindow_ms = 5.0\ndevice.imu = { preset = \"adis16470\" }\n";
    std::fs::write(folder.path().join("car.toml"), car).expect("written");
    for robot in [CART, "car.toml"] {
        let words = ["run", robot, "--seed", "4", "-o", "run.mcap"];
        let output = etendue(folder.path(), &words);
        assert!(output.status.success(), "{output:?}");
        let written = std::fs::read(folder.path().join("run.mcap")).expect("a recording");
        let mut studio = Running::start(
            folder.path(),
            &["studio", robot, "--seed", "4", "--no-open"],
        );
        let url = studio.line();
        let (host, path) = url
            .strip_prefix("http://")
            .and_then(|rest| rest.split_once('/'))
            .expect("an address");
        let shown = loop {
            let mut stream = TcpStream::connect(host).expect("a connection");
            write!(
                stream,
                "GET /{path}robot/run.mcap HTTP/1.0\r\nHost: {host}\r\n\r\n"
            )
            .expect("sent");
            let mut answer = Vec::new();
            stream.read_to_end(&mut answer).expect("an answer");
            let end = answer
                .windows(4)
                .position(|four| four == b"\r\n\r\n")
                .expect("a header");
            // Before its end the run has no recording
            if answer.starts_with(b"HTTP/1.0 200") {
                break answer.split_off(end + 4);
            }
            assert!(answer.starts_with(b"HTTP/1.0 404"));
            std::thread::sleep(std::time::Duration::from_millis(200));
        };
        assert!(
            shown == written,
            "{robot}: {} and {} bytes",
            shown.len(),
            written.len()
        );
    }
}
