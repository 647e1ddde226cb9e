//! How a surface scatters light: a [`Material`] is a sum of [`Lobe`]s.

use crate::Scalar;
use std::f64::consts::PI;

/// A surface's optical behaviour at one wavelength: the sum of its lobes.
///
/// `T` is what each parameter is: `f64` for simulation, a dual number for estimation, a table
/// over wavelength where a material is stored.
#[derive(Clone, Debug, PartialEq)]
pub struct Material<T> {
    /// The lobes; what they reflect and transmit adds up.
    pub lobes: Vec<Lobe<T>>,
}

/// One way in which a surface scatters light.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Lobe<T> {
    /// Ideal diffuse reflection with the given reflectance in [0, 1].
    Lambert {
        /// Diffuse reflectance.
        reflectance: T,
    },
    /// Ideal mirror with the given power reflectance at every incidence.
    Mirror {
        /// Reflectance.
        reflectance: T,
    },
}

/// Which side of the surface light arrives on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// From outside: against the outward (right-handed winding) normal.
    Front,
    /// From inside.
    Back,
}

/// What the delta (mirror-like) lobes do with a unit of light.
#[derive(Clone, Copy, Debug)]
pub struct Specular<S> {
    /// Fraction of the power reflected into the mirror direction.
    pub reflected: S,
    /// What passes through, if anything does.
    pub transmitted: Option<Transmitted<S>>,
}

/// Light that passes through a surface without scattering.
#[derive(Clone, Copy, Debug)]
pub struct Transmitted<S> {
    /// Fraction of the power that passes.
    pub fraction: S,
    /// How it goes on.
    pub passage: Passage<S>,
}

/// How light goes on behind a surface.
#[derive(Clone, Copy, Debug)]
pub enum Passage<S> {
    /// Straight on through a thin sheet; the sheet adds `extra_path` metres of one-way optical path.
    Sheet {
        /// Extra one-way optical path, m.
        extra_path: S,
    },
    /// Refracted into another medium.
    Interface {
        /// Phase index of the medium light comes from over that of the medium it enters.
        index_ratio: S,
        /// The medium behind the surface.
        medium: Medium<S>,
    },
}

/// A homogeneous medium that light travels in.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Medium<S> {
    /// Group index: optical path per metre.
    pub group_index: S,
    /// Power absorption coefficient, 1/m.
    pub absorption: S,
}

impl<S: Scalar> Medium<S> {
    /// Air, taken as vacuum.
    pub fn air() -> Self {
        Self {
            group_index: S::one(),
            absorption: S::zero(),
        }
    }
}

impl<S: Scalar> Material<S> {
    /// BRDF of all non-delta lobes back into the direction light came from, 1/sr.
    ///
    /// `cos_incidence` in [0, 1] is the cosine between that direction and the normal.
    pub fn backscatter(&self, cos_incidence: S, side: Side) -> S {
        let _ = (cos_incidence, side);
        self.lobes.iter().fold(S::zero(), |sum, lobe| match *lobe {
            Lobe::Lambert { reflectance } => sum + reflectance / PI,
            Lobe::Mirror { .. } => sum,
        })
    }

    /// What the delta lobes reflect and transmit.
    pub fn specular(&self, cos_incidence: S, side: Side) -> Specular<S> {
        let _ = (cos_incidence, side);
        let reflected = self.lobes.iter().fold(S::zero(), |sum, lobe| match *lobe {
            Lobe::Mirror { reflectance } => sum + reflectance,
            Lobe::Lambert { .. } => sum,
        });
        Specular {
            reflected,
            transmitted: None,
        }
    }
}

impl<T> Material<T> {
    /// Applies `f` to every parameter: from a table to its value at a wavelength, from numbers
    /// to dual numbers.
    pub fn map<U>(&self, mut f: impl FnMut(&T) -> U) -> Material<U> {
        Material {
            lobes: self.lobes.iter().map(|lobe| lobe.map(&mut f)).collect(),
        }
    }
}

impl<T> Lobe<T> {
    fn map<U>(&self, f: &mut impl FnMut(&T) -> U) -> Lobe<U> {
        match self {
            Self::Lambert { reflectance } => Lobe::Lambert {
                reflectance: f(reflectance),
            },
            Self::Mirror { reflectance } => Lobe::Mirror {
                reflectance: f(reflectance),
            },
        }
    }
}
