//! The lens models and their common interface.

use super::brown_conrady::BrownConrady;
use super::kannala_brandt::KannalaBrandt;
use crate::Scalar;
use nalgebra::Vector3;

/// Lens model: maps the angle to the optical axis to an image radius.
///
/// A direction $(x, y, z)$ of the optical frame falls on the normalised image plane (coordinates in
/// focal lengths from the axis).
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Lens<T> {
    /// $(x/z,\\;y/z)$.
    Pinhole,
    /// The radius is the angle $\theta$ to the axis: see [`fov_radius`](super::fov_radius).
    Fov,
    /// Radial and tangential polynomials of the pinhole image.
    BrownConrady(BrownConrady<T>),
    /// Polynomial of the angle, for fisheye lenses.
    KannalaBrandt(KannalaBrandt<T>),
}

/// Number of steps from the axis outwards if the direct solution fails.
const STRIDES: u32 = 32;

impl<S: Scalar> Lens<S> {
    /// Image point of a direction of the optical frame on the normalised image plane; `None` if the
    /// model has no image of it (behind the plane of a pinhole; straight back for the others).
    pub fn distort(&self, direction: &Vector3<S>) -> Option<[S; 2]> {
        let x = direction.x;
        let y = direction.y;
        let z = direction.z;
        match self {
            Self::Pinhole | Self::BrownConrady(_) if z.value() <= 0.0 => None,
            Self::Pinhole => Some([x / z, y / z]),
            Self::BrownConrady(lens) => Some(lens.distort([x / z, y / z])),
            Self::Fov => radial(direction, |angle| angle),
            Self::KannalaBrandt(lens) => radial(direction, |angle| lens.radius(angle)),
        }
    }
}

/// Image point of a lens whose radius is a function of the angle alone.
fn radial<S: Scalar>(direction: &Vector3<S>, radius: impl Fn(S) -> S) -> Option<[S; 2]> {
    let across2 = direction.x * direction.x + direction.y * direction.y;
    if across2.value() <= 0.0 {
        // Small angles: radius(angle) = angle for every such lens.
        let z = direction.z;
        return (z.value() > 0.0).then(|| [direction.x / z, direction.y / z]);
    }
    let across = across2.sqrt();
    let scale = radius(across.atan2(direction.z)) / across;
    Some([direction.x * scale, direction.y * scale])
}

impl Lens<f64> {
    /// Unit direction whose image is `point` of the normalised image plane; `None` if there is
    /// none.
    ///
    /// Newton's method with analytic derivatives, to 1e-14 focal lengths; if it fails from the
    /// point itself, it continues in steps outwards from the axis.
    pub fn undistort(&self, point: [f64; 2]) -> Option<Vector3<f64>> {
        let direct = self.solve(point, point);
        direct
            .or_else(|| self.follow(point))
            .map(|found| self.direction(found))
    }

    /// Follows the line from the axis to `point`, on the branch that contains the axis.
    fn follow(&self, point: [f64; 2]) -> Option<[f64; 2]> {
        (1..=STRIDES).try_fold([0.0; 2], |start, stride| {
            let part = f64::from(stride) / f64::from(STRIDES);
            self.solve(point.map(|p| p * part), start)
        })
    }

    /// Undistorted coordinates of a distorted point, as the model defines them: those of the
    /// pinhole image, or the angle along the direction of the point.
    pub(super) fn solve(&self, point: [f64; 2], start: [f64; 2]) -> Option<[f64; 2]> {
        match self {
            Self::Pinhole => Some(point),
            Self::Fov => Some(point).filter(|p| p[0].hypot(p[1]) <= std::f64::consts::PI),
            Self::BrownConrady(lens) => lens.undistort(point, start),
            Self::KannalaBrandt(lens) => {
                let radius = point[0].hypot(point[1]);
                let angle = lens.angle(radius, start[0].hypot(start[1]))?;
                Some(if radius > 0.0 {
                    point.map(|p| p * angle / radius)
                } else {
                    point
                })
            }
        }
    }

    /// Unit direction of undistorted coordinates.
    fn direction(&self, [x, y]: [f64; 2]) -> Vector3<f64> {
        match self {
            Self::Pinhole | Self::BrownConrady(_) => Vector3::new(x, y, 1.0).normalize(),
            Self::Fov | Self::KannalaBrandt(_) => {
                let angle = x.hypot(y);
                let (sin, cos) = angle.sin_cos();
                let scale = if angle > 0.0 { sin / angle } else { 1.0 };
                Vector3::new(x * scale, y * scale, cos)
            }
        }
    }
}
