//! Robust losses.

/// Robust function $\rho(\ell)$ of the loss of one neighbourhood or pair, with a threshold $k$ in the unit
/// of $\sqrt\ell$ (m, or dimensionless for the normalised eigenvalue).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum RobustLoss {
    /// $\ell$.
    #[default]
    None,
    /// $\ell$ up to $k^2$, then $2k\sqrt\ell - k^2$ (Huber 1964, doi:10.1214/aoms/1177703732).
    Huber(f64),
    /// $k^2 \ln(1 + \ell/k^2)$.
    Cauchy(f64),
    /// $\ell / (1 + \ell/k^2)$ (Geman and McClure 1985, "Bayesian image analysis: an application to single
    /// photon emission tomography").
    GemanMcClure(f64),
    /// $\ell$ up to $k^2$, then $k^2$.
    Truncated(f64),
}

impl RobustLoss {
    /// Value $\rho(\ell)$ and derivative $\rho'(\ell)$.
    ///
    /// ```
    /// use etendue_calibrate::depth::RobustLoss;
    /// let (value, weight) = RobustLoss::Huber(1.0).of(4.0);
    /// assert_eq!((value, weight), (3.0, 0.5));
    /// ```
    pub fn of(self, loss: f64) -> (f64, f64) {
        match self {
            Self::None => (loss, 1.0),
            Self::Huber(k) if loss <= k * k => (loss, 1.0),
            Self::Huber(k) => (2.0 * k * loss.sqrt() - k * k, k / loss.sqrt()),
            Self::Cauchy(k) => {
                let ratio = loss / (k * k);
                (k * k * ratio.ln_1p(), 1.0 / (1.0 + ratio))
            }
            Self::GemanMcClure(k) => {
                let share = 1.0 / (1.0 + loss / (k * k));
                (loss * share, share * share)
            }
            Self::Truncated(k) if loss <= k * k => (loss, 1.0),
            Self::Truncated(k) => (k * k, 0.0),
        }
    }
}
