//! A camera file as a whole.

use super::LensTable;
use crate::ConfigError;
use crate::toml_file::{Document, DocumentError, TomlProblem};
use etendue_physics::camera::{Aperture, BayerPattern, Emva1288, LinearNoise, Tone, Vignetting};
use etendue_sensors::camera::{
    Band, Camera, CameraError, Colour, Detector, Exposure, LinearDetector, Shutter, WhiteBalance,
};
use schemars::JsonSchema;
use serde::Deserialize;
use std::path::Path;
use toml::Spanned;

/// The version of the format that is read.
const VERSION: u32 = 1;

/// A camera file.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CameraFile {
    /// Version of this format: 1.
    #[schemars(with = "u32")]
    pub version: Spanned<u32>,
    /// Name of the camera.
    pub name: String,
    /// What it is, in a sentence.
    #[serde(default)]
    pub description: String,
    /// Where the numbers come from.
    #[serde(default)]
    pub sources: Vec<String>,
    /// Columns and rows.
    #[schemars(with = "[u32; 2]")]
    pub resolution_px: Spanned<[u32; 2]>,
    /// Frames per second.
    #[serde(default = "thirty")]
    pub frame_rate_hz: f64,
    /// From directions to pixels.
    #[schemars(with = "LensTable")]
    pub lens: Spanned<LensTable>,
    /// The bands it sees: one, or red, green and blue.
    pub bands: Vec<BandTable>,
    /// How much light arrives.
    pub optics: OpticsTable,
    /// When light is collected.
    pub shutter: ShutterTable,
    /// Detector.
    pub detector: DetectorTable,
    /// Processing of the picture.
    #[serde(default)]
    pub picture: PictureTable,
}

fn thirty() -> f64 {
    30.0
}

/// A band of wavelengths.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BandTable {
    /// Its middle, where materials and lights are taken.
    pub wavelength_nm: f64,
    /// Its width.
    pub width_nm: f64,
    /// Electrons per photon, colour filter included, in (0, 1].
    pub quantum_efficiency: f64,
}

/// How much light arrives.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OpticsTable {
    /// Focal length over the pupil's diameter.
    pub f_number: f64,
    /// Share of the light that the glass lets through.
    #[serde(default = "one")]
    pub transmission: f64,
    /// Width and height of a pixel.
    pub pixel_um: [f64; 2],
    /// How the image darkens towards its edges; not at all where it is left out.
    #[serde(default)]
    pub vignetting: VignettingTable,
}

fn one() -> f64 {
    1.0
}

/// How the image darkens towards its edges.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct VignettingTable {
    /// Power of the cosine of the angle to the axis; 4 for a simple lens.
    pub cosine_power: f64,
    /// Coefficients of the second, fourth and sixth power of the distance from the principal
    /// point, in half diagonals.
    pub polynomial: [f64; 3],
}

/// When light is collected.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ShutterTable {
    /// For how long.
    pub exposure: ExposureTable,
    /// From one row's exposure to the next: a rolling shutter; 0 for a global one.
    #[serde(default)]
    pub line_time_us: f64,
}

/// For how long each row is exposed.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum ExposureTable {
    /// Always as long.
    FixedMs(f64),
    /// As long as it takes.
    Auto {
        /// Mean signal aimed at, as a share of saturation.
        mean: f64,
        /// Shortest.
        shortest_ms: f64,
        /// Longest.
        longest_ms: f64,
    },
}

/// Detector.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum DetectorTable {
    /// By the numbers of a data sheet after EMVA 1288.
    Emva1288(EmvaTable),
    /// Noise whose variance is a line in the intensity.
    Linear(LinearTable),
}

/// A detector by the numbers of EMVA 1288.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EmvaTable {
    /// Digital numbers per electron.
    pub gain_dn_per_e: f64,
    /// Temporal dark noise.
    pub dark_noise_e: f64,
    /// Dark current.
    #[serde(default)]
    pub dark_current_e_per_s: f64,
    /// Saturation capacity.
    pub full_well_e: f64,
    /// Reading in the dark.
    #[serde(default)]
    pub black_level_dn: f64,
    /// Bits of the converter.
    pub bits: u32,
    /// Photo-response non-uniformity, relative.
    #[serde(default)]
    pub prnu: f64,
    /// Dark-signal non-uniformity.
    #[serde(default)]
    pub dsnu_e: f64,
}

/// A detector of linear noise.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LinearTable {
    /// Standard deviation at full intensity that grows with its root.
    #[serde(default)]
    pub shot: f64,
    /// Standard deviation in the dark, of full intensity.
    #[serde(default)]
    pub floor: f64,
    /// Electrons at full intensity.
    pub full_scale_e: f64,
    /// Bits of a reading.
    pub bits: u32,
}

/// Processing of the picture.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct PictureTable {
    /// The mosaic of colour filters; without it every pixel sees all bands.
    pub mosaic: Option<MosaicName>,
    /// Gains of red, green and blue; without them a white surface in the scene's light is grey.
    pub white_balance: Option<[f64; 3]>,
    /// How linear values are encoded.
    pub tone: ToneName,
}

