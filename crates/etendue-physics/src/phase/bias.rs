//! Range bias that depends on received power.

use super::Modulation;
use crate::Scalar;

/// A polynomial $aL^2+bL+c$ in the received power that is subtracted from the measurement.
///
/// Heiden et al. 2019, section IV-C, subtract it from the phase of both waves; but one phase offset
/// is 0.512 m/rad at 46.55 MHz and 0.448 m/rad at 53.2 MHz, so the two ranges then differ. A range offset
/// is the same for both. With a negative slope, dark stripes are measured too near.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub enum PowerDependentBias<S> {
    /// No bias.
    #[default]
    None,
    /// Coefficients $[c, b, a]$ of a range, m per power of the power.
    Range([S; 3]),
    /// Coefficients $[c, b, a]$ of a phase, rad per power of the power.
    Phase([S; 3]),
}

impl<S: Scalar> PowerDependentBias<S> {
    /// Bias of both phases at a received power, rad.
    pub fn phase(&self, power: S) -> S {
        match self {
            Self::Phase(coefficients) => polynomial(coefficients, power),
            Self::None | Self::Range(_) => S::zero(),
        }
    }

    /// Bias of the range at a received power, m.
    pub fn range(&self, power: S) -> S {
        match self {
            Self::Range(coefficients) => polynomial(coefficients, power),
            Self::None | Self::Phase(_) => S::zero(),
        }
    }

    /// Total bias of the range of each frequency at a received power, m.
    pub fn ranges(&self, modulation: &Modulation, power: S) -> [S; 2] {
        let [r1, r2] = modulation
            .ambiguities()
            .map(|u| self.phase(power) * (u / std::f64::consts::TAU) + self.range(power));
        [r1, r2]
    }
}

impl<T: Copy> PowerDependentBias<T> {
    /// The same bias with each coefficient replaced by `f` of it.
    pub fn map<U>(&self, f: impl FnMut(T) -> U) -> PowerDependentBias<U> {
        match *self {
            Self::None => PowerDependentBias::None,
            Self::Range(coefficients) => PowerDependentBias::Range(coefficients.map(f)),
            Self::Phase(coefficients) => PowerDependentBias::Phase(coefficients.map(f)),
        }
    }
}

fn polynomial<S: Scalar>(coefficients: &[S; 3], x: S) -> S {
    (coefficients[2] * x + coefficients[1]) * x + coefficients[0]
}
