//! Frequency-modulated continuous-wave receivers: range and radial velocity.

use crate::lidar::check::{Wrong, positive};
use etendue_physics::pulse::Fmcw;

/// Checks the numbers of a receiver.
pub(super) fn check(fmcw: &Fmcw) -> Result<(), Wrong> {
    positive(&[
        ("the frequency swept by a chirp, Hz,", fmcw.bandwidth),
        ("the duration of a chirp, s,", fmcw.chirp),
        ("the noise, 1/(m2 sr),", fmcw.noise),
        ("the threshold over the noise", fmcw.threshold),
    ])
}
