//! Frames of a camera.

use super::transport::LightTransport;
use etendue_physics::camera::BayerPattern;

/// Settings of a frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FrameSettings {
    /// Rays per pixel.
    pub samples: u32,
    /// Light transport.
    pub light: LightTransport,
    /// Seed of the random numbers.
    pub seed: u64,
    /// Index of the camera: cameras with different indices draw independently.
    pub sensor: u32,
    /// Index of the frame: frames with different indices draw independently.
    pub index: u32,
    /// Start of the first row's exposure, s from the scene's epoch.
    pub start: f64,
}

impl Default for FrameSettings {
    /// Four rays per pixel, direct light, seed 1, at time zero.
    fn default() -> Self {
        Self {
            samples: 4,
            light: LightTransport::default(),
            seed: 1,
            sensor: 0,
            index: 0,
            start: 0.0,
        }
    }
}

/// A frame: radiance, digital numbers and the display image.
///
/// All lists are in row-major order from the upper left pixel.
#[derive(Clone, Debug, PartialEq)]
pub struct CameraFrame {
    /// Columns.
    pub width: u32,
    /// Rows.
    pub height: u32,
    /// Number of bands: 1 or 3.
    pub bands: usize,
    /// Start of the first row's exposure, s.
    pub start: f64,
    /// Exposure time of each row, s.
    pub exposure: f64,
    /// Noise-free mean radiance over the pixel and the exposure, with vignetting, W m⁻² sr⁻¹ within the
    /// band; band by band for each pixel.
    pub radiance: Vec<f32>,
    /// Digital numbers of the detector: one per pixel with a mosaic or one band, else three.
    pub raw: Vec<u16>,
    /// Bits of a digital number.
    pub bits: u32,
    /// Mosaic of `raw`.
    pub mosaic: Option<BayerPattern>,
    /// The display image, 8 bits, band by band for each pixel.
    pub picture: Vec<u8>,
    /// True planar depth of each pixel ([`FrameTruth::depth`](super::FrameTruth::depth)), if the mounted
    /// camera records it.
    pub depth: Option<Vec<f32>>,
}

impl CameraFrame {
    /// Least and greatest radiance of all pixels and bands.
    pub fn radiance_range(&self) -> [f64; 2] {
        let values = self.radiance.iter().map(|value| f64::from(*value));
        values.fold(
            [f64::INFINITY, f64::NEG_INFINITY],
            |[least, most], value| [least.min(value), most.max(value)],
        )
    }
}
