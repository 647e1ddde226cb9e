//! Interface of filters.

use crate::capture::{Capture, CaptureContext, Data, DataKind};
use crate::dynamics::StateTrajectory;
use nalgebra::Isometry3;
use std::fmt::Debug;

/// A user-defined filter.
///
/// ```
/// use etendue_sensors::filter::{FilterContext, FilterRun, UserFilter};
/// use etendue_sensors::rig::{Data, DataKind};
///
/// /// Negated pressures.
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
    /// Name of the filter.
    fn name(&self) -> &str;

    /// Kind of the output for a kind of input; `None` if the filter does not accept it.
    fn output(&self, input: DataKind) -> Option<DataKind>;

    /// Starts the filter, before the first capture.
    fn start(&self) -> Box<dyn FilterRun>;
}

/// A running filter. It receives every capture of its sensor in order and may hold state. Random
/// numbers must come from streams addressed by the capture.
pub trait FilterRun: Send {
    /// Filters the data of one capture.
    fn apply(&mut self, data: Data, context: &FilterContext) -> Data;
}

impl<F: FnMut(Data, &FilterContext) -> Data + Send> FilterRun for F {
    fn apply(&mut self, data: Data, context: &FilterContext) -> Data {
        self(data, context)
    }
}

/// Time and true motion of a capture, for filters.
pub struct FilterContext<'a> {
    /// Start, end and arrival.
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

    /// True pose of the sensor at a time (s) of the capture.
    pub fn world_from_sensor(&self, time: f64) -> Isometry3<f64> {
        self.trajectory.state(time).world_from_body * self.body_from_sensor
    }
}
