//! The thread that owns the session.
//!
//! It takes all waiting requests, applies them in order, simulates once, and publishes the sweep and the state. An
//! edit that a later waiting edit replaces is skipped, so that a slow scene lags by one sweep, never by a queue. Where
//! a sweep takes long, edits are shown by coarse sweeps, and the whole one follows when no edit has come for a while.

use crate::aim::{self, AimEvent, AimSource};
use crate::answer::{self, PictureRequest};
use crate::background;
use crate::foxglove::{self, Live, Parameter};
use crate::message::state::{MeshNumbers, State};
use crate::message::{mesh, sweep};
use crate::recording::fit::{self, Fit, FitEvent, UnknownRequest};
use crate::recording::{Comparison, Recording, compare};
use crate::refusal::Refusal;
use crate::robot::{Query, RobotEvent, RobotRun};
use crate::session::{Document, Edit, Opening, PanelHintRequest, Session, TextFile};
use etendue::io::ros2::recorded_messages;
use serde::Deserialize;
use serde_json::{Value as Json, json};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Duration;
use tokio::sync::{broadcast, oneshot, watch};

/// A message that is sent to all pages.
pub type Shared<T> = Option<Arc<T>>;

/// What the session publishes: the newest state and sweep.
#[derive(Clone, Debug)]
pub struct Published {
    /// JSON of the state.
    pub state: watch::Receiver<Shared<str>>,
    /// Message of the sweep.
    pub sweep: watch::Receiver<Shared<[u8]>>,
    /// Events of fits, as JSON.
    pub events: broadcast::Sender<Arc<str>>,
}

/// A request of a page.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Request {
    /// Edits of one gesture, all or none.
    Edit {
        /// Number of the gesture, unique among all pages.
        gesture: u64,
        /// The edits.
        edits: Vec<Edit>,
    },
    /// Opens a built-in scene.
    Open {
        /// Its name.
        scene: String,
    },
    /// Undoes the last step.
    Undo,
    /// Repeats the last undone step.
    Redo,
    /// Saves a file.
    Save(Document),
    /// The beam at an index of the range image.
    Beam(u32),
    /// Curves of a material.
    Reflectance(u32),
    /// Curves of a noise profile; null for the open one.
    Profile(Option<String>),
    /// The panel of the recording, beside draws of the open noise profile.
    Panel(PanelHintRequest),
    /// Text of a file.
    Text(Document),
    /// Keeps the sweep as the recording.
    Keep,
    /// Forgets the recording.
    Forget,
    /// Paths of the parameters that a fit can have as unknowns.
    FitPaths,
    /// Starts a fit to a scan of the recording, in place of the running one.
    Fit {
        /// The unknowns.
        unknowns: Vec<UnknownRequest>,
        /// Number of the scan.
        scan: usize,
    },
    /// Stops the running fit.
    StopFit,
    /// Looks for the panel in the scans of the recording, or of the source that the studio was started with.
    Aim(PanelHintRequest),
    /// Ends the aim.
    StopAim,
    /// Runs the robot again, with the files as they are saved and the present seed.
    RunRobot,
}

/// A comparison of the recording with the sweep.
#[derive(Clone, Copy, Debug)]
pub struct ComparisonRequest {
    /// Number of the recorded scan.
    pub scan: usize,
    /// Whether the recorded points are in the frame of the world.
    pub is_in_world: bool,
    /// Whether to compute the numbers of `etendue compare`.
    pub with_numbers: bool,
}

