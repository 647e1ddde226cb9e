//! A smooth metal.

use crate::Scalar;
use crate::surface::fresnel;
use crate::surface::interaction::{Side, Specular};
use crate::surface::model::{Classify, LobeClass, SampleLobe, Scatter};
use crate::surface::parameter::{Domain, MapParameter};

pub(super) const N: Domain = Domain {
    name: "n",
    least: 1e-3,
    most: 100.0,
    remedy: "it is the real part of a metal's index",
};
pub(super) const K: Domain = Domain {
    name: "k",
    least: 1e-3,
    most: 100.0,
    remedy: "it is a metal's extinction coefficient; a clear medium is glass, not a conductor",
};

/// A smooth metal: a mirror with the exact reflectance of its complex index
/// ([`fresnel::conductor`]).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Conductor<T> {
    /// Refractive index.
    pub n: T,
    /// Extinction coefficient.
    pub k: T,
}

impl<T> Conductor<T> {
    pub(super) fn try_map<U, E>(
        &self,
        f: &mut MapParameter<'_, T, U, E>,
    ) -> Result<Conductor<U>, E> {
        Ok(Conductor {
            n: f(&N, &self.n)?,
            k: f(&K, &self.k)?,
        })
    }
}

impl<T> Classify for Conductor<T> {
    fn class(&self) -> LobeClass {
        LobeClass {
            kind: "conductor",
            scatters: false,
            is_specular: true,
            transmits: false,
        }
    }
}

impl<S: Scalar> Scatter<S> for Conductor<S> {
    fn specular(&self, cos_incidence: S, _side: Side) -> Specular<S> {
        Specular::reflection(fresnel::conductor(cos_incidence, self.n, self.k).mean())
    }
}

impl SampleLobe for Conductor<f64> {}

#[cfg(test)]
mod tests {
    use crate::surface::Lobe;
    use crate::surface::lobe::conformance::assert_lobe_conforms;

    #[test]
    fn energy_is_conserved() {
        assert_lobe_conforms(Lobe::conductor(0.1, 6.0));
    }
}
