//! `etendue run`.

#[cfg(feature = "studio")]
mod live;
#[cfg(feature = "gpu")]
mod processor;
mod report;

#[cfg(feature = "gpu")]
use {self::processor::GpuProcessor, crate::gpu::Gpu, etendue_gpu::DeviceChoice};

use crate::bag;
use crate::failure::Failure;
use crate::finite;
use crate::folder::is_file_name;
use crate::interrupt;
use crate::memory::{self, Memory};
use crate::number;
use crate::output::{commit_while_writing, print_report, progress, warn};
use crate::source;
use crate::threads::Threads;
use clap::Args;
use etendue::config::robot::{self, LoadedRobot};
use etendue::config::scene::obstruction_warning;
use etendue::io::nmea;
use etendue::io::output::{OpenOutput, OutputSet};
use etendue::io::ros2::{RigMessages, RigRecorder, TopicMessage};
use etendue::physics::inertial::MotionState;
use etendue::sensors::dynamics::{Dynamics as _, StateTrajectory as _};
use etendue::sensors::rig::{
    Data, Device, Event, LatestData, MountedSensor, Observer, RigRun, drive, nanoseconds, replay,
    seconds,
};
use indicatif::ProgressBar;
use nalgebra::Point3;
use report::Report;
use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::time::Instant;

/// Arguments of `etendue run`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples: etendue run examples/cart.toml -o cart.mcap\n          \
    etendue run examples/cart.toml --duration 5 --nmea cart.nmea --json\n\n\
    Every sensor captures on its own clock; its data arrive at the end of the capture plus its latency. \
    The same robot and seed give the same bytes on any number of threads.\n\
    Ctrl-C ends the run: the files then have all data up to that time."
)]
pub struct Run {
    /// Robot file (.toml)
    robot: PathBuf,
    /// Duration of the run, s; captures that begin before its end are delivered [default: the
    /// duration in the robot file, or that of its trajectory]
    #[arg(long, value_name = "S", value_parser = number::positive)]
    duration: Option<f64>,
    /// Seed of all noise
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// MCAP file for a recording of ROS 2 messages, or a folder for run.mcap
    #[arg(short, long, value_name = "FILE.mcap|DIR")]
    output: Option<PathBuf>,
    /// File for the GNSS fixes, as NMEA 0183
    #[arg(long, value_name = "FILE")]
    nmea: Option<PathBuf>,
    /// Device of lidars and cameras: cpu, gpu (the fastest kind), gpu:N with a number of `etendue inspect --devices`, or
    /// auto: a GPU if there is one. What a GPU does not simulate runs on the CPU, with a warning that names the reason
    #[cfg(feature = "gpu")]
    #[arg(long, default_value_t, value_name = "DEVICE")]
    device: DeviceChoice,
    #[cfg(feature = "studio")]
    #[command(flatten)]
    live: live::LiveArguments,
    #[command(flatten)]
    memory: Memory,
    #[command(flatten)]
    threads: Threads,
    /// Print the summary as JSON
    #[arg(long)]
    json: bool,
}

/// Number of times at which the positions of the sensors are checked.
const CHECKS: u32 = 50;

impl Run {
    /// Runs the robot, records its data and prints a summary.
    pub fn run(self) -> Result<(), Failure> {
        self.threads.install(|| self.record())
    }

    fn record(&self) -> Result<(), Failure> {
        if source::is_scene(&self.robot) || source::is_sensor(&self.robot) {
            return Err(Failure::argument(
                format!("{} is built in, but no robot", self.robot.display()),
                "give a robot file such as examples/cart.toml, which names the scene and the sensors",
            ));
        }
        let robot = robot::load(&self.robot)?;
        let duration = self.duration(&robot)?;
        self.check_memory(&robot)?;
        if let Some(path) = self.recording()
            && path.extension().is_none_or(|ending| ending != "mcap")
        {
            return Err(Failure::argument(
                format!("{} does not end in .mcap", path.display()),
                "give an MCAP file for the recording, or a folder; a slash at the end makes it a folder",
            ));
        }
        warn(&robot.warnings);
        self.simulate(&robot, duration)
    }

    /// Checks the memory of one capture of every lidar and camera.
    fn check_memory(&self, robot: &LoadedRobot) -> Result<(), Failure> {
        let sensors = robot.rig.sensors().iter();
        let captures = sensors.map(|sensor| match sensor.device() {
            Device::Lidar(lidar) => lidar.shots(0).len() as f64 * memory::BYTES_PER_BEAM,
            Device::Camera(mounted) => memory::of_frame(&mounted.camera),
            _ => 0.0,
        });
        self.memory.check(
            captures.sum(),
            "the captures of all sensors",
            "give smaller cameras and lidars",
        )
    }

    /// The file of the recording.
    fn recording(&self) -> Option<PathBuf> {
        let output = self.output.as_ref()?;
        let is_folder = !is_file_name(output);
        Some(if is_folder {
            output.join("run.mcap")
        } else {
            output.clone()
        })
    }

