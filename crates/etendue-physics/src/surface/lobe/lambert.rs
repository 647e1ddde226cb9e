//! Ideal diffuse reflection.

use crate::Scalar;
use crate::surface::interaction::{Albedo, Side};
use crate::surface::model::{Classify, LobeClass, SampleLobe, Scatter};
use crate::surface::parameter::{MapParameter, REFLECTANCE};
use crate::surface::sampling::{cosine_hemisphere_pdf, sample_cosine_hemisphere};
use nalgebra::Vector3;
use std::f64::consts::PI;

/// Ideal diffuse reflection, $f = \rho/\pi$ (Lambert 1760).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lambert<T> {
    /// Diffuse reflectance $\rho$ in [0, 1].
    pub reflectance: T,
}

impl<T> Lambert<T> {
    pub(super) fn try_map<U, E>(&self, f: &mut MapParameter<'_, T, U, E>) -> Result<Lambert<U>, E> {
        Ok(Lambert {
            reflectance: f(&REFLECTANCE, &self.reflectance)?,
        })
    }
}

impl<T> Classify for Lambert<T> {
    fn class(&self) -> LobeClass {
        LobeClass {
            kind: "lambert",
            scatters: true,
            is_specular: false,
            transmits: false,
        }
    }
}

impl<S: Scalar> Scatter<S> for Lambert<S> {
    fn backscatter(&self, _cos_incidence: S, _side: Side) -> S {
        self.reflectance / PI
    }

    fn evaluate(&self, _incoming: &Vector3<S>, _outgoing: &Vector3<S>, _side: Side) -> S {
        self.reflectance / PI
    }
}

impl<S: Scalar> Lambert<S> {
    /// Multiplies the reflectance by a factor in [0, 1].
    pub(super) fn tint(&mut self, factor: S) {
        self.reflectance *= factor;
    }
}

impl SampleLobe for Lambert<f64> {
    fn importance(&self, _cos_incidence: f64) -> f64 {
        self.reflectance
    }

    fn sample(
        &self,
        _incoming: &Vector3<f64>,
        _side: Side,
        [_, u, v]: [f64; 3],
    ) -> Option<Vector3<f64>> {
        Some(sample_cosine_hemisphere([u, v]))
    }

    fn pdf(&self, _incoming: &Vector3<f64>, outgoing: &Vector3<f64>, _side: Side) -> f64 {
        cosine_hemisphere_pdf(outgoing.z)
    }

    /// The reflectance, exactly.
    fn scattered_albedo(&self, _cos_incidence: f64, _side: Side, _samples: u32) -> Albedo {
        Albedo {
            reflected: self.reflectance,
            transmitted: 0.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::surface::Lobe;
    use crate::surface::lobe::conformance::assert_lobe_conforms;

    #[test]
    fn energy_is_conserved_and_the_brdf_is_reciprocal() {
        assert_lobe_conforms(Lobe::lambert(0.8));
    }
}
