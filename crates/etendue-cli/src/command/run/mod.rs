//! `etendue run`.

mod report;

use crate::failure::Failure;
use crate::interrupt;
use crate::output::{print, print_json};
use clap::Args;
use etendue::config::robot::{self, LoadedRobot};
use etendue::io::nmea;
use etendue::io::output::OutputSet;
use etendue::io::ros2::RigRecorder;
use etendue::physics::inertial::MotionState;
use etendue::sensors::dynamics::StateTrajectory as _;
use etendue::sensors::rig::{
    Data, Event, LatestData, Observer, RigRun, drive, nanoseconds, replay, seconds,
};
use indicatif::{ProgressBar, ProgressStyle};
use report::Report;
use std::fs::File;
use std::io::BufWriter;
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Arguments of `etendue run`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples: etendue run examples/cart.toml -o cart.mcap\n          \
    etendue run examples/cart.toml --duration 5 --nmea cart.nmea --json\n\n\
    Every sensor captures on its own clock, and its data are there at the end of the capture plus \
    its lag. The same robot and seed give the same bytes on any number of threads."
)]
pub struct Run {
    /// Robot file (.toml)
    robot: PathBuf,
    /// How long the run is, s: captures that begin before are delivered; without it, what the
    /// robot file says, or the length of its trajectory
    #[arg(long, value_name = "S")]
    duration: Option<f64>,
    /// Seed of all noise
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Record everything to this MCAP file, as ROS 2 messages
    #[arg(short, long, value_name = "FILE.mcap")]
    output: Option<PathBuf>,
    /// Write the fixes of satellite receivers to this file, as NMEA 0183
    #[arg(long, value_name = "FILE")]
    nmea: Option<PathBuf>,
    /// Worker threads; without it, one a processor
    #[arg(long, value_name = "N")]
    threads: Option<NonZeroUsize>,
    /// Print the summary as JSON
    #[arg(long)]
    json: bool,
}

/// Time between records of the true motion, ns.
const MOTION_EVERY: i64 = 20_000_000;

impl Run {
    /// Runs, records and sums up.
    pub fn run(self) -> Result<(), Failure> {
        let threads = self.threads.map_or(0, NonZeroUsize::get);
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()?;
        pool.install(|| self.run_here())
    }

    fn run_here(&self) -> Result<(), Failure> {
        let robot = robot::load(&self.robot)?;
        let duration = self.duration(&robot)?;
        if let Some(path) = &self.output
            && path.extension().is_none_or(|ending| ending != "mcap")
        {
            return Err(Failure::Usage {
                message: format!("{} does not end in .mcap", path.display()),
                remedy: "recordings are MCAP files: name one".into(),
            });
        }
        for warning in &robot.warnings {
            eprintln!("warning: {warning}");
        }
        let report = self.follow(&robot, duration)?;
        if self.json {
            print_json(&report)
        } else {
            print(&report.text())
        }
    }

    fn duration(&self, robot: &LoadedRobot) -> Result<f64, Failure> {
        let asked = self.duration.or(robot.duration).or(robot.motion.duration());
        let wrong = |message: &str| Failure::Usage {
            message: message.into(),
            remedy: "give --duration 10, or duration_s in the robot file".into(),
        };
        match asked {
            Some(duration) if duration > 0.0 && duration.is_finite() => Ok(duration),
            Some(_) => Err(wrong("the run lasts no time")),
            None => Err(wrong("nothing says how long the run is")),
        }
    }

    fn follow(&self, robot: &LoadedRobot, duration: f64) -> Result<Report, Failure> {
        let end = nanoseconds(duration);
        let rig = &robot.rig;
        let scene = &robot.scene.scene;
        let mut run = RigRun::new(rig, scene, &robot.environment, self.seed, end)?;
        let mut keeper = Keeper {
            robot,
            recorder: self.recorder(robot)?,
            report: Report::new(robot, duration, self.seed),
            nmea: String::new(),
            next_motion: 0,
            failed: None,
            bar: progress_bar(duration),
        };
        let start = Instant::now();
        match &robot.driven {
            Some(driven) => {
                let gravity = robot.environment.gravity;
                let mut body = driven.mover.start(scene, gravity).map_err(cannot_move)?;
                let told = |_: &LatestData, now: i64| driven.schedule.at(now);
                drive(&mut run, &mut body, &driven.plan, told, &mut keeper);
            }
            None => replay(&mut run, &robot.motion, |event| keeper.follow(&event)),
        }
        keeper.bar.finish_and_clear();
        if let Some(failure) = keeper.failed {
            return Err(failure);
        }
        if let Some(recorder) = keeper.recorder {
            recorder.finish()?;
        }
        let mut report = keeper.report;
        report.took(start.elapsed());
        report.files.extend(self.output.clone());
        report.files.extend(self.write_nmea(&keeper.nmea)?);
        Ok(report)
    }

