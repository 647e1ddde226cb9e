//! Inputs and results of receivers.

use crate::lidar::backscatter::BackscatterWaveform;
use crate::lidar::range_limits::RangeLimits;
use crate::lidar::shot::Shot;
use crate::transport::World;
use etendue_physics::phase::{NoDetection, PhaseSignal};
use etendue_physics::profile::DrawnReturn;
use etendue_physics::{Purpose, Scalar, Stream};
use nalgebra::Isometry3;

/// One detection in a shot, before range offset, limits and rounding.
#[derive(Clone, Copy, Debug)]
pub(in crate::lidar) struct Detection<S = f64> {
    /// Range, m.
    pub range: S,
    /// Peak power, 1/(m² sr).
    pub power: S,
    /// Full width at half maximum of the echo, s; 0 where the receiver does not measure it.
    pub width: S,
    /// Radial velocity, m/s, from receivers that measure it.
    pub velocity: Option<S>,
    /// Intensity drawn from a noise profile, counts; replaces the response to the power.
    pub intensity: Option<f64>,
}

impl<S: Scalar> Detection<S> {
    /// A detection that was drawn from a noise profile, with the received power, 1/(m² sr).
    pub fn drawn(drawn: &DrawnReturn, power: f64) -> Self {
        Self {
            range: S::from(drawn.range),
            power: S::from(power),
            width: S::zero(),
            velocity: None,
            intensity: drawn.intensity,
        }
    }
}

/// Result of a receiver for one shot.
pub(in crate::lidar) struct Detected<S> {
    /// Detections in the order of the device's report.
    pub detections: Vec<Detection<S>>,
    /// Reason for a missing detection, from receivers that report it.
    pub failure: Option<NoDetection>,
    /// Superposition of all light, at phase receivers.
    pub signal: Option<PhaseSignal<S>>,
}

impl<S> Detected<S> {
    /// No detection.
    pub fn nothing() -> Self {
        Self {
            detections: Vec::new(),
            failure: None,
            signal: None,
        }
    }

    /// Removes all results.
    pub fn clear(&mut self) {
        self.detections.clear();
        self.failure = None;
        self.signal = None;
    }
}

/// Inputs of a receiver for one shot, except its light.
pub(in crate::lidar) struct Reception<'a, S: Scalar> {
    /// The shot.
    pub shot: &'a Shot,
    /// Pose of the sensor at the time of the shot.
    pub pose: &'a Isometry3<S>,
    /// The scene with its materials.
    pub world: &'a World<'a, S>,
    /// Pose of the sensor as a function of time (s).
    pub world_from_sensor: &'a dyn Fn(f64) -> Isometry3<S>,
    /// Limits of the reported ranges.
    pub limits: &'a RangeLimits,
    /// Backscatter of the air, if it may form echoes.
    pub backscatter: Option<&'a BackscatterWaveform<S>>,
    /// Random number stream of the shot for a purpose.
    pub stream: &'a dyn Fn(Purpose) -> Stream,
    /// Whether noise is enabled.
    pub noise: bool,
    /// Whether the quantisation of converters and pixels is applied.
    pub rounding: bool,
}
