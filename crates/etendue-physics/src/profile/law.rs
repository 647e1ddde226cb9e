//! Scaling of a noise profile with distance.

/// Scaling of a profile from its measured distance $d_0$ to another distance $d$.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub enum DistanceLaw {
    /// Triangulation: a constant error of the spot's position gives a spread $\sigma\propto d^2$; the bias is
    /// proportional to $d$. The drop-out does not depend on distance: at short range the inverse-square loss
    /// does not determine detection.
    #[default]
    Triangulation,
    /// Time of flight with a signal-to-noise ratio $\propto d^{-2}$: the spread is
    /// $\sigma^2 = \sigma_f^2 + (\sigma_0^2-\sigma_f^2)(d/d_0)^4$, with $\sigma_0$ that at $d_0$. The bias is
    /// constant; the drop-out depends on the received power $\propto d^{-2}$.
    SignalToNoise {
        /// Noise floor $\sigma_f$, m.
        floor: f64,
    },
    /// Exponents fitted to recordings at several distances.
    Fitted {
        /// Exponent $e$ of the spread, $\sigma\propto d^e$.
        spread: f64,
        /// Exponent $e$ of the bias, $\propto d^e$.
        bias: f64,
        /// Exponent $e$ of the power that determines the drop-out, $\propto d^{-e}$.
        power: f64,
    },
}

impl DistanceLaw {
    /// Spread, m, at `ratio` times the distance at which it is `spread` (m).
    pub fn spread(&self, spread: f64, ratio: f64) -> f64 {
        match *self {
            Self::Triangulation => spread * ratio * ratio,
            Self::SignalToNoise { floor } => {
                let floor = floor.min(spread);
                (floor * floor + (spread * spread - floor * floor) * ratio.powi(4)).sqrt()
            }
            Self::Fitted {
                spread: exponent, ..
            } => spread * ratio.powf(exponent),
        }
    }

    /// Bias, m, at `ratio` times the distance at which it is `bias` (m).
    pub fn bias(&self, bias: f64, ratio: f64) -> f64 {
        match *self {
            Self::Triangulation => bias * ratio,
            Self::SignalToNoise { .. } => bias,
            Self::Fitted { bias: exponent, .. } => bias * ratio.powf(exponent),
        }
    }

    /// Shift of a glare centred at `centre` (rad) at `ratio` times the distance, rad: the baseline of
    /// a triangulating sensor places the specular reflection of its emitter at an angle $\propto 1/d$.
    /// For other sensors the angle is constant.
    pub fn glare_shift(&self, centre: f64, ratio: f64) -> f64 {
        match *self {
            Self::Triangulation => centre * (1.0 / ratio.max(1e-3) - 1.0),
            Self::SignalToNoise { .. } | Self::Fitted { .. } => 0.0,
        }
    }

    /// Exponent $e$ of the power $\propto d^{-e}$ that determines the drop-out.
    pub fn power_exponent(&self) -> f64 {
        match *self {
            Self::Triangulation => 0.0,
            Self::SignalToNoise { .. } => 2.0,
            Self::Fitted { power, .. } => power,
        }
    }
}
