//! The WGS-84 ellipsoid.

use nalgebra::Point3;

/// Semi-major axis, m (NIMA TR8350.2, 2000, table 3.1).
pub(super) const SEMI_MAJOR: f64 = 6_378_137.0;
/// Flattening (NIMA TR8350.2, 2000, table 3.1).
const FLATTENING: f64 = 1.0 / 298.257_223_563;
/// First eccentricity squared.
pub(super) const ECCENTRICITY_SQUARED: f64 = FLATTENING * (2.0 - FLATTENING);

/// Geodetic position on the WGS-84 ellipsoid.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Geodetic {
    /// Geodetic latitude, rad, north positive.
    pub latitude: f64,
    /// Longitude, rad, east positive, in (-pi, pi].
    pub longitude: f64,
    /// Height above the ellipsoid, m.
    pub height: f64,
}

impl Geodetic {
    /// Position from latitude and longitude in degrees and height in metres.
    pub fn from_degrees(latitude: f64, longitude: f64, height: f64) -> Self {
        Self {
            latitude: latitude.to_radians(),
            longitude: longitude.to_radians(),
            height,
        }
    }

    /// Earth-centred, earth-fixed position, m.
    ///
    /// ```
    /// use etendue_physics::gnss::Geodetic;
    /// let pole = Geodetic::from_degrees(90.0, 0.0, 0.0).to_ecef();
    /// assert!((pole.z - 6_356_752.314_2).abs() < 1e-4);
    /// ```
    pub fn to_ecef(self) -> Point3<f64> {
        let (sin_latitude, cos_latitude) = self.latitude.sin_cos();
        let (sin_longitude, cos_longitude) = self.longitude.sin_cos();
        let normal = prime_vertical(sin_latitude);
        let across = (normal + self.height) * cos_latitude;
        Point3::new(
            across * cos_longitude,
            across * sin_longitude,
            (normal * (1.0 - ECCENTRICITY_SQUARED) + self.height) * sin_latitude,
        )
    }

    /// Geodetic position of an earth-centred, earth-fixed position (m), accurate to a nanometre
    /// from 43 km from the Earth's centre outwards: Bowring's start (1976, "Transformation from
    /// spatial to geographical coordinates", Survey Review 23) and Newton steps on $p\sin\varphi -
    /// z\cos\varphi - e^2N\sin\varphi\cos\varphi = 0$.
    pub fn from_ecef(position: &Point3<f64>) -> Self {
        let across = position.x.hypot(position.y);
        let latitude = latitude(across, position.z);
        let (sin, cos) = latitude.sin_cos();
        let normal = prime_vertical(sin);
        // This form is stable both at the equator and at the poles.
        let height = across * cos + position.z * sin - SEMI_MAJOR * SEMI_MAJOR / normal;
        Self {
            latitude,
            longitude: position.y.atan2(position.x),
            height,
        }
    }
}

/// Radius of curvature in the prime vertical, m.
fn prime_vertical(sin_latitude: f64) -> f64 {
    SEMI_MAJOR / (1.0 - ECCENTRICITY_SQUARED * sin_latitude * sin_latitude).sqrt()
}

fn latitude(across: f64, z: f64) -> f64 {
    let semi_minor = SEMI_MAJOR * (1.0 - FLATTENING);
    let second = ECCENTRICITY_SQUARED / (1.0 - ECCENTRICITY_SQUARED);
    let (sin, cos) = (z * SEMI_MAJOR).atan2(across * semi_minor).sin_cos();
    let up = z + second * semi_minor * sin.powi(3);
    let out = across - ECCENTRICITY_SQUARED * SEMI_MAJOR * cos.powi(3);
    let mut latitude = up.atan2(out);
    for _ in 0..3 {
        let (sin, cos) = latitude.sin_cos();
        let normal = prime_vertical(sin);
        let off = across * sin - z * cos - ECCENTRICITY_SQUARED * normal * sin * cos;
        let meridian = normal.powi(3) * (1.0 - ECCENTRICITY_SQUARED) / SEMI_MAJOR.powi(2);
        let height = across * cos + z * sin - SEMI_MAJOR * SEMI_MAJOR / normal;
        latitude -= off / (meridian + height);
    }
    latitude
}

/// Normal gravity at a position, m/s²: Somigliana's formula on the ellipsoid (NIMA TR8350.2, 2000,
/// eq. 4-1) and its series in the height (eq. 4-3). Gravity anomalies of terrain and ground, up to
/// 2 mm/s², are left out.
///
/// ```
/// use etendue_physics::gnss::{Geodetic, normal_gravity};
/// let at = |latitude| normal_gravity(&Geodetic::from_degrees(latitude, 0.0, 0.0));
/// assert!((at(0.0) - 9.780_325_335_9).abs() < 1e-9);
/// assert!((at(90.0) - 9.832_184_937_8).abs() < 1e-9);
/// ```
pub fn normal_gravity(place: &Geodetic) -> f64 {
    const EQUATOR: f64 = 9.780_325_335_9;
    const SOMIGLIANA: f64 = 0.001_931_852_652_41;
    /// $\omega^2a^2b/GM$.
    const RATIO: f64 = 0.003_449_786_506_84;
    let sin_squared = place.latitude.sin().powi(2);
    let on_ellipsoid = EQUATOR * (1.0 + SOMIGLIANA * sin_squared)
        / (1.0 - ECCENTRICITY_SQUARED * sin_squared).sqrt();
    let relative = place.height / SEMI_MAJOR;
    let slope = 1.0 + FLATTENING + RATIO - 2.0 * FLATTENING * sin_squared;
    on_ellipsoid * (1.0 - 2.0 * slope * relative + 3.0 * relative * relative)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Round trips from the sea floor to geostationary height: 4e-9 m measured.
    #[test]
    fn geodetic_and_ecef_conversions_are_inverse() {
        let mut worst = 0.0_f64;
        for latitude in [
            -90.0, -89.999, -45.0, -1e-7, 0.0, 1e-9, 30.0, 60.0, 89.99999, 90.0,
        ] {
            for longitude in [-179.9, -90.0, 0.0, 45.0, 180.0] {
                for height in [-11_000.0, 0.0, 8_848.0, 400_000.0, 35_786_000.0] {
                    let there = Geodetic::from_degrees(latitude, longitude, height).to_ecef();
                    let back = Geodetic::from_ecef(&there);
                    worst = worst.max((back.to_ecef() - there).norm());
                    assert!((back.height - height).abs() < 2e-8, "{latitude} {height}");
                }
            }
        }
        assert!(worst < 2e-8, "{worst}");
    }
}
