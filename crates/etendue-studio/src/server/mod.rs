//! The HTTP server.

mod guard;
mod page;
mod socket;

use crate::answer::PictureRequest;
use crate::background;
use crate::foxglove::{self, Live, Served};
use crate::message::hello::Hello;
use crate::refusal::Refusal;
use crate::robot::Query;
use crate::session::Opening;
use crate::session::pose::PoseNumbers;
use crate::worker::{self, ComparisonRequest, Job, SessionHandle};
use axum::Router;
use axum::body::to_bytes;
use axum::extract::{DefaultBodyLimit, Path, Request, State, WebSocketUpgrade};
use axum::http::{StatusCode, header};
use axum::middleware;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::serve::ListenerExt;
use etendue::config::camera::preset;
pub(crate) use guard::{Guard, check};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize};
use std::time::SystemTime;
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::oneshot;

/// Largest body of a request without an upload, bytes.
const MAX_BODY: usize = 1 << 20;

/// Largest dropped file, bytes.
const MAX_UPLOAD: usize = 256 << 20;

/// Where the page is served.
#[derive(Clone, Copy, Debug)]
pub struct StudioOptions {
    /// Address on which the server listens.
    pub address: IpAddr,
    /// Port; 0 for any free one.
    pub port: u16,
    /// Whether the studio shows its topics and parameters in Foxglove too.
    pub foxglove: bool,
}

impl Default for StudioOptions {
    /// Loopback, any free port.
    fn default() -> Self {
        Self {
            address: Ipv4Addr::LOCALHOST.into(),
            port: 0,
            foxglove: false,
        }
    }
}

/// A session with its server.
pub struct Studio {
    runtime: Runtime,
    listener: TcpListener,
    router: Router,
    url: String,
    foxglove_url: Option<String>,
    /// Folder of temporary files, removed at the end.
    _uploads: TempDir,
}

/// What the handlers share.
#[derive(Clone)]
pub(crate) struct Shared {
    pub session: SessionHandle,
    /// Number of the next page.
    pub clients: Arc<AtomicU64>,
    /// Number of connected pages.
    pub connected: Arc<AtomicUsize>,
    /// What Foxglove connects to, if it may.
    pub foxglove: Option<Served>,
}

impl Studio {
    /// Loads a scene, simulates its first sweep, and binds the port.
    ///
    /// # Errors
    /// If the scene, the sensor or the file of the aim cannot be read, or the port is not free.
    pub fn open(opening: &Opening, options: &StudioOptions) -> Result<Self, Refusal> {
        // Load the scene, and what every page gets
        background::start("presets", Hello::prepare)?;
        let uploads = tempfile::tempdir().map_err(cannot_serve)?;
        let live = options.foxglove.then(Arc::<Live>::default);
        let session = worker::start(opening, uploads.path().to_owned(), live.clone())?;

        // Bind the port
        let runtime = Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(cannot_serve)?;
        let (listener, address) = bound(&runtime, options)?;

        // Route requests of guests with the token
        let guard = Arc::new(Guard::new(address)?);
        let url = format!("http://{address}/{}/", guard.token());
        let foxglove_url = format!("ws://{address}/{}/foxglove", guard.token());
        let clients = Arc::<AtomicU64>::default();
        let foxglove = live.map(|live| Served {
            live,
            session: Some(session.clone()),
            clients: clients.clone(),
            connected: Arc::default(),
            name: session_name(),
        });
        let foxglove_url = foxglove.is_some().then_some(foxglove_url);
        let shared = Shared {
            session,
            clients,
            connected: Arc::default(),
            foxglove,
        };
        let router = Router::new()
            .route("/{token}/", get(page::index))
            .route("/{token}/socket", get(socket::connect))
            .route("/{token}/foxglove", get(connect_foxglove))
            .route("/{token}/sweep.pcd", get(points))
            .route("/{token}/record/{sweeps}", get(record))
            .route("/{token}/mesh/{number}", get(mesh))
            .route("/{token}/picture/{camera}/{every}/{pose}", get(picture))
            .route("/{token}/robot/at/{time}", get(robot_at))
            .route("/{token}/robot/series/{output}", get(robot_series))
            .route(
                "/{token}/robot/picture/{output}/{number}",
                get(robot_picture),
            )
            .route("/{token}/robot/path", get(robot_path))
            .route("/{token}/robot/run.mcap", get(robot_recording))
            .route(
                "/{token}/comparison/{scan}/{frame}/{extent}",
                get(comparison),
            )
            .route("/{token}/upload/{name}", post(upload))
            .route("/{token}/{file}", get(page::file))
            .layer(DefaultBodyLimit::max(MAX_BODY))
            .layer(middleware::from_fn_with_state(guard, check))
            .with_state(shared);
        Ok(Self {
            runtime,
            listener,
            router,
            url,
            foxglove_url,
            _uploads: uploads,
        })
    }