/// A request with the place of its answer.
pub enum Job {
    /// A request of a page.
    Request(Request, oneshot::Sender<Result<Json, Refusal>>),
    /// The message of a mesh.
    Mesh(u64, oneshot::Sender<Option<Vec<u8>>>),
    /// The points of the sweep as a PCD file.
    Points(oneshot::Sender<Result<Vec<u8>, Refusal>>),
    /// The first sweeps of the run as an MCAP file.
    Record(u32, oneshot::Sender<Result<Vec<u8>, Refusal>>),
    /// A dropped file: its name and its content.
    Upload(String, Vec<u8>, oneshot::Sender<Result<Json, Refusal>>),
    /// A picture from a camera.
    Picture(
        Box<PictureRequest>,
        oneshot::Sender<Result<Vec<u8>, Refusal>>,
    ),
    /// Data of the run of the robot.
    Robot(Query, oneshot::Sender<Option<Vec<u8>>>),
    /// The message of a comparison.
    Compare(ComparisonRequest, oneshot::Sender<Option<Vec<u8>>>),
    /// The numbers of the session as parameters.
    Parameters(oneshot::Sender<Vec<Parameter>>),
    /// Sends the sweep to Foxglove.
    Show,
}

/// The way to the session.
#[derive(Clone)]
pub struct SessionHandle {
    jobs: Sender<Job>,
    /// What the session publishes.
    pub published: Published,
}

impl SessionHandle {
    /// Sends a job; nothing if the session has ended, in which case the sender of the answer is dropped.
    pub fn send(&self, job: Job) {
        let _ = self.jobs.send(job);
    }
}

/// Opens a session on a thread of its own. It shows its sweeps, or the run of its robot, in a live view too.
///
/// # Errors
/// If the scene or the sensor cannot be loaded, or no thread can be started.
pub fn start(
    opening: &Opening,
    uploads: PathBuf,
    live: Option<Arc<Live>>,
) -> Result<SessionHandle, Refusal> {
    let (jobs, waiting) = channel();
    let (state, state_receiver) = watch::channel(None);
    let (sweep, sweep_receiver) = watch::channel(None);
    let (events, _) = broadcast::channel(MAX_EVENTS);
    let mut worker = Worker {
        session: Session::open(opening, uploads.clone())?,
        uploads,
        live,
        shown_channels: 0,
        meshes: MeshNumbers::default(),
        state,
        sweep,
        events: events.clone(),
        published: 0,
        coarse: 0,
        stop_fit: Arc::default(),
        stop_aim: Arc::default(),
        robot: None,
        runs: 0,
        gestures: 0,
    };
    worker.follow_robot()?;
    worker.publish(false);
    let thread = std::thread::Builder::new().name("session".into());
    let thread = thread.spawn(move || worker.run(&waiting));
    thread.map_err(|error| {
        Refusal::new(
            format!("no thread can be started: {error}"),
            "end other programs",
        )
    })?;
    Ok(SessionHandle {
        jobs,
        published: Published {
            state: state_receiver,
            sweep: sweep_receiver,
            events,
        },
    })
}

struct Worker {
    session: Session,
    /// Folder of temporary files.
    uploads: PathBuf,
    live: Option<Arc<Live>>,
    /// Number of channels of the lidar whose topics are shown; 0 for none.
    shown_channels: usize,
    meshes: MeshNumbers,
    state: watch::Sender<Shared<str>>,
    sweep: watch::Sender<Shared<[u8]>>,
    events: broadcast::Sender<Arc<str>>,
    /// Revision that is published.
    published: u64,
    /// Revision of the last coarse sweep.
    coarse: u64,
    /// Set to stop the running fit.
    stop_fit: Arc<AtomicBool>,
    /// Set to end the running aim.
    stop_aim: Arc<AtomicBool>,
    /// The run of the robot.
    robot: Option<Arc<RobotRun>>,
    /// Number of runs of robots.
    runs: u64,
    /// Number of gestures of the session itself.
    gestures: u64,
}

/// Number of events of fits that wait for a slow page; older ones are lost.
const MAX_EVENTS: usize = 256;

/// Time without edits after which the whole sweep follows coarse ones.
const REST: Duration = Duration::from_millis(300);

/// Maximum number of requests that are taken at once.
const MAX_BATCH: usize = 256;

