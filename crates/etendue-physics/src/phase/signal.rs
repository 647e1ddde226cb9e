//! The modulated light that reaches a receiver.

use super::{Modulation, Phasor};
use crate::Scalar;

/// The modulated light of one beam at the receiver: a phasor for each modulation frequency.
///
/// Returns superpose: each adds its power to both phasors at the phase of its optical path.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PhaseSignal<S> {
    /// Received wave at each modulation frequency, 1/(m² sr).
    pub waves: [Phasor<S>; 2],
    /// Total power of all returns, 1/(m² sr).
    pub power: S,
    /// Power of ambient light, 1/(m² sr): it adds shot noise and no phase.
    pub background: f64,
}

impl<S: Scalar> PhaseSignal<S> {
    /// No light.
    pub fn nothing() -> Self {
        Self {
            waves: [Phasor::zero(); 2],
            power: S::zero(),
            background: 0.0,
        }
    }

    /// Adds a return from half the optical path `half_path` (m) with received power `power`.
    #[inline]
    pub fn add(&mut self, modulation: &Modulation, half_path: S, power: S) {
        let units = modulation.waves(half_path);
        for (wave, unit) in self.waves.iter_mut().zip(&units) {
            wave.add_scaled(power, unit);
        }
        self.power += power;
    }
}
