//! GPS constellation and dilution of precision.

use nalgebra::{Matrix4, Point3, Vector3, Vector4};
use std::f64::consts::TAU;

/// The nominal 24 slots of GPS: right ascension of each plane's ascending node and the arguments of
/// latitude of its four slots, degrees, at 0 h UTC on 1 July 1993 (GPS Standard Positioning
/// Service Performance Standard, 2001, table 3-1).
const PLANES: [(f64, [f64; 4]); 6] = [
    (272.847, [268.126, 161.786, 11.676, 41.806]),
    (332.847, [80.956, 173.336, 309.976, 204.376]),
    (32.847, [111.876, 11.796, 339.666, 241.556]),
    (92.847, [135.226, 265.446, 35.156, 167.356]),
    (152.847, [197.046, 302.596, 66.066, 333.686]),
    (212.847, [238.886, 345.226, 105.206, 135.346]),
];
/// Radius of the orbits, m.
const RADIUS: f64 = 26_559_700.0;
/// Inclination of the orbits, degrees.
const INCLINATION: f64 = 55.0;
/// The Earth's gravitational constant, m³/s² (NIMA TR8350.2, 2000).
const GM: f64 = 3.986_004_418e14;
/// Angular velocity of the Earth, rad/s (NIMA TR8350.2, 2000).
const EARTH_RATE: f64 = 7.292_115e-5;
/// Greenwich's right ascension at the epoch: 18 h 36 min 14.4 s, degrees.
const GREENWICH: f64 = 279.06;
/// The epoch, s of Unix time.
const EPOCH: f64 = 741_484_800.0;

/// Positions of the 24 satellites of the nominal GPS constellation at a time (s of Unix time),
/// earth-centred and earth-fixed, m. Real orbits follow it within some degrees.
pub fn satellites(unix_time: f64) -> Vec<Point3<f64>> {
    let since = unix_time - EPOCH;
    let mean_motion = (GM / RADIUS.powi(3)).sqrt();
    let advance = (mean_motion * since).rem_euclid(TAU);
    let turned = (EARTH_RATE * since).rem_euclid(TAU) + GREENWICH.to_radians();
    let (sin_tilt, cos_tilt) = INCLINATION.to_radians().sin_cos();
    let slots = PLANES.iter().flat_map(|(node, latitudes)| {
        let node = node.to_radians() - turned;
        latitudes.map(|latitude| (node, latitude.to_radians() + advance))
    });
    slots
        .map(|(node, latitude)| {
            let ((sin_node, cos_node), (sin, cos)) = (node.sin_cos(), latitude.sin_cos());
            RADIUS
                * Point3::new(
                    cos_node * cos - sin_node * sin * cos_tilt,
                    sin_node * cos + cos_node * sin * cos_tilt,
                    sin * sin_tilt,
                )
        })
        .collect()
}

/// Number of visible satellites and their dilution of precision.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SkyView {
    /// Number of satellites used.
    pub used: usize,
    /// Horizontal dilution of precision; infinite with fewer than four satellites.
    pub horizontal: f64,
    /// Vertical dilution of precision; infinite with fewer than four satellites.
    pub vertical: f64,
}

impl SkyView {
    /// Sky view of satellites in the given unit directions (east, north, up): with rows
    /// $(-e, -n, -u, 1)$ of $H$, the dilutions are the roots of the diagonal of
    /// $(H^\top H)^{-1}$ (Kaplan, Hegarty 2017, "Understanding GPS/GNSS", eq. 11.15).
    ///
    /// ```
    /// use etendue_physics::gnss::SkyView;
    /// use nalgebra::Vector3;
    /// // One overhead, three level and evenly spread: HDOP = sqrt(4/3), VDOP = sqrt(4/3).
    /// let level = |turn: f64| Vector3::new(turn.cos(), turn.sin(), 0.0);
    /// let third = std::f64::consts::TAU / 3.0;
    /// let four = [Vector3::z(), level(0.0), level(third), level(2.0 * third)];
    /// let view = SkyView::of(&four);
    /// assert!((view.horizontal - (4.0_f64 / 3.0).sqrt()).abs() < 1e-12);
    /// assert!((view.vertical - (4.0_f64 / 3.0).sqrt()).abs() < 1e-12);
    /// assert_eq!(SkyView::of(&four[1..]).horizontal, f64::INFINITY);
    /// ```
    pub fn of(directions: &[Vector3<f64>]) -> Self {
        let rows = directions
            .iter()
            .map(|d| Vector4::new(-d.x, -d.y, -d.z, 1.0));
        let normal: Matrix4<f64> = rows.map(|row| row * row.transpose()).sum();
        let enough = directions.len() >= 4;
        let inverse = enough.then(|| normal.try_inverse()).flatten();
        let dilution = |of: &dyn Fn(&Matrix4<f64>) -> f64| {
            inverse.map_or(f64::INFINITY, |inverse| of(&inverse).sqrt())
        };
        Self {
            used: directions.len(),
            horizontal: dilution(&|inverse| inverse[(0, 0)] + inverse[(1, 1)]),
            vertical: dilution(&|inverse| inverse[(2, 2)]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gnss::{Geodetic, LocalFrame};

    fn seen(latitude: f64, time: f64) -> Vec<Vector3<f64>> {
        let frame = LocalFrame::new(Geodetic::from_degrees(latitude, 11.0, 0.0));
        satellites(time)
            .iter()
            .map(|satellite| frame.local_of_ecef(satellite).coords.normalize())
            .filter(|direction| direction.z > 10.0_f64.to_radians().sin())
            .collect()
    }

    /// 24 satellites give 4 to 11 above 10 degrees, 7 on average (measured 6.9).
    #[test]
    fn enough_satellites_are_visible_from_every_position() {
        let mut counts = Vec::new();
        for latitude in [-80.0, -30.0, 0.0, 43.0, 70.0] {
            for hour in 0..24 {
                let directions = seen(latitude, 1.78e9 + 3600.0 * f64::from(hour));
                assert!((4..=12).contains(&directions.len()), "{}", directions.len());
                counts.push(directions.len() as f64);
            }
        }
        let mean = counts.iter().sum::<f64>() / counts.len() as f64;
        assert!((6.5..8.0).contains(&mean), "{mean}");
    }

    /// Two orbits per sidereal day: the sky repeats after 23 h 56 min (within 0.5 degrees,
    /// measured).
    #[test]
    fn the_constellation_repeats_every_sidereal_day() {
        let sidereal_day = TAU / EARTH_RATE;
        let [today, tomorrow] = [0.0, sidereal_day].map(|later| satellites(1.8e9 + later));
        for (a, b) in today.iter().zip(&tomorrow) {
            assert!(a.coords.angle(&b.coords).to_degrees() < 0.5);
        }
    }
}