/// A mosaic of colour filters: its first two pixels, then those below.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum MosaicName {
    /// Red green, green blue.
    Rggb,
    /// Blue green, green red.
    Bggr,
    /// Green red, blue green.
    Grbg,
    /// Green blue, red green.
    Gbrg,
}

/// How linear values are encoded.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ToneName {
    /// As sRGB does.
    #[default]
    Srgb,
    /// Not at all.
    Linear,
    /// By that power.
    Gamma(f64),
}

/// Reads a camera file.
///
/// # Errors
/// If it cannot be read, is not TOML, has unknown keys, or describes what cannot be; the error
/// points at the place.
pub fn load(path: &Path) -> Result<Camera, ConfigError> {
    Ok(parse(&Document::read(path)?)?)
}

/// The camera that a TOML document describes.
///
/// # Errors
/// As [`load`], but for reading.
///
/// ```
/// use etendue_config::camera::{parse, presets};
/// use etendue_config::toml_file::Document;
///
/// let text = presets()[0].text.replace("focal_px", "focal_pix");
/// let error = parse(&Document::new("mine.toml", text)).unwrap_err();
/// assert_eq!(error.remedy(), "did you mean \"focal_px\"?");
/// ```
pub fn parse(document: &Document) -> Result<Camera, DocumentError> {
    // Parse the document and check its version
    let file: CameraFile = document.parse()?;
    document.check_version(&file.version, VERSION)?;
    // Compute the intrinsics
    let size = *file.resolution_px.get_ref();
    let lens = file.lens.get_ref();
    let intrinsics = lens.intrinsics(size, document, file.lens.span())?;
    // Check the camera as a whole
    let camera = file.camera(intrinsics);
    camera.check().map_err(|error| {
        let span = match error {
            CameraError::Lens(_) => file.lens.span(),
            _ => 0..0,
        };
        let remedy = match error {
            CameraError::Lens(_) => {
                "check the order and signs of the parameters, or give image_circle_px where the \
                 lens lights no more than a circle"
            }
            _ => "correct it in this file",
        };
        document.error(span, TomlProblem::value(error.to_string(), remedy))
    })?;
    Ok(camera)
}

impl CameraFile {
    fn camera(&self, intrinsics: etendue_physics::camera::Intrinsics<f64>) -> Camera {
        let [width, height] = *self.resolution_px.get_ref();
        Camera {
            name: self.name.clone(),
            width,
            height,
            intrinsics,
            bands: self.bands.iter().map(BandTable::band).collect(),
            aperture: Aperture {
                f_number: self.optics.f_number,
                transmission: self.optics.transmission,
                pixel_pitch: self.optics.pixel_um.map(|pitch| pitch * 1e-6),
            },
            vignetting: Vignetting {
                cosine_power: self.optics.vignetting.cosine_power,
                polynomial: self.optics.vignetting.polynomial,
            },
            shutter: Shutter {
                exposure: self.shutter.exposure.exposure(),
                line_time: self.shutter.line_time_us * 1e-6,
            },
            detector: self.detector.detector(),
            colour: Colour {
                mosaic: self.picture.mosaic.map(Into::into),
                white_balance: self
                    .picture
                    .white_balance
                    .map_or(WhiteBalance::Scene, WhiteBalance::Fixed),
            },
            tone: match self.picture.tone {
                ToneName::Srgb => Tone::Srgb,
                ToneName::Linear => Tone::Linear,
                ToneName::Gamma(gamma) => Tone::Gamma(gamma),
            },
            frame_rate: self.frame_rate_hz,
        }
    }
}

impl BandTable {
    fn band(&self) -> Band {
        Band {
            wavelength: self.wavelength_nm * 1e-9,
            width: self.width_nm * 1e-9,
            quantum_efficiency: self.quantum_efficiency,
        }
    }
}

impl ExposureTable {
    fn exposure(&self) -> Exposure {
        match *self {
            Self::FixedMs(time) => Exposure::Fixed(time * 1e-3),
            Self::Auto {
                mean,
                shortest_ms,
                longest_ms,
            } => Exposure::Auto {
                mean,
                limits: [shortest_ms * 1e-3, longest_ms * 1e-3],
            },
        }
    }
}

impl DetectorTable {
    fn detector(&self) -> Detector {
        match self {
            Self::Emva1288(table) => Detector::Emva(Emva1288 {
                gain: table.gain_dn_per_e,
                dark_noise: table.dark_noise_e,
                dark_current: table.dark_current_e_per_s,
                full_well: table.full_well_e,
                black_level: table.black_level_dn,
                bits: table.bits,
                prnu: table.prnu,
                dsnu: table.dsnu_e,
            }),
            Self::Linear(table) => Detector::Linear(LinearDetector {
                noise: LinearNoise {
                    shot: table.shot,
                    floor: table.floor,
                },
                full_scale: table.full_scale_e,
                bits: table.bits,
            }),
        }
    }
}

impl From<MosaicName> for BayerPattern {
    fn from(name: MosaicName) -> Self {
        match name {
            MosaicName::Rggb => Self::Rggb,
            MosaicName::Bggr => Self::Bggr,
            MosaicName::Grbg => Self::Grbg,
            MosaicName::Gbrg => Self::Gbrg,
        }
    }
}
