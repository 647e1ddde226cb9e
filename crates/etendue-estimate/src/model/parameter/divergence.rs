//! Divergence of the beam.

use super::family::FitParameter;
use crate::manifold::VariableValue;
use crate::model::{Model, SimulatorInputs};
use crate::sensor::{Sensor, SensorInputs};
use etendue_physics::Scalar;
use etendue_sensors::lidar::BeamProfile;

/// `sensor.beam.divergence` of a round beam, or `sensor.beam.divergence.horizontal` and `.vertical`
/// of an elliptic one: full angle of divergence, rad.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Divergence {
    /// Plane of the angle.
    pub axis: DivergenceAxis,
}

/// Plane in which a beam diverges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DivergenceAxis {
    /// Any: the beam is round.
    Round,
    /// Horizontal.
    Horizontal,
    /// Vertical.
    Vertical,
}

impl FitParameter for Divergence {
    fn members(model: &Model) -> Vec<(String, Self)> {
        let named = |suffix: &str, axis| (format!("sensor.beam.divergence{suffix}"), Self { axis });
        match model.sensor() {
            Sensor::ContinuousWave(_) => vec![named("", DivergenceAxis::Round)],
            Sensor::Scanner(_) => vec![
                named(".horizontal", DivergenceAxis::Horizontal),
                named(".vertical", DivergenceAxis::Vertical),
            ],
        }
    }

    fn value(&self, model: &Model) -> VariableValue<f64> {
        VariableValue::Number(match model.sensor() {
            Sensor::ContinuousWave(lidar) => 2.0 * lidar.half_tangent.atan(),
            Sensor::Scanner(own) => own.divergence()[self.axis.index()],
        })
    }

    fn apply<S: Scalar>(
        &self,
        _: &Model,
        inputs: &mut SimulatorInputs<S>,
        value: VariableValue<S>,
    ) {
        let VariableValue::Number(angle) = value else {
            return;
        };
        match &mut inputs.sensor {
            SensorInputs::ContinuousWave(lidar) => {
                lidar.half_tangent = (angle * 0.5).tan();
            }
            SensorInputs::Scanner(inputs) => {
                if let BeamProfile::Elliptic { width, .. } = &mut inputs.lidar.beam.profile {
                    match self.axis {
                        DivergenceAxis::Vertical => width.divergence.vertical = angle,
                        _ => width.divergence.horizontal = angle,
                    }
                }
            }
        }
    }
}

impl DivergenceAxis {
    fn index(self) -> usize {
        usize::from(self == Self::Vertical)
    }
}
