//! Filters of the user's own.

use crate::capture::{Capture, CaptureContext, Data, DataKind};
use crate::dynamics::StateTrajectory;
use nalgebra::Isometry3;
use std::fmt::Debug;

/// A filter of the user's own.
///
/// ```
/// use etendue_sensors::filter::{FilterContext, FilterRun, UserFilter};
/// use etendue_sensors::rig::{Data, DataKind};
///
/// /// Upside-down pressures.
/// #[derive(Debug)]
/// struct Negate;
///
/// impl UserFilter for Negate {
///     fn name(&self) -> &str {
///         "negate"
///     }
///     fn output(&self, input: DataKind) -> Option<DataKind> {
///         (input == DataKind::Pressure).then_some(input)
///     }
///     fn start(&self) -> Box<dyn FilterRun> {
///         Box::new(|data, _: &FilterContext| match data {
///             Data::Pressure(pressure) => Data::Pressure(-pressure),
///             other => other,
///         })
///     }
/// }
/// assert_eq!(Negate.output(DataKind::Imu), None);
/// ```
pub trait UserFilter: Debug + Send + Sync {
    /// What it is called.
    fn name(&self) -> &str;

    /// What comes out when data of a kind go in; none where they do not fit.
    fn output(&self, input: DataKind) -> Option<DataKind>;

    /// The filter at work, from the first capture on.
    fn start(&self) -> Box<dyn FilterRun>;
}

/// A filter at work: it sees every capture of its sensor in order and may remember. Random numbers
/// must come from streams that are named by the capture.
pub trait FilterRun: Send {
    /// Passes one capture's data on.
    fn apply(&mut self, data: Data, context: &FilterContext) -> Data;
}

impl<F: FnMut(Data, &FilterContext) -> Data + Send> FilterRun for F {
    fn apply(&mut self, data: Data, context: &FilterContext) -> Data {
        self(data, context)
    }
}

/// What a filter knows of the capture.
pub struct FilterContext<'a> {
    /// When it was.
    pub capture: Capture,
    /// Time between captures, s.
    pub period: f64,
    trajectory: &'a dyn StateTrajectory,
    body_from_sensor: Isometry3<f64>,
}

impl<'a> FilterContext<'a> {
    pub(crate) fn new(context: &CaptureContext<'a>) -> Self {
        Self {
            capture: context.capture,
            period: context.period,
            trajectory: context.trajectory,
            body_from_sensor: context.body_from_sensor,
        }
    }

    /// Where the sensor truly was at a time (s) of the capture.
    pub fn world_from_sensor(&self, time: f64) -> Isometry3<f64> {
        self.trajectory.state(time).world_from_body * self.body_from_sensor
    }
}
