//! Coverage of a share of the area: dust on a window, a worn mirror.

use super::Lobe;
use crate::Scalar;
use crate::surface::interaction::{Albedo, Passage, Side, Specular};
use crate::surface::model::{Classify, LobeClass, SampleLobe, Scatter};
use crate::surface::parameter::{Domain, MapParameter};
use nalgebra::Vector3;

const WEIGHT: Domain = Domain {
    name: "weight",
    least: 0.0,
    most: 1.0,
    remedy: "it is a share of the area",
};

/// Another lobe on a share $w$ of the area: $w f$. `L` is the type of that lobe.
#[derive(Clone, Debug, PartialEq)]
pub struct Blend<T, L = Lobe<T>> {
    /// Share of the area in [0, 1].
    pub weight: T,
    /// The lobe on that share.
    pub lobe: Box<L>,
}

impl<T> Blend<T> {
    pub(super) fn try_map<U, E>(&self, f: &mut MapParameter<'_, T, U, E>) -> Result<Blend<U>, E> {
        Ok(Blend {
            weight: f(&WEIGHT, &self.weight)?,
            lobe: Box::new(self.lobe.try_map(f)?),
        })
    }
}

impl<T, L: Classify> Classify for Blend<T, L> {
    fn class(&self) -> LobeClass {
        self.lobe.class()
    }

    fn has_valid_tables(&self) -> bool {
        self.lobe.has_valid_tables()
    }
}

impl<S: Scalar, L: Scatter<S>> Scatter<S> for Blend<S, L> {
    fn backscatter(&self, cos_incidence: S, side: Side) -> S {
        self.weight * self.lobe.backscatter(cos_incidence, side)
    }

    fn evaluate(&self, incoming: &Vector3<S>, outgoing: &Vector3<S>, side: Side) -> S {
        self.weight * self.lobe.evaluate(incoming, outgoing, side)
    }

    fn specular(&self, cos_incidence: S, side: Side) -> Specular<S> {
        self.lobe.specular(cos_incidence, side).scaled(self.weight)
    }

    fn scattered_passage(&self, side: Side) -> Option<Passage<S>> {
        self.lobe.scattered_passage(side)
    }
}

impl<L: SampleLobe> SampleLobe for Blend<f64, L> {
    fn importance(&self, cos_incidence: f64) -> f64 {
        self.weight * self.lobe.importance(cos_incidence)
    }

    fn sample(
        &self,
        incoming: &Vector3<f64>,
        side: Side,
        uniform: [f64; 3],
    ) -> Option<Vector3<f64>> {
        self.lobe.sample(incoming, side, uniform)
    }

    fn pdf(&self, incoming: &Vector3<f64>, outgoing: &Vector3<f64>, side: Side) -> f64 {
        self.lobe.pdf(incoming, outgoing, side)
    }

    fn scattered_albedo(&self, cos_incidence: f64, side: Side, samples: u32) -> Albedo {
        let whole = self.lobe.scattered_albedo(cos_incidence, side, samples);
        Albedo {
            reflected: self.weight * whole.reflected,
            transmitted: self.weight * whole.transmitted,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::surface::lobe::conformance::assert_conforms;
    use crate::surface::{Dielectric, Material, ThinDielectric};

    /// A window with dust on a tenth of its area.
    #[test]
    fn a_dusty_window_conserves_energy_and_is_reciprocal() {
        let pane = Lobe::ThinDielectric(ThinDielectric {
            medium: Dielectric {
                index: 1.5,
                group_index: 1.5,
                absorption: 0.0,
            },
            thickness: 0.004,
        });
        assert_conforms(&Material {
            lobes: vec![Lobe::blend(0.9, pane), Lobe::blend(0.1, Lobe::lambert(0.5))],
        });
    }
}
