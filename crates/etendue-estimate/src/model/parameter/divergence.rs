//! Divergence of the beam.

use super::family::FitParameter;
use crate::manifold::VariableValue;
use crate::model::{Model, SimulatorInputs};
use etendue_physics::Scalar;
use etendue_sensors::lidar::BeamProfile;

/// Divergence of the beam, full angle, rad.
///
/// Paths: `sensor.beam.divergence` of a round beam, `sensor.beam.divergence.horizontal` and
/// `.vertical` of an elliptic one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Divergence {
    /// Plane in which the angle is measured.
    pub axis: DivergenceAxis,
}

/// Plane in which a beam diverges.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DivergenceAxis {
    /// Any plane of a round beam.
    Round,
    /// Horizontal plane of an elliptic beam.
    Horizontal,
    /// Vertical plane of an elliptic beam.
    Vertical,
}

impl FitParameter for Divergence {
    fn members(model: &Model) -> Vec<(String, Self)> {
        let named = |suffix: &str, axis| (format!("sensor.beam.divergence{suffix}"), Self { axis });
        match model.lidar().beam.profile {
            BeamProfile::Cone { .. } => vec![named("", DivergenceAxis::Round)],
            BeamProfile::Elliptic { .. } => vec![
                named(".horizontal", DivergenceAxis::Horizontal),
                named(".vertical", DivergenceAxis::Vertical),
            ],
        }
    }

    fn value(&self, model: &Model) -> VariableValue<f64> {
        VariableValue::Number(match &model.lidar().beam.profile {
            BeamProfile::Cone { half_tangent, .. } => 2.0 * half_tangent.atan(),
            BeamProfile::Elliptic { width, .. } => match self.axis {
                DivergenceAxis::Vertical => width.divergence.vertical,
                _ => width.divergence.horizontal,
            },
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
        match &mut inputs.sensor.lidar.beam.profile {
            BeamProfile::Cone { half_tangent, .. } => *half_tangent = (angle * 0.5).tan(),
            BeamProfile::Elliptic { width, .. } => match self.axis {
                DivergenceAxis::Vertical => width.divergence.vertical = angle,
                _ => width.divergence.horizontal = angle,
            },
        }
    }
}
