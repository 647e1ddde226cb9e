//! The run of a robot on a thread of its own.

use super::data::OutputData;
use crate::background;
use crate::refusal::Refusal;
use crate::session::TextFile;
use etendue::config::robot::{self, LoadedRobot};
use etendue::config::toml_file::Document;
use etendue::io::ros2::{RigMessages, RigRecorder, Topic, TopicMessage};
use etendue::physics::inertial::MotionState;
use etendue::sensors::dynamics::{SampledTrajectories, StateTrajectory};
use etendue::sensors::rig::{
    Event, LatestData, Observer, RigError, RigRun, drive, nanoseconds, replay, seconds,
};
use nalgebra::Isometry3;
use serde::Serialize;
use std::fs::File;
use std::io::BufWriter;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Largest size of the kept data, bytes.
const MAX_BYTES: usize = 512 << 20;

/// Period of the kept poses, ns.
const POSE_PERIOD: i64 = 20_000_000;

/// Time between two messages of progress.
const PROGRESS_PERIOD: Duration = Duration::from_millis(100);

/// Duration of a run that the file does not limit, s.
const USUAL_DURATION: f64 = 10.0;

/// Progress of a run.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case", tag = "event")]
pub enum RobotEvent {
    /// Data have arrived up to a time, s.
    Progress {
        /// The time.
        time: f64,
    },
    /// The run has ended.
    Done,
    /// The run has ended before its time.
    Failed(Refusal),
}

/// A robot and the data of its run so far.
#[derive(Debug)]
pub struct RobotRun {
    /// Number of the run in the session.
    pub number: u64,
    /// The robot file.
    pub file: TextFile,
    /// Name of the robot.
    pub name: String,
    /// Duration of the run, s.
    pub duration: f64,
    /// Irregularities that did not prevent loading.
    pub warnings: Vec<String>,
    /// The outputs of the sensors.
    pub outputs: Vec<Output>,
    /// Topics of the recording.
    pub topics: Vec<Topic>,
    /// Path of the recording.
    recorded: PathBuf,
    seed: u64,
    data: Mutex<RunData>,
    is_done: AtomicBool,
    /// Whether the recording has its end.
    is_recorded: AtomicBool,
    is_stopped: AtomicBool,
}

/// An output of a sensor.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Output {
    /// Its name.
    pub name: String,
    /// Its topic in recordings.
    pub topic: String,
    /// Kind of the data: `cloud`, `picture` or `series`.
    pub kind: &'static str,
    /// Index of the sensor.
    pub sensor: usize,
    /// Index among the outputs of the sensor.
    #[serde(skip)]
    pub number: usize,
}

/// Data of a run so far.
#[derive(Debug, Default)]
pub struct RunData {
    /// Data of each output.
    pub outputs: Vec<OutputData>,
    /// Times (ns) with the pose of the base, and of each sensor; world from sensor.
    pub poses: Vec<(i64, Vec<Isometry3<f64>>)>,
    /// Time up to which data have arrived, ns.
    pub arrived: i64,
    bytes: usize,
}

