//! A measured table of backscatter over incidence.

use crate::Scalar;
use crate::surface::interaction::Side;
use crate::surface::model::{Classify, LobeClass, SampleLobe, Scatter};
use crate::surface::parameter::{MapParameter, REFLECTANCE};
use crate::surface::sampling::{cosine_hemisphere_pdf, sample_cosine_hemisphere};
use nalgebra::Vector3;
use std::f64::consts::PI;

/// Measured backscatter over incidence.
///
/// The table contains $\rho(\theta) = \pi f(\theta)$, the reflectance of the Lambertian surface of the same
/// backscatter. It is linear in $\cos\theta$ between its points, so that the derivative exists at normal
/// incidence, and constant beyond its ends. For other pairs of directions the BRDF is the mean
/// $f = \frac{\rho(\theta_i)+\rho(\theta_o)}{2\pi}$: reciprocal, with an albedo of at most 1 for a table of at
/// most 1.
#[derive(Clone, Debug, PartialEq)]
pub struct Measured<T> {
    /// (cosine of incidence, reflectance), cosines strictly descending.
    points: Vec<(f64, T)>,
}

impl<T> Measured<T> {
    /// A table of (incidence in rad, reflectance), incidence ascending from 0 towards a right
    /// angle. [`Material::validate`](crate::surface::Material::validate) rejects an unordered table.
    pub fn new(table: impl IntoIterator<Item = (f64, T)>) -> Self {
        let points = table
            .into_iter()
            .map(|(incidence, reflectance)| (incidence.cos(), reflectance))
            .collect();
        Self { points }
    }

    pub(super) fn try_map<U, E>(
        &self,
        f: &mut MapParameter<'_, T, U, E>,
    ) -> Result<Measured<U>, E> {
        let points = self
            .points
            .iter()
            .map(|(cos, value)| Ok((*cos, f(&REFLECTANCE, value)?)))
            .collect::<Result<_, E>>()?;
        Ok(Measured { points })
    }
}

impl<T> Classify for Measured<T> {
    fn class(&self) -> LobeClass {
        LobeClass {
            kind: "measured",
            scatters: true,
            is_specular: false,
            transmits: false,
        }
    }

    fn has_valid_tables(&self) -> bool {
        let inside = |&(cos, _): &(f64, T)| (-1e-9..=1.0).contains(&cos);
        !self.points.is_empty()
            && self.points.iter().all(inside)
            && self.points.windows(2).all(|pair| pair[0].0 > pair[1].0)
    }
}

impl<S: Scalar> Measured<S> {
    /// The table's value at a cosine of incidence.
    fn reflectance(&self, cos: S) -> S {
        let end = self.points.partition_point(|point| point.0 > cos.value());
        let (Some(before), Some(after)) = (
            end.checked_sub(1).and_then(|start| self.points.get(start)),
            self.points.get(end),
        ) else {
            let outermost = if end == 0 {
                self.points.first()
            } else {
                self.points.last()
            };
            return outermost.map_or(S::zero(), |point| point.1);
        };
        let share = (-cos + before.0) / (before.0 - after.0);
        before.1 + (after.1 - before.1) * share
    }
}

impl<S: Scalar> Scatter<S> for Measured<S> {
    fn backscatter(&self, cos_incidence: S, _side: Side) -> S {
        self.reflectance(cos_incidence) / PI
    }

    fn evaluate(&self, incoming: &Vector3<S>, outgoing: &Vector3<S>, _side: Side) -> S {
        (self.reflectance(incoming.z) + self.reflectance(outgoing.z)) / (2.0 * PI)
    }
}

impl SampleLobe for Measured<f64> {
    fn importance(&self, cos_incidence: f64) -> f64 {
        self.reflectance(cos_incidence).max(0.05)
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
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::surface::Lobe;
    use crate::surface::lobe::conformance::assert_lobe_conforms;

    #[test]
    fn energy_is_conserved_and_the_brdf_is_reciprocal() {
        let table = Measured::new([(0.0, 0.9), (0.5, 0.7), (1.3, 0.4)]);
        assert_lobe_conforms(Lobe::Measured(table));
    }
}
