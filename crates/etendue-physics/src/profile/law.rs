//! How noise changes with the distance.

/// How a profile, measured at one distance $d_0$, is carried to another, $d$.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub enum DistanceLaw {
    /// Triangulation: a fixed error of the spot's place makes $\sigma\propto d^2$; the bias goes
    /// with $d$. The drop-out over incidence is kept: near the device it is not the inverse square
    /// that loses the spot.
    #[default]
    Triangulation,
    /// Time of flight, from the signal-to-noise ratio, which goes with $d^{-2}$:
    /// $\sigma^2 = \sigma_f^2 + (\sigma_0^2-\sigma_f^2)(d/d_0)^4$. The bias stays; the drop-out goes
    /// with the received power.
    SignalToNoise {
        /// Spread that no signal removes, $\sigma_f$, m.
        floor: f64,
    },
    /// Exponents fitted to recordings at several distances.
    Fitted {
        /// Exponent of the spread.
        spread: f64,
        /// Exponent of the bias.
        bias: f64,
        /// Exponent with which the received power falls, as far as the drop-out shows it.
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

    /// How far from where a glare lies about `centre` (rad) it lies at `ratio` times the distance, rad:
    /// emitter and receiver of a triangulating sensor see each other in a mirror a fixed length off its
    /// axis, whose angle goes with $1/d$. That of others stays.
    pub fn glare_shift(&self, centre: f64, ratio: f64) -> f64 {
        match *self {
            Self::Triangulation => centre * (1.0 / ratio.max(1e-3) - 1.0),
            Self::SignalToNoise { .. } | Self::Fitted { .. } => 0.0,
        }
    }

    /// The exponent with which the power that decides on drop-outs falls with the distance.
    pub fn power_exponent(&self) -> f64 {
        match *self {
            Self::Triangulation => 0.0,
            Self::SignalToNoise { .. } => 2.0,
            Self::Fitted { power, .. } => power,
        }
    }
}
