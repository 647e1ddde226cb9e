//! Interface of a family of fit parameters.

use crate::manifold::VariableValue;
use crate::model::{BeamGroup, Model, SimulatorInputs};
use etendue_physics::Scalar;

/// Family of fit parameters: paths, initial values, bounds, effect on the simulator inputs, and
/// computation of derivatives.
pub(super) trait FitParameter: Sized {
    /// Parameters of the family in a model, with their paths; empty for families that override
    /// [`paths`](FitParameter::paths) and [`resolve`](FitParameter::resolve).
    fn members(_: &Model) -> Vec<(String, Self)> {
        Vec::new()
    }

    /// Paths of the family in a model, with `*` for the index of beams, channels and facets.
    fn paths(model: &Model) -> Vec<String> {
        let members = Self::members(model).into_iter();
        members.map(|(path, _)| path).collect()
    }

    /// Parameters of a path, each with its unabbreviated path; several where the path has `*`.
    fn resolve(model: &Model, path: &str) -> Option<Vec<(String, Self)>> {
        let members = Self::members(model).into_iter();
        let named: Vec<_> = members.filter(|(known, _)| known == path).take(1).collect();
        (!named.is_empty()).then_some(named)
    }

    /// Value in the model: a number in the unit of the family, or a spatial pose.
    fn value(&self, model: &Model) -> VariableValue<f64>;

    /// Bounds of a number freed with [`Freedom::Whole`](super::Freedom::Whole), in the unit of the
    /// family.
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

    /// Computation of the derivatives by the parameter.
    fn seed(&self) -> DerivativeSeed {
        DerivativeSeed::AllBeams
    }
}

/// Computation of the derivatives by a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::model) enum DerivativeSeed {
    /// Dual numbers that every beam carries.
    AllBeams,
    /// Rotation of the beams of a group about their exit points in azimuth, from the derivatives by the
    /// pose of the sensor.
    Azimuth(BeamGroup),
    /// Rotation of the beams of a group about their exit points in elevation, from the derivatives by
    /// the pose of the sensor.
    Elevation(BeamGroup),
    /// Constant added to the ranges of a group.
    Range(BeamGroup),
    /// Dual numbers that only the beams that hit a facet carry.
    Facet,
    /// Dual numbers that only the beams carry that hit a triangle of the vertex.
    Vertex,
}
