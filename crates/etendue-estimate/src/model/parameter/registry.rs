//! Registry of the families of fit parameters.

use super::family::{DerivativeSeed, FitParameter};
use super::{
    BeamOffset, BiasCoefficient, Divergence, FacetScattering, MaterialParameter, ObjectPose,
    ReceiverTiming, SensorPose, UnknownPath, VertexPosition, WeatherAmount,
};
use crate::manifold::VariableValue;
use crate::model::{Model, SimulatorInputs};
use etendue_physics::Scalar;

/// Defines [`Parameter`] and its dispatch from one line per family.
macro_rules! families {
    ($($(#[$doc:meta])* $family:ident,)+) => {
        /// Parameter of the simulation that a fit can estimate.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum Parameter {
            $($(#[$doc])* $family($family),)+
        }

        impl Parameter {
            /// Paths of all families in a model.
            fn paths(model: &Model) -> Vec<String> {
                let families = [$(<$family as FitParameter>::paths(model)),+];
                families.into_iter().flatten().collect()
            }

            /// Parameters of a path, from the first family that has it.
            fn resolve(model: &Model, path: &str) -> Option<Vec<(String, Self)>> {
                $(if let Some(named) = <$family as FitParameter>::resolve(model, path) {
                    let wrap = |(path, parameter)| (path, Self::$family(parameter));
                    return Some(named.into_iter().map(wrap).collect());
                })+
                None
            }

            /// Value in a model.
            pub(in crate::model) fn value(&self, model: &Model) -> VariableValue<f64> {
                match self { $(Self::$family(parameter) => parameter.value(model),)+ }
            }

            /// Bounds of a number freed without bounds of its own, in the unit of the family.
            pub(in crate::model) fn bounds(&self) -> Option<[f64; 2]> {
                match self { $(Self::$family(parameter) => parameter.bounds(),)+ }
            }

            /// Writes a value to the simulator inputs.
            pub(in crate::model) fn apply<S: Scalar>(
                &self,
                model: &Model,
                inputs: &mut SimulatorInputs<S>,
                value: VariableValue<S>,
            ) {
                match self { $(Self::$family(parameter) => parameter.apply(model, inputs, value),)+ }
            }

            /// Computation of the derivatives by the parameter.
            pub(in crate::model) fn seed(&self) -> DerivativeSeed {
                match self { $(Self::$family(parameter) => parameter.seed(),)+ }
            }
        }
    };
}

families! {
    /// Pose of the sensor at a scan.
    SensorPose,
    /// Divergence of the beam.
    Divergence,
    /// Coefficient of the power-dependent range bias.
    BiasCoefficient,
    /// Timing of a pulsed receiver.
    ReceiverTiming,
    /// Amount of weather.
    WeatherAmount,
    /// Pose of an object.
    ObjectPose,
    /// Optical parameter of a material.
    MaterialParameter,
    /// Offset of a beam or channel.
    BeamOffset,
    /// Scattering factor of a facet.
    FacetScattering,
    /// Coordinate of a vertex.
    VertexPosition,
}

impl Parameter {
    /// Whether the parameter is the pose of a scan or an object.
    pub fn is_pose(&self) -> bool {
        matches!(self, Self::SensorPose(_) | Self::ObjectPose(_))
    }
}

impl Model {
    /// Paths of all parameters, with `*` for the index of beams, channels and facets.
    pub fn paths(&self) -> Vec<String> {
        Parameter::paths(self)
    }

    /// Parameters of a path, each with its unabbreviated path: one, or one per beam, channel or facet
    /// where the path has `*`.
    ///
    /// # Errors
    /// Where no parameter has the path.
    pub fn resolve(&self, path: &str) -> Result<Vec<(String, Parameter)>, UnknownPath> {
        Parameter::resolve(self, path).ok_or_else(|| UnknownPath {
            path: path.to_owned(),
            suggestion: self.similar_path(path),
        })
    }

    /// Path with the least edit distance, if it is less than half the length of `path`.
    fn similar_path(&self, path: &str) -> Option<String> {
        let distance = |known: &String| strsim::damerau_levenshtein(known, path);
        let nearest = self.paths().into_iter().min_by_key(distance)?;
        (distance(&nearest) <= path.len() / 2).then_some(nearest)
    }
}