impl Worker {
    fn run(&mut self, waiting: &Receiver<Job>) {
        loop {
            // Publish the whole sweep when the edits rest
            let is_whole = self.published == self.session.revision();
            let first = if is_whole {
                waiting.recv().ok()
            } else {
                match waiting.recv_timeout(REST) {
                    Err(RecvTimeoutError::Timeout) => {
                        self.publish(false);
                        continue;
                    }
                    received => received.ok(),
                }
            };
            let Some(first) = first else { return };
            // Take all waiting jobs
            let mut jobs = vec![first];
            while jobs.len() < MAX_BATCH
                && let Ok(next) = waiting.try_recv()
            {
                jobs.push(next);
            }
            // Edit first, so that the sweep is on its way before questions are answered
            let (edits, questions): (Vec<Job>, Vec<Job>) = jobs.into_iter().partition(is_edit);
            // Steps of the run are shown whole
            let is_step = !edits.is_empty() && edits.iter().all(is_of_time);
            let may_be_coarse = !is_step && !questions.iter().any(is_about_sweep);
            self.edit_all(edits);
            let followed = self.follow_robot();
            self.publish(may_be_coarse);
            if let Err(refusal) = followed {
                let message = json!({ "trouble": refusal }).to_string();
                let _ = self.events.send(message.into());
            }
            for job in questions {
                self.answer(job);
            }
        }
    }

    /// Applies edits in order, without those that a later one replaces.
    fn edit_all(&mut self, jobs: Vec<Job>) {
        let mut answers = Vec::new();
        let mut jobs = jobs.into_iter().peekable();
        while let Some(job) = jobs.next() {
            let Job::Request(request, answer) = job else {
                continue;
            };
            let is_replaced = jobs.peek().is_some_and(|next| match next {
                Job::Request(next, _) => is_replaced_by(&request, next),
                _ => false,
            });
            let done = if is_replaced {
                Ok(())
            } else {
                self.apply(request)
            };
            answers.push((answer, done));
        }
        // All edits of the batch show in one sweep
        let revision = self.session.revision();
        for (answer, done) in answers {
            let _ = answer.send(done.map(|()| json!({ "revision": revision })));
        }
    }

    fn apply(&mut self, request: Request) -> Result<(), Refusal> {
        match request {
            Request::Edit { gesture, edits } => self.session.edit(&edits, gesture),
            Request::Open { scene } => {
                etendue::config::presets::SCENES.find(&scene)?;
                let opening = Opening {
                    scene: Some(scene),
                    seed: self.session.inputs().seed,
                    ..Opening::default()
                };
                let gesture = self.own_gesture();
                self.session.reopen(&opening, gesture)
            }
            Request::Undo => self.session.undo(),
            Request::Redo => self.session.redo(),
            _ => Ok(()),
        }
    }

    /// Starts the run of another robot, or ends that of a robot that is no longer open.
    fn follow_robot(&mut self) -> Result<(), Refusal> {
        let wanted = self.session.inputs().robot.as_ref();
        let running = self.robot.as_ref().map(|robot| &robot.file);
        if wanted == running {
            return Ok(());
        }
        self.run_robot(wanted.cloned())
    }

    /// Starts the run of a robot in place of the present one.
    fn run_robot(&mut self, file: Option<TextFile>) -> Result<(), Refusal> {
        if let Some(old) = self.robot.take() {
            old.stop();
        }
        let Some(file) = file else {
            return Ok(());
        };
        let events = self.events.clone();
        let send = move |event: RobotEvent| {
            let message: Arc<str> = json!({ "robot": event }).to_string().into();
            // Without a page nobody receives it
            let _ = events.send(message);
        };
        let seed = self.session.inputs().seed;
        self.runs += 1;
        let run = RobotRun::start(self.runs, file, seed, &self.uploads, send)?;
        if let Some(live) = &self.live {
            live.set_topics(&run.topics);
            self.shown_channels = 0;
            foxglove::replay(live.clone(), run.clone());
        }
        self.robot = Some(run);
        Ok(())
    }

