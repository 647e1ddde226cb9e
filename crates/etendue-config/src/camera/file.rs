//! Schema of camera files.

use super::LensTable;
use crate::ConfigError;
use crate::toml_file::{Document, DocumentError, FileKind, TomlProblem};
use etendue_physics::camera::{Aperture, BayerPattern, Emva1288, LinearNoise, Tone, Vignetting};
use etendue_sensors::camera::{
    Band, Camera, CameraError, Colour, Detector, Exposure, LinearDetector, Shutter, WhiteBalance,
};
use schemars::JsonSchema;
use serde::Deserialize;
use std::path::Path;
use toml::Spanned;

/// Supported version of the format.
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
    /// Description in one sentence.
    #[serde(default)]
    pub description: String,
    /// References of the values.
    #[serde(default)]
    pub sources: Vec<String>,
    /// Number of columns and rows.
    #[schemars(with = "[u32; 2]")]
    #[schemars(inner(range(min = 1, max = 32_768)))]
    pub resolution_px: Spanned<[u32; 2]>,
    /// Frames per second.
    #[serde(default = "thirty")]
    #[schemars(range(min = 0.001))]
    pub frame_rate_hz: f64,
    /// Projection of directions to pixels.
    #[schemars(with = "LensTable")]
    pub lens: Spanned<LensTable>,
    /// Spectral bands: one, or red, green and blue.
    pub bands: Vec<BandTable>,
    /// Optics.
    pub optics: OpticsTable,
    /// Shutter.
    pub shutter: ShutterTable,
    /// Detector.
    pub detector: DetectorTable,
    /// Image processing.
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
    /// Centre wavelength, at which materials and lights are evaluated.
    #[schemars(range(min = 1.0))]
    pub wavelength_nm: f64,
    /// Bandwidth.
    #[schemars(range(min = 0.001))]
    pub width_nm: f64,
    /// Electrons per photon, colour filter included, in (0, 1].
    #[schemars(range(min = 1e-6, max = 1.0))]
    pub quantum_efficiency: f64,
}

/// Optics of the camera.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OpticsTable {
    /// Focal length divided by the pupil diameter.
    #[schemars(range(min = 0.001, max = 1000000.0))]
    pub f_number: f64,
    /// Transmittance of the lens.
    #[serde(default = "one")]
    #[schemars(range(min = 0.0, max = 1.0))]
    pub transmission: f64,
    /// Width and height of a pixel.
    #[schemars(inner(range(min = 0.001)))]
    pub pixel_um: [f64; 2],
    /// Vignetting. Default: none.
    #[serde(default)]
    pub vignetting: VignettingTable,
}

fn one() -> f64 {
    1.0
}

/// Decrease of the irradiance towards the edges of the image.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct VignettingTable {
    /// Exponent of the cosine of the angle to the axis; 4 for a simple lens.
    #[schemars(range(min = 0.0, max = 100.0))]
    pub cosine_power: f64,
    /// Coefficients of the second, fourth and sixth power of the distance from the principal
    /// point, in half diagonals.
    #[schemars(inner(range(min = -1000.0, max = 1000.0)))]
    pub polynomial: [f64; 3],
}

/// Shutter.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ShutterTable {
    /// Exposure time.
    pub exposure: ExposureTable,
    /// Delay between the exposures of two rows (rolling shutter); 0 for a global shutter.
    #[serde(default)]
    #[schemars(range(min = 0.0))]
    pub line_time_us: f64,
}

/// Exposure time of a row.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum ExposureTable {
    /// Constant exposure.
    FixedMs(f64),
    /// Automatic exposure.
    Auto {
        /// Target mean signal as a fraction of saturation.
        #[schemars(range(min = 1e-6, max = 1.0))]
        mean: f64,
        /// Minimum exposure time.
        #[schemars(range(min = 1e-06))]
        shortest_ms: f64,
        /// Maximum exposure time.
        #[schemars(range(min = 1e-06))]
        longest_ms: f64,
    },
}

/// Detector.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum DetectorTable {
    /// Parameters of EMVA 1288.
    Emva1288(EmvaTable),
    /// Variance linear in the intensity.
    Linear(LinearTable),
}

/// A detector with the parameters of EMVA 1288.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EmvaTable {
    /// Digital numbers per electron.
    #[schemars(range(min = 1e-09))]
    pub gain_dn_per_e: f64,
    /// Temporal dark noise.
    #[schemars(range(min = 0.0))]
    pub dark_noise_e: f64,
    /// Dark current.
    #[serde(default)]
    #[schemars(range(min = 0.0))]
    pub dark_current_e_per_s: f64,
    /// Saturation capacity.
    #[schemars(range(min = 1.0))]
    pub full_well_e: f64,
    /// Digital number without light.
    #[serde(default)]
    #[schemars(range(min = 0.0))]
    pub black_level_dn: f64,
    /// Bits of the analogue-to-digital converter.
    #[schemars(range(min = 1, max = 16))]
    pub bits: u32,
    /// Photo-response non-uniformity, relative.
    #[serde(default)]
    #[schemars(range(min = 0.0, max = 1.0))]
    pub prnu: f64,
    /// Dark-signal non-uniformity.
    #[serde(default)]
    #[schemars(range(min = 0.0))]
    pub dsnu_e: f64,
}

/// A detector with a noise variance that is linear in the intensity.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LinearTable {
    /// Standard deviation of the shot noise at full intensity; it is proportional to the square
    /// root of the intensity.
    #[serde(default)]
    #[schemars(range(min = 0.0))]
    pub shot: f64,
    /// Standard deviation without light, relative to full intensity.
    #[serde(default)]
    #[schemars(range(min = 0.0))]
    pub floor: f64,
    /// Electrons at full intensity.
    #[schemars(range(min = 1.0))]
    pub full_scale_e: f64,
    /// Bits of a digital number.
    #[schemars(range(min = 1, max = 16))]
    pub bits: u32,
}

/// Image processing.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct PictureTable {
    /// Mosaic of colour filters. Default: every pixel measures all bands.
    pub mosaic: Option<MosaicName>,
    /// Gains of red, green and blue. Default: a white surface in the light of the scene is grey.
    #[schemars(inner(range(min = 1e-09)))]
    pub white_balance: Option<[f64; 3]>,
    /// Encoding of linear values.
    pub tone: ToneName,
}

/// A mosaic of colour filters: first row, second row of the 2 x 2 pattern.
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

/// Encoding of linear values.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ToneName {
    /// The sRGB transfer function.
    #[default]
    Srgb,
    /// Linear.
    Linear,
    /// A power function with this exponent.
    Gamma(f64),
}

/// Reads a camera file.
///
/// # Errors
/// If it cannot be read, is not TOML, has unknown keys, or describes an invalid camera; the error
/// contains the position.
pub fn load(path: &Path) -> Result<Camera, ConfigError> {
    Ok(parse(&Document::read(path)?)?)
}

/// Parses a camera file.
///
/// # Errors
/// As [`load`], except errors of reading.
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
    let file: CameraFile = document.parse_as(FileKind::Camera)?;
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
