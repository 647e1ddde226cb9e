//! The stretches of a waveform that hold light.

use super::backscatter::Before;
use etendue_physics::pulse::{Pulse, PulseReturn};
use etendue_physics::{SPEED_OF_LIGHT, Scalar};

/// Returns whose pulses overlap, and what the air shines between them.
pub(super) struct Stretch<'a, S> {
    pub returns: &'a [PulseReturn<S>],
    /// The ranges that it spans, m.
    pub near: f64,
    pub far: f64,
    /// Whether the air by itself may make echoes there.
    pub bright: bool,
}

/// Parts some returns (nearest first) and what may be an echo of the air where nothing is for a
/// pulse's whole length, and tells `found` of each stretch.
pub(super) fn stretches<'a, S: Scalar>(
    returns: &'a [PulseReturn<S>],
    air: Option<&Before>,
    pulse: &Pulse,
    mut found: impl FnMut(Stretch<'a, S>),
) {
    let [before, after] = pulse.support();
    let apart = 0.5 * SPEED_OF_LIGHT * (before + after);
    let range = |number: usize| {
        returns
            .get(number)
            .map(|one: &PulseReturn<S>| one.range.value())
    };
    let mut glow = air.and_then(Before::bright);
    let mut next = 0;
    while let Some(near) = nearer(range(next), glow.map(|(near, _)| near)) {
        let (first, mut far, mut bright) = (next, near, false);
        loop {
            if let Some(range) = range(next).filter(|range| range - far < apart) {
                far = far.max(range);
                next += 1;
            } else if let Some((_, until)) = glow.filter(|(from, _)| from - far < apart) {
                far = far.max(until);
                (glow, bright) = (None, true);
            } else {
                break;
            }
        }
        found(Stretch {
            returns: &returns[first..next],
            near,
            far,
            bright,
        });
    }
}

/// The nearer of two ranges that may be there.
fn nearer(a: Option<f64>, b: Option<f64>) -> Option<f64> {
    [a, b].into_iter().flatten().reduce(f64::min)
}
