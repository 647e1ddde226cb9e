//! Projection of directions to pixels and back.

use super::model::Lens;
use crate::Scalar;
use nalgebra::{Point2, Vector3};

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
            let du = place.x - self.centre[0];
            let dv = place.y - self.centre[1];
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
