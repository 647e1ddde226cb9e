//! Scaling of noise with distance.

/// Scaling of a profile from its measured distance $d_0$ to another distance $d$.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub enum DistanceLaw {
    /// Triangulation: a fixed error of the spot's position gives $\sigma\propto d^2$; the bias is
    /// proportional to $d$. The drop-out over incidence does not depend on distance: at short range
    /// the inverse-square loss does not decide on detection.
    #[default]
    Triangulation,
    /// Time of flight, from the signal-to-noise ratio $\propto d^{-2}$:
    /// $\sigma^2 = \sigma_f^2 + (\sigma_0^2-\sigma_f^2)(d/d_0)^4$. The bias is constant; the drop-out
    /// follows the received power.
    SignalToNoise {
        /// Noise floor $\sigma_f$, m.
        floor: f64,
    },
    /// Exponents fitted to recordings at several distances.
    Fitted {
        /// Exponent of the spread.
        spread: f64,
        /// Exponent of the bias.
        bias: f64,
        /// Exponent of the fall of the received power, as it affects the drop-out.
        power: f64,
    },
}

impl DistanceLaw {
    /// The spread at `ratio` times the distance at which it is `spread`, m.
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

    /// The bias at `ratio` times the distance at which it is `bias`, m.
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

    /// Exponent of the fall with distance of the power that decides on drop-outs.
    pub fn power_exponent(&self) -> f64 {
        match *self {
            Self::Triangulation => 0.0,
            Self::SignalToNoise { .. } => 2.0,
            Self::Fitted { power, .. } => power,
        }
    }
}