    /// Address of the page, with the token of the session.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Address for Foxglove, with the token of the session, if it may connect.
    pub fn foxglove_url(&self) -> Option<&str> {
        self.foxglove_url.as_deref()
    }

    /// Whether the program contains the page.
    pub fn has_page() -> bool {
        page::is_embedded()
    }

    /// Serves the page until the process ends.
    ///
    /// # Errors
    /// If the server fails.
    pub fn run(self) -> Result<(), Refusal> {
        // A small message is sent at once, and does not wait for the acknowledgement of the one before
        let listener = self.listener.tap_io(|connection| {
            let _ = connection.set_nodelay(true);
        });
        let served = axum::serve(listener, self.router);
        self.runtime
            .block_on(served.into_future())
            .map_err(cannot_serve)
    }
}

#[expect(clippy::needless_pass_by_value, reason = "the signature of map_err")]
fn cannot_serve(error: std::io::Error) -> Refusal {
    Refusal::new(format!("the page cannot be served: {error}"), "try again")
}

/// Listens where the options say; the listener and its address.
pub(crate) fn bound(
    runtime: &Runtime,
    options: &StudioOptions,
) -> Result<(TcpListener, SocketAddr), Refusal> {
    let address = SocketAddr::new(options.address, options.port);
    let listener = runtime.block_on(TcpListener::bind(address));
    let listener = listener.map_err(|error| {
        Refusal::new(
            format!("cannot listen on {address}: {error}"),
            "give another --port",
        )
    })?;
    let address = listener.local_addr().map_err(cannot_serve)?;
    Ok((listener, address))
}

/// A name that another start of the server does not have: its time.
pub(crate) fn session_name() -> Arc<str> {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    now.unwrap_or_default().as_nanos().to_string().into()
}

/// Accepts the connection of Foxglove.
async fn connect_foxglove(State(shared): State<Shared>, upgrade: WebSocketUpgrade) -> Response {
    match shared.foxglove {
        Some(served) => foxglove::upgraded(served, upgrade),
        None => StatusCode::NOT_FOUND.into_response(),
    }
}

/// A mesh by its number.
async fn mesh(State(shared): State<Shared>, Path((_, number)): Path<(String, u64)>) -> Response {
    let (answer, waiting) = oneshot::channel();
    shared.session.send(Job::Mesh(number, answer));
    match waiting.await {
        Ok(Some(bytes)) => binary(bytes),
        _ => StatusCode::NOT_FOUND.into_response(),
    }
}

/// A picture from a camera preset with every n-th pixel, at the pose of the sensor (`sensor`) or at six numbers
/// that commas separate.
async fn picture(
    State(shared): State<Shared>,
    Path((_, camera, every, pose)): Path<(String, String, u32, String)>,
) -> Response {
    let numbers = pose.split(',').map(str::parse);
    let numbers: Vec<f64> = numbers.collect::<Result<_, _>>().unwrap_or_default();
    let given = PoseNumbers::try_from(numbers).ok();
    let given = given.filter(|pose| pose.iter().all(|number| number.is_finite()));
    if given.is_none() && pose != "sensor" {
        return StatusCode::BAD_REQUEST.into_response();
    }
    let Ok(camera) = preset(&camera) else {
        return StatusCode::NOT_FOUND.into_response();
    };
    let request = PictureRequest {
        camera,
        pose: given,
        every,
    };
    let (answer, waiting) = oneshot::channel();
    shared.session.send(Job::Picture(Box::new(request), answer));
    let json = [(header::CONTENT_TYPE, "application/json")];
    match waiting.await {
        Ok(Ok(png)) => ([(header::CONTENT_TYPE, "image/png")], png).into_response(),
        Ok(Err(refusal)) => {
            let refusal = serde_json::json!({ "refusal": refusal }).to_string();
            (StatusCode::UNPROCESSABLE_ENTITY, json, refusal).into_response()
        }
        Err(_) => StatusCode::SERVICE_UNAVAILABLE.into_response(),
    }
}

/// What the sensors of the robot have delivered at a time, ns.
async fn robot_at(state: State<Shared>, Path((_, time)): Path<(String, i64)>) -> Response {
    robot(state, Query::At(time)).await
}

