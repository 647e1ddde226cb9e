//! From where a beam looks at a surface.

/// How a beam meets a surface.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Aspect {
    /// Incidence, rad, in [0, pi/2].
    pub incidence: f64,
    /// How far to the left of the surface's normal the beam lies, seen from the sensor with its axis
    /// up: the cosine of the angle between the beam's part along the surface and the surface's left,
    /// in [-1, 1]. A planar sensor before an upright panel has 1 left of the normal, -1 right of it.
    pub side: f64,
}

impl Aspect {
    /// In the sensor's own plane: the incidence is positive left of the normal, rad.
    pub fn signed(incidence: f64) -> Self {
        Self {
            incidence: incidence.abs(),
            side: incidence.signum(),
        }
    }
}

/// An incidence whose side is not known: neither left nor right.
impl From<f64> for Aspect {
    fn from(incidence: f64) -> Self {
        Self {
            incidence,
            side: 0.0,
        }
    }
}
