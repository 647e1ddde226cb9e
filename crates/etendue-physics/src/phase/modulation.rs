//! The two modulation frequencies.

use super::Phasor;
use crate::series::cos_sin_of_turns;
use crate::{SPEED_OF_LIGHT, Scalar};
use std::f64::consts::{FRAC_PI_2, PI, TAU};

/// Two modulation frequencies that are whole multiples of a common one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Modulation {
    /// The common divisor of both frequencies, Hz.
    pub base_frequency: f64,
    /// Ratio of each frequency to the base frequency: coprime integers.
    pub multiples: [u32; 2],
    /// Constant phase offset of each transmitted wave, which the receiver removes, rad.
    pub offsets: [f64; 2],
}

impl Modulation {
    /// The Hokuyo URG-04LX: 46.55 MHz = 7 x 6.65 and 53.2 MHz = 8 x 6.65, the second with +90
    /// degrees (Heiden et al. 2019, section III-B).
    pub const URG_04LX: Self = Self {
        base_frequency: 6.65e6,
        multiples: [7, 8],
        offsets: [0.0, FRAC_PI_2],
    };

    /// The two frequencies, Hz.
    #[inline]
    pub fn frequencies(&self) -> [f64; 2] {
        self.multiples.map(|m| self.base_frequency * f64::from(m))
    }

    /// The range at which each frequency's phase repeats, $c/2f$, m.
    ///
    /// ```
    /// use etendue_physics::phase::Modulation;
    /// let [first, second] = Modulation::URG_04LX.ambiguities();
    /// assert!((first - 3.220112).abs() < 1e-6);
    /// assert!((second - 2.817598).abs() < 1e-6);
    /// ```
    #[inline]
    pub fn ambiguities(&self) -> [f64; 2] {
        self.frequencies().map(|f| SPEED_OF_LIGHT / (2.0 * f))
    }

    /// The range at which both phases repeat together, m: 22.54 m for the URG-04LX.
    pub fn combined_ambiguity(&self) -> f64 {
        SPEED_OF_LIGHT / (2.0 * self.base_frequency)
    }

    /// The phases $4\pi f R/c$ of a return from `half_path` metres, rad.
    pub fn phases<S: Scalar>(&self, half_path: S) -> [S; 2] {
        self.frequencies()
            .map(|f| half_path * (4.0 * PI * f / SPEED_OF_LIGHT))
    }

    /// Derivative of the phase of the base frequency with respect to half the path, $2f/c$, turns/m.
    pub fn turns_per_metre(&self) -> f64 {
        2.0 * self.base_frequency / SPEED_OF_LIGHT
    }

    /// Derivative of the phase of a frequency with respect to half the path, $4\pi f/c$, rad/m.
    pub fn phase_per_metre(&self, frequency: usize) -> f64 {
        TAU * self.turns_per_metre() * f64::from(self.multiples[frequency])
    }

    /// Phasor $e^{i\varphi}$ of an angle in turns.
    #[expect(clippy::inline_always, reason = "one lane of a loop over many")]
    #[inline(always)]
    pub fn wave(turns: f64) -> Phasor<f64> {
        let [re, im] = cos_sin_of_turns(turns);
        Phasor { re, im }
    }

    /// The waves $e^{i\varphi}$ of a return from `half_path` metres, as powers of the wave of the base
    /// frequency: one sine and cosine suffice for both. The powers are computed without derivatives, and
    /// $\mathrm{d}e^{i\varphi} = i e^{i\varphi}\,\mathrm{d}\varphi$.
    pub fn waves<S: Scalar>(&self, half_path: S) -> [Phasor<S>; 2] {
        let base = Self::wave(half_path.value() * self.turns_per_metre());
        let change = half_path - half_path.value();
        [0, 1].map(|k| {
            let wave = base.power(self.multiples[k]);
            let slope = self.phase_per_metre(k);
            Phasor {
                re: change * (-slope * wave.im) + wave.re,
                im: change * (slope * wave.re) + wave.im,
            }
        })
    }

    /// The wrapped ranges in [0, c/2f) of two phases, m.
    #[inline]
    pub fn wrapped_ranges<S: Scalar>(&self, phases: [S; 2]) -> [S; 2] {
        let ambiguities = self.ambiguities();
        let of = |k: usize| wrapped(phases[k]) * (ambiguities[k] / TAU);
        [of(0), of(1)]
    }
}

/// `angle` modulo $2\pi$, in [0, 2 pi).
#[inline]
fn wrapped<S: Scalar>(angle: S) -> S {
    let turned = angle - (angle.value() / TAU).floor() * TAU;
    // A tiny negative angle rounds to a whole turn.
    if turned.value() >= TAU {
        turned - TAU
    } else {
        turned
    }
}
