//! Direction of incidence on a surface.

/// Direction of incidence of a beam on a surface: angle to the normal, and side of the normal.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Aspect {
    /// Incidence, rad, in [0, pi/2].
    pub incidence: f64,
    /// Side of the normal, in [-1, 1]: the cosine of the angle between the beam's component along
    /// the surface and the surface's left, seen from the sensor with its axis up. A planar sensor in
    /// front of an upright panel has 1 left of the normal, -1 right of it.
    pub side: f64,
}

impl Aspect {
    /// The aspect of a beam in the sensor's plane, from the incidence (rad), positive left of the
    /// normal.
    pub fn signed(incidence: f64) -> Self {
        Self {
            incidence: incidence.abs(),
            side: incidence.signum(),
        }
    }
}

/// An incidence of unknown side: the mean of left and right.
impl From<f64> for Aspect {
    fn from(incidence: f64) -> Self {
        Self {
            incidence,
            side: 0.0,
        }
    }
}
