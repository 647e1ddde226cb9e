//! The driver of the vehicle, connected to the sensors of a rig.

use etendue::physics::odometry::WheelEncoder;
use etendue::sensors::dynamics::DriveCommand;
use etendue::sensors::rig::{Device, Environment, LatestData, Mount, Rig};
use etendue_experiments::demo::street::{Antenna, Localisation, Route, RouteDriver, SensorMessage};
use nalgebra::Isometry3;

/// Rate of commands, Hz.
pub const COMMAND_RATE: f64 = 50.0;
/// Period of inertial measurements, s.
pub const INERTIAL_PERIOD: f64 = 0.005;
/// Position of the GNSS antenna in front of the rear axle, to its left, and above the ground, m.
pub const ANTENNA: [f64; 3] = [0.2, 0.0, 1.6];

const WHEEL: WheelEncoder = WheelEncoder {
    radius: 0.3,
    counts_per_turn: 1024,
    radius_spread: 0.003,
    slip: 0.002,
};

/// Encoder of a rear wheel, `left` metres to the left of the centre.
pub fn wheel(name: &str, left: f64) -> (Mount, Device) {
    let mount = Mount {
        name: name.into(),
        frame: "base".into(),
        frame_from_sensor: Isometry3::translation(0.0, left, WHEEL.radius),
        rate: Some(100.0),
        offset: 0.0,
        window: None,
        latency: 0.001,
        filters: vec![],
    };
    (mount, Device::WheelEncoder(WHEEL))
}

/// Driver at the start of a route.
pub fn driver(route: &Route, environment: &Environment) -> RouteDriver {
    let (start, yaw) = route.start();
    let [x, y, _] = ANTENNA;
    let antenna = Antenna {
        position: [x, y],
        frame: environment.frame,
    };
    let localisation = Localisation::new(antenna, WHEEL.radius, INERTIAL_PERIOD, start, yaw);
    RouteDriver::new(route.clone(), localisation)
}

/// Driver that receives the messages of a rig.
pub struct RigDriver {
    driver: RouteDriver,
    /// Number of the encoder of the right wheel.
    right_wheel: Option<usize>,
}

impl RigDriver {
    /// Driver at the start of a route.
    pub fn new(route: &Route, rig: &Rig, environment: &Environment) -> Self {
        let mut sensors = rig.sensors().iter();
        Self {
            driver: driver(route, environment),
            right_wheel: sensors.position(|sensor| sensor.name() == "right_wheel"),
        }
    }

    /// Command at a time (ns) after the latest messages, and the estimated position (m).
    pub fn command(&mut self, latest: &LatestData, now: i64) -> (DriveCommand, [f64; 2]) {
        let wheel = |sensor| {
            let side = usize::from(Some(sensor) == self.right_wheel);
            (side, WHEEL.counts_per_turn)
        };
        for event in latest.new_data() {
            if let Some(message) = SensorMessage::of(event, wheel) {
                self.driver.receive(&message);
            }
        }
        let position = self.driver.localisation().position();
        (self.driver.command(now), [position.x, position.y])
    }
}
