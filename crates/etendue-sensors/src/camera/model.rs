//! Description of a camera.

use etendue_physics::camera::{
    Aperture, BayerPattern, Emva1288, Intrinsics, LensError, LinearNoise, Tone, Vignetting,
};
use etendue_physics::light::{BLUE, GREEN, RED};
use thiserror::Error;

/// A camera.
#[derive(Clone, Debug, PartialEq)]
pub struct Camera {
    /// Name.
    pub name: String,
    /// Columns.
    pub width: u32,
    /// Rows.
    pub height: u32,
    /// Projection from directions to pixels.
    pub intrinsics: Intrinsics<f64>,
    /// Spectral bands: one (grey) or three (red, green, blue).
    pub bands: Vec<Band>,
    /// Aperture: irradiance on the axis.
    pub aperture: Aperture,
    /// Vignetting: loss of irradiance off the axis.
    pub vignetting: Vignetting,
    /// Shutter and exposure.
    pub shutter: Shutter,
    /// Detector: from photons to digital numbers.
    pub detector: Detector,
    /// Colour processing of three bands.
    pub colour: Colour,
    /// Encoding of linear values in the image.
    pub tone: Tone,
    /// Frames per second.
    pub frame_rate: f64,
}

/// A spectral band. Materials and lights are evaluated at its centre wavelength.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Band {
    /// Centre wavelength, m.
    pub wavelength: f64,
    /// Bandwidth, m.
    pub width: f64,
    /// Quantum efficiency, electrons per photon, filter included.
    pub quantum_efficiency: f64,
}

/// Shutter: exposure and readout timing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shutter {
    /// Exposure time of each row.
    pub exposure: Exposure,
    /// Time between the starts of exposure of successive rows, s; 0 for a global shutter.
    pub line_time: f64,
}

/// Exposure time of each row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Exposure {
    /// Constant, s.
    Fixed(f64),
    /// Automatic.
    Auto {
        /// Set point of the mean signal, as a fraction of saturation.
        mean: f64,
        /// Shortest and longest exposure time, s.
        limits: [f64; 2],
    },
}

/// Detector model: from photons to digital numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Detector {
    /// The EMVA 1288 model with the parameters of a data sheet.
    Emva(Emva1288),
    /// Noise whose variance is linear in the intensity, or none.
    Linear(LinearDetector),
}

/// A detector with noise whose variance is linear in the intensity.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LinearDetector {
    /// The noise.
    pub noise: LinearNoise,
    /// Electrons at full intensity.
    pub full_scale: f64,
    /// Bits per digital number.
    pub bits: u32,
}

/// Colour processing of three bands.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Colour {
    /// Mosaic of colour filters; `None` where every pixel has all three detectors.
    pub mosaic: Option<BayerPattern>,
    /// Gains of the bands.
    pub white_balance: WhiteBalance,
}

/// Gains of the bands of an image.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum WhiteBalance {
    /// Gains that render a white surface in the light of the scene as grey.
    #[default]
    Scene,
    /// Constant gains: red, green, blue.
    Fixed([f64; 3]),
}

/// Error of an invalid description of a camera.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum CameraError {
    /// The lens is unusable.
    #[error(transparent)]
    Lens(#[from] LensError),
    /// A number is outside its domain.
    #[error("{name} is {value}: {expected}")]
    Value {
        /// Name of the number.
        name: &'static str,
        /// Its value.
        value: f64,
        /// Its domain.
        expected: &'static str,
    },
    /// The number of bands is neither one nor three.
    #[error("a camera has one band or three, not {0}")]
    Bands(usize),
}

impl Camera {
    /// A grey pinhole camera without noise, with a horizontal field of view (rad) and automatic
    /// exposure.
    pub fn simple(width: u32, height: u32, horizontal_fov: f64) -> Self {
        Self {
            name: "simple".into(),
            width,
            height,
            intrinsics: Intrinsics::pinhole(width, height, horizontal_fov),
            bands: vec![Band {
                wavelength: GREEN,
                width: 100e-9,
                quantum_efficiency: 0.6,
            }],
            aperture: Aperture {
                f_number: 2.0,
                transmission: 1.0,
                pixel_pitch: [4e-6; 2],
            },
            vignetting: Vignetting::default(),
            shutter: Shutter {
                exposure: Exposure::Auto {
                    mean: 0.2,
                    limits: [1e-7, 1.0],
                },
                line_time: 0.0,
            },
            detector: Detector::Linear(LinearDetector {
                noise: LinearNoise::default(),
                full_scale: 10_000.0,
                bits: 12,
            }),
            colour: Colour {
                mosaic: None,
                white_balance: WhiteBalance::Scene,
            },
            tone: Tone::Srgb,
            frame_rate: 30.0,
        }
    }

    /// The same camera with a red, a green and a blue band.
    #[must_use]
    pub fn in_colour(mut self) -> Self {
        self.bands = [(RED, 0.5), (GREEN, 0.55), (BLUE, 0.5)]
            .map(|(wavelength, quantum_efficiency)| Band {
                wavelength,
                width: 80e-9,
                quantum_efficiency,
            })
            .to_vec();
        self
    }

