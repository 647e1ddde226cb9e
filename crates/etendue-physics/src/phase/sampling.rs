//! Sampling of the received wave, and the Fourier sum over the samples.

use super::Phasor;
use std::f64::consts::TAU;
use std::sync::LazyLock;
use thiserror::Error;

/// Samples taken of each wave.
pub const SAMPLES: usize = 30;

/// The instants of the samples.
///
/// Equivalent-time sampling: few samples per period over many periods, at evenly spaced phases. The result
/// depends only on the phases $2\pi t_i$ ($t_i$ in periods).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum SamplingScheme {
    /// Pairs half a period apart, each pair 1/30 period later in its period: rejects a constant offset.
    #[default]
    Pair,
    /// Uniform sampling with a period of 31/60 of the wave; 6.7 % of a constant offset remains.
    Clock,
    /// Uniform sampling with a period of 17/30 of the wave.
    K17,
    /// One period in 30 even steps.
    SinglePeriod,
}

/// The transmitted wave at the instant of a sample.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Carrier {
    /// $\omega t$, rad.
    pub phase: f64,
    /// $\sin\omega t$.
    pub sin: f64,
    /// $\cos\omega t$.
    pub cos: f64,
}

/// Why a sampling scheme cannot be used.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum UnusableScheme {
    /// The samples cover too few phases.
    #[error(
        "sampling scheme \"{name}\" is degenerate: 30 even samples over 15 periods fall on two \
         phases only, and the range is wrong by up to half an ambiguity; use one of: pair, clock, \
         k17, single-period"
    )]
    Degenerate {
        /// The name given.
        name: String,
    },
    /// The samples weight the phases unequally.
    #[error(
        "sampling scheme \"{name}\" is biased: 30 even samples that include both ends of 15 \
         periods count one phase twice, a cyclic range error of 17 mm; use one of: pair, clock, \
         k17, single-period"
    )]
    Biased {
        /// The name given.
        name: String,
    },
    /// There is no such scheme.
    #[error("unknown sampling scheme \"{name}\"; there are: pair, clock, k17, single-period")]
    Unknown {
        /// The name given.
        name: String,
    },
}

impl SamplingScheme {
    /// Every scheme with its name.
    pub const ALL: [(&'static str, Self); 4] = [
        ("pair", Self::Pair),
        ("clock", Self::Clock),
        ("k17", Self::K17),
        ("single-period", Self::SinglePeriod),
    ];

    /// The scheme of that name.
    ///
    /// # Errors
    /// If the name is unknown, or one of "uniform" (alias "naive", degenerate) and "linspace" (biased).
    ///
    /// ```
    /// use etendue_physics::phase::SamplingScheme;
    /// assert_eq!(SamplingScheme::from_name("pair"), Ok(SamplingScheme::Pair));
    /// assert!(SamplingScheme::from_name("uniform").is_err());
    /// ```
    pub fn from_name(name: &str) -> Result<Self, UnusableScheme> {
        let owned = || name.to_owned();
        match name {
            "uniform" | "naive" => Err(UnusableScheme::Degenerate { name: owned() }),
            "linspace" => Err(UnusableScheme::Biased { name: owned() }),
            _ => Self::ALL
                .iter()
                .find_map(|&(known, scheme)| (known == name).then_some(scheme))
                .ok_or_else(|| UnusableScheme::Unknown { name: owned() }),
        }
    }

    /// Time of sample `index`, in periods of the wave.
    pub fn instant(self, index: usize) -> f64 {
        let i = index as f64;
        match self {
            Self::Pair => i / 2.0 + (index / 2) as f64 / 30.0,
            Self::Clock => i * 31.0 / 60.0,
            Self::K17 => i * 17.0 / 30.0,
            Self::SinglePeriod => i / 30.0,
        }
    }

    /// The transmitted wave at every sample.
    pub fn carriers(self) -> &'static [Carrier; SAMPLES] {
        static CARRIERS: LazyLock<[[Carrier; SAMPLES]; 4]> =
            LazyLock::new(|| SamplingScheme::ALL.map(|(_, scheme)| scheme.compute_carriers()));
        &CARRIERS[self as usize]
    }

    fn compute_carriers(self) -> [Carrier; SAMPLES] {
        std::array::from_fn(|index| {
            let phase = TAU * self.instant(index).fract();
            let (sin, cos) = phase.sin_cos();
            Carrier { phase, sin, cos }
        })
    }

    /// Samples a wave that is given as a function of the transmitted one and returns its phasor: the least
    /// squares sine through the samples, $\frac2N\sum_i s_i\\,(\sin\omega t_i, -\cos\omega t_i)$.
    ///
    /// With $\Phi = \operatorname{atan2}(\sum s_i\cos\omega t_i, \sum s_i\sin\omega t_i)$ of the
    /// transmitted and the received wave, the phasor's phase is $\Phi_{tx} - \Phi_{rx}$.
    pub fn phasor(self, mut sample: impl FnMut(&Carrier) -> f64) -> Phasor<f64> {
        let mut sum = Phasor { re: 0.0, im: 0.0 };
        for carrier in self.carriers() {
            let s = sample(carrier) * (2.0 / SAMPLES as f64);
            sum.re += s * carrier.sin;
            sum.im -= s * carrier.cos;
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_degenerate_and_the_biased_scheme_are_refused_with_the_reason() {
        let refusal = |name| SamplingScheme::from_name(name).expect_err(name).to_string();
        assert!(refusal("uniform").contains("two phases"));
        assert!(refusal("linspace").contains("17 mm"));
        assert!(refusal("pear").contains("pair, clock"));
    }

    #[test]
    fn every_scheme_has_its_own_carriers() {
        for (name, scheme) in SamplingScheme::ALL {
            for (index, carrier) in scheme.carriers().iter().enumerate() {
                let phase = TAU * scheme.instant(index).fract();
                assert_eq!((carrier.phase, carrier.sin), (phase, phase.sin()), "{name}");
            }
        }
    }

    /// 1e-14 measured.
    #[test]
    fn every_scheme_recovers_a_sine() {
        for (name, scheme) in SamplingScheme::ALL {
            for k in 0..50 {
                let phase = f64::from(k) / 50.0 * TAU;
                let wave = scheme.phasor(|carrier| 0.7 * (carrier.phase - phase).sin());
                assert!((wave.re - 0.7 * phase.cos()).abs() < 1e-13, "{name}");
                assert!((wave.im - 0.7 * phase.sin()).abs() < 1e-13, "{name}");
            }
        }
    }
}
