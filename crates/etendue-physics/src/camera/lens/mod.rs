//! Lens models: projection of directions to pixels and back.

mod brown_conrady;
mod check;
mod fov;
mod kannala_brandt;

pub use brown_conrady::BrownConrady;
pub use check::LensError;
pub use fov::fov_radius;
pub use kannala_brandt::KannalaBrandt;

use crate::Scalar;
use nalgebra::{Point2, Vector3};

/// Lens model: maps the angle to the optical axis to an image radius.
///
/// A direction $(x, y, z)$ of the optical frame falls on the normalised image plane (coordinates in
/// focal lengths from the axis).
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Lens<T> {
    /// $(x/z,\\;y/z)$.
    Pinhole,
    /// The radius is the angle $\theta$ to the axis: see [`fov_radius`].
    Fov,
    /// Radial and tangential polynomials of the pinhole image.
    BrownConrady(BrownConrady<T>),
    /// Polynomial of the angle, for fisheye lenses.
    KannalaBrandt(KannalaBrandt<T>),
}

/// Focal lengths, principal point and lens of a camera.
///
/// ```
/// use etendue_physics::camera::{Intrinsics, Lens};
/// use nalgebra::{Point2, Vector3};
/// let camera = Intrinsics {
///     focal: [500.0, 500.0],
///     centre: [319.5, 239.5],
///     lens: Lens::Pinhole,
///     image_circle: None,
/// };
/// let pixel = camera.project(&Vector3::new(0.1, 0.0, 1.0)).unwrap();
/// assert_eq!(pixel, Point2::new(369.5, 239.5));
/// assert!(camera.project(&Vector3::new(0.1, 0.0, -1.0)).is_none());
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Intrinsics<T> {
    /// Focal length over the pixel's width and height, pixels.
    pub focal: [T; 2],
    /// Principal point, pixels; the centre of the first pixel is (0, 0).
    pub centre: [T; 2],
    /// The lens.
    pub lens: Lens<T>,
    /// Radius about the principal point beyond which no light falls, pixels.
    pub image_circle: Option<f64>,
}

/// Largest number of Newton steps from a good start.
const STEPS: usize = 20;
/// Tolerance of distorted coordinates, focal lengths.
const TOLERANCE: f64 = 1e-14;
/// Number of steps from the axis outwards if the direct solution fails.
const STRIDES: u32 = 32;

impl<S: Scalar> Lens<S> {
    /// Image point of a direction of the optical frame on the normalised image plane; `None` if the
    /// model has no image of it (behind the plane of a pinhole; straight back for the others).
    pub fn distort(&self, direction: &Vector3<S>) -> Option<[S; 2]> {
        let [x, y, z] = [direction.x, direction.y, direction.z];
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
    fn solve(&self, point: [f64; 2], start: [f64; 2]) -> Option<[f64; 2]> {
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

impl<S: Scalar> Intrinsics<S> {
    /// Pixel of a direction of the optical frame; `None` if the lens has no image of it. The
    /// direction need not be of unit length.
    pub fn project(&self, direction: &Vector3<S>) -> Option<Point2<S>> {
        let [x, y] = self.lens.distort(direction)?;
        let place = Point2::new(
            self.focal[0] * x + self.centre[0],
            self.focal[1] * y + self.centre[1],
        );
        let inside = self.image_circle.is_none_or(|radius| {
            let [du, dv] = [place.x - self.centre[0], place.y - self.centre[1]];
            du.value().hypot(dv.value()) <= radius
        });
        inside.then_some(place)
    }
}

impl Intrinsics<f64> {
    /// Unit direction of the optical frame that falls on a pixel; `None` if there is none.
    pub fn unproject(&self, pixel: &Point2<f64>) -> Option<Vector3<f64>> {
        let offset = [pixel.x - self.centre[0], pixel.y - self.centre[1]];
        if self
            .image_circle
            .is_some_and(|radius| offset[0].hypot(offset[1]) > radius)
        {
            return None;
        }
        self.lens
            .undistort([offset[0] / self.focal[0], offset[1] / self.focal[1]])
    }

    /// Pinhole camera with a horizontal field of view (full angle below pi, rad), the principal
    /// point in the middle of the image and square pixels.
    pub fn pinhole(width: u32, height: u32, horizontal_fov: f64) -> Self {
        let focal = 0.5 * f64::from(width) / (0.5 * horizontal_fov).tan();
        Self::centred(width, height, focal, Lens::Pinhole)
    }

    /// Camera with an FOV lens of a horizontal field of view (full angle up to 2 pi, rad).
    pub fn fov(width: u32, height: u32, horizontal_fov: f64) -> Self {
        let focal = f64::from(width) / horizontal_fov;
        Self::centred(width, height, focal, Lens::Fov)
    }

    fn centred(width: u32, height: u32, focal: f64, lens: Lens<f64>) -> Self {
        Self {
            focal: [focal; 2],
            centre: [width, height].map(|size| 0.5 * (f64::from(size) - 1.0)),
            lens,
            image_circle: None,
        }
    }
}
