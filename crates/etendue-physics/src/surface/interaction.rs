//! Reflection, transmission and absorption of light at a surface.

use crate::Scalar;
use nalgebra::Vector3;

/// Side of the surface on which light is incident.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// From outside: against the outward (right-handed winding) normal.
    Front,
    /// From inside.
    Back,
}

/// Specular reflection and transmission: the delta lobes of a material.
#[derive(Clone, Copy, Debug)]
pub struct Specular<S> {
    /// Fraction of the power reflected into the mirror direction.
    pub reflected: S,
    /// The transmitted light; `None` where the surface is opaque or reflects totally.
    pub transmitted: Option<Transmitted<S>>,
}

impl<S: Scalar> Specular<S> {
    /// Reflection of a fraction of the power, without transmission.
    pub(super) fn reflection(reflected: S) -> Self {
        Self {
            reflected,
            transmitted: None,
        }
    }

    /// Both fractions times a weight.
    pub(super) fn scaled(mut self, weight: S) -> Self {
        self.reflected *= weight;
        if let Some(transmitted) = &mut self.transmitted {
            transmitted.fraction *= weight;
        }
        self
    }
}

impl Specular<f64> {
    /// Fraction of the power that is transmitted without scattering.
    pub(super) fn transmitted_fraction(&self) -> f64 {
        self.transmitted
            .map_or(0.0, |transmitted| transmitted.fraction)
    }
}

/// Light that passes through a surface without scattering.
#[derive(Clone, Copy, Debug)]
pub struct Transmitted<S> {
    /// Transmitted fraction of the power.
    pub fraction: S,
    /// Path behind the surface.
    pub passage: Passage<S>,
}

/// Path of light behind a surface.
#[derive(Clone, Copy, Debug)]
pub enum Passage<S> {
    /// Undeviated, through a thin sheet; the sheet adds `extra_path` metres of one-way optical path.
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

/// A homogeneous medium of propagation.
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

/// Directional albedo: the reflected and transmitted fractions of light from one direction; the
/// rest is absorbed.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Albedo {
    /// Reflected fraction.
    pub reflected: f64,
    /// Transmitted fraction.
    pub transmitted: f64,
}

impl Albedo {
    /// Reflected plus transmitted fraction.
    pub fn total(self) -> f64 {
        self.reflected + self.transmitted
    }
}

/// A scattered direction drawn at random.
#[derive(Clone, Copy, Debug)]
pub struct BsdfSample {
    /// Unit direction away from the surface; z is the normal on the side that light arrived on.
    pub direction: Vector3<f64>,
    /// Throughput: BSDF times cosine over the density.
    pub weight: f64,
    /// Density of the direction, 1/sr; where `is_delta`, the probability of this event.
    pub pdf: f64,
    /// Whether the direction came from a mirror-like lobe: no other direction was possible.
    pub is_delta: bool,
    /// Path behind the surface of transmitted light; `None` where it was reflected.
    pub passage: Option<Passage<f64>>,
}