impl RobotRun {
    /// Reads a robot, and starts its run, which is recorded in a folder. `send` gets the events of the run.
    ///
    /// # Errors
    /// If the robot is invalid, or no thread can be started.
    pub fn start(
        number: u64,
        file: TextFile,
        seed: u64,
        folder: &Path,
        send: impl Fn(RobotEvent) + Clone + Send + 'static,
    ) -> Result<Arc<Self>, Refusal> {
        // Read the robot
        let robot = robot::parse(&Document::new(&file.path, file.text.clone()))?;
        let duration = robot.duration.or(robot.motion.duration());
        let sensors = robot.rig.sensors().iter().enumerate();
        let kinds = sensors.flat_map(|(sensor, mounted)| {
            let names = mounted.outputs().zip(&robot.topics[sensor]);
            let outputs = names.zip(mounted.graph().outputs()).enumerate();
            outputs.map(move |(number, ((name, topic), kind))| {
                let data = OutputData::of(kind);
                let output = Output {
                    name: name.to_owned(),
                    topic: topic.clone(),
                    kind: match data {
                        OutputData::Clouds(_) => "cloud",
                        OutputData::Pictures(_) => "picture",
                        OutputData::Series(_) => "series",
                    },
                    sensor,
                    number,
                };
                (output, data)
            })
        });
        let (outputs, data): (Vec<Output>, Vec<OutputData>) = kinds.unzip();
        let run = Arc::new(Self {
            number,
            name: robot.name.clone(),
            duration: duration.unwrap_or(USUAL_DURATION),
            warnings: robot.warnings.clone(),
            outputs,
            topics: RigMessages::new(&robot.rig, &robot.topics)
                .topics()
                .to_vec(),
            recorded: folder.join(format!("robot-{number}.mcap")),
            seed,
            file,
            data: Mutex::new(RunData {
                outputs: data,
                ..RunData::default()
            }),
            is_done: AtomicBool::new(false),
            is_recorded: AtomicBool::new(false),
            is_stopped: AtomicBool::new(false),
        });

        // Run it
        let running = run.clone();
        let thread = std::thread::Builder::new().name("robot".into());
        let started = thread.spawn(move || {
            let (of_run, reported) = (running.clone(), send.clone());
            let ended = background::compute(move || of_run.run(&robot, &reported));
            running.is_done.store(true, Ordering::Relaxed);
            send(ended.map_or_else(RobotEvent::Failed, |()| RobotEvent::Done));
        });
        started.map_err(|error| {
            Refusal::new(
                format!("no thread can be started: {error}"),
                "end other programs",
            )
        })?;
        Ok(run)
    }

    /// Whether the run has ended.
    pub fn is_done(&self) -> bool {
        self.is_done.load(Ordering::Relaxed)
    }

    /// Whether the run is no longer wanted.
    pub fn is_stopped(&self) -> bool {
        self.is_stopped.load(Ordering::Relaxed)
    }

    /// The recording of the whole run, which is that of `etendue run`; `None` before the run has reached its end.
    pub fn recording(&self) -> Option<Vec<u8>> {
        let is_recorded = self.is_recorded.load(Ordering::Relaxed);
        let bytes = is_recorded.then(|| std::fs::read(&self.recorded));
        bytes.and_then(Result::ok)
    }

    /// Ends the run at its next data.
    pub fn stop(&self) {
        self.is_stopped.store(true, Ordering::Relaxed);
    }

    /// The data so far.
    pub fn data(&self) -> MutexGuard<'_, RunData> {
        self.data.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn run(&self, robot: &LoadedRobot, send: &impl Fn(RobotEvent)) -> Result<(), Refusal> {
        let end = nanoseconds(self.duration);
        let scene = &robot.scene.scene;
        let mut run = RigRun::new(&robot.rig, scene, &robot.environment, self.seed, end)?;
        let mut keeper = Keeper {
            run: self,
            robot,
            messages: RigMessages::new(&robot.rig, &robot.topics),
            recorder: RigRecorder::create(&self.recorded, &robot.rig, &robot.topics)?,
            send,
            driven: SampledTrajectories::default(),
            next_pose: 0,
            reported: Instant::now(),
            failed: None,
        };
        if let Some(driven) = &robot.driven {
            let gravity = robot.environment.gravity;
            let body = driven.mover.start(scene, gravity);
            let mut body = body.map_err(|message| {
                let remedy = "correct the shapes of the robot, or use ground = \"plane\"";
                Refusal::new(message, remedy)
            })?;
            let command = |_: &LatestData, now: i64| driven.schedule.at(now);
            drive(&mut run, &mut body, &driven.plan, command, &mut keeper);
        } else {
            replay(&mut run, &robot.motion, |event| {
                keeper.keep_poses(event.capture.arrival.min(end), &robot.motion);
                let arrival = event.capture.arrival;
                let state = |time| robot.motion.state(time);
                let motion = keeper.messages.of_motion_until(arrival, state);
                let kept = keeper.record(&motion);
                let kept = kept.and_then(|()| keeper.keep(&event, &robot.motion));
                keeper.continued(kept)
            });
        }
        if let Some(refusal) = keeper.failed {
            return Err(refusal);
        }
        keeper.recorder.finish()?;
        self.is_recorded
            .store(!self.is_stopped(), Ordering::Relaxed);
        Ok(())
    }
}