    fn recorder<'r>(
        &self,
        robot: &'r LoadedRobot,
    ) -> Result<Option<RigRecorder<'r, BufWriter<File>>>, Failure> {
        let path = self.output.as_ref();
        let recorder = path.map(|path| RigRecorder::create(path, &robot.rig, &robot.topics));
        Ok(recorder.transpose()?)
    }

    fn write_nmea(&self, text: &str) -> Result<Vec<PathBuf>, Failure> {
        let Some(path) = &self.nmea else {
            return Ok(Vec::new());
        };
        if text.is_empty() {
            return Err(Failure::Usage {
                message: format!(
                    "nothing to write to {}: the robot has no satellite receiver",
                    path.display()
                ),
                remedy: "add a sensor with device.gnss, or leave --nmea out".into(),
            });
        }
        let _guard = interrupt::writing();
        let mut outputs = OutputSet::new();
        outputs.add(Path::new(path), |file| file.write_all(text.as_bytes()))?;
        Ok(outputs.commit()?)
    }
}

/// Keeps what the sensors give.
struct Keeper<'r> {
    robot: &'r LoadedRobot,
    recorder: Option<RigRecorder<'r, BufWriter<File>>>,
    report: Report,
    nmea: String,
    next_motion: i64,
    failed: Option<Failure>,
    bar: ProgressBar,
}

impl Keeper<'_> {
    /// Keeps data of a motion that is known.
    fn follow(&mut self, event: &Event) -> ControlFlow<()> {
        while self.recorder.is_some() && self.next_motion <= event.capture.arrival {
            let state = self.robot.motion.state(seconds(self.next_motion));
            self.moved(self.next_motion, &[state])?;
        }
        self.received(event)
    }

    fn keep(&mut self, event: &Event) -> Result<(), Failure> {
        self.report.count(event);
        if let Data::Fix(fix) = &event.data {
            let time = self.robot.environment.start + seconds(event.capture.end);
            self.nmea += &nmea::sentences(fix, time);
        }
        self.bar.set_position(position(event.capture.arrival));
        match &mut self.recorder {
            Some(recorder) => Ok(recorder.record(event)?),
            None => Ok(()),
        }
    }

    fn keep_motion(&mut self, time: i64, states: &[MotionState]) -> Result<(), Failure> {
        if time < self.next_motion {
            return Ok(());
        }
        self.next_motion += MOTION_EVERY;
        match &mut self.recorder {
            Some(recorder) => Ok(recorder.record_motion(time, states)?),
            None => Ok(()),
        }
    }

    fn go_on(&mut self, kept: Result<(), Failure>) -> ControlFlow<()> {
        match kept {
            Ok(()) => ControlFlow::Continue(()),
            Err(failure) => {
                self.failed = Some(failure);
                ControlFlow::Break(())
            }
        }
    }
}

impl Observer for Keeper<'_> {
    fn received(&mut self, event: &Event) -> ControlFlow<()> {
        let kept = self.keep(event);
        self.go_on(kept)
    }

    fn moved(&mut self, time: i64, states: &[MotionState]) -> ControlFlow<()> {
        let kept = self.keep_motion(time, states);
        self.go_on(kept)
    }
}

/// The robot's dynamics cannot start.
fn cannot_move(message: String) -> Failure {
    Failure::Usage {
        message,
        remedy: "correct the robot's shapes, or let it stand on ground = \"plane\"".into(),
    }
}

/// Milliseconds, for the progress bar.
fn position(time: i64) -> u64 {
    u64::try_from(time / 1_000_000).unwrap_or(0)
}

/// A bar over the run's own time.
fn progress_bar(duration: f64) -> ProgressBar {
    let style = ProgressStyle::with_template("{bar:40} {percent} % of the run, {eta} left");
    let bar = ProgressBar::new(position(nanoseconds(duration)));
    match style {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}