/// The numbers of an output of the robot over time.
async fn robot_series(state: State<Shared>, Path((_, output)): Path<(String, usize)>) -> Response {
    robot(state, Query::Series(output)).await
}

/// A picture of a camera of the robot.
async fn robot_picture(
    state: State<Shared>,
    Path((_, output, number)): Path<(String, usize, usize)>,
) -> Response {
    robot(state, Query::Picture(output, number)).await
}

/// The path of the robot.
async fn robot_path(state: State<Shared>) -> Response {
    robot(state, Query::Path).await
}

/// The recording of the run of the robot.
async fn robot_recording(state: State<Shared>) -> Response {
    robot(state, Query::Recording).await
}

async fn robot(State(shared): State<Shared>, query: Query) -> Response {
    let (answer, waiting) = oneshot::channel();
    shared.session.send(Job::Robot(query, answer));
    match waiting.await {
        Ok(Some(png)) if matches!(query, Query::Picture(..)) => {
            ([(header::CONTENT_TYPE, "image/png")], png).into_response()
        }
        Ok(Some(bytes)) => binary(bytes),
        _ => StatusCode::NOT_FOUND.into_response(),
    }
}

/// The points of the sweep as a PCD file.
async fn points(State(shared): State<Shared>) -> Response {
    let (answer, waiting) = oneshot::channel();
    shared.session.send(Job::Points(answer));
    file(waiting).await
}

/// The first sweeps of the run as an MCAP file.
async fn record(State(shared): State<Shared>, Path((_, sweeps)): Path<(String, u32)>) -> Response {
    let (answer, waiting) = oneshot::channel();
    shared.session.send(Job::Record(sweeps, answer));
    file(waiting).await
}

/// The answer of a file.
async fn file(waiting: oneshot::Receiver<Result<Vec<u8>, Refusal>>) -> Response {
    match waiting.await {
        Ok(Ok(bytes)) => binary(bytes),
        Ok(Err(Refusal { message, remedy })) => (
            StatusCode::UNPROCESSABLE_ENTITY,
            format!("{message}\n{remedy}\n"),
        )
            .into_response(),
        Err(_) => StatusCode::SERVICE_UNAVAILABLE.into_response(),
    }
}

/// A comparison of a recorded scan (`sensor` or `world`: the frame of its points) with the sweep; `numbers` for
/// those of `etendue compare` too. Without a recording, which another page may have removed, the answer is empty.
async fn comparison(
    State(shared): State<Shared>,
    Path((_, scan, frame, extent)): Path<(String, usize, String, String)>,
) -> Response {
    let request = ComparisonRequest {
        scan,
        is_in_world: frame == "world",
        with_numbers: extent == "numbers",
    };
    let (answer, waiting) = oneshot::channel();
    shared.session.send(Job::Compare(request, answer));
    match waiting.await {
        Ok(Some(bytes)) => binary(bytes),
        Ok(None) => StatusCode::NO_CONTENT.into_response(),
        Err(_) => StatusCode::SERVICE_UNAVAILABLE.into_response(),
    }
}

/// Takes a dropped file.
async fn upload(
    State(shared): State<Shared>,
    Path((_, name)): Path<(String, String)>,
    request: Request,
) -> Response {
    // Refuse a file that is too large by its declared size, before it is sent
    let size = request.headers().get(header::CONTENT_LENGTH);
    let size = size.and_then(|size| size.to_str().ok()?.parse::<usize>().ok());
    if size.is_some_and(|size| size > MAX_UPLOAD) {
        return StatusCode::PAYLOAD_TOO_LARGE.into_response();
    }
    let Ok(body) = to_bytes(request.into_body(), MAX_UPLOAD).await else {
        return StatusCode::PAYLOAD_TOO_LARGE.into_response();
    };
    let (answer, waiting) = oneshot::channel();
    shared.session.send(Job::Upload(name, body.into(), answer));
    let json = [(header::CONTENT_TYPE, "application/json")];
    match waiting.await {
        Ok(Ok(done)) => (json, done.to_string()).into_response(),
        Ok(Err(refusal)) => {
            let refusal = serde_json::json!({ "refusal": refusal }).to_string();
            (StatusCode::UNPROCESSABLE_ENTITY, json, refusal).into_response()
        }
        Err(_) => StatusCode::SERVICE_UNAVAILABLE.into_response(),
    }
}

fn binary(bytes: Vec<u8>) -> Response {
    ([(header::CONTENT_TYPE, "application/octet-stream")], bytes).into_response()
}
