//! Recording and statistics of a drive.

use super::driver::ANTENNA;
use crate::failure::Failure;
use crate::output::progress;
use etendue::io::FormatError;
use etendue::io::image::{Pixels, png};
use etendue::io::ros2::RigRecorder;
use etendue::physics::gnss::Geodetic;
use etendue::physics::inertial::MotionState;
use etendue::sensors::camera::CameraFrame;
use etendue::sensors::dynamics::DriveCommand;
use etendue::sensors::rig::{Data, Environment, Event, Observer};
use etendue_experiments::demo::street::Route;
use indicatif::ProgressBar;
use nalgebra::{Isometry3, Point3};
use std::cell::RefCell;
use std::fs::File;
use std::io::BufWriter;
use std::ops::ControlFlow;

/// Period of the records of the true motion, ns.
const MOTION_PERIOD: i64 = 20_000_000;
/// Number of frames of the camera per saved picture.
const FRAMES_PER_PICTURE: usize = 20;
/// Height above the ground of the lidar points in the picture, m.
const LOWEST_POINT: f64 = 0.3;

/// Command with its time and the estimated position of the driver, before it is recorded.
pub struct TimedCommand {
    /// Time of the command, ns.
    pub time: i64,
    /// Command.
    pub command: DriveCommand,
    /// Estimated position of the vehicle, m.
    pub position: [f64; 2],
}

/// Commands of the driver since the last step of the vehicle.
pub type Commands = RefCell<Vec<TimedCommand>>;

/// Numbers of data received during a drive.
#[derive(Clone, Copy, Default)]
pub struct Counts {
    /// Sweeps of the lidar.
    pub sweeps: usize,
    /// Points of all sweeps.
    pub points: usize,
    /// Inertial measurements.
    pub inertial: usize,
    /// Fixes with a position.
    pub fixes: usize,
    /// Fixes without a position.
    pub fixes_lost: usize,
    /// Frames of the camera.
    pub frames: usize,
    /// Commands of the driver.
    pub commands: u32,
}

/// Positions for the picture of a drive, m.
#[derive(Default)]
pub struct Tracks {
    /// Points of the last sweep, without the ground.
    pub cloud: Vec<[f64; 2]>,
    /// Trajectory of the rear axle.
    pub vehicle: Vec<[f64; 2]>,
    /// GNSS fixes.
    pub fixes: Vec<[f64; 2]>,
    /// Pose of the lidar in the last sweep.
    pub world_from_lidar: Isometry3<f64>,
}

/// Statistics of distances, m.
#[derive(Clone, Copy, Default)]
pub struct ErrorStatistics {
    sum_of_squares: f64,
    count: f64,
    largest: f64,
}

impl ErrorStatistics {
    fn add(&mut self, error: f64) {
        self.sum_of_squares += error * error;
        self.count += 1.0;
        self.largest = self.largest.max(error);
    }

    /// Root mean square, m.
    pub fn rms(&self) -> f64 {
        (self.sum_of_squares / self.count.max(1.0)).sqrt()
    }

    /// Largest, m.
    pub fn largest(&self) -> f64 {
        self.largest
    }
}

/// Observer of a drive that records all data and collects statistics.
pub struct DriveRecording<'r> {
    /// Recorder of the data.
    pub recorder: RigRecorder<'r, BufWriter<File>>,
    /// Error that stopped the drive.
    pub failure: Option<Failure>,
    /// Numbers of data.
    pub counts: Counts,
    /// Errors of the estimated position of the driver.
    pub localisation_errors: ErrorStatistics,
    /// Horizontal errors of the fixes.
    pub fix_errors: ErrorStatistics,
    /// Distances from the route.
    pub route_distances: ErrorStatistics,
    /// Names and content of the saved pictures of the camera.
    pub pictures: Vec<(String, Vec<u8>)>,
    /// Positions for the picture of the drive.
    pub tracks: Tracks,
    /// Progress in simulated time, ms.
    pub progress: ProgressBar,
    commands: &'r Commands,
    route: &'r Route,
    environment: &'r Environment,
    /// True positions of the antenna, one per period of the motion records.
    antenna: Vec<[f64; 2]>,
}

