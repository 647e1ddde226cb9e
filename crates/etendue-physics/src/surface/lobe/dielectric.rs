//! The smooth surface of a clear medium.

use crate::Scalar;
use crate::surface::cosine::facing;
use crate::surface::fresnel::{self, cos_refracted};
use crate::surface::interaction::{Medium, Passage, Side, Specular, Transmitted};
use crate::surface::model::{Classify, LobeClass, SampleLobe, Scatter};
use crate::surface::parameter::{Domain, MapParameter};

pub(super) const INDEX: Domain = Domain {
    name: "index",
    least: 1.0,
    most: 10.0,
    remedy: "it is relative to air; for a hollow in glass turn the mesh inside out",
};
const GROUP_INDEX: Domain = Domain {
    name: "group_index",
    ..INDEX
};
const ABSORPTION: Domain = Domain {
    name: "absorption",
    least: 0.0,
    most: 1e9,
    remedy: "absorption cannot be negative, 1/m",
};

/// The smooth surface of a clear medium in air: exact unpolarised Fresnel reflectance, refraction by
/// Snell's law, total internal reflection.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Dielectric<T> {
    /// Phase index, for refraction and reflectance.
    pub index: T,
    /// Group index, optical path per metre: [`Spectrum::group_index`](crate::Spectrum::group_index)
    /// of the phase index.
    pub group_index: T,
    /// Power absorption coefficient, 1/m ($4\pi k/\lambda$).
    pub absorption: T,
}

impl<T> Dielectric<T> {
    pub(super) fn try_map<U, E>(
        &self,
        f: &mut MapParameter<'_, T, U, E>,
    ) -> Result<Dielectric<U>, E> {
        self.try_map_within(&INDEX, f)
    }

    /// As [`try_map`](Self::try_map), with another domain of the phase index.
    pub(super) fn try_map_within<U, E>(
        &self,
        index: &'static Domain,
        f: &mut MapParameter<'_, T, U, E>,
    ) -> Result<Dielectric<U>, E> {
        Ok(Dielectric {
            index: f(index, &self.index)?,
            group_index: f(&GROUP_INDEX, &self.group_index)?,
            absorption: f(&ABSORPTION, &self.absorption)?,
        })
    }
}

impl<S: Scalar> Dielectric<S> {
    /// Index behind the surface over the index in front of it, seen from a side.
    pub(super) fn index_ahead(&self, side: Side) -> S {
        match side {
            Side::Front => self.index,
            Side::Back => S::one() / self.index,
        }
    }

    /// Path of transmitted light.
    pub(super) fn passage(&self, side: Side) -> Passage<S> {
        let medium = match side {
            Side::Front => Medium {
                group_index: self.group_index,
                absorption: self.absorption,
            },
            Side::Back => Medium::air(),
        };
        Passage::Interface {
            index_ratio: S::one() / self.index_ahead(side),
            medium,
        }
    }
}

impl<T> Classify for Dielectric<T> {
    fn class(&self) -> LobeClass {
        LobeClass {
            kind: "dielectric",
            scatters: false,
            is_specular: true,
            transmits: true,
        }
    }
}

impl<S: Scalar> Scatter<S> for Dielectric<S> {
    fn specular(&self, cos_incidence: S, side: Side) -> Specular<S> {
        let index = self.index_ahead(side);
        let reflected = fresnel::dielectric(cos_incidence, index).mean();
        let transmitted = cos_refracted(facing(cos_incidence), index).map(|_| Transmitted {
            fraction: -reflected + 1.0,
            passage: self.passage(side),
        });
        Specular {
            reflected,
            transmitted,
        }
    }
}

impl SampleLobe for Dielectric<f64> {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::surface::Lobe;
    use crate::surface::lobe::conformance::{
        INCIDENCES_DEG, assert_lobe_conforms, cos_degrees, material,
    };

    fn glass(index: f64, absorption: f64) -> Lobe<f64> {
        Lobe::Dielectric(Dielectric {
            index,
            group_index: 1.7,
            absorption,
        })
    }

    #[test]
    fn energy_is_conserved() {
        assert_lobe_conforms(glass(1.5, 5.0));
    }

    #[test]
    fn an_interface_loses_no_light_on_either_side() {
        for absorption in [0.0, 9.0] {
            let glass = material(glass(1.7, absorption));
            for degrees in INCIDENCES_DEG {
                for side in [Side::Front, Side::Back] {
                    let total = glass.albedo(cos_degrees(degrees), side).total();
                    assert!((total - 1.0).abs() < 1e-14, "{absorption} {degrees}");
                }
            }
        }
    }
}
