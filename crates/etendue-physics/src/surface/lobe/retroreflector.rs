//! Retroreflective sheeting of prisms or beads: traffic signs, licence plates, safety vests.

use crate::Scalar;
use crate::surface::cosine::{facing, tan_squared};
use crate::surface::interaction::Side;
use crate::surface::model::{Classify, LobeClass, SampleLobe, Scatter};
use crate::surface::parameter::{Domain, MapParameter, REFLECTANCE};
use crate::surface::sampling::above;
use nalgebra::Vector3;
use std::f64::consts::{LN_2, TAU};

const WIDTH: Domain = Domain {
    name: "width",
    least: 1e-5,
    most: 1.0,
    remedy: "it is the angular width of the retroreflected lobe, rad",
};
const HALF_ENTRANCE: Domain = Domain {
    name: "half_entrance",
    least: 0.01,
    most: 1.55,
    remedy: "it is the entrance angle of half the reflectance, rad",
};

/// Reflection into a narrow lobe around the direction of incidence.
///
/// $f = \rho\\,\frac{K(\gamma)}{\max(\cos\theta_i,\cos\theta_o)}\\,2^{-(\tan^2\theta_i+\tan^2\theta_o)/(2\tan^2\theta_h)}$
/// with $\gamma$ the angle between the two directions (the observation angle),
/// $K = \frac{e^{-(1-\cos\gamma)/w^2}}{2\pi w^2(1-e^{-2/w^2})}$ (von Mises and Fisher: one over all
/// directions) and $\theta_h$ the entrance angle of half the peak. An empirical form: Gaussian over
/// the observation angle, smooth over the entrance angle and zero at grazing incidence, like the
/// tables for traffic signs (ASTM D4956).
///
/// Reciprocal; the albedo is at most $\rho$.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Retroreflector<T> {
    /// Fraction $\rho$ of the power that is reflected into the lobe at normal incidence.
    pub reflectance: T,
    /// Width $w$ of the lobe: standard deviation of the observation angle in each direction, rad.
    pub width: T,
    /// Entrance angle $\theta_h$ at which half of it remains, rad.
    pub half_entrance: T,
}

impl<T> Retroreflector<T> {
    pub(super) fn try_map<U, E>(
        &self,
        f: &mut MapParameter<'_, T, U, E>,
    ) -> Result<Retroreflector<U>, E> {
        Ok(Retroreflector {
            reflectance: f(&REFLECTANCE, &self.reflectance)?,
            width: f(&WIDTH, &self.width)?,
            half_entrance: f(&HALF_ENTRANCE, &self.half_entrance)?,
        })
    }
}

impl<T> Classify for Retroreflector<T> {
    fn class(&self) -> LobeClass {
        LobeClass {
            kind: "retroreflector",
            scatters: true,
            is_specular: false,
            transmits: false,
        }
    }
}

impl<S: Scalar> Scatter<S> for Retroreflector<S> {
    fn backscatter(&self, cos_incidence: S, _side: Side) -> S {
        let cos = facing(cos_incidence);
        self.remaining(tan_squared(cos)) * self.lobe(S::zero()) / cos
    }

    fn evaluate(&self, incoming: &Vector3<S>, outgoing: &Vector3<S>, _side: Side) -> S {
        let steep = if incoming.z.value() > outgoing.z.value() {
            incoming.z
        } else {
            outgoing.z
        };
        let tangents = (tan_squared(incoming.z) + tan_squared(outgoing.z)) * 0.5;
        // 1 - cos(angle between), without the cancellation.
        let apart = (incoming - outgoing).norm_squared() * 0.5;
        self.remaining(tangents) * self.lobe(apart) / facing(steep)
    }
}

impl<S: Scalar> Retroreflector<S> {
    /// Reflectance at a squared tangent of the entrance angle.
    fn remaining(&self, tan_squared: S) -> S {
        let half = self.half_entrance.tan();
        self.reflectance * (-tan_squared / (half * half) * LN_2).exp()
    }

    /// Angular distribution $K$, 1/sr, at `apart` = $1 - \cos\gamma$.
    fn lobe(&self, apart: S) -> S {
        let variance = self.width * self.width;
        let whole = -(S::from(-2.0) / variance).exp() + 1.0;
        (-apart / variance).exp() / (variance * whole * TAU)
    }
}

impl SampleLobe for Retroreflector<f64> {
    fn importance(&self, _cos_incidence: f64) -> f64 {
        self.reflectance
    }

    /// A direction of the lobe's angular distribution around the direction of incidence.
    fn sample(
        &self,
        incoming: &Vector3<f64>,
        _side: Side,
        [_, u, v]: [f64; 3],
    ) -> Option<Vector3<f64>> {
        // Invert the cumulative distribution of the observation angle
        let variance = self.width * self.width;
        let apart = -variance * (u + (1.0 - u) * (-2.0 / variance).exp()).ln();
        let cos = 1.0 - apart;
        let sin = (apart * (2.0 - apart)).max(0.0).sqrt();

        // Build an orthonormal basis around the direction of incidence
        let across = if incoming.z.abs() < 0.9 {
            incoming.cross(&Vector3::z()).normalize()
        } else {
            incoming.cross(&Vector3::x()).normalize()
        };
        let along = incoming.cross(&across);

        let azimuth = TAU * v;
        above(incoming * cos + (across * azimuth.cos() + along * azimuth.sin()) * sin)
    }

    fn pdf(&self, incoming: &Vector3<f64>, outgoing: &Vector3<f64>, _side: Side) -> f64 {
        self.lobe(0.5 * (incoming - outgoing).norm_squared())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::surface::Lobe;
    use crate::surface::lobe::conformance::{assert_lobe_conforms, direction, material};

    fn lobe() -> Lobe<f64> {
        Lobe::Retroreflector(Retroreflector {
            reflectance: 0.5,
            width: 0.1,
            half_entrance: 0.7,
        })
    }

    #[test]
    fn energy_is_conserved_and_the_brdf_is_reciprocal() {
        assert_lobe_conforms(lobe());
    }

    #[test]
    fn light_is_reflected_only_towards_the_source() {
        let sheeting = material(lobe());
        let incoming = direction(30.0, 0.0);
        let back = sheeting.evaluate(&incoming, &incoming, Side::Front);
        let mirror = sheeting.evaluate(&incoming, &direction(30.0, 180.0), Side::Front);
        assert!(back > 3.0 && mirror < 1e-10 * back, "{back} {mirror}");
    }

    /// Measured: 0.482, because a lobe of 0.1 rad averages over the cosine and the decrease with the angle.
    #[test]
    fn the_albedo_at_the_half_entrance_angle_is_half_of_that_at_normal_incidence() {
        let sheeting = material(lobe());
        let albedo = |cos| sheeting.albedo(cos, Side::Front).reflected;
        let ratio = albedo(f64::cos(0.7)) / albedo(1.0);
        assert!((ratio - 0.5).abs() < 0.03, "{ratio}");
    }
}