impl Drop for RobotRun {
    /// Removes the recording.
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.recorded);
    }
}

/// Keeps the data of a run.
struct Keeper<'a, F> {
    run: &'a RobotRun,
    robot: &'a LoadedRobot,
    messages: RigMessages<'a>,
    recorder: RigRecorder<'a, BufWriter<File>>,
    send: &'a F,
    /// Motion of a robot that follows commands.
    driven: SampledTrajectories,
    next_pose: i64,
    /// Time of the last message of progress.
    reported: Instant,
    failed: Option<Refusal>,
}

impl<F: Fn(RobotEvent)> Keeper<'_, F> {
    fn record(&mut self, messages: &[TopicMessage]) -> Result<(), Refusal> {
        Ok(self.recorder.append(messages)?)
    }

    fn keep(&mut self, event: &Event, trajectory: &dyn StateTrajectory) -> Result<(), Refusal> {
        let messages = self.messages.of_event(event);
        self.record(&messages)?;
        let mut outputs = self.run.outputs.iter();
        let is_own =
            |output: &Output| [output.sensor, output.number] == [event.sensor, event.output];
        let Some(number) = outputs.position(is_own) else {
            return Ok(());
        };
        let mut data = self.run.data();
        data.bytes += data.outputs[number].keep(event, self.robot, trajectory)?;
        if data.bytes > MAX_BYTES {
            return Err(Refusal::new(
                format!(
                    "the data of {:.1} s fill {} MB, the most that the page keeps",
                    seconds(event.capture.arrival),
                    MAX_BYTES >> 20
                ),
                "record the whole run by `etendue run ROBOT -o run.mcap`",
            ));
        }
        data.arrived = event.capture.arrival;
        drop(data);
        if self.reported.elapsed() >= PROGRESS_PERIOD {
            self.reported = Instant::now();
            (self.send)(RobotEvent::Progress {
                time: seconds(event.capture.arrival),
            });
        }
        Ok(())
    }

    /// Keeps the poses up to a time, ns, one per period.
    fn keep_poses(&mut self, until: i64, trajectory: &dyn StateTrajectory) {
        while self.next_pose <= until {
            let time = seconds(self.next_pose);
            let body = |number| trajectory.state_of(number, time).world_from_body;
            let sensors = self.robot.rig.sensors().iter();
            let sensors = sensors.map(|sensor| body(sensor.body()) * sensor.body_from_sensor());
            let poses = std::iter::once(body(0)).chain(sensors).collect();
            self.run.data().poses.push((self.next_pose, poses));
            self.next_pose += POSE_PERIOD;
        }
    }

    /// Stops the run at an error, or if it is no longer wanted.
    fn continued(&mut self, kept: Result<(), Refusal>) -> ControlFlow<()> {
        self.failed = kept.err();
        if self.failed.is_some() || self.run.is_stopped() {
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    }
}

impl<F: Fn(RobotEvent)> Observer for Keeper<'_, F> {
    fn received(&mut self, event: &Event) -> ControlFlow<()> {
        let driven = std::mem::take(&mut self.driven);
        let kept = self.keep(event, &driven);
        self.driven = driven;
        self.continued(kept)
    }

    fn moved(&mut self, time: i64, states: &[MotionState]) -> ControlFlow<()> {
        self.driven.push(time, states);
        let driven = std::mem::take(&mut self.driven);
        self.keep_poses(time, &driven);
        self.driven = driven;
        let motion = self.messages.of_motion_if_due(time, states);
        let recorded = self.record(&motion);
        self.continued(recorded)
    }
}

impl From<RigError> for Refusal {
    fn from(error: RigError) -> Self {
        let remedy = "correct the robot file, or choose other materials or sensors";
        Self::new(error.to_string(), remedy)
    }
}
