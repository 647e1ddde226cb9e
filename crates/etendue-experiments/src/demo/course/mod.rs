//! Scaled car on a closed course between barriers, with a lidar as its only sensor.
//!
//! [`Course::generate`] builds a procedural course, and [`race`] drives the car around it. The
//! [`CourseDriver`] groups the points of the lidar into the left and the right barrier, aims at the middle
//! between them, and steers with a PID controller. It has no map of the course.

mod driver;
mod track;

pub use driver::{BarrierPoints, CourseDriver};
pub use track::{Course, NoCourse};

use etendue_physics::angle::wrap_to_pi;
use etendue_physics::inertial::MotionState;
use etendue_scene::Scene;
use etendue_sensors::dynamics::{Bicycle, DriveCommand, Steering};
use etendue_sensors::filter::Filter;
use etendue_sensors::rig::{
    ControlPlan, Data, Device, Environment, Event, FrameTree, LatestData, Mount, Observer, Rate,
    Rig, RigError, RigRun, SECOND, drive, seconds,
};
use nalgebra::{Isometry3, Point2};
use std::f64::consts::TAU;
use std::ops::ControlFlow;

/// Length and width of the car, at a scale of 1 to 10, m.
const CAR: [f64; 2] = [0.46, 0.26];
/// Distance from the rear axle to the rear end, m.
const TAIL: f64 = 0.07;
/// Steering of the car.
const STEERING: Steering = Steering {
    wheelbase: 0.32,
    angle: 0.5,
    rate: 4.0,
    acceleration: 3.0,
};
/// Height of the lidar, below the top of the barriers, m.
const LIDAR_HEIGHT: f64 = 0.2;

/// Result of a race.
#[derive(Clone, Debug, PartialEq)]
pub struct RaceResult {
    /// Number of completed laps.
    pub laps: u32,
    /// Duration of each lap, s.
    pub lap_times: Vec<f64>,
    /// Smallest distance between the car and the barriers, m; zero or less on contact.
    pub closest: f64,
    /// Positions of the centre of the rear axle every 20 ms, m.
    pub path: Vec<Point2<f64>>,
    /// Simulated duration, s.
    pub duration: f64,
    /// Number of sweeps of the lidar.
    pub sweeps: u32,
}

impl RaceResult {
    /// Whether the car touched no barrier.
    pub fn untouched(&self) -> bool {
        self.closest > 0.0
    }
}

/// Car with a lidar on its roof.
///
/// # Errors
/// If the device returns no points.
pub fn car(lidar: Device) -> Result<Rig, RigError> {
    let mut rig = Rig::new(FrameTree::base_only("base"));
    let mount = Mount {
        name: "lidar".into(),
        frame: "base".into(),
        frame_from_sensor: Isometry3::translation(0.16, 0.0, LIDAR_HEIGHT),
        rate: None,
        offset: 0.0,
        window: None,
        latency: 0.02,
        filters: vec![Filter::ToCloud],
    };
    rig.mount(mount, lidar)?;
    Ok(rig)
}

/// Drives the car around a course until the laps are complete, the car touches a barrier, or 60 s per
/// lap have passed.
///
/// # Errors
/// If a material has no data at the wavelength of the lidar.
pub fn race(
    course: &Course,
    scene: &Scene,
    rig: &Rig,
    laps: u32,
    seed: u64,
) -> Result<RaceResult, RigError> {
    // Rig, car and driver
    let environment = Environment::default();
    let end = i64::from(laps) * 60 * SECOND;
    let mut run = RigRun::new(rig, scene, &environment, seed, end)?;
    let start = course.start();
    let yaw = start.rotation.euler_angles().2;
    let mut car = Bicycle::new(STEERING, [start.translation.x, start.translation.y], yaw);
    let mut driver = CourseDriver::new(STEERING.angle);

    // Closed loop: the driver steers by the latest cloud
    let plan = ControlPlan {
        dynamics: Rate::from_hertz(500.0).expect("a valid rate"),
        control: Rate::from_hertz(50.0).expect("a valid rate"),
    };
    let controller = |latest: &LatestData, _: i64| match latest.of(0, 0).map(|event| &event.data) {
        Some(Data::Cloud(cloud)) => driver.command(cloud),
        _ => DriveCommand::default(),
    };
    let mut observer = RaceObserver::new(course, laps);
    drive(&mut run, &mut car, &plan, controller, &mut observer);
    Ok(observer.race)
}

/// Counts laps and measures the distance from the barriers.
struct RaceObserver<'a> {
    course: &'a Course,
    /// Number of laps to drive.
    laps: u32,
    race: RaceResult,
    /// Angle around the origin since the start, rad.
    angle: f64,
    /// Last azimuth of the car around the origin, rad.
    azimuth: f64,
    /// Start of the current lap, s.
    lap_start: f64,
}

/// Time between two observations, ns.
const OBSERVATION_PERIOD: i64 = 20_000_000;

impl<'a> RaceObserver<'a> {
    fn new(course: &'a Course, laps: u32) -> Self {
        let start = course.start().translation;
        Self {
            course,
            laps,
            race: RaceResult {
                laps: 0,
                lap_times: Vec::new(),
                closest: f64::INFINITY,
                path: Vec::new(),
                duration: 0.0,
                sweeps: 0,
            },
            angle: 0.0,
            azimuth: start.y.atan2(start.x),
            lap_start: 0.0,
        }
    }

    /// Updates the race by the state of the car at a time, s.
    fn observe(&mut self, time: f64, state: &MotionState) -> ControlFlow<()> {
        // Path and distance from the barriers
        let race = &mut self.race;
        let position = state.world_from_body.translation;
        race.path.push(Point2::new(position.x, position.y));
        race.duration = time;
        let front = CAR[0] - TAIL;
        let half_width = 0.5 * CAR[1];
        let corners = [[-TAIL, -half_width], [front, half_width]];
        let distance = self.course.distance(&state.world_from_body, corners);
        race.closest = race.closest.min(distance);

        // Laps, by the angle around the origin
        let azimuth = position.y.atan2(position.x);
        self.angle += wrap_to_pi(azimuth - self.azimuth);
        self.azimuth = azimuth;
        if self.angle >= TAU * f64::from(race.laps + 1) {
            race.laps += 1;
            race.lap_times.push(time - self.lap_start);
            self.lap_start = time;
        }

        // End of the race
        if race.laps >= self.laps || race.closest <= 0.0 {
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    }
}

impl Observer for RaceObserver<'_> {
    fn received(&mut self, _event: &Event) -> ControlFlow<()> {
        self.race.sweeps += 1;
        ControlFlow::Continue(())
    }

    fn moved(&mut self, time: i64, states: &[MotionState]) -> ControlFlow<()> {
        if time % OBSERVATION_PERIOD == 0 {
            return self.observe(seconds(time), &states[0]);
        }
        ControlFlow::Continue(())
    }
}