    /// Checks the description.
    ///
    /// # Errors
    /// If a parameter is outside its domain.
    pub fn check(&self) -> Result<(), CameraError> {
        if ![1, 3].contains(&self.bands.len()) {
            return Err(CameraError::Bands(self.bands.len()));
        }
        self.check_numbers()?;
        self.check_detector()?;
        Ok(self.intrinsics.check(self.width, self.height)?)
    }

    /// Checks optics, timing and bands.
    fn check_numbers(&self) -> Result<(), CameraError> {
        // Optics.
        let Aperture {
            f_number,
            transmission,
            pixel_pitch,
        } = self.aperture;
        positive("the f-number", f_number)?;
        fraction("the lens' transmission", transmission)?;
        positive("the pixel's width, m,", pixel_pitch[0])?;
        positive("the pixel's height, m,", pixel_pitch[1])?;
        // Timing.
        positive("the frame rate, 1/s,", self.frame_rate)?;
        not_negative("the line time, s,", self.shutter.line_time)?;
        match self.shutter.exposure {
            Exposure::Fixed(time) => positive("the exposure, s,", time)?,
            Exposure::Auto {
                mean,
                limits: [shortest, longest],
            } => {
                positive("the shortest exposure, s,", shortest)?;
                fraction("the set point of the automatic exposure", mean)?;
                at_least("the longest exposure, s,", longest, shortest)?;
            }
        }
        // Bands.
        for band in &self.bands {
            positive("a band's wavelength, m,", band.wavelength)?;
            positive("a band's width, m,", band.width)?;
            fraction("a band's quantum efficiency", band.quantum_efficiency)?;
        }
        // Tone and white balance.
        if let Tone::Gamma(gamma) = self.tone {
            positive("gamma", gamma)?;
        }
        if let WhiteBalance::Fixed(gains) = self.colour.white_balance {
            gains
                .iter()
                .try_for_each(|gain| positive("a gain of the white balance", *gain))?;
        }
        Ok(())
    }

    /// Checks the detector.
    fn check_detector(&self) -> Result<(), CameraError> {
        // Gain, capacity and noise.
        let bits = match self.detector {
            Detector::Emva(detector) => {
                positive("the gain, digital numbers per electron,", detector.gain)?;
                positive("the full well, electrons,", detector.full_well)?;
                not_negative("the dark noise, electrons,", detector.dark_noise)?;
                not_negative("the dark current, electrons/s,", detector.dark_current)?;
                not_negative("the black level", detector.black_level)?;
                not_negative("the response's non-uniformity", detector.prnu)?;
                not_negative("the dark signal's non-uniformity", detector.dsnu)?;
                positive(
                    "the range of the converter above the black level",
                    detector.saturation(),
                )?;
                detector.bits
            }
            Detector::Linear(detector) => {
                positive("the full scale, electrons,", detector.full_scale)?;
                not_negative("the signal-dependent noise", detector.noise.shot)?;
                not_negative("the dark noise", detector.noise.floor)?;
                detector.bits
            }
        };
        // Converter.
        check(
            (1..=16).contains(&bits),
            "the converter's number of bits",
            f64::from(bits),
            "it has to be between 1 and 16",
        )
    }

    /// Time between frames, s.
    pub fn frame_time(&self) -> f64 {
        1.0 / self.frame_rate
    }

    /// Time from the start of a frame to the end of the exposure of its last row, s, for an exposure time of
    /// `exposure` seconds.
    pub fn collection_time(&self, exposure: f64) -> f64 {
        exposure + self.shutter.line_time * f64::from(self.height - 1)
    }
}

impl Detector {
    /// Saturation of a pixel, electrons.
    pub fn saturation(&self) -> f64 {
        match self {
            Self::Emva(detector) => detector.saturation(),
            Self::Linear(detector) => detector.full_scale,
        }
    }

    /// Bits per digital number.
    pub fn bits(&self) -> u32 {
        match self {
            Self::Emva(detector) => detector.bits,
            Self::Linear(detector) => detector.bits,
        }
    }
}

/// An error of a value unless it is valid and finite.
fn check(
    good: bool,
    name: &'static str,
    value: f64,
    expected: &'static str,
) -> Result<(), CameraError> {
    if good && value.is_finite() {
        Ok(())
    } else {
        Err(CameraError::Value {
            name,
            value,
            expected,
        })
    }
}

fn positive(name: &'static str, value: f64) -> Result<(), CameraError> {
    check(value > 0.0, name, value, "it has to be above zero")
}

fn not_negative(name: &'static str, value: f64) -> Result<(), CameraError> {
    check(value >= 0.0, name, value, "it has to be zero or more")
}

fn fraction(name: &'static str, value: f64) -> Result<(), CameraError> {
    check(
        value > 0.0 && value <= 1.0,
        name,
        value,
        "it has to be above zero and at most 1",
    )
}

fn at_least(name: &'static str, value: f64, least: f64) -> Result<(), CameraError> {
    check(
        value >= least,
        name,
        value,
        "it has to be at least the shortest",
    )
}
