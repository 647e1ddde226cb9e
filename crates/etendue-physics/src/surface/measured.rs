//! A table over incidence: the hook for calibrated materials.

use crate::Scalar;
use std::f64::consts::PI;

/// Backscatter as measured over incidence.
///
/// The table holds the reflectance that a Lambertian surface would need to return as much to a
/// lidar at that incidence, $\pi f(\theta)$; linear in $\cos\theta$ between its points (in the
/// angle itself the derivative would have no value at normal incidence), constant beyond its ends.
/// Other directions get the mean, $f = \frac{\rho(\theta_i)+\rho(\theta_o)}{2\pi}$: reciprocal, at
/// most one for a table of at most one.
#[derive(Clone, Debug, PartialEq)]
pub struct Measured<T> {
    /// (cosine of incidence, reflectance), cosines strictly descending.
    points: Vec<(f64, T)>,
}

impl<T> Measured<T> {
    /// A table of (incidence in rad, reflectance), incidence ascending from 0 towards a right
    /// angle. What is wrong with a table is said by
    /// [`Material::validate`](super::Material::validate).
    pub fn new(table: impl IntoIterator<Item = (f64, T)>) -> Self {
        let points = table
            .into_iter()
            .map(|(incidence, reflectance)| (incidence.cos(), reflectance))
            .collect();
        Self { points }
    }

    pub(crate) fn is_ordered(&self) -> bool {
        let inside = |&(cos, _): &(f64, T)| (-1e-9..=1.0).contains(&cos);
        !self.points.is_empty()
            && self.points.iter().all(inside)
            && self.points.windows(2).all(|pair| pair[0].0 > pair[1].0)
    }

    pub(crate) fn try_map<U, E>(
        &self,
        mut f: impl FnMut(&T) -> Result<U, E>,
    ) -> Result<Measured<U>, E> {
        let points = self
            .points
            .iter()
            .map(|(cos, value)| Ok((*cos, f(value)?)))
            .collect::<Result<_, E>>()?;
        Ok(Measured { points })
    }
}

impl<S: Scalar> Measured<S> {
    pub(crate) fn reflectance(&self, cos: S) -> S {
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

    pub(crate) fn backscatter(&self, cos: S) -> S {
        self.reflectance(cos) / PI
    }

    pub(crate) fn evaluate(&self, cos_in: S, cos_out: S) -> S {
        (self.reflectance(cos_in) + self.reflectance(cos_out)) / (2.0 * PI)
    }
}
