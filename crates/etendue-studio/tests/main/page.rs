//! A page without a browser: a server on a thread, plain HTTP, and a WebSocket.

use etendue_studio::{Opening, Refusal, Studio, StudioOptions};
use futures_util::{SinkExt, StreamExt};
use serde_json::{Value as Json, json};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;
use tokio::runtime::{Builder, Runtime};
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async};

/// A running server; it ends with the test process.
pub struct Server {
    /// `127.0.0.1:PORT`.
    pub host: String,
    pub token: String,
}

impl Server {
    /// Serves a scene.
    pub fn start(scene: &str) -> Self {
        Self::try_start(scene).unwrap()
    }

    /// Serves a scene or a robot, also to Foxglove.
    pub fn start_with_foxglove(scene: &str) -> Self {
        let options = StudioOptions {
            foxglove: true,
            ..StudioOptions::default()
        };
        Self::serve(scene, &options).unwrap()
    }

    /// Serves a scene or a robot.
    pub fn try_start(scene: &str) -> Result<Self, Refusal> {
        Self::serve(scene, &StudioOptions::default())
    }

    fn serve(scene: &str, options: &StudioOptions) -> Result<Self, Refusal> {
        let opening = Opening {
            scene: Some(scene.into()),
            seed: 1,
            ..Opening::default()
        };
        let studio = Studio::open(&opening, options)?;
        let url = studio.url().to_owned();
        std::thread::spawn(move || studio.run());
        let rest = url.strip_prefix("http://").unwrap();
        let (host, token) = rest.split_once('/').unwrap();
        Ok(Self {
            host: host.into(),
            token: token.trim_end_matches('/').into(),
        })
    }

    /// Sends the lines of a request and returns the whole answer.
    pub fn raw(&self, request: &str) -> String {
        String::from_utf8_lossy(&self.bytes(request)).into_owned()
    }

    /// Sends the lines of a request and returns the bytes of the whole answer.
    pub fn bytes(&self, request: &str) -> Vec<u8> {
        let mut stream = TcpStream::connect(&self.host).unwrap();
        stream
            .set_read_timeout(Some(Duration::from_secs(20)))
            .unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        answer
    }

    /// Body of a GET of a page, with its status.
    pub fn get(&self, path: &str) -> (u16, Vec<u8>) {
        let path = format!("/{}/{path}", self.token);
        let answer = self.bytes(&format!(
            "GET {path} HTTP/1.0\r\n{}\r\n",
            self.own_headers()
        ));
        let end = answer
            .windows(4)
            .position(|four| four == b"\r\n\r\n")
            .unwrap();
        let status = String::from_utf8_lossy(&answer[9..12]).parse().unwrap();
        (status, answer[end + 4..].to_vec())
    }

    /// Status of a GET with headers.
    pub fn status(&self, path: &str, headers: &str) -> u16 {
        let answer = self.raw(&format!(
            "GET {path} HTTP/1.1\r\n{headers}Connection: close\r\n\r\n"
        ));
        answer
            .split(' ')
            .nth(1)
            .and_then(|code| code.parse().ok())
            .unwrap_or(0)
    }

    /// The headers of a page of this server.
    pub fn own_headers(&self) -> String {
        format!("Host: {0}\r\nOrigin: http://{0}\r\n", self.host)
    }
}

/// A connected page.
pub struct Page {
    runtime: Runtime,
    socket: WebSocketStream<MaybeTlsStream<tokio::net::TcpStream>>,
    next: u64,
    /// The newest state.
    pub state: Json,
    /// The newest sweep.
    pub sweep: Vec<u8>,
    /// Events of fits.
    pub events: Vec<Json>,
}

impl Page {
    /// Connects, and waits for the first state and sweep.
    pub fn open(server: &Server) -> Self {
        let runtime = Builder::new_current_thread().enable_all().build().unwrap();
        let url = format!("ws://{}/{}/socket", server.host, server.token);
        let (socket, _) = runtime.block_on(connect_async(url)).unwrap();
        let mut page = Self {
            runtime,
            socket,
            next: 1,
            state: Json::Null,
            sweep: Vec::new(),
            events: Vec::new(),
        };
        page.until(|page| !page.state.is_null() && !page.sweep.is_empty());
        page
    }

    /// Sends any text.
    pub fn send_text(&mut self, text: &str) {
        let message = Message::text(text);
        let _ = self.runtime.block_on(self.socket.send(message));
    }

    /// Sends a request and returns its number.
    pub fn send(&mut self, request: &Json) -> u64 {
        let id = self.next;
        self.next += 1;
        self.send_text(&json!({ "id": id, "request": request }).to_string());
        id
    }

    /// Receives a message, keeps states and sweeps, and returns an answer; `None` at the end of the connection.
    pub fn receive(&mut self) -> Option<Json> {
        let next =
            async { tokio::time::timeout(Duration::from_secs(60), self.socket.next()).await };
        match self
            .runtime
            .block_on(next)
            .expect("a message within a minute")?
        {
            Ok(Message::Binary(sweep)) => {
                self.sweep = sweep.to_vec();
                let revision = header(&self.sweep)["revision"].clone();
                self.send_text(&json!({ "drawn": revision }).to_string());
                Some(Json::Null)
            }
            Ok(Message::Text(text)) => {
                let mut message: Json = serde_json::from_str(&text).unwrap();
                if !message["state"].is_null() {
                    self.state = message["state"].take();
                }
                if !message["fit"].is_null() {
                    self.events.push(message["fit"].take());
                }
                Some(message["answer"].take())
            }
            Ok(Message::Close(_)) | Err(_) => None,
            Ok(_) => Some(Json::Null),
        }
    }

    /// Receives until a condition holds.
    pub fn until(&mut self, holds: impl Fn(&Self) -> bool) {
        while !holds(self) {
            self.receive().expect("the connection is open");
        }
    }

    /// Sends a request and waits for its answer: `ok`, or `refusal`.
    pub fn request(&mut self, request: &Json) -> Json {
        let id = self.send(request);
        loop {
            let answer = self.receive().expect("the connection is open");
            if answer["id"] == id {
                return answer;
            }
        }
    }

    /// Edits, and waits for the sweep and the state of the change.
    pub fn edit(&mut self, gesture: u64, edits: &Json) -> u64 {
        let answer = self.request(&json!({ "edit": { "gesture": gesture, "edits": edits } }));
        let revision = answer["ok"]["revision"]
            .as_u64()
            .unwrap_or_else(|| panic!("{answer}"));
        self.until_revision(revision);
        revision
    }

    /// Waits for the state and the sweep of a revision.
    pub fn until_revision(&mut self, revision: u64) {
        self.until(|page| {
            let at = |json: &Json| json["revision"].as_u64().unwrap_or(0);
            let sweep = header(&page.sweep);
            at(&page.state) >= revision && at(&sweep) >= revision && sweep["every"] == 1
        });
    }
}

/// Header of a binary message.
pub fn header(message: &[u8]) -> Json {
    let length = u32::from_le_bytes(message[..4].try_into().unwrap()) as usize;
    serde_json::from_slice(&message[4..4 + length]).unwrap()
}
