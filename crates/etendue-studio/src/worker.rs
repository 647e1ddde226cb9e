//! The thread that owns the session.
//!
//! It takes all waiting requests, applies them in order, and publishes the sweep and the state. An edit that a later
//! waiting edit replaces is skipped, so that a slow scene lags by one sweep, never by a queue.
//!
//! [`Worker::show_change`] requests all sweeps. A quick sweep is simulated at once. Where it takes long, an edit is
//! shown by a coarse sweep, and the whole one follows on another thread when no edit has come for a while; an edit
//! stops it. Questions about the sweep wait for the whole one, which edits do not stop then.

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
use crate::session::{Document, Edit, Opening, PanelHintRequest, PanelTask, Session, TextFile};
use crate::session::{RecordedPanel, WholeSweep};
use crate::simulator::{Ended, Simulator};
use etendue::io::ros2::recorded_messages;
use serde::Deserialize;
use serde_json::{Value as Json, json};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};
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
    /// The end of the simulation of a whole sweep.
    Simulated(Box<Ended>),
    /// The sweep as a recording, for Foxglove.
    Recorded(Result<Vec<u8>, Refusal>),
    /// A panel that was found.
    Panel(Box<PanelTask>, Arc<RecordedPanel>),
    /// The end of the session.
    End,
}

/// The way to the session.
#[derive(Clone)]
pub struct SessionHandle {
    jobs: Arc<Jobs>,
    /// What the session publishes.
    pub published: Published,
}

/// The jobs of a session, which ends with its last handle.
struct Jobs(Sender<Job>);

impl Drop for Jobs {
    fn drop(&mut self) {
        let _ = self.0.send(Job::End);
    }
}

impl SessionHandle {
    /// Sends a job; nothing if the session has ended, in which case the sender of the answer is dropped.
    pub fn send(&self, job: Job) {
        let _ = self.jobs.0.send(job);
    }
}

