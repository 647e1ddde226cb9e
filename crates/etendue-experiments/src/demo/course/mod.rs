//! A scaled car on a closed course between barriers, with nothing but a lidar.
//!
//! [`Course::generate`] makes a course by rule, [`race`] lets the car drive it: it groups what its
//! lidar sees into the left and the right barrier, aims at the middle between them, and steers with
//! a PID controller ([`Driver`]). It knows nothing of the course.

mod driver;
mod track;

pub use driver::{Driver, Sides};
pub use track::{Course, NoCourse};

use etendue_physics::inertial::MotionState;
use etendue_scene::Scene;
use etendue_sensors::dynamics::{Bicycle, DriveCommand, Steering};
use etendue_sensors::filter::Filter;
use etendue_sensors::rig::{
    ControlPlan, Data, Device, Environment, Event, FrameTree, LatestData, Mount, Observer, Rate,
    Rig, RigError, RigRun, SECOND, drive, seconds,
};
use nalgebra::{Isometry3, Point2};
use std::f64::consts::{PI, TAU};
use std::ops::ControlFlow;

/// Length and width of the car, m: 1 to 10.
const CAR: [f64; 2] = [0.46, 0.26];
/// From its rear axle to its tail, m.
const TAIL: f64 = 0.07;
/// What the car can do.
const STEERING: Steering = Steering {
    wheelbase: 0.32,
    angle: 0.5,
    rate: 4.0,
    acceleration: 3.0,
};
/// Height of the lidar, m: below the barriers' tops.
const LIDAR_HEIGHT: f64 = 0.2;

/// How a race went.
#[derive(Clone, Debug, PartialEq)]
pub struct Race {
    /// Laps that were finished.
    pub laps: u32,
    /// Time of each, s.
    pub lap_times: Vec<f64>,
    /// Smallest distance between car and barriers, m; zero or less when it touched one.
    pub closest: f64,
    /// Where the middle of the rear axle was, every 20 ms.
    pub path: Vec<Point2<f64>>,
    /// How long the race took in its own time, s.
    pub duration: f64,
    /// Sweeps of the lidar that were used.
    pub sweeps: u32,
}

impl Race {
    /// Whether the car touched nothing.
    pub fn untouched(&self) -> bool {
        self.closest > 0.0
    }
}

/// Mounts a lidar on the car's roof.
///
/// # Errors
/// Where the device gives no points.
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

/// Drives a course in its scene until the laps are finished, the car touches a barrier, or
/// 60 s a lap are over.
///
/// # Errors
/// Where the scene's materials do not cover the lidar's wavelength.
pub fn race(
    course: &Course,
    scene: &Scene,
    rig: &Rig,
    laps: u32,
    seed: u64,
) -> Result<Race, RigError> {
    let environment = Environment::default();
    let end = i64::from(laps) * 60 * SECOND;
    let mut run = RigRun::new(rig, scene, &environment, seed, end)?;
    let start = course.start();
    let yaw = start.rotation.euler_angles().2;
    let mut car = Bicycle::new(STEERING, [start.translation.x, start.translation.y], yaw);
    let mut driver = Driver::new(STEERING.angle);
    let plan = ControlPlan {
        dynamics: Rate::from_hertz(500.0).expect("a good rate"),
        control: Rate::from_hertz(50.0).expect("a good rate"),
    };
    let controller = |latest: &LatestData, _: i64| match latest.of(0, 0).map(|event| &event.data) {
        Some(Data::Cloud(cloud)) => driver.command(cloud),
        _ => DriveCommand::default(),
    };
    let mut umpire = Umpire::new(course, laps);
    drive(&mut run, &mut car, &plan, controller, &mut umpire);
    Ok(umpire.race)
}

/// Counts laps and looks whether the car touches.
struct Umpire<'a> {
    course: &'a Course,
    wanted: u32,
    race: Race,
    /// How far round the middle the car has come, rad, and where it stood last.
    turned: f64,
    bearing: f64,
    lap_start: f64,
}

/// Steps of the dynamics between two looks.
const LOOK_EVERY: i64 = 20_000_000;

impl<'a> Umpire<'a> {
    fn new(course: &'a Course, wanted: u32) -> Self {
        let start = course.start().translation;
        Self {
            course,
            wanted,
            race: Race {
                laps: 0,
                lap_times: Vec::new(),
                closest: f64::INFINITY,
                path: Vec::new(),
                duration: 0.0,
                sweeps: 0,
            },
            turned: 0.0,
            bearing: start.y.atan2(start.x),
            lap_start: 0.0,
        }
    }

    fn look(&mut self, time: f64, state: &MotionState) -> ControlFlow<()> {
        let race = &mut self.race;
        let at = state.world_from_body.translation;
        race.path.push(Point2::new(at.x, at.y));
        race.duration = time;
        let (front, half) = (CAR[0] - TAIL, 0.5 * CAR[1]);
        let corners = [[-TAIL, -half], [front, half]];
        let distance = self.course.distance(&state.world_from_body, corners);
        race.closest = race.closest.min(distance);
        let bearing = at.y.atan2(at.x);
        self.turned += (bearing - self.bearing + PI).rem_euclid(TAU) - PI;
        self.bearing = bearing;
        if self.turned >= TAU * f64::from(race.laps + 1) {
            race.laps += 1;
            race.lap_times.push(time - self.lap_start);
            self.lap_start = time;
        }
        if race.laps >= self.wanted || race.closest <= 0.0 {
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    }
}

impl Observer for Umpire<'_> {
    fn received(&mut self, _event: &Event) -> ControlFlow<()> {
        self.race.sweeps += 1;
        ControlFlow::Continue(())
    }

    fn moved(&mut self, time: i64, states: &[MotionState]) -> ControlFlow<()> {
        if time % LOOK_EVERY == 0 {
            return self.look(seconds(time), &states[0]);
        }
        ControlFlow::Continue(())
    }
}
