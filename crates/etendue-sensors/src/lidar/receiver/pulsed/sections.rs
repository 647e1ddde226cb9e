//! The sections of a waveform that hold light.

use crate::lidar::backscatter::Backscatter;
use etendue_physics::pulse::{Detector, OverloadRecovery, Pulse, PulseReturn};
use etendue_physics::{SPEED_OF_LIGHT, Scalar};

/// Returns whose pulses overlap, and the backscatter between them.
pub(super) struct Section<'a, S> {
    pub returns: &'a [PulseReturn<S>],
    /// Nearest range, m.
    pub near: f64,
    /// Farthest range, with that of the tail after saturation, m.
    pub far: f64,
    /// Whether backscatter alone may form echoes there.
    pub bright: bool,
}

/// Splits returns (nearest first) and the backscatter that may form echoes at gaps of a pulse's whole
/// length, and calls `each` with every section. Where the light of a section may saturate the detector, the tail of its recovery
/// is part of the section.
pub(super) fn sections<'a, S: Scalar>(
    returns: &'a [PulseReturn<S>],
    backscatter: Option<&Backscatter<S>>,
    pulse: &Pulse,
    detector: &Detector,
    mut each: impl FnMut(Section<'a, S>),
) {
    let [before, after] = pulse.support();
    let gap = 0.5 * SPEED_OF_LIGHT * (before + after);
    let tail = detector.recovery().map_or(0.0, OverloadRecovery::duration);
    let tail = 0.5 * SPEED_OF_LIGHT * tail;
    let range = |number: usize| {
        returns
            .get(number)
            .map(|one: &PulseReturn<S>| one.range.value())
    };
    let mut bright_air = backscatter.and_then(Backscatter::bright);
    let mut next = 0;
    while let Some(near) = nearer(range(next), bright_air.map(|[near, _]| near)) {
        // Extend the section by what overlaps it.
        let first = next;
        let mut far = near;
        let mut bright = false;
        let mut power = 0.0;
        loop {
            if let Some(range) = range(next).filter(|range| range - far < gap) {
                power += returns[next].power.value().max(0.0);
                let is_above = power > detector.saturation();
                far = far.max(if is_above { range + tail } else { range });
                next += 1;
            } else if let Some([_, until]) = bright_air.filter(|[from, _]| from - far < gap) {
                far = far.max(until);
                bright_air = None;
                bright = true;
            } else {
                break;
            }
        }
        each(Section {
            returns: &returns[first..next],
            near,
            far,
            bright,
        });
    }
}

/// The nearer of two ranges, where there are any.
fn nearer(a: Option<f64>, b: Option<f64>) -> Option<f64> {
    [a, b].into_iter().flatten().reduce(f64::min)
}