    /// Duration by argument, robot file or trajectory, s.
    fn duration(&self, robot: &LoadedRobot) -> Result<f64, Failure> {
        let duration = self.duration.or(robot.duration).or(robot.motion.duration());
        let wrong = |message: &str| {
            let remedy = "give --duration 10, or duration_s in the robot file";
            Failure::usage(message, remedy)
        };
        match duration {
            Some(duration) if duration > 0.0 && duration.is_finite() => Ok(duration),
            Some(_) => Err(wrong("the duration of the run is not above zero")),
            None => Err(wrong("the run has no duration")),
        }
    }

    /// Simulates the robot, writes the recording and the fixes, and prints a summary.
    fn simulate(&self, robot: &LoadedRobot, duration: f64) -> Result<(), Failure> {
        let end = nanoseconds(duration);
        let rig = &robot.rig;
        let scene = &robot.scene.scene;
        #[cfg(feature = "gpu")]
        let processor = Gpu::open(self.device, scene)?
            .map(|gpu| GpuProcessor::new(gpu, self.device == DeviceChoice::Auto));
        let mut run = RigRun::new(rig, scene, &robot.environment, self.seed, end)?;
        #[cfg(feature = "gpu")]
        if let Some(processor) = &processor {
            run = run.with_processor(processor);
        }
        let mut recording = Recording {
            robot,
            messages: RigMessages::new(rig, &robot.topics),
            recorder: self.recorder(robot)?,
            #[cfg(feature = "studio")]
            live: None,
            #[cfg(feature = "gpu")]
            processor: processor.as_ref(),
            report: Report::new(robot, duration, self.seed),
            fixes: self.fixes(robot)?,
            failed: None,
            bar: progress(
                position(nanoseconds(duration)),
                "{bar:40} {percent} % of the run, {eta} left",
            ),
        };

        // Wait for a viewer
        #[cfg(feature = "studio")]
        {
            recording.live = self.live.open(&recording.messages)?;
        }

        // Run. Ctrl-C ends a run that is written after an arrival, and others at once
        let written = self.recording().or_else(|| self.nmea.clone());
        let written = written.map(|path| (path, interrupt::writing()));
        let start = Instant::now();
        if let Some(driven) = &robot.driven {
            let gravity = robot.environment.gravity;
            let mut body = driven
                .mover
                .start(scene, gravity)
                .map_err(invalid_dynamics)?;
            let states = body.states();
            let at_start = |body: usize, _| states[body.min(states.len() - 1)];
            warn(obstructions(robot, 0.0, at_start));
            let command = |_: &LatestData, now: i64| driven.schedule.at(now);
            drive(&mut run, &mut body, &driven.plan, command, &mut recording);
        } else {
            let state = |body, time| robot.motion.state_of(body, time);
            warn(obstructions(robot, duration, state));
            replay(&mut run, &robot.motion, |event| {
                recording.follow_trajectory(&event)
            });
        }

        // Finish the recording
        recording.bar.finish_and_clear();
        #[cfg(feature = "studio")]
        if let Some(live) = &recording.live {
            live.end();
        }
        if let Some(failure) = recording.failed {
            return Err(failure);
        }
        #[cfg(feature = "gpu")]
        if let Some(processor) = &processor {
            processor.check()?;
            processor.report();
        }
        if let Some(recorder) = recording.recorder {
            recorder.finish()?;
        }
        let mut report = recording.report;
        let until = report.last_arrival();
        if interrupt::requested() {
            report.duration_s = duration.min(until);
        }
        report.set_elapsed(start.elapsed());
        if let Some(path) = self.recording() {
            let metadata = bag::describe(&path)?;
            report.files.extend([path].into_iter().chain(metadata));
        }
        if let Some(fixes) = recording.fixes {
            report.files.extend(fixes.finish()?);
        }
        print_report(self.json, &report, Report::text)?;
        written.map_or(Ok(()), |(path, guard)| {
            interrupt::ended(guard, &path, until)
        })
    }

    fn recorder<'r>(
        &self,
        robot: &'r LoadedRobot,
    ) -> Result<Option<RigRecorder<'r, BufWriter<File>>>, Failure> {
        let path = self.recording();
        let recorder = path.map(|path| RigRecorder::create(&path, &robot.rig, &robot.topics));
        Ok(recorder.transpose()?)
    }

    /// File of the fixes, which are written as they arrive.
    fn fixes(&self, robot: &LoadedRobot) -> Result<Option<Fixes>, Failure> {
        let Some(path) = &self.nmea else {
            return Ok(None);
        };
        let mut devices = robot.rig.sensors().iter().map(MountedSensor::device);
        if !devices.any(|device| matches!(device, Device::Gnss(_))) {
            return Err(Failure::usage(
                format!(
                    "there are no fixes for {}: the robot has no GNSS receiver",
                    path.display()
                ),
                "add a sensor with device.gnss, or omit --nmea",
            ));
        }
        let mut outputs = OutputSet::new();
        let file = outputs.open(path)?;
        Ok(Some(Fixes {
            writer: file.writer()?,
            file,
            outputs,
        }))
    }
}

