//! Robust losses and graduated non-convexity.

/// Loss $\rho(s)$ of the squared residual $s = r^2$, with $\rho(s) \approx s$ for small $s$.
///
/// The scale $k$ is in the unit of the residual: every loss is nearly the squared one for $r \ll k$.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub enum Loss {
    /// $\rho = s$.
    #[default]
    Squared,
    /// $\rho = s$ up to $k^2$, then $2k\sqrt{s} - k^2$ (Huber 1964, doi:10.1214/aoms/1177703732).
    Huber {
        /// Scale $k$.
        scale: f64,
    },
    /// $\rho = k^2 \ln(1 + s/k^2)$ (Cauchy).
    Cauchy {
        /// Scale $k$.
        scale: f64,
    },
    /// $\rho = s / (1 + s/k^2)$, at most $k^2$ (Geman and McClure 1985).
    GemanMcClure {
        /// Scale $k$.
        scale: f64,
    },
    /// $\rho = k^2 (1 - e^{-s/k^2})$, at most $k^2$ (Welsch; equivalent to the score of NDT).
    Welsch {
        /// Scale $k$.
        scale: f64,
    },
}

/// Graduated non-convexity (Yang et al. 2020, doi:10.1109/LRA.2020.2965893): schedule of the scale of a
/// loss.
///
/// The scale starts at `widest` times its final value, where the cost is nearly convex, and is
/// divided by `factor` from stage to stage.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Continuation {
    /// Factor on the scale in the first stage, at least 1.
    pub widest: f64,
    /// Divisor of that factor from stage to stage, above 1.
    pub factor: f64,
}

impl Continuation {
    /// Factors on the scale in descending order; the last is 1.
    ///
    /// ```
    /// use etendue_estimate::solve::Continuation;
    /// let schedule = Continuation { widest: 8.0, factor: 2.0 };
    /// assert_eq!(schedule.stages(), [8.0, 4.0, 2.0, 1.0]);
    /// ```
    pub fn stages(self) -> Vec<f64> {
        let factor = self.factor.max(1.0 + 1e-3);
        let mut stages: Vec<f64> = std::iter::successors(Some(self.widest), |s| Some(s / factor))
            .take_while(|stage| *stage > 1.0)
            .collect();
        stages.push(1.0);
        stages
    }
}

impl Loss {
    /// $\rho(s)$ of the squared residual `s`.
    pub fn cost(self, s: f64) -> f64 {
        match self {
            Self::Squared => s,
            Self::Huber { scale } if s <= scale * scale => s,
            Self::Huber { scale } => scale * (2.0 * s.sqrt() - scale),
            Self::Cauchy { scale } => scale * scale * (s / (scale * scale)).ln_1p(),
            Self::GemanMcClure { scale } => s / (1.0 + s / (scale * scale)),
            Self::Welsch { scale } => -scale * scale * (-s / (scale * scale)).exp_m1(),
        }
    }

    /// $\rho'(s)$: weight of a residual in the normal equations, in [0, 1].
    pub fn weight(self, s: f64) -> f64 {
        match self {
            Self::Squared => 1.0,
            Self::Huber { scale } if s <= scale * scale => 1.0,
            Self::Huber { scale } => scale / s.sqrt(),
            Self::Cauchy { scale } => 1.0 / (1.0 + s / (scale * scale)),
            Self::GemanMcClure { scale } => (1.0 + s / (scale * scale)).powi(-2),
            Self::Welsch { scale } => (-s / (scale * scale)).exp(),
        }
    }

    /// $\rho''(s)$: derivative of the [`weight`](Self::weight), at most 0.
    ///
    /// With $\psi(r) = r\,\rho'(r^2)$, the derivative of half the loss by the residual, the Hessian of
    /// half the loss by a residual is $\psi'(r) = \rho'(s) + 2 s\,\rho''(s)$. It is below the weight
    /// of reweighted least squares, and negative for large residuals of redescending losses.
    pub fn weight_slope(self, s: f64) -> f64 {
        match self {
            Self::Squared => 0.0,
            Self::Huber { scale } if s <= scale * scale => 0.0,
            Self::Huber { scale } => -0.5 * scale / (s * s.sqrt()),
            Self::Cauchy { scale } => -self.weight(s).powi(2) / (scale * scale),
            Self::GemanMcClure { scale } => {
                -2.0 * (1.0 + s / (scale * scale)).powi(-3) / (scale * scale)
            }
            Self::Welsch { scale } => -self.weight(s) / (scale * scale),
        }
    }

    /// The loss with another scale; the squared loss has none.
    #[must_use]
    pub fn with_scale(mut self, scale: f64) -> Self {
        if let Some(own) = self.scale_mut() {
            *own = scale;
        }
        self
    }

