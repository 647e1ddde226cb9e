//! Check that a lens maps each pixel to one direction.

use super::intrinsics::Intrinsics;
use super::model::Lens;
use nalgebra::Point2;
use std::f64::consts::PI;
use thiserror::Error;

/// Reason why a lens is unusable at an image size.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum LensError {
    /// The image has no pixel.
    #[error("an image of {width} x {height} pixels has no area")]
    NoPixels {
        /// Columns.
        width: u32,
        /// Rows.
        height: u32,
    },
    /// A parameter is not finite, or a focal length is not above zero.
    #[error("the lens' {name} is {value}: {expected}")]
    Parameter {
        /// Name of the parameter.
        name: &'static str,
        /// Its value.
        value: f64,
        /// Allowed values.
        expected: &'static str,
    },
    /// The mapping is not invertible: two directions fall on one pixel, or none does.
    #[error(
        "the lens cannot be inverted at pixel ({:.1}, {:.1}) of {width} x {height}, {radius:.1} \
         pixels from the principal point: its distortion folds the image there", pixel[0], pixel[1]
    )]
    NotInvertible {
        /// Non-invertible point nearest to the principal point, pixels.
        pixel: [f64; 2],
        /// Its distance from the principal point, pixels.
        radius: f64,
        /// Columns of the image.
        width: u32,
        /// Rows of the image.
        height: u32,
    },
}

/// Number of border pixels between adjacent search lines.
const SPACING: u32 = 8;
/// Number of steps along each line.
const STRIDES: u32 = 64;

impl Intrinsics<f64> {
    /// Checks that every pixel of an image has exactly one direction: searches along lines from the
    /// principal point to the image's border (or the image circle) for the first point where the
    /// distortion folds.
    ///
    /// # Errors
    /// If it folds (with the point), or if a parameter is invalid.
    pub fn check(&self, width: u32, height: u32) -> Result<(), LensError> {
        if width == 0 || height == 0 {
            return Err(LensError::NoPixels { width, height });
        }
        self.check_parameters()?;
        let lines = border(width, height).filter_map(|end| self.first_fold(&end));
        match lines.min_by(|a, b| a.0.total_cmp(&b.0)) {
            None => Ok(()),
            Some((radius, pixel)) => Err(LensError::NotInvertible {
                pixel: pixel.into(),
                radius,
                width,
                height,
            }),
        }
    }

    /// Checks that all parameters are finite, and focal length and image circle positive.
    fn check_parameters(&self) -> Result<(), LensError> {
        let positive = |value: &f64| value.is_finite() && *value > 0.0;
        let distortion = match &self.lens {
            Lens::Pinhole | Lens::Fov => vec![],
            Lens::BrownConrady(lens) => lens.to_opencv().to_vec(),
            Lens::KannalaBrandt(lens) => lens.k.to_vec(),
        };
        let wrong = |name, value, expected| LensError::Parameter {
            name,
            value,
            expected,
        };
        // Focal length, principal point, image circle.
        if let Some(value) = self.focal.iter().find(|value| !positive(value)) {
            return Err(wrong(
                "focal length",
                *value,
                "it has to be above zero pixels",
            ));
        }
        if let Some(value) = self.centre.iter().find(|value| !value.is_finite()) {
            return Err(wrong("principal point", *value, "it has to be finite"));
        }
        if let Some(value) = self.image_circle.filter(|value| !positive(value)) {
            return Err(wrong(
                "image circle",
                value,
                "its radius has to be above zero pixels",
            ));
        }
        // Distortion.
        match distortion.iter().find(|value| !value.is_finite()) {
            Some(value) => Err(wrong("distortion", *value, "it has to be finite")),
            None => Ok(()),
        }
    }

    /// Radius and position, pixels, of the first fold between the principal point and `end`.
    fn first_fold(&self, end: &Point2<f64>) -> Option<(f64, Point2<f64>)> {
        let centre = Point2::from(self.centre);
        let away = end - centre;
        let farthest = self.farthest();
        let mut start = [0.0; 2];
        for stride in 1..=STRIDES {
            let offset = away * (f64::from(stride) / f64::from(STRIDES));
            if offset.norm() > farthest {
                return None;
            }
            let point = [offset.x / self.focal[0], offset.y / self.focal[1]];
            match self.lens.solve(point, start) {
                Some(found) => start = found,
                None => return Some((offset.norm(), centre + offset)),
            }
        }
        None
    }

    /// Radius of the visible image, pixels: the image circle, or the radius at which the angle to the
    /// optical axis of a FOV lens is 180 degrees.
    fn farthest(&self) -> f64 {
        let back = match self.lens {
            Lens::Fov => PI * self.focal[0].min(self.focal[1]),
            _ => f64::INFINITY,
        };
        self.image_circle.unwrap_or(f64::INFINITY).min(back)
    }
}

/// Points along the image's border.
fn border(width: u32, height: u32) -> impl Iterator<Item = Point2<f64>> {
    let [right, bottom] = [width, height].map(|size| f64::from(size) - 0.5);
    let along = |size: u32| {
        let inner = (0..size).step_by(SPACING as usize);
        inner
            .map(|i| f64::from(i) - 0.5)
            .chain([f64::from(size) - 0.5])
    };
    let rows = along(width).flat_map(move |u| [Point2::new(u, -0.5), Point2::new(u, bottom)]);
    rows.chain(along(height).flat_map(move |v| [Point2::new(-0.5, v), Point2::new(right, v)]))
}