    /// A gesture of the session, whose numbers descend from the greatest one.
    fn own_gesture(&mut self) -> u64 {
        self.gestures += 1;
        u64::MAX - self.gestures
    }

    /// Publishes the sweep and the state of the session, if it changed; a coarse sweep alone if it may be and the
    /// whole one takes long.
    fn publish(&mut self, may_be_coarse: bool) {
        if self.published == self.session.revision() || may_be_coarse && self.publish_coarse() {
            return;
        }
        self.published = self.session.revision();
        let state = match self.session.simulate() {
            Ok(simulated) => {
                let message = sweep::encode(&simulated, self.session.loaded(), 1);
                self.sweep.send_replace(Some(message.into()));
                let robot = self.robot.as_deref();
                State::of(&self.session, &mut self.meshes, robot)
            }
            Err(refusal) => Err(refusal),
        };
        self.show();
        let message = match state {
            Ok(state) => json!({ "state": state }),
            Err(refusal) => json!({ "trouble": refusal }),
        };
        self.state.send_replace(Some(message.to_string().into()));
    }

    /// Publishes a coarse sweep, where the whole one takes long.
    fn publish_coarse(&mut self) -> bool {
        if self.coarse == self.session.revision() {
            return true;
        }
        // The error of an impossible sweep is that of the whole one
        let Ok(Some((simulated, every))) = self.session.simulate_coarse() else {
            return false;
        };
        self.coarse = simulated.revision;
        let message = sweep::encode(&simulated, self.session.loaded(), every);
        self.sweep.send_replace(Some(message.into()));
        true
    }

    /// Shows the sweep in Foxglove, where a client subscribes to it; not while a robot is open, whose run is shown.
    fn show(&mut self) {
        let is_whole = self.published == self.session.revision();
        let is_shown = is_whole && self.robot.is_none();
        let Some(live) = self.live.as_ref().filter(|_| is_shown) else {
            return;
        };
        let channels = self.session.loaded().lidar().channels.len();
        if channels == self.shown_channels && !live.is_wanted() {
            return;
        }
        self.shown_channels = channels;
        let recorded = self.session.recorded_sweep();
        let shown = recorded.and_then(|recording| {
            let (topics, messages) = recorded_messages(&recording)?;
            live.set_topics(&topics);
            live.publish(messages.collect::<Result<_, _>>()?);
            Ok(())
        });
        if let Err(refusal) = shown {
            let message = json!({ "trouble": refusal }).to_string();
            let _ = self.events.send(message.into());
        }
    }

    fn answer(&mut self, job: Job) {
        match job {
            Job::Request(request, answer) => {
                let _ = answer.send(self.answer_of(&request));
                // Saving changes which files are unsaved
                self.publish(false);
            }
            Job::Mesh(number, answer) => {
                let _ = answer.send(self.meshes.get(number).map(|found| mesh::encode(&found)));
            }
            Job::Points(answer) => {
                let _ = answer.send(self.session.points());
            }
            Job::Record(sweeps, answer) => {
                let _ = answer.send(self.session.record(sweeps));
            }
            Job::Upload(name, bytes, answer) => {
                let gesture = self.own_gesture();
                let uploaded = self.session.upload(&name, bytes, gesture);
                let uploaded = uploaded.and_then(|uploaded| {
                    self.follow_robot().inspect_err(|_| {
                        // The robot is not opened
                        let _ = self.session.undo();
                    })?;
                    Ok(uploaded)
                });
                let _ = answer.send(uploaded.map(|uploaded| json!({ "upload": uploaded })));
                self.publish(false);
            }
            Job::Picture(request, answer) => self.render(&request, answer),
            Job::Robot(query, answer) => {
                let robot = self.robot.as_ref();
                let _ = answer.send(robot.and_then(|robot| robot.answer(query)));
            }
            Job::Compare(request, answer) => {
                let _ = answer.send(self.compare(request));
            }
            Job::Parameters(answer) => {
                let _ = answer.send(foxglove::parameters(&self.session));
            }
            Job::Show => self.show(),
        }
    }

