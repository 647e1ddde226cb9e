//! Standard normal draws.

use crate::series::{cos_sin_of_turns, ln};

/// Two standard normal draws from two uniform draws in [0, 1) (Box and Muller 1958,
/// doi:10.1214/aoms/1177706645).
#[expect(clippy::inline_always, reason = "one lane of a loop over many")]
#[inline(always)]
pub(super) fn box_muller(first: f64, second: f64) -> [f64; 2] {
    let radius = (-2.0 * ln(1.0 - first)).sqrt();
    let [cos, sin] = cos_sin_of_turns(second);
    [radius * cos, radius * sin]
}
