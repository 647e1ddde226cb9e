//! Direction of incidence on a surface.

/// Direction of incidence of a beam on a surface: angle to the normal, and side of the normal.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Aspect {
    /// Angle of incidence: between the beam and the normal, rad, in [0, pi/2].
    pub incidence: f64,
    /// Signed side of the normal $s\in[-1, 1]$: the cosine of the angle between the component of the beam
    /// tangential to the surface and the horizontal tangent to the left.
    ///
    /// $s = \mathbf d\cdot\mathbf l\\,/\\,(|\mathbf l|\sin\theta)$ with the beam's direction $\mathbf d$, its
    /// incidence $\theta$, and $\mathbf l = \mathbf u\times\mathbf n$ of the sensor's up axis $\mathbf u$
    /// and the normal $\mathbf n$ that points away from the sensor. For a planar sensor in front of an
    /// upright panel, $s = 1$ at points left of the normal through the sensor, and $s = -1$ right of it.
    pub side: f64,
}

impl Aspect {
    /// The aspect of a beam in the scan plane of a planar sensor, from a signed incidence (rad), positive
    /// left of the normal.
    pub fn signed(incidence: f64) -> Self {
        Self {
            incidence: incidence.abs(),
            side: incidence.signum(),
        }
    }
}

/// The aspect with a side of 0, from an incidence (rad): gives the mean of both sides.
impl From<f64> for Aspect {
    fn from(incidence: f64) -> Self {
        Self {
            incidence,
            side: 0.0,
        }
    }
}
