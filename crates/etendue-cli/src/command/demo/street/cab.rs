//! The driver in the vehicle.

use etendue::physics::odometry::WheelEncoder;
use etendue::sensors::dynamics::DriveCommand;
use etendue::sensors::rig::{Device, Environment, LatestData, Mount, Rig};
use etendue_experiments::demo::street::{Antenna, Driver, Heard, Route, Whereabouts};
use nalgebra::Isometry3;

/// Commands a second, Hz.
pub const CONTROL: f64 = 50.0;
/// Time between inertial readings, s.
pub const INERTIAL_PERIOD: f64 = 0.005;
/// Where the antenna is: metres ahead of the rear axle and to the left.
pub const ANTENNA: [f64; 2] = [0.2, 0.0];

const WHEEL: WheelEncoder = WheelEncoder {
    radius: 0.3,
    counts_per_turn: 1024,
    radius_spread: 0.003,
    slip: 0.002,
};

/// An encoder on a rear wheel, so many metres to the left.
pub fn wheel(name: &str, left: f64) -> (Mount, Device) {
    let mount = Mount {
        name: name.into(),
        frame: "base".into(),
        frame_from_sensor: Isometry3::translation(0.0, left, WHEEL.radius),
        rate: Some(100.0),
        offset: 0.0,
        window: None,
        lag: 0.001,
        filters: vec![],
    };
    (mount, Device::WheelEncoder(WHEEL))
}

/// A driver at the beginning of a way, whose world is at the environment's place.
pub fn driver(route: &Route, environment: &Environment) -> Driver {
    let (start, yaw) = route.start();
    let antenna = Antenna {
        place: ANTENNA,
        frame: environment.frame,
    };
    let whereabouts = Whereabouts::new(antenna, WHEEL.radius, INERTIAL_PERIOD, start, yaw);
    Driver::new(route.clone(), whereabouts)
}

/// A driver who listens to the sensors of a rig.
pub struct Cab {
    driver: Driver,
    /// Number of the right wheel's encoder.
    right: Option<usize>,
}

impl Cab {
    /// A driver at the beginning of a way.
    pub fn new(route: &Route, rig: &Rig, environment: &Environment) -> Self {
        let sensors = rig.sensors();
        Self {
            driver: driver(route, environment),
            right: sensors
                .iter()
                .position(|sensor| sensor.name() == "right_wheel"),
        }
    }

    /// What to do at a time (ns), and where the driver thinks that it is.
    pub fn decide(&mut self, latest: &LatestData, now: i64) -> (DriveCommand, [f64; 2]) {
        for event in latest.news() {
            let side = |sensor| {
                (
                    usize::from(Some(sensor) == self.right),
                    WHEEL.counts_per_turn,
                )
            };
            if let Some(heard) = Heard::of(event, side) {
                self.driver.hear(&heard);
            }
        }
        let place = self.driver.whereabouts().place();
        (self.driver.decide(now), [place.x, place.y])
    }
}
