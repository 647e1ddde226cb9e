//! A sheet of a clear medium as one surface.

use super::dielectric::Dielectric;
use crate::Scalar;
use crate::surface::cosine::facing;
use crate::surface::fresnel::{self, Polarised, cos_refracted};
use crate::surface::interaction::{Passage, Side, Specular, Transmitted};
use crate::surface::model::{Classify, LobeClass, SampleLobe, Scatter};
use crate::surface::parameter::{Domain, MapParameter};

const THICKNESS: Domain = Domain {
    name: "thickness",
    least: 1e-6,
    most: 10.0,
    remedy: "it is the sheet's thickness, m",
};

/// A plane-parallel sheet in air: window, screen, visor. One surface in the scene represents both faces.
///
/// The internal reflections are summed per polarisation,
/// $T = \frac{(1-R)^2a}{1-R^2a^2}$, $R_\text{sheet} = R + \frac{R(1-R)^2a^2}{1-R^2a^2}$ with
/// $a = e^{-\mu d/\cos\theta_t}$, and then averaged (at 60 degrees and $n = 1.5$:
/// $T = 0.848$; averaging first gives 0.836). Powers add, not amplitudes: no interference, which
/// holds for sheets much thicker than the coherence length.
///
/// The sheet adds $d\\,\frac{n_g - \cos(\theta-\theta_t)}{\cos\theta_t}$ of one-way optical path.
/// Not modelled: the lateral displacement of the ray, and the delay of internally reflected light
/// (its power arrives with the rest).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ThinDielectric<T> {
    /// The material of the sheet.
    pub medium: Dielectric<T>,
    /// Thickness, m.
    pub thickness: T,
}

impl<T> ThinDielectric<T> {
    pub(super) fn try_map<U, E>(
        &self,
        f: &mut MapParameter<'_, T, U, E>,
    ) -> Result<ThinDielectric<U>, E> {
        Ok(ThinDielectric {
            medium: self.medium.try_map(f)?,
            thickness: f(&THICKNESS, &self.thickness)?,
        })
    }
}

impl<T> Classify for ThinDielectric<T> {
    fn class(&self) -> LobeClass {
        LobeClass {
            kind: "thin-dielectric",
            scatters: false,
            is_specular: true,
            transmits: true,
        }
    }
}

impl<S: Scalar> Scatter<S> for ThinDielectric<S> {
    fn specular(&self, cos_incidence: S, _side: Side) -> Specular<S> {
        let cos = facing(cos_incidence);
        let Some(cos_t) = cos_refracted(cos, self.medium.index) else {
            return Specular::reflection(S::one());
        };
        let internal = (-self.medium.absorption * self.thickness / cos_t).exp();
        let face = fresnel::dielectric(cos, self.medium.index);
        Specular {
            reflected: reflected(face, internal).mean(),
            transmitted: Some(Transmitted {
                fraction: transmitted(face, internal).mean(),
                passage: Passage::Sheet {
                    extra_path: self.extra_path(cos, cos_t),
                },
            }),
        }
    }
}

impl SampleLobe for ThinDielectric<f64> {}

impl<S: Scalar> ThinDielectric<S> {
    /// Optical path through the sheet minus that of the same stretch of air, m.
    fn extra_path(&self, cos: S, cos_t: S) -> S {
        let sin2 = -cos * cos + 1.0;
        // sin(t) = sin / n, hence cos(difference) = cos cos_t + sin^2 / n.
        let cos_difference = cos * cos_t + sin2 / self.medium.index;
        self.thickness * (self.medium.group_index - cos_difference) / cos_t
    }
}

/// Transmittance of the sheet from the reflectance of a face and the internal transmittance $a$.
fn transmitted<S: Scalar>(face: Polarised<S>, internal: S) -> Polarised<S> {
    face.map(|r| (-r + 1.0) * (-r + 1.0) * internal / (-r * r * internal * internal + 1.0))
}

/// Reflectance of the sheet from the reflectance of a face and the internal transmittance $a$.
fn reflected<S: Scalar>(face: Polarised<S>, internal: S) -> Polarised<S> {
    face.map(|r| {
        let back = r * (-r + 1.0) * (-r + 1.0) * internal * internal;
        r + back / (-r * r * internal * internal + 1.0)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::surface::lobe::conformance::{
        INCIDENCES_DEG, assert_lobe_conforms, cos_degrees, material,
    };
    use crate::surface::{Lobe, Material};

    fn sheet(absorption: f64, thickness: f64) -> Material<f64> {
        material(Lobe::ThinDielectric(ThinDielectric {
            medium: Dielectric {
                index: 1.5,
                group_index: 1.52,
                absorption,
            },
            thickness,
        }))
    }

    #[test]
    fn energy_is_conserved() {
        for lobe in sheet(5.0, 0.004).lobes {
            assert_lobe_conforms(lobe);
        }
    }

    #[test]
    fn a_clear_sheet_loses_no_light_and_an_absorbing_one_does() {
        let clear = sheet(0.0, 0.01);
        let absorbing = sheet(10.0, 0.01);
        for degrees in INCIDENCES_DEG {
            let cos = cos_degrees(degrees);
            assert!((clear.albedo(cos, Side::Front).total() - 1.0).abs() < 1e-13);
            assert!(absorbing.albedo(cos, Side::Front).total() < 1.0);
        }
        // 10 mm at 10/m: a tenth less than the 0.923 of the clear sheet.
        let ratio = absorbing.albedo(1.0, Side::Front).transmitted
            / clear.albedo(1.0, Side::Front).transmitted;
        assert!((ratio - (-0.1_f64).exp()).abs() < 1e-3);
    }

    /// The transmittance depends only on the optical thickness, and the added path is proportional to
    /// the thickness.
    #[test]
    fn the_transmittance_is_independent_of_the_unit_of_length() {
        let transmitted = |scale: f64| {
            let specular = sheet(20.0 / scale, 0.004 * scale).specular(0.6, Side::Front);
            let transmitted = specular.transmitted.expect("light passes");
            let Passage::Sheet { extra_path } = transmitted.passage else {
                panic!("{transmitted:?}");
            };
            (transmitted.fraction, extra_path)
        };
        let metres = transmitted(1.0);
        let millimetres = transmitted(1000.0);
        assert!((metres.0 - millimetres.0).abs() < 1e-15);
        assert!((millimetres.1 / metres.1 - 1000.0).abs() < 1e-9);
    }
}
