//! The thread that owns the session.
//!
//! It takes all waiting requests, applies them in order, and publishes the sweep and the state. An edit that a later
//! waiting edit replaces is skipped, so that a slow scene lags by one sweep, never by a queue.
//!
//! [`Worker::show_change`] requests all sweeps. A quick sweep is simulated at once. Where it takes long, an edit is
//! shown by a coarse sweep, and the whole one follows on another thread when no edit has come for a while; an edit
//! stops it. Questions about the sweep wait for the whole one, which edits do not stop then.

mod answers;
mod job;
mod show;

pub use job::{ComparisonRequest, Job, Published, Request, SessionHandle, Shared};

use crate::aim::AimSource;
use crate::background;
use crate::foxglove::{self, Live};
use crate::message::state::MeshNumbers;
use crate::refusal::Refusal;
use crate::robot::{RobotEvent, RobotRun};
use crate::session::{Opening, Session, TextFile};
use crate::simulator::Simulator;
use job::{is_about_sweep, is_edit, is_of_time, is_replaced_by};
use serde_json::json;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};
use tokio::sync::{broadcast, watch};

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
    let published = Published {
        state: state_receiver,
        sweep: sweep_receiver,
        events,
    };
    Ok(SessionHandle::new(jobs, published))
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
}
