//! How a surface scatters light: a [`Material`] is a sum of [`Lobe`]s.
//!
//! A lidar looks along its own light, so most of what it needs is [`Material::backscatter`] and
//! [`Material::specular`]; full light transport uses [`Material::evaluate`], [`Material::sample`]
//! and [`Material::pdf`]. All are functions of directions to a local frame whose z axis is the
//! normal on the side that the light arrives on.
//!
//! Not modelled: polarisation beyond the average of both states at every surface, diffraction and
//! speckle, interference in thin films, scattering below the surface (light leaves where it
//! arrived), fluorescence, and light that bounces between microfacets.

mod angle;
mod bsdf;
mod coated;
mod dielectric;
mod emission;
pub mod fresnel;
mod lobe;
mod measured;
mod microfacet;
mod oren_nayar;
mod pane;
mod retroreflector;
mod sampling;
mod tint;
mod validate;

pub use coated::Coated;
pub use dielectric::{Dielectric, RoughDielectric};
pub use emission::{Ambient, background_power, planck_radiance, solar_irradiance};
pub use lobe::{Lobe, OutsideMaterial, Parameter};
pub use measured::Measured;
pub use microfacet::{Fresnel, Microfacet, Shadowing};
pub use oren_nayar::{OrenNayar, OrenNayarForm};
pub use pane::Pane;
pub use retroreflector::Retroreflector;
pub use sampling::{Albedo, Sample, over_hemisphere};
pub use validate::MaterialError;

use crate::Scalar;

/// A surface's optical behaviour at one wavelength: the sum of its lobes.
///
/// `T` is what each parameter is: `f64` for simulation, a dual number for estimation, a
/// [`Spectrum`](crate::Spectrum) where a material is stored.
///
/// ```
/// use etendue_physics::surface::{Lobe, Material, Side};
/// let paper = Material { lobes: vec![Lobe::Lambert { reflectance: 0.8 }] };
/// assert_eq!(paper.backscatter(0.5, Side::Front), 0.8 / std::f64::consts::PI);
/// assert!(paper.validate().is_ok());
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Material<T> {
    /// The lobes; what they reflect and transmit adds up.
    pub lobes: Vec<Lobe<T>>,
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
