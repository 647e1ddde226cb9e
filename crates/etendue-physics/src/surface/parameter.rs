//! Names and domains of the parameters of a material.

use crate::OutsideTable;
use thiserror::Error;

/// The name of one parameter of a material.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LobeParameter {
    /// Index of the lobe in [`Material::lobes`](super::Material::lobes).
    pub lobe: usize,
    /// Kind of the lobe, as in `retroreflector`.
    pub kind: &'static str,
    /// Name of the parameter, as in `half_entrance`.
    pub name: &'static str,
}

impl std::fmt::Display for LobeParameter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "lobe {} ({}), {}", self.lobe, self.kind, self.name)
    }
}

/// A material has no value at a wavelength.
#[derive(Debug, Error, PartialEq)]
#[error("{parameter}: {outside}; extend its table or choose another material")]
pub struct OutsideMaterial {
    /// The parameter without a value.
    pub parameter: LobeParameter,
    /// The wavelengths that its data cover.
    pub outside: OutsideTable,
}

/// Name and closed interval of admissible values of a lobe's parameter.
#[derive(Debug)]
pub(super) struct Domain {
    /// Name of the parameter.
    pub name: &'static str,
    /// Least admissible value.
    pub least: f64,
    /// Greatest admissible value.
    pub most: f64,
    /// Reason for the limits, or an alternative: the end of the error message.
    pub remedy: &'static str,
}

/// A function of a parameter and its domain; a trait object, because a lobe may contain a lobe.
pub(super) type MapParameter<'a, T, U, E> = dyn FnMut(&'static Domain, &T) -> Result<U, E> + 'a;

pub(super) const REFLECTANCE: Domain = Domain {
    name: "reflectance",
    least: 0.0,
    most: 1.0,
    remedy: "it is the reflected fraction of the light",
};
