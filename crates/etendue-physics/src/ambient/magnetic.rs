//! The Earth's magnetic field.

use crate::gnss::{Geodetic, LocalFrame};
use nalgebra::Vector3;

/// Degree-1 Gauss coefficients $g_1^1, h_1^1, g_1^0$ of IGRF-13 for 2020, T (Alken et al. 2021,
/// table 2, doi:10.1186/s40623-020-01288-x).
const MOMENT: [f64; 3] = [-1_450.9e-9, 4_652.5e-9, -29_404.8e-9];
/// Reference radius of the coefficients, m.
const RADIUS: f64 = 6_371_200.0;

/// Magnetic flux density of the Earth's dipole at a position, with components east, north and up, T:
/// $B = (a/r)^3\left[3(m\cdot\hat r)\hat r - m\right]$.
///
/// The real field differs from the dipole by up to a third, and much more near steel: use a measured
/// field where the direction matters.
///
/// ```
/// use etendue_physics::ambient::dipole_field;
/// use etendue_physics::gnss::Geodetic;
/// let munich = dipole_field(&Geodetic::from_degrees(48.1, 11.6, 520.0));
/// // IGRF: 48.6 µT, steeply downwards.
/// assert!((munich.norm() * 1e6 - 48.6).abs() < 3.0, "{munich}");
/// assert!(munich.z < -35e-6 && munich.y > 15e-6);
/// ```
pub fn dipole_field(place: &Geodetic) -> Vector3<f64> {
    let position = place.to_ecef().coords;
    let out = position.normalize();
    // The dipole moment points to the south
    let moment = Vector3::from(MOMENT);
    let field = (out * (3.0 * moment.dot(&out)) - moment) * (RADIUS / position.norm()).powi(3);
    LocalFrame::new(*place).turned_from_ecef(&field)
}
