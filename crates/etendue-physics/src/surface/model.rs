//! The traits that every lobe implements.

use super::interaction::{Albedo, Passage, Side, Specular};
use super::sampling::evenly_spread;
use crate::Scalar;
use nalgebra::Vector3;

/// Class of a lobe: its name, and the kinds of reflection and transmission it has.
#[derive(Clone, Copy, Debug)]
pub(super) struct LobeClass {
    /// Name in one lower-case word, as in material files.
    pub kind: &'static str,
    /// Whether it scatters light into a solid angle.
    pub scatters: bool,
    /// Whether it reflects or transmits light into a single direction.
    pub is_specular: bool,
    /// Whether light passes, scattered or not.
    pub transmits: bool,
}

/// The class of a lobe, and whether its tables are well-formed.
pub(super) trait Classify {
    fn class(&self) -> LobeClass;

    /// Whether all tables of the lobe are strictly ordered and not empty.
    fn has_valid_tables(&self) -> bool {
        true
    }
}

/// The equations of a lobe; the defaults return zero.
///
/// Directions are unit vectors away from the surface in a frame whose z axis is the normal on the
/// side that light arrives on.
pub(super) trait Scatter<S: Scalar> {
    /// BRDF back into the direction of incidence, 1/sr.
    fn backscatter(&self, _cos_incidence: S, _side: Side) -> S {
        S::zero()
    }

    /// BSDF, 1/sr. Lobes that do not transmit are evaluated for `outgoing.z` > 0 only.
    fn evaluate(&self, _incoming: &Vector3<S>, _outgoing: &Vector3<S>, _side: Side) -> S {
        S::zero()
    }

    /// Mirror-like reflection and transmission.
    fn specular(&self, _cos_incidence: S, _side: Side) -> Specular<S> {
        Specular::reflection(S::zero())
    }

    /// Path behind the surface of light that the lobe transmits with scattering.
    fn scattered_passage(&self, _side: Side) -> Option<Passage<S>> {
        None
    }
}

/// Importance sampling of a lobe; the defaults are those of a lobe that scatters nothing.
pub(super) trait SampleLobe: Classify + Scatter<f64> {
    /// Estimate of the scattered fraction at a cosine of incidence; zero only where nothing is
    /// scattered.
    fn importance(&self, _cos_incidence: f64) -> f64 {
        0.0
    }

    /// A scattered direction from three uniform numbers in [0, 1); `None` where it points into an
    /// opaque surface.
    fn sample(
        &self,
        _incoming: &Vector3<f64>,
        _side: Side,
        _uniform: [f64; 3],
    ) -> Option<Vector3<f64>> {
        None
    }

    /// Density of [`sample`](Self::sample), 1/sr. Lobes that do not transmit are evaluated for
    /// `outgoing.z` > 0 only.
    fn pdf(&self, _incoming: &Vector3<f64>, _outgoing: &Vector3<f64>, _side: Side) -> f64 {
        0.0
    }

    /// Scattered part of the directional albedo: the mean throughput of evenly spread samples,
    /// unless a lobe has a closed form.
    fn scattered_albedo(&self, cos_incidence: f64, side: Side, samples: u32) -> Albedo {
        if !self.class().scatters {
            return Albedo::default();
        }
        let sine = (1.0 - cos_incidence * cos_incidence).max(0.0).sqrt();
        let incoming = Vector3::new(sine, 0.0, cos_incidence);
        let mut sum = Albedo::default();
        for uniform in evenly_spread(samples) {
            let Some(direction) = self.sample(&incoming, side, uniform) else {
                continue;
            };
            let pdf = self.pdf(&incoming, &direction, side);
            if pdf <= 0.0 {
                continue;
            }
            let weight = self.evaluate(&incoming, &direction, side) * direction.z.abs() / pdf;
            if direction.z > 0.0 {
                sum.reflected += weight / f64::from(samples);
            } else {
                sum.transmitted += weight / f64::from(samples);
            }
        }
        sum
    }
}