impl<'r> DriveRecording<'r> {
    /// Empty recording of a drive with a duration (ns).
    pub fn new(
        recorder: RigRecorder<'r, BufWriter<File>>,
        commands: &'r Commands,
        route: &'r Route,
        environment: &'r Environment,
        duration: i64,
    ) -> Self {
        Self {
            recorder,
            failure: None,
            counts: Counts::default(),
            localisation_errors: ErrorStatistics::default(),
            fix_errors: ErrorStatistics::default(),
            route_distances: ErrorStatistics::default(),
            pictures: Vec::new(),
            tracks: Tracks::default(),
            progress: progress(
                milliseconds(duration),
                "{bar:40} {percent} % of the drive, {eta} left",
            ),
            commands,
            route,
            environment,
            antenna: Vec::new(),
        }
    }

    fn count(&mut self, event: &Event) {
        match &event.data {
            Data::Points(sweep) => {
                self.counts.sweeps += 1;
                self.counts.points += sweep.points.len();
                let pose = sweep.world_from_sensor;
                let points = sweep.points.iter().map(|point| pose * point.position);
                let above_ground = points.filter(|point| point.z > LOWEST_POINT);
                self.tracks.cloud = above_ground.map(|point| [point.x, point.y]).collect();
                self.tracks.world_from_lidar = pose;
            }
            Data::Image(frame) => self.add_frame(frame),
            Data::Imu(_) => self.counts.inertial += 1,
            Data::Fix(fix) => {
                let position = fix.solution.map(|solution| solution.position);
                self.add_fix(position, event.capture.end);
            }
            _ => {}
        }
    }

    /// Saves one of [`FRAMES_PER_PICTURE`] frames as a picture.
    fn add_frame(&mut self, frame: &CameraFrame) {
        if self.counts.frames.is_multiple_of(FRAMES_PER_PICTURE) {
            let pixels = Pixels::Colour8(&frame.picture);
            match png(frame.width, frame.height, pixels) {
                Ok(file) => {
                    let name = format!("camera_{:03.0}s.png", frame.start);
                    self.pictures.push((name, file));
                }
                Err(error) => self.failure = Some(error.into()),
            }
        }
        self.counts.frames += 1;
    }

    /// Compares a fix with the true position of the antenna at the end of its capture (ns).
    fn add_fix(&mut self, position: Option<Geodetic>, end: i64) {
        let record = usize::try_from(end / MOTION_PERIOD).unwrap_or(0);
        let (Some(position), Some([x, y])) = (position, self.antenna.get(record)) else {
            self.counts.fixes_lost += 1;
            return;
        };
        self.counts.fixes += 1;
        let at = self.environment.frame.local(&position);
        self.fix_errors.add((at.x - x).hypot(at.y - y));
        self.tracks.fixes.push([at.x, at.y]);
    }

    /// Records the commands so far, before the vehicle moves under the last one.
    fn record_commands(&mut self, true_position: [f64; 2]) -> Result<(), FormatError> {
        for command in self.commands.take() {
            self.counts.commands += 1;
            self.recorder
                .record_command(command.time, &command.command)?;
            let [x, y] = command.position;
            let error = (x - true_position[0]).hypot(y - true_position[1]);
            self.localisation_errors.add(error);
        }
        Ok(())
    }

    /// Records the true motion and its distance from the route.
    fn record_motion(&mut self, time: i64, states: &[MotionState]) -> Result<(), FormatError> {
        let pose = states[0].world_from_body;
        let position = [pose.translation.x, pose.translation.y];
        self.progress.set_position(milliseconds(time));
        self.tracks.vehicle.push(position);
        let [x, y, z] = ANTENNA;
        let antenna = pose * Point3::new(x, y, z);
        self.antenna.push([antenna.x, antenna.y]);
        self.route_distances.add(self.route.distance(position));
        self.recorder.record_motion(time, states)
    }

    /// Stops the drive at an error.
    fn stop_at_error(&mut self, result: Result<(), FormatError>) -> ControlFlow<()> {
        match result {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                self.failure = Some(error.into());
                ControlFlow::Break(())
            }
        }
    }
}

impl Observer for DriveRecording<'_> {
    fn received(&mut self, event: &Event) -> ControlFlow<()> {
        self.count(event);
        let result = self.recorder.record(event);
        self.stop_at_error(result)
    }

    fn moved(&mut self, time: i64, states: &[MotionState]) -> ControlFlow<()> {
        let at = states[0].world_from_body.translation;
        let result = self.record_commands([at.x, at.y]);
        self.stop_at_error(result)?;
        if time % MOTION_PERIOD != 0 {
            return ControlFlow::Continue(());
        }
        let result = self.record_motion(time, states);
        self.stop_at_error(result)
    }
}

fn milliseconds(nanoseconds: i64) -> u64 {
    u64::try_from(nanoseconds / 1_000_000).unwrap_or(0)
}
