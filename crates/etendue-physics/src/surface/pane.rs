//! A sheet of a clear medium as one surface.

use super::angle::facing;
use super::fresnel::{self, Polarised, cos_refracted};
use super::{Dielectric, Passage, Specular, Transmitted};
use crate::Scalar;

/// A plane-parallel sheet in air: window, screen, visor. One surface instead of two 5 mm apart.
///
/// The light that bounces between the two faces adds up per polarisation,
/// $T = \frac{(1-R)^2a}{1-R^2a^2}$, $R_\text{sheet} = R + \frac{R(1-R)^2a^2}{1-R^2a^2}$ with
/// $a = e^{-\mu d/\cos\theta_t}$, and only then is averaged (at 60 degrees and $n = 1.5$:
/// $T = 0.848$; averaging first gives 0.836). Powers add, not amplitudes: no interference, which
/// holds for sheets much thicker than the coherence length.
///
/// The sheet adds $d\\,\frac{n_g - \cos(\theta-\theta_t)}{\cos\theta_t}$ of one-way optical path;
/// the sideways shift of the ray is left out, and so is the later arrival of light that bounced
/// inside (its power goes with the rest).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pane<T> {
    /// What it is made of.
    pub medium: Dielectric<T>,
    /// Thickness, m.
    pub thickness: T,
}

impl<S: Scalar> Pane<S> {
    pub(crate) fn specular(&self, cos_incidence: S) -> Specular<S> {
        let cos = facing(cos_incidence);
        let Some(cos_t) = cos_refracted(cos, self.medium.index) else {
            return Specular {
                reflected: S::one(),
                transmitted: None,
            };
        };
        let left = (-self.medium.absorption * self.thickness / cos_t).exp();
        let face = fresnel::dielectric(cos, self.medium.index);
        Specular {
            reflected: reflected(face, left).mean(),
            transmitted: Some(Transmitted {
                fraction: transmitted(face, left).mean(),
                passage: Passage::Sheet {
                    extra_path: self.extra_path(cos, cos_t),
                },
            }),
        }
    }

    /// Optical path through the sheet less that of the same stretch without it.
    fn extra_path(&self, cos: S, cos_t: S) -> S {
        let sin2 = -cos * cos + 1.0;
        // sin(t) = sin / n, hence cos(difference) = cos cos_t + sin^2 / n.
        let cos_difference = cos * cos_t + sin2 / self.medium.index;
        self.thickness * (self.medium.group_index - cos_difference) / cos_t
    }
}

fn transmitted<S: Scalar>(face: Polarised<S>, left: S) -> Polarised<S> {
    face.map(|r| (-r + 1.0) * (-r + 1.0) * left / (-r * r * left * left + 1.0))
}

fn reflected<S: Scalar>(face: Polarised<S>, left: S) -> Polarised<S> {
    face.map(|r| {
        let back = r * (-r + 1.0) * (-r + 1.0) * left * left;
        r + back / (-r * r * left * left + 1.0)
    })
}
