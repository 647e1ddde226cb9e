//! The lens of a camera file.

use crate::toml_file::{Document, DocumentError, TomlProblem};
use etendue_physics::camera::lens::{BrownConrady, KannalaBrandt};
use etendue_physics::camera::{Intrinsics, Lens};
use schemars::JsonSchema;
use serde::Deserialize;
use std::f64::consts::PI;
use toml::Spanned;

/// The lens, with exactly one of the tables.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum LensTable {
    /// No distortion.
    Pinhole(PinholeTable),
    /// Angle to the axis proportional to the radius, for any field of view.
    Fov(FovTable),
    /// Radial and tangential polynomials (OpenCV's standard model).
    BrownConrady(BrownConradyTable),
    /// A polynomial of the angle (OpenCV's fisheye model).
    KannalaBrandt(KannalaBrandtTable),
}

/// A lens without distortion. Give either the field of view or the focal length.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PinholeTable {
    /// Full horizontal field of view; alternative to `focal_px`.
    #[schemars(with = "Option<f64>")]
    #[schemars(range(min = 0.001, max = 360.0))]
    pub horizontal_fov_deg: Option<Spanned<f64>>,
    /// Focal length divided by the width and the height of a pixel.
    #[schemars(with = "Option<[f64; 2]>")]
    #[schemars(inner(range(min = 1e-09)))]
    pub focal_px: Option<Spanned<[f64; 2]>>,
    /// Principal point. Default: the centre of the image. The centre of the first pixel is 0, 0.
    pub centre_px: Option<[f64; 2]>,
}

/// The FOV lens.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FovTable {
    /// Full horizontal field of view, up to 360.
    #[schemars(with = "f64")]
    #[schemars(range(min = 0.001, max = 360.0))]
    pub horizontal_fov_deg: Spanned<f64>,
    /// Principal point. Default: the centre of the image.
    pub centre_px: Option<[f64; 2]>,
}

/// The Brown-Conrady lens.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BrownConradyTable {
    /// Focal length divided by the width and the height of a pixel: OpenCV's fx, fy.
    #[schemars(inner(range(min = 1e-09)))]
    pub focal_px: [f64; 2],
    /// Principal point: OpenCV's cx, cy. Default: the centre of the image.
    pub centre_px: Option<[f64; 2]>,
    /// k1, k2, p1, p2[, k3[, k4, k5, k6[, s1, s2, s3, s4]]] in OpenCV's order.
    #[schemars(with = "Vec<f64>")]
    pub distortion: Spanned<Vec<f64>>,
    /// Radius of the image circle. Default: the whole image.
    #[schemars(range(min = 1e-09))]
    pub image_circle_px: Option<f64>,
}

/// The Kannala-Brandt lens.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct KannalaBrandtTable {
    /// Focal length divided by the width and the height of a pixel: OpenCV's fx, fy.
    #[schemars(inner(range(min = 1e-09)))]
    pub focal_px: [f64; 2],
    /// Principal point: OpenCV's cx, cy. Default: the centre of the image.
    pub centre_px: Option<[f64; 2]>,
    /// k1, k2, k3, k4 of OpenCV's fisheye module.
    pub distortion: [f64; 4],
    /// Radius of the image circle. Default: the whole image.
    #[schemars(range(min = 1e-09))]
    pub image_circle_px: Option<f64>,
}

impl LensTable {
    pub(super) fn intrinsics(
        &self,
        [width, height]: [u32; 2],
        document: &Document,
        table: std::ops::Range<usize>,
    ) -> Result<Intrinsics<f64>, DocumentError> {
        // Use the centre of the image as default principal point
        let middle = [width, height].map(|size| 0.5 * (f64::from(size) - 1.0));
        let intrinsics = |focal, centre: Option<[f64; 2]>, lens, image_circle| Intrinsics {
            focal,
            centre: centre.unwrap_or(middle),
            lens,
            image_circle,
        };
        Ok(match self {
            Self::Pinhole(lens) => {
                let focal = lens.focal(width, document, table)?;
                intrinsics(focal, lens.centre_px, Lens::Pinhole, None)
            }
            Self::Fov(lens) => {
                let fov = angle(&lens.horizontal_fov_deg, 360.0, document)?;
                let focal = f64::from(width) / fov;
                intrinsics([focal; 2], lens.centre_px, Lens::Fov, None)
            }
            Self::BrownConrady(lens) => {
                let model = lens.model(document)?;
                intrinsics(lens.focal_px, lens.centre_px, model, lens.image_circle_px)
            }
            Self::KannalaBrandt(lens) => {
                let model = Lens::KannalaBrandt(KannalaBrandt { k: lens.distortion });
                intrinsics(lens.focal_px, lens.centre_px, model, lens.image_circle_px)
            }
        })
    }
}

impl PinholeTable {
    fn focal(
        &self,
        width: u32,
        document: &Document,
        table: std::ops::Range<usize>,
    ) -> Result<[f64; 2], DocumentError> {
        match (&self.horizontal_fov_deg, &self.focal_px) {
            (Some(fov), None) => {
                let fov = angle(fov, 179.9, document)?;
                Ok([0.5 * f64::from(width) / (0.5 * fov).tan(); 2])
            }
            (None, Some(focal)) => Ok(*focal.get_ref()),
            (fov, _) => {
                let span = fov.as_ref().map_or(table, Spanned::span);
                let problem = TomlProblem::value(
                    "a pinhole camera needs either horizontal_fov_deg or focal_px",
                    "give one of them",
                );
                Err(document.error(span, problem))
            }
        }
    }
}

impl BrownConradyTable {
    fn model(&self, document: &Document) -> Result<Lens<f64>, DocumentError> {
        let lens = BrownConrady::from_opencv(self.distortion.get_ref());
        lens.map(Lens::BrownConrady).ok_or_else(|| {
            let count = self.distortion.get_ref().len();
            let problem = TomlProblem::value(
                format!("{count} distortion parameters instead of 4, 5, 8 or 12"),
                "give them in OpenCV's order; tilted image planes are not modelled",
            );
            document.error(self.distortion.span(), problem)
        })
    }
}

/// A field of view, rad.
fn angle(given: &Spanned<f64>, most: f64, document: &Document) -> Result<f64, DocumentError> {
    let degrees = *given.get_ref();
    if degrees > 0.0 && degrees <= most {
        return Ok(degrees * PI / 180.0);
    }
    let problem = TomlProblem::value(
        format!("a field of view of {degrees} degrees"),
        format!("give an angle above 0 and up to {most} degrees"),
    );
    Err(document.error(given.span(), problem))
}