/// NMEA file of the fixes of a run.
struct Fixes {
    outputs: OutputSet,
    file: OpenOutput,
    writer: BufWriter<File>,
}

impl Fixes {
    /// Writes the rest, and makes the file visible.
    fn finish(mut self) -> Result<Vec<PathBuf>, Failure> {
        self.writer.flush()?;
        self.outputs.close(self.file)?;
        commit_while_writing(self.outputs)
    }
}

/// Data of the sensors during a run.
struct Recording<'r> {
    robot: &'r LoadedRobot,
    messages: RigMessages<'r>,
    recorder: Option<RigRecorder<'r, BufWriter<File>>>,
    report: Report,
    fixes: Option<Fixes>,
    #[cfg(feature = "studio")]
    live: Option<live::LiveView>,
    #[cfg(feature = "gpu")]
    processor: Option<&'r GpuProcessor>,
    failed: Option<Failure>,
    bar: ProgressBar,
}

impl Recording<'_> {
    /// Records data of a run along a given trajectory, and the motion up to their arrival.
    fn follow_trajectory(&mut self, event: &Event) -> ControlFlow<()> {
        let state = |time| self.robot.motion.state(time);
        let motion = self.messages.of_motion_until(event.capture.arrival, state);
        let written = self.write(&motion);
        self.continue_after(written)?;
        self.received(event)
    }

    /// Counts data and records them.
    fn record(&mut self, event: &Event) -> Result<(), Failure> {
        #[cfg(feature = "gpu")]
        if let Some(processor) = self.processor {
            processor.check()?;
        }
        let sensor = &self.robot.rig.sensors()[event.sensor];
        finite::check_data(sensor.name(), &event.data)?;
        self.report.count(event);
        if let (Data::Fix(fix), Some(fixes)) = (&event.data, &mut self.fixes) {
            let time = self.robot.environment.start + seconds(event.capture.end);
            let sentences = nmea::sentences(fix, time);
            fixes.writer.write_all(sentences.as_bytes())?;
        }
        self.bar.set_position(position(event.capture.arrival));
        if !self.is_written() {
            return Ok(());
        }
        let messages = self.messages.of_event(event);
        self.write(&messages)
    }

    /// Whether messages have a destination.
    fn is_written(&self) -> bool {
        #[cfg(feature = "studio")]
        if self.live.is_some() {
            return true;
        }
        self.recorder.is_some()
    }

    /// Writes messages to the recording, and shows them.
    fn write(&mut self, messages: &[TopicMessage]) -> Result<(), Failure> {
        if let Some(recorder) = &mut self.recorder {
            recorder.append(messages)?;
        }
        #[cfg(feature = "studio")]
        if let Some(live) = &self.live {
            live.show(messages.to_vec());
        }
        Ok(())
    }

    /// Stops the run at an error, and at Ctrl-C.
    fn continue_after(&mut self, result: Result<(), Failure>) -> ControlFlow<()> {
        match result {
            Ok(()) if interrupt::requested() => ControlFlow::Break(()),
            Ok(()) => ControlFlow::Continue(()),
            Err(failure) => {
                self.failed = Some(failure);
                ControlFlow::Break(())
            }
        }
    }
}

impl Observer for Recording<'_> {
    fn received(&mut self, event: &Event) -> ControlFlow<()> {
        let result = self.record(event);
        self.continue_after(result)
    }

    fn moved(&mut self, time: i64, states: &[MotionState]) -> ControlFlow<()> {
        let motion = self.messages.of_motion_if_due(time, states);
        let written = self.write(&motion);
        self.continue_after(written)
    }
}

/// Warnings about lidars and cameras inside objects, at surfaces or outside rooms, for the state of a body at a time
/// of the run.
fn obstructions(
    robot: &LoadedRobot,
    duration: f64,
    state: impl Fn(usize, f64) -> MotionState,
) -> Vec<String> {
    let sees = |device: &Device| matches!(device, Device::Lidar(_) | Device::Camera(_));
    let sensors = robot.rig.sensors().iter().zip(&robot.places);
    let warning = |(sensor, place): (&MountedSensor, &String)| {
        let position = |time: f64| {
            let world_from_body = state(sensor.body(), time).world_from_body;
            world_from_body * sensor.body_from_sensor() * Point3::origin()
        };
        let checks = if duration > 0.0 { CHECKS } else { 1 };
        let times = (0..checks).map(|step| duration * f64::from(step) / f64::from(checks));
        let positions: Vec<_> = times.map(|time| (time, position(time))).collect();
        obstruction_warning(&robot.scene, sensor.name(), place, &positions)
    };
    let seeing = sensors.filter(|(sensor, _)| sees(sensor.device()));
    seeing.filter_map(warning).collect()
}

/// Error of dynamics that cannot start.
fn invalid_dynamics(message: String) -> Failure {
    let remedy = "correct the shapes of the robot, or use ground = \"plane\"";
    Failure::usage(message, remedy)
}

/// Position of the progress bar, ms.
fn position(time: i64) -> u64 {
    u64::try_from(time / 1_000_000).unwrap_or(0)
}