    /// Ratio of the variance of an M-estimate with this loss to that of least squares, for residuals that
    /// are standard normal variables: $\mathrm{E}\psi^2/(\mathrm{E}\psi')^2$ (Huber 1964,
    /// doi:10.1214/aoms/1177703732), at least 1.
    ///
    /// ```
    /// use etendue_estimate::solve::Loss;
    /// // Huber's loss of scale 1.345 and Cauchy's of scale 2.385 have an efficiency of 95 %.
    /// for loss in [Loss::Huber { scale: 1.345 }, Loss::Cauchy { scale: 2.385 }] {
    ///     assert!((loss.variance_ratio() - 1.0 / 0.95).abs() < 1e-3);
    /// }
    /// ```
    pub fn variance_ratio(self) -> f64 {
        let [square, slope] = self.moments();
        square / (slope * slope)
    }

    /// Factor on half the loss that makes it a negative log-likelihood of the right width, for residuals that are standard
    /// normal variables: $\mathrm{E}\psi'/\mathrm{E}\psi^2$ (Lyddon, Holmes and Walker 2019, doi:10.1093/biomet/asz006).
    ///
    /// With it, the curvature of the cost is the information of the M-estimate, as that of a likelihood is.
    ///
    /// ```
    /// use etendue_estimate::solve::Loss;
    /// let loss = Loss::Cauchy { scale: 4.0 };
    /// assert!((loss.likelihood_factor() - 1.1561).abs() < 1e-4);
    /// assert!((Loss::Squared.likelihood_factor() - 1.0).abs() < 1e-12);
    /// ```
    pub fn likelihood_factor(self) -> f64 {
        let [square, slope] = self.moments();
        slope / square
    }

    /// $\mathrm{E}\psi^2$ and $\mathrm{E}\psi'$ of residuals that are standard normal variables.
    fn moments(self) -> [f64; 2] {
        // Midpoint rule over eight standard deviations on each side.
        const STEPS: u32 = 1600;
        let mut sums = [0.0; 3];
        for i in 0..STEPS {
            let r = 16.0 * (f64::from(i) + 0.5) / f64::from(STEPS) - 8.0;
            let density = (-0.5 * r * r).exp();
            let weight = self.weight(r * r);
            sums[0] += density;
            sums[1] += density * (weight * r).powi(2);
            sums[2] += density * (weight + 2.0 * r * r * self.weight_slope(r * r));
        }
        [sums[1] / sums[0], sums[2] / sums[0]]
    }

    /// The loss with its scale multiplied by `factor`.
    #[must_use]
    pub fn widened(mut self, factor: f64) -> Self {
        if let Some(scale) = self.scale_mut() {
            *scale *= factor;
        }
        self
    }

    /// The scale; `None` for the squared loss.
    fn scale_mut(&mut self) -> Option<&mut f64> {
        match self {
            Self::Squared => None,
            Self::Huber { scale }
            | Self::Cauchy { scale }
            | Self::GemanMcClure { scale }
            | Self::Welsch { scale } => Some(scale),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOSSES: [Loss; 5] = [
        Loss::Squared,
        Loss::Huber { scale: 0.7 },
        Loss::Cauchy { scale: 0.7 },
        Loss::GemanMcClure { scale: 0.7 },
        Loss::Welsch { scale: 0.7 },
    ];

    #[test]
    fn the_weight_is_the_slope_of_the_cost() {
        for loss in LOSSES {
            for s in [0.01, 0.3, 0.6, 2.0, 30.0] {
                let h = 1e-6 * s;
                let slope = (loss.cost(s + h) - loss.cost(s - h)) / (2.0 * h);
                // Measured: at most 3e-10, from the differences.
                assert!((slope - loss.weight(s)).abs() < 1e-8, "{loss:?} at {s}");
            }
        }
    }

    #[test]
    fn the_slope_of_the_weight_is_its_derivative() {
        for loss in LOSSES {
            for s in [0.01, 0.3, 0.6, 2.0, 30.0] {
                let h = 1e-5 * s;
                let slope = (loss.weight(s + h) - loss.weight(s - h)) / (2.0 * h);
                // Measured: at most 2e-10, from the differences.
                assert!(
                    (slope - loss.weight_slope(s)).abs() < 1e-8,
                    "{loss:?} at {s}"
                );
            }
        }
    }

    #[test]
    fn every_loss_is_the_squared_one_far_below_its_scale() {
        for loss in LOSSES {
            let s = 1e-8;
            assert!(
                (loss.widened(3.0).cost(s) / s - 1.0).abs() < 1e-7,
                "{loss:?}"
            );
        }
    }

    #[test]
    fn redescending_losses_are_bounded_by_their_scale() {
        for loss in &LOSSES[3..] {
            assert!((loss.cost(1e12) - 0.49).abs() < 1e-9, "{loss:?}");
        }
    }
}
