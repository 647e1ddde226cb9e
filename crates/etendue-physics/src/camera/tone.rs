//! Tone curves.

/// Tone curve from linear intensity to the stored value, both in [0, 1].
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Tone {
    /// Identity: the value is proportional to the light.
    #[default]
    Linear,
    /// sRGB curve (IEC 61966-2-1).
    Srgb,
    /// Power law $x^{1/\gamma}$.
    Gamma(f64),
}

impl Tone {
    /// Stored value of a linear intensity.
    ///
    /// ```
    /// use etendue_physics::camera::Tone;
    /// assert!((Tone::Srgb.encode(0.18) - 0.4613).abs() < 1e-4);
    /// assert!((Tone::Srgb.decode(Tone::Srgb.encode(0.18)) - 0.18).abs() < 1e-12);
    /// assert_eq!(Tone::Gamma(2.0).encode(0.25), 0.5);
    /// ```
    pub fn encode(self, linear: f64) -> f64 {
        let linear = linear.clamp(0.0, 1.0);
        match self {
            Self::Linear => linear,
            Self::Srgb if linear <= 0.003_130_8 => 12.92 * linear,
            Self::Srgb => 1.055 * linear.powf(1.0 / 2.4) - 0.055,
            Self::Gamma(gamma) => linear.powf(1.0 / gamma),
        }
    }

    /// Linear intensity of a stored value.
    pub fn decode(self, stored: f64) -> f64 {
        let stored = stored.clamp(0.0, 1.0);
        match self {
            Self::Linear => stored,
            Self::Srgb if stored <= 0.040_45 => stored / 12.92,
            Self::Srgb => ((stored + 0.055) / 1.055).powf(2.4),
            Self::Gamma(gamma) => stored.powf(gamma),
        }
    }
}
