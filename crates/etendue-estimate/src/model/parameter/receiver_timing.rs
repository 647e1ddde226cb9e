//! Parameters of the echo timing of a pulsed receiver.

use super::family::FitParameter;
use crate::manifold::VariableValue;
use crate::model::{Model, SimulatorInputs};
use etendue_physics::Scalar;
use etendue_sensors::lidar::Receiver;

/// Parameter of the echo timing of a pulsed receiver.
///
/// Paths: `sensor.receiver.pulse_width`, `.threshold` and `.reference`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ReceiverTiming {
    /// Full width of the pulse at half maximum, s (`pulse_width`).
    PulseWidth,
    /// Detection threshold of the power of an echo, 1/(m² sr) (`threshold`).
    Threshold,
    /// Power at which the range has no bias, 1/(m² sr) (`reference`).
    Reference,
}

/// Parameters by their name in paths.
const NAMES: [(&str, ReceiverTiming); 3] = [
    ("pulse_width", ReceiverTiming::PulseWidth),
    ("threshold", ReceiverTiming::Threshold),
    ("reference", ReceiverTiming::Reference),
];

impl FitParameter for ReceiverTiming {
    fn members(model: &Model) -> Vec<(String, Self)> {
        if !matches!(model.lidar().receiver, Receiver::Pulsed(_)) {
            return Vec::new();
        }
        let named = |(name, timing)| (format!("sensor.receiver.{name}"), timing);
        NAMES.map(named).into()
    }

    fn value(&self, model: &Model) -> VariableValue<f64> {
        let Receiver::Pulsed(receiver) = &model.lidar().receiver else {
            return VariableValue::Number(0.0);
        };
        VariableValue::Number(match self {
            Self::PulseWidth => receiver.pulse.fwhm,
            Self::Threshold => receiver.threshold,
            Self::Reference => receiver.reference,
        })
    }

    fn apply<S: Scalar>(
        &self,
        _: &Model,
        inputs: &mut SimulatorInputs<S>,
        value: VariableValue<S>,
    ) {
        if let Receiver::Pulsed(receiver) = &mut inputs.sensor.lidar.receiver
            && let VariableValue::Number(number) = value
        {
            match self {
                Self::PulseWidth => receiver.pulse.fwhm = number,
                Self::Threshold => receiver.threshold = number,
                Self::Reference => receiver.reference = number,
            }
        }
    }
}