    /// The message of a comparison; `None` without a recorded scan of this number.
    fn compare(&self, request: ComparisonRequest) -> Option<Vec<u8>> {
        let recording = self.session.recording()?;
        let simulated = Recording::of_sweep(self.session.sweep(), self.session.loaded());
        let comparison = Comparison {
            world_from_sensor: self.session.sweep().sweep.world_from_sensor,
            is_in_world: request.is_in_world,
            with_numbers: request.with_numbers,
        };
        let recorded = recording.scans.get(request.scan)?;
        Some(compare(recorded, simulated.scans.first()?, comparison))
    }

    /// Renders a picture on a thread of its own.
    fn render(&self, request: &PictureRequest, answer: oneshot::Sender<Result<Vec<u8>, Refusal>>) {
        let task = self.session.picture_task(request);
        // Without a thread the answer is dropped, which the page sees as a failure
        let thread = std::thread::Builder::new().name("picture".into());
        let _ = thread.spawn(move || {
            let _ = answer.send(background::compute(|| task.render()));
        });
    }

    /// Starts a fit on a thread of its own.
    fn fit(&mut self, unknowns: &[UnknownRequest], scan: usize) -> Result<Json, Refusal> {
        self.stop_fit.store(true, Ordering::Relaxed);
        let recording = self.session.recording();
        let recorded = recording.and_then(|recording| recording.scans.get(scan));
        let recorded = recorded.ok_or_else(|| {
            Refusal::new(
                "there is no recorded scan",
                "keep a sweep, or drop a recording",
            )
        })?;
        let fit = Fit::new(
            self.session.inputs(),
            self.session.loaded(),
            recorded,
            unknowns,
        )?;
        let stop = Arc::new(AtomicBool::new(false));
        self.stop_fit = stop.clone();
        let events = self.events.clone();
        let send = move |event: FitEvent| {
            let message: Arc<str> = json!({ "fit": event }).to_string().into();
            // Without a page nobody receives it
            let _ = events.send(message);
        };
        let thread = std::thread::Builder::new().name("fit".into());
        let started = thread.spawn(move || fit.run(&stop, &send));
        started.map_err(|error| {
            Refusal::new(
                format!("no thread can be started: {error}"),
                "end other programs",
            )
        })?;
        Ok(Json::Null)
    }

    /// Starts the aim on a thread of its own, in place of the running one.
    fn aim(&mut self, hint: PanelHintRequest) -> Result<Json, Refusal> {
        self.stop_aim.store(true, Ordering::Relaxed);
        let given = self.session.aim().map(|word| AimSource::Word(word.into()));
        let recording = || self.session.recording().cloned();
        let source = given.or_else(|| recording().map(AimSource::Recording));
        let source = source.ok_or_else(|| {
            Refusal::new(
                "there is no source of scans",
                "drop a recording of a panel, or start etendue studio with --aim FILE|DEVICE",
            )
        })?;
        let stop = Arc::new(AtomicBool::new(false));
        self.stop_aim = stop.clone();
        let events = self.events.clone();
        let of_thread = stop.clone();
        let send = move |event: AimEvent| {
            // Another aim may have begun while this one waited for scans
            if of_thread.load(Ordering::Relaxed) && event != AimEvent::Done {
                return;
            }
            let message: Arc<str> = json!({ "aim": event }).to_string().into();
            // Without a page nobody receives it
            let _ = events.send(message);
        };
        let thread = std::thread::Builder::new().name("aim".into());
        let started = thread.spawn(move || aim::run(&source, hint, &stop, &send));
        started.map_err(|error| {
            Refusal::new(
                format!("no thread can be started: {error}"),
                "end other programs",
            )
        })?;
        Ok(Json::Null)
    }

