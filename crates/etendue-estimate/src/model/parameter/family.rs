//! Interface of a family of fit parameters.

use crate::manifold::VariableValue;
use crate::model::{BeamGroup, Model, SimulatorInputs};
use etendue_physics::Scalar;

/// A family of fit parameters: names, initial values, bounds, place in the simulator inputs, and
/// derivative seed.
pub(super) trait FitParameter: Sized {
    /// Every parameter of the family in a model, with its path; empty for families that override
    /// [`paths`](FitParameter::paths) and [`resolve`](FitParameter::resolve).
    fn members(_: &Model) -> Vec<(String, Self)> {
        Vec::new()
    }

    /// The paths of the family in a model, with `*` for every beam, channel or facet.
    fn paths(model: &Model) -> Vec<String> {
        let members = Self::members(model).into_iter();
        members.map(|(path, _)| path).collect()
    }

    /// The parameters that a path names, each with its own path: one, or all where the path has `*`.
    fn resolve(model: &Model, path: &str) -> Option<Vec<(String, Self)>> {
        let members = Self::members(model).into_iter();
        let named: Vec<_> = members.filter(|(known, _)| known == path).take(1).collect();
        (!named.is_empty()).then_some(named)
    }

    /// The value in the model: a number in the unit of the family, or a pose in space.
    fn value(&self, model: &Model) -> VariableValue<f64>;

    /// Bounds of a number that is freed as a whole, in its unit.
    fn bounds(&self) -> Option<[f64; 2]> {
        None
    }

    /// Writes a value to the simulator inputs.
    fn apply<S: Scalar>(
        &self,
        model: &Model,
        inputs: &mut SimulatorInputs<S>,
        value: VariableValue<S>,
    );

    /// How derivatives by the parameter are computed.
    fn seed(&self) -> DerivativeSeed {
        DerivativeSeed::AllBeams
    }
}

/// How derivatives by a parameter are computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::model) enum DerivativeSeed {
    /// Dual numbers that every beam carries.
    AllBeams,
    /// Rotation of the beams of a group about their exit points in azimuth, from the derivatives by
    /// the pose of the sensor.
    Azimuth(BeamGroup),
    /// Rotation of the beams of a group in elevation, from the derivatives by the pose.
    Elevation(BeamGroup),
    /// A constant added to the ranges of a group.
    Range(BeamGroup),
    /// Dual numbers that only the beams on a facet carry.
    Facet,
}
