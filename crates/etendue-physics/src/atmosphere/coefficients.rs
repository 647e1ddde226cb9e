//! Extinction and backscatter coefficients.

use crate::Scalar;

/// Extinction and backscatter coefficients of air.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Coefficients<S> {
    /// Extinction coefficient: fraction of the power lost per metre, 1/m.
    pub extinction: S,
    /// Backscatter coefficient: fraction of the power scattered straight back per metre and solid
    /// angle, 1/(m sr).
    pub backscatter: S,
}

impl<S: Scalar> Coefficients<S> {
    /// Vacuum: both coefficients are zero.
    pub fn vacuum() -> Self {
        Self {
            extinction: S::zero(),
            backscatter: S::zero(),
        }
    }

    /// Coefficients from the extinction (1/m) and the lidar ratio (sr).
    pub fn from_lidar_ratio(extinction: S, lidar_ratio: f64) -> Self {
        Self {
            extinction,
            backscatter: extinction / lidar_ratio,
        }
    }

    /// Sum of the coefficients of two kinds of particles in the same air.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            extinction: self.extinction + other.extinction,
            backscatter: self.backscatter + other.backscatter,
        }
    }

    /// Two-way transmission to `range` (m) and back: $e^{-2\alpha R}$ (Beer-Lambert law).
    ///
    /// ```
    /// use etendue_physics::atmosphere::Coefficients;
    /// let air = Coefficients::from_lidar_ratio(0.01, 20.0);
    /// assert!((air.two_way_transmission(50.0) - (-1.0_f64).exp()).abs() < 1e-15);
    /// ```
    pub fn two_way_transmission(&self, range: S) -> S {
        (-(self.extinction * range * 2.0)).exp()
    }
}
