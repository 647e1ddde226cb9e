//! Time, motion and environment of a capture, and the interface of running sensors.

use super::clock::{Capture, seconds};
use super::data::Data;
use super::environment::Environment;
use crate::dynamics::StateTrajectory;
use crate::rig::Processor;
use etendue_physics::inertial::MotionState;
use etendue_scene::Scene;
use nalgebra::Isometry3;

/// Time, motion and environment of one capture.
pub struct CaptureContext<'a> {
    /// Start, end and arrival.
    pub capture: Capture,
    /// Time between captures, s.
    pub period: f64,
    /// Motion of the body that carries the sensor.
    pub trajectory: &'a dyn StateTrajectory,
    /// Pose of the sensor on that body.
    pub body_from_sensor: Isometry3<f64>,
    /// Location, time, weather and light of the run.
    pub environment: &'a Environment,
    /// The scene.
    pub scene: &'a Scene,
    /// Another processor for sweeps and frames.
    pub processor: Option<&'a dyn Processor>,
}

impl CaptureContext<'_> {
    /// State of motion of the sensor at a time, ns.
    pub fn at(&self, time: i64) -> MotionState {
        self.trajectory
            .state(seconds(time))
            .mounted(&self.body_from_sensor)
    }

    /// Pose of the sensor at a time, s.
    pub fn world_from_sensor(&self, time: f64) -> Isometry3<f64> {
        self.trajectory.state(time).world_from_body * self.body_from_sensor
    }
}

/// A running sensor with the state of its noise.
pub(crate) trait Instrument: Send {
    /// Simulates the next capture.
    fn capture(&mut self, context: &CaptureContext) -> Data;
}
