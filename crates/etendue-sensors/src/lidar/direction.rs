//! Directions of beams.

use std::f64::consts::{PI, TAU};

/// Direction of a beam in the sensor's frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Aim {
    /// Azimuth of the rotor (or of the pattern's frame), with which the beam's origin rotates, rad.
    pub rotor: f64,
    /// Azimuth of the beam, rad.
    pub azimuth: f64,
    /// Elevation of the beam, rad.
    pub elevation: f64,
}

/// Sine and cosine of an angle.
#[derive(Clone, Copy, PartialEq)]
pub(crate) struct SinCos {
    pub sin: f64,
    pub cos: f64,
}

impl SinCos {
    /// Sine and cosine of an angle (rad).
    #[inline]
    pub fn of(angle: f64) -> Self {
        let (sin, cos) = angle.sin_cos();
        Self { sin, cos }
    }

    /// Sine and cosine of the sum of both angles, by the addition theorems.
    #[expect(clippy::inline_always, reason = "one lane of a loop over many")]
    #[inline(always)]
    pub fn plus(self, other: Self) -> Self {
        Self {
            sin: self.sin * other.cos + self.cos * other.sin,
            cos: self.cos * other.cos - self.sin * other.sin,
        }
    }
}

/// An azimuth (rad) wrapped to (-pi, pi].
#[inline]
pub(super) fn wrapped(azimuth: f64) -> f64 {
    // Avoid the remainder within one turn: it takes longer than the rest of a shot.
    if azimuth.abs() < TAU {
        return wrapped_once(azimuth);
    }
    let wrapped = azimuth.rem_euclid(TAU);
    if wrapped > PI { wrapped - TAU } else { wrapped }
}

/// [`wrapped`] for azimuths in (-2 pi, 2 pi).
#[expect(clippy::inline_always, reason = "one lane of a loop over many")]
#[inline(always)]
pub(super) fn wrapped_once(azimuth: f64) -> f64 {
    let ahead = azimuth + if azimuth < 0.0 { TAU } else { 0.0 };
    let round = if ahead > PI { ahead - TAU } else { ahead };
    let within = azimuth > -PI && azimuth <= PI;
    if within { azimuth } else { round }
}