    fn answer_of(&mut self, request: &Request) -> Result<Json, Refusal> {
        if let Request::Aim(hint) = request {
            return self.aim(*hint);
        }
        if let Request::Fit { unknowns, scan } = request {
            return self.fit(unknowns, *scan);
        }
        if let Request::RunRobot = request {
            let file = self.session.reread_robot()?;
            self.run_robot(file)?;
            return Ok(Json::Null);
        }
        let session = &mut self.session;
        let encoded = match request {
            Request::Keep => {
                let kept = Recording::of_sweep(session.sweep(), session.loaded());
                session.set_recording(Some(kept));
                Ok(Json::Null)
            }
            Request::Forget => {
                session.set_recording(None);
                Ok(Json::Null)
            }
            Request::FitPaths => serde_json::to_value(fit::paths(session.loaded())?),
            Request::StopFit => {
                self.stop_fit.store(true, Ordering::Relaxed);
                Ok(Json::Null)
            }
            Request::StopAim => {
                self.stop_aim.store(true, Ordering::Relaxed);
                Ok(Json::Null)
            }
            Request::Save(document) => {
                let path = session.save(*document)?;
                Ok(json!({ "path": path.display().to_string() }))
            }
            Request::Beam(pixel) => {
                let beam =
                    answer::beam(session.inputs(), session.loaded(), session.sweep(), *pixel)?;
                serde_json::to_value(beam)
            }
            Request::Reflectance(material) => {
                serde_json::to_value(answer::reflectance(session.loaded(), *material)?)
            }
            Request::Profile(name) => {
                let (file, profile) = session.profile(name.as_deref())?;
                serde_json::to_value(answer::profile(&file, &profile))
            }
            Request::Panel(hint) => {
                let (_, profile) = session.profile(None)?;
                let panel = session.panel(*hint)?;
                let seed = session.inputs().seed;
                serde_json::to_value(answer::panel(&panel, &profile, seed))
            }
            Request::Text(Document::Profile) => {
                let file = session.inputs().profile.as_ref();
                Ok(json!({ "text": file.map_or("", |file| &file.text) }))
            }
            Request::Text(Document::Scene) => Ok(json!({ "text": *session.inputs().scene.text })),
            Request::Text(Document::Sensor) => {
                Ok(json!({ "text": *session.loaded().sensor_file.text }))
            }
            _ => Ok(Json::Null),
        };
        encoded.map_err(|error| Refusal::new(error.to_string(), "report this error"))
    }
}

fn is_edit(job: &Job) -> bool {
    matches!(
        job,
        Job::Request(
            Request::Edit { .. } | Request::Open { .. } | Request::Undo | Request::Redo,
            _
        )
    )
}

/// Whether a job chooses the sweep of the run, and nothing else.
fn is_of_time(job: &Job) -> bool {
    match job {
        Job::Request(Request::Edit { edits, .. }, _) => {
            edits.iter().all(|edit| matches!(edit, Edit::Sweep(_)))
        }
        _ => false,
    }
}

/// Whether the answer to a job needs the whole sweep or the state that comes with it.
fn is_about_sweep(job: &Job) -> bool {
    !matches!(
        job,
        Job::Mesh(..) | Job::Robot(..) | Job::Parameters(..) | Job::Show
    )
}

/// Whether all edits of a request are replaced by those of the next one of the same gesture.
fn is_replaced_by(request: &Request, next: &Request) -> bool {
    match (request, next) {
        (
            Request::Edit { gesture, edits },
            Request::Edit {
                gesture: of,
                edits: later,
            },
        ) => {
            let replaced = |edit: &Edit| later.iter().any(|new| edit.is_replaced_by(new));
            gesture == of && edits.iter().all(replaced)
        }
        _ => false,
    }
}