/// Opens a session on a thread of its own. It shows its sweeps, or the run of its robot, in a live view too.
///
/// # Errors
/// If the scene, the sensor or the file of the aim cannot be read, or no thread can be started.
pub fn start(
    opening: &Opening,
    uploads: PathBuf,
    live: Option<Arc<Live>>,
) -> Result<SessionHandle, Refusal> {
    if let Some(word) = &opening.aim {
        AimSource::check(word)?;
    }
    let (jobs, waiting) = channel();
    let (state, state_receiver) = watch::channel(None);
    let (sweep, sweep_receiver) = watch::channel(None);
    let (events, _) = broadcast::channel(MAX_EVENTS);
    let to_self = jobs.clone();
    let mut worker = Worker {
        session: Session::open(opening, uploads.clone())?,
        uploads,
        simulator: Simulator::start(move |ended| {
            let _ = to_self.send(Job::Simulated(ended.into()));
        })?,
        jobs: jobs.clone(),
        questions: Vec::new(),
        live,
        shown_channels: 0,
        is_recording: false,
        recorded: 0,
        meshes: MeshNumbers::default(),
        state,
        sweep,
        events: events.clone(),
        shown: 0,
        whole: 0,
        seen: 0,
        rests_at: Instant::now(),
        stop_fit: Arc::default(),
        stop_aim: Arc::default(),
        robot: None,
        runs: 0,
        gestures: 0,
    };
    worker.follow_robot()?;
    worker.show_change(false);
    background::start("session", move || worker.run(&waiting))?;
    Ok(SessionHandle {
        jobs: Arc::new(Jobs(jobs)),
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
    simulator: Simulator,
    /// The way of other threads to this one.
    jobs: Sender<Job>,
    /// Questions that wait for the whole sweep of a revision, or of a later one.
    questions: Vec<(u64, Job)>,
    live: Option<Arc<Live>>,
    /// Number of channels of the lidar whose topics are shown; 0 for none.
    shown_channels: usize,
    /// Whether a sweep is recorded for Foxglove.
    is_recording: bool,
    /// Revision of the last sweep that was recorded for Foxglove.
    recorded: u64,
    meshes: MeshNumbers,
    state: watch::Sender<Shared<str>>,
    sweep: watch::Sender<Shared<[u8]>>,
    events: broadcast::Sender<Arc<str>>,
    /// Revision of the last published sweep, coarse or whole.
    shown: u64,
    /// Revision of the last published whole sweep, or of its error.
    whole: u64,
    /// Revision whose sweep was requested last.
    seen: u64,
    /// When the edits rest, unless another one comes.
    rests_at: Instant,
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
const REST: Duration = Duration::from_millis(150);

/// Maximum number of requests that are taken at once.
const MAX_BATCH: usize = 256;

impl Worker {
    fn run(&mut self, waiting: &Receiver<Job>) {
        while let Some(first) = self.next(waiting) {
            // Take all waiting jobs
            let mut jobs = vec![first];
            while jobs.len() < MAX_BATCH
                && let Ok(next) = waiting.try_recv()
            {
                jobs.push(next);
            }
            // Edit first, so that the sweep is on its way before questions are answered
            let (edits, others): (Vec<Job>, Vec<Job>) = jobs.into_iter().partition(is_edit);
            // Steps of the run are shown whole, one after another
            let is_step = !edits.is_empty() && edits.iter().all(is_of_time);
            if !edits.is_empty() && !is_step && self.questions.is_empty() {
                self.simulator.stop();
            }
            self.edit_all(edits);
            let followed = self.follow_robot();
            self.show_change(!is_step);
            if let Err(refusal) = followed {
                self.report(&refusal);
            }
            for job in others {
                match job {
                    Job::End => return,
                    job if is_about_sweep(&job) => {
                        self.questions.push((self.session.revision(), job));
                    }
                    job => self.answer(job),
                }
                // The answer to a request may be a change: the files are unsaved no longer, say
                self.show_change(true);
            }
            self.answer_questions();
        }
    }

    /// The next job; the whole sweep of the inputs is simulated where it is due before.
    fn next(&mut self, waiting: &Receiver<Job>) -> Option<Job> {
        let revision = self.session.revision();
        let is_due = self.whole != revision && self.simulator.running().is_none();
        if is_due && self.questions.is_empty() {
            let left = self.rests_at.saturating_duration_since(Instant::now());
            match waiting.recv_timeout(left) {
                Err(RecvTimeoutError::Timeout) => {}
                received => return received.ok(),
            }
        }
        if is_due {
            self.simulate();
        }
        waiting.recv().ok()
    }

    /// Simulates the whole sweep of the inputs on the other thread.
    fn simulate(&mut self) {
        let memory = self.session.take_spare();
        self.simulator.simulate(self.session.sweep_task(), memory);
    }

    /// Sends a refusal that is no answer to the pages.
    fn report(&self, refusal: &Refusal) {
        let message = json!({ "trouble": refusal }).to_string();
        let _ = self.events.send(message.into());
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

    /// Shows the sweep of the session after a change: the whole one if it is quick or is not changed, else a coarse one
    /// if it may be. The whole one follows.
    fn show_change(&mut self, may_be_coarse: bool) {
        let revision = self.session.revision();
        if self.seen == revision {
            return;
        }
        self.seen = revision;
        let rest = if may_be_coarse { REST } else { Duration::ZERO };
        self.rests_at = Instant::now() + rest;
        if self.session.renew_whole() {
            return self.publish_whole();
        }
        let every = self.session.coarse_every();
        if every == 1 {
            match self.session.simulate() {
                Ok(_) => self.publish_whole(),
                Err(refusal) => self.publish_refusal(&refusal),
            }
        } else if !may_be_coarse || !self.show_coarse(every) {
            // A running sweep is shown first, so that a run is seen to go on
            if self.simulator.running().is_none() {
                self.simulate();
            }
        }
    }

    /// Publishes a coarse sweep; not if there is none.
    fn show_coarse(&mut self, every: u32) -> bool {
        // The error of an impossible sweep is that of the whole one
        let Ok(Some(simulated)) = self.session.simulate_coarse(every) else {
            return false;
        };
        self.shown = simulated.revision;
        let message = sweep::encode(&simulated, self.session.loaded(), every);
        self.sweep.send_replace(Some(message.into()));
        true
    }

    /// Takes a whole sweep from the other thread.
    fn take(&mut self, ended: Ended) {
        self.simulator.note(&ended);
        match ended.sweep {
            // A quick sweep may have come later, and be here before
            Ok(Some(whole)) if ended.revision > self.session.sweep().revision => {
                self.session.keep_whole(whole);
                self.publish_whole();
            }
            Err(refusal) if ended.revision == self.session.revision() => {
                self.publish_refusal(&refusal);
            }
            _ => {}
        }
    }

    /// Publishes the whole sweep and the state, unless a later sweep is shown.
    fn publish_whole(&mut self) {
        let WholeSweep {
            loaded, simulated, ..
        } = self.session.whole();
        self.whole = simulated.revision;
        if self.shown > self.whole {
            return;
        }
        self.shown = self.whole;
        let message = sweep::encode(simulated, loaded, 1);
        self.sweep.send_replace(Some(message.into()));
        let state = State::of(&self.session, &mut self.meshes, self.robot.as_deref());
        self.show();
        let message = match state {
            Ok(state) => json!({ "state": state }),
            Err(refusal) => json!({ "trouble": refusal }),
        };
        self.state.send_replace(Some(message.to_string().into()));
    }

    /// Publishes why the inputs have no sweep.
    fn publish_refusal(&mut self, refusal: &Refusal) {
        self.whole = self.session.revision();
        let message = json!({ "trouble": refusal }).to_string();
        self.state.send_replace(Some(message.into()));
    }

    /// Answers the questions whose sweep is there, or cannot be.
    fn answer_questions(&mut self) {
        let is_settled = self.whole == self.session.revision();
        let simulated = self.session.sweep().revision;
        let revision = if is_settled { u64::MAX } else { simulated };
        let (ready, waiting) = std::mem::take(&mut self.questions)
            .into_iter()
            .partition(|(asked, _)| *asked <= revision);
        self.questions = waiting;
        let ready: Vec<(u64, Job)> = ready;
        for (_, job) in ready {
            self.answer(job);
        }
        self.show_change(true);
    }

    /// Shows the sweep in Foxglove, where a client subscribes to it; not while a robot is open, whose run is shown.
    fn show(&mut self) {
        let revision = self.session.revision();
        let is_shown = self.whole == revision && self.robot.is_none() && !self.is_recording;
        let Some(live) = self.live.as_ref().filter(|_| is_shown) else {
            return;
        };
        let channels = self.session.loaded().lidar().channels.len();
        if channels == self.shown_channels && !live.is_wanted() {
            return;
        }
        // Record the sweep, on a thread of its own where that takes long
        self.shown_channels = channels;
        self.recorded = revision;
        let (task, jobs) = (self.session.sweep_task(), self.jobs.clone());
        if self.session.coarse_every() == 1 {
            return self.publish_recorded(task.record_own());
        }
        let started = background::start("recording", move || {
            let _ = jobs.send(Job::Recorded(task.record_own()));
        });
        match started {
            Ok(()) => self.is_recording = true,
            Err(refusal) => self.report(&refusal),
        }
    }

    /// Publishes a recorded sweep in Foxglove, and records the next one if there is a later one.
    fn publish_recorded(&mut self, recorded: Result<Vec<u8>, Refusal>) {
        self.is_recording = false;
        let Some(live) = self.live.as_ref().filter(|_| self.robot.is_none()) else {
            return;
        };
        let shown = recorded.and_then(|recording| {
            let (topics, messages) = recorded_messages(&recording)?;
            live.set_topics(&topics);
            live.publish(messages.collect::<Result<_, _>>()?);
            Ok(())
        });
        if let Err(refusal) = shown {
            self.report(&refusal);
        }
        if self.recorded != self.session.revision() {
            self.show();
        }
    }

    fn answer(&mut self, job: Job) {
        match job {
            Job::Request(Request::Panel(hint), answer) => self.find_panel(hint, answer),
            Job::Request(request, answer) => {
                let _ = answer.send(self.answer_of(&request));
            }
            Job::Mesh(number, answer) => {
                let _ = answer.send(self.meshes.get(number).map(|found| mesh::encode(&found)));
            }
            Job::Points(answer) => {
                let _ = answer.send(self.session.points());
            }
            Job::Record(sweeps, answer) => {
                let task = self.session.sweep_task();
                // Without a thread the answer is dropped, which the page sees as a failure
                let _ = background::start("recording", move || {
                    let _ = answer.send(background::compute(|| task.record_first(sweeps)));
                });
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
            }
            Job::Picture(request, answer) => self.render(&request, answer),
            Job::Robot(query, answer) => {
                let robot = self.robot.as_ref();
                let _ = answer.send(robot.and_then(|robot| robot.answer(query)));
            }
            Job::Compare(request, answer) => self.compare(request, answer),
            Job::Parameters(answer) => {
                let _ = answer.send(foxglove::parameters(&self.session));
            }
            Job::Show => self.show(),
            Job::Simulated(ended) => self.take(*ended),
            Job::Recorded(recorded) => self.publish_recorded(recorded),
            Job::Panel(task, found) => self.session.keep_panel(&task, found),
            Job::End => {}
        }
    }

    /// Computes the message of a comparison on a thread of its own; `None` without a recorded scan of this number.
    fn compare(&self, request: ComparisonRequest, answer: oneshot::Sender<Option<Vec<u8>>>) {
        let Some(recording) = self.session.recording().cloned() else {
            let _ = answer.send(None);
            return;
        };
        let whole = self.session.whole().clone();
        let comparison = Comparison {
            world_from_sensor: whole.simulated.sweep.world_from_sensor,
            is_in_world: request.is_in_world,
            with_numbers: request.with_numbers,
        };
        let task = move || {
            let simulated = Recording::of_sweep(&whole.simulated, &whole.loaded);
            let recorded = recording.scans.get(request.scan)?;
            Some(compare(recorded, simulated.scans.first()?, comparison))
        };
        // Without a thread the answer is dropped, which the page sees as a failure
        let _ = background::start("comparison", move || {
            let _ = answer.send(background::compute(task));
        });
    }

    /// Renders a picture on a thread of its own.
    fn render(&self, request: &PictureRequest, answer: oneshot::Sender<Result<Vec<u8>, Refusal>>) {
        let task = self.session.picture_task(request);
        let _ = background::start("picture", move || {
            let _ = answer.send(background::compute(|| task.render()));
        });
    }

    /// Finds the panel of the recording on a thread of its own.
    fn find_panel(&self, hint: PanelHintRequest, answer: oneshot::Sender<Result<Json, Refusal>>) {
        let open = self.session.profile(None);
        let task = open.and_then(|open| Ok((open, self.session.panel_task(hint)?)));
        let ((_, profile), task) = match task {
            Ok(task) => task,
            Err(refusal) => {
                let _ = answer.send(Err(refusal));
                return;
            }
        };
        let (seed, jobs) = (self.session.inputs().seed, self.jobs.clone());
        let _ = background::start("panel", move || {
            let found = background::compute(|| {
                let found = task.find()?;
                let shown = serde_json::to_value(answer::panel(&found, &profile, seed));
                let shown = shown.map_err(|error| unencodable(&error))?;
                Ok((found, shown))
            });
            let _ = answer.send(found.map(|(found, shown)| {
                let _ = jobs.send(Job::Panel(task.into(), found));
                shown
            }));
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
        background::start("fit", move || fit.run(&stop, &send))?;
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
        background::start("aim", move || aim::run(&source, hint, &stop, &send))?;
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
                let whole = session.whole();
                let kept = Recording::of_sweep(&whole.simulated, &whole.loaded);
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
                let WholeSweep {
                    inputs,
                    loaded,
                    simulated,
                } = session.whole();
                serde_json::to_value(answer::beam(inputs, loaded, simulated, *pixel)?)
            }
            Request::Reflectance(material) => {
                serde_json::to_value(answer::reflectance(session.loaded(), *material)?)
            }
            Request::Profile(name) => {
                let (file, profile) = session.profile(name.as_deref())?;
                serde_json::to_value(answer::profile(&file, &profile))
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
        encoded.map_err(|error| unencodable(&error))
    }
}

/// The refusal of an answer that has no JSON.
fn unencodable(error: &serde_json::Error) -> Refusal {
    Refusal::new(error.to_string(), "report this error")
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

/// Whether the answer to a job needs the whole sweep.
fn is_about_sweep(job: &Job) -> bool {
    matches!(
        job,
        Job::Request(Request::Beam(_) | Request::Keep, _) | Job::Points(_) | Job::Compare(..)
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
