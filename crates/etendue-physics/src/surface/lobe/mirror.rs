//! An ideal mirror.

use crate::Scalar;
use crate::surface::interaction::{Side, Specular};
use crate::surface::model::{Classify, LobeClass, SampleLobe, Scatter};
use crate::surface::parameter::{MapParameter, REFLECTANCE};

/// An ideal mirror with the given power reflectance at every incidence.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mirror<T> {
    /// Reflectance in [0, 1].
    pub reflectance: T,
}

impl<T> Mirror<T> {
    pub(super) fn try_map<U, E>(&self, f: &mut MapParameter<'_, T, U, E>) -> Result<Mirror<U>, E> {
        Ok(Mirror {
            reflectance: f(&REFLECTANCE, &self.reflectance)?,
        })
    }
}

impl<T> Classify for Mirror<T> {
    fn class(&self) -> LobeClass {
        LobeClass {
            kind: "mirror",
            scatters: false,
            is_specular: true,
            transmits: false,
        }
    }
}

impl<S: Scalar> Scatter<S> for Mirror<S> {
    fn specular(&self, _cos_incidence: S, _side: Side) -> Specular<S> {
        Specular::reflection(self.reflectance)
    }
}

impl SampleLobe for Mirror<f64> {}

#[cfg(test)]
mod tests {
    use crate::surface::Lobe;
    use crate::surface::lobe::conformance::assert_lobe_conforms;

    #[test]
    fn energy_is_conserved() {
        assert_lobe_conforms(Lobe::mirror(0.9));
    }
}
