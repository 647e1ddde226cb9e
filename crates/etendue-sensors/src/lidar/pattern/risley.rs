//! Rotating wedge prisms (Risley prisms).

use super::columns::Columns;
use crate::lidar::channel::Channel;
use crate::lidar::direction::Aim;
use nalgebra::Vector3;
use std::f64::consts::TAU;

/// A wedge prism that rotates about the x axis. The face towards the laser is perpendicular to the axis,
/// the far face is inclined.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Prism {
    /// Wedge angle between the faces, rad.
    pub wedge: f64,
    /// Refractive index.
    pub index: f64,
    /// Rotations per second about the x axis, Hz; negative for the opposite sense.
    pub rate: f64,
    /// Rotation angle at the start of the run, rad.
    pub phase: f64,
}

/// Rotating wedge prisms in series; each face refracts the beams
/// (Brazeal, Wilkinson, Hochmair 2021, doi:10.3390/s21144722).
#[derive(Clone, Debug, PartialEq)]
pub struct Risley {
    /// Sweeps (frames) per second, Hz; the pattern does not repeat with the sweep.
    pub rate: f64,
    /// The prisms, from the laser outwards.
    pub prisms: Vec<Prism>,
    /// Schedule of the columns.
    pub columns: Columns,
}

impl Risley {
    /// Direction of a channel's beam behind the prisms at `time` (s).
    pub fn aim(&self, time: f64, channel: &Channel) -> Aim {
        let (sin_azimuth, cos_azimuth) = channel.azimuth.sin_cos();
        let (sin_elevation, cos_elevation) = channel.elevation.sin_cos();
        let straight = Vector3::new(
            cos_elevation * cos_azimuth,
            cos_elevation * sin_azimuth,
            sin_elevation,
        );
        let bent = self
            .prisms
            .iter()
            .fold(straight, |ray, prism| prism.bend(&ray, time));
        Aim {
            rotor: 0.0,
            azimuth: bent.y.atan2(bent.x),
            elevation: bent.z.clamp(-1.0, 1.0).asin(),
        }
    }
}

impl Prism {
    /// Direction of a ray behind the prism at `time` (s).
    fn bend(&self, ray: &Vector3<f64>, time: f64) -> Vector3<f64> {
        let turned = self.phase + TAU * (self.rate * time).fract();
        let (sin, cos) = turned.sin_cos();
        let far_face = Vector3::new(
            self.wedge.cos(),
            self.wedge.sin() * cos,
            self.wedge.sin() * sin,
        );
        let inside = refract(ray, &Vector3::x(), 1.0 / self.index);
        refract(&inside, &far_face, self.index)
    }
}

/// Refraction by Snell's law: the direction behind a face of a unit ray, from the unit normal (on the side
/// to which the ray travels) and the ratio of the indices before and behind the face. Beyond the critical
/// angle the result is parallel to the face.
fn refract(ray: &Vector3<f64>, normal: &Vector3<f64>, index_ratio: f64) -> Vector3<f64> {
    let cos = ray.dot(normal);
    let along = (ray - normal * cos) * index_ratio;
    let sin_squared = along.norm_squared().min(1.0);
    (along + normal * (1.0 - sin_squared).sqrt()).normalize()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn two_prisms(time: f64) -> Aim {
        let prism = |rate, phase| Prism {
            wedge: 18.0_f64.to_radians(),
            index: 1.51,
            rate,
            phase,
        };
        let risley = Risley {
            rate: 10.0,
            prisms: vec![prism(7294.0 / 60.0, 0.0), prism(-4664.0 / 60.0, 0.0)],
            columns: Columns::Period { seconds: 1e-5 },
        };
        risley.aim(time, &Channel::default())
    }

    /// Two thin prisms would deviate by $2(n-1)\alpha$ = 18.4 degrees together. Thick ones deviate by more
    /// (measured 20.7), and by zero when opposed.
    #[test]
    fn two_wedges_bend_a_little_more_than_thin_ones_and_cancel_when_opposed() {
        let off_axis: Vec<f64> = (0..100_000)
            .map(|i| two_prisms(f64::from(i) * 1e-5))
            .map(|aim| {
                (aim.azimuth.cos() * aim.elevation.cos())
                    .acos()
                    .to_degrees()
            })
            .collect();
        let largest = off_axis.iter().fold(0.0, |a: f64, b| a.max(*b));
        let least = off_axis.iter().fold(90.0, |a: f64, b| a.min(*b));
        assert!((18.4..21.0).contains(&largest), "{largest}");
        assert!(least < 1.5, "{least}");
    }

    #[test]
    fn refraction_keeps_snells_invariant() {
        let ray = Vector3::new(0.9, 0.3, 0.2).normalize();
        let normal = Vector3::new(0.95, -0.1, 0.1).normalize();
        let bent = refract(&ray, &normal, 1.0 / 1.5);
        let sin = |v: &Vector3<f64>| v.cross(&normal).norm();
        assert!((sin(&ray) / sin(&bent) - 1.5).abs() < 1e-12);
        assert!(ray.cross(&normal).normalize().dot(&bent).abs() < 1e-12);
    }
}
