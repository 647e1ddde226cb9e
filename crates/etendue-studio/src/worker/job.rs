//! Requests of pages and jobs of other threads.

use crate::answer::PictureRequest;
use crate::foxglove::Parameter;
use crate::recording::fit::UnknownRequest;
use crate::refusal::Refusal;
use crate::robot::Query;
use crate::session::{Document, Edit, PanelHintRequest, PanelTask, RecordedPanel};
use crate::simulator::Ended;
use serde::Deserialize;
use serde_json::Value as Json;
use std::sync::Arc;
use std::sync::mpsc::Sender;
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
    /// The way to a session that takes jobs.
    pub(super) fn new(jobs: Sender<Job>, published: Published) -> Self {
        Self {
            jobs: Arc::new(Jobs(jobs)),
            published,
        }
    }

    /// Sends a job; nothing if the session has ended, in which case the sender of the answer is dropped.
    pub fn send(&self, job: Job) {
        let _ = self.jobs.0.send(job);
    }
}

pub(super) fn is_edit(job: &Job) -> bool {
    matches!(
        job,
        Job::Request(
            Request::Edit { .. } | Request::Open { .. } | Request::Undo | Request::Redo,
            _
        )
    )
}

/// Whether a job chooses the sweep of the run, and nothing else.
pub(super) fn is_of_time(job: &Job) -> bool {
    match job {
        Job::Request(Request::Edit { edits, .. }, _) => {
            edits.iter().all(|edit| matches!(edit, Edit::Sweep(_)))
        }
        _ => false,
    }
}

/// Whether the answer to a job needs the whole sweep.
pub(super) fn is_about_sweep(job: &Job) -> bool {
    matches!(
        job,
        Job::Request(Request::Beam(_) | Request::Keep, _) | Job::Points(_) | Job::Compare(..)
    )
}

/// Whether all edits of a request are replaced by those of the next one of the same gesture.
pub(super) fn is_replaced_by(request: &Request, next: &Request) -> bool {
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
