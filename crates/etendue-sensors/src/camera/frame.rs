//! What a camera gives.

use super::transport::LightTransport;
use etendue_physics::camera::BayerPattern;

/// How a frame is taken.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FrameSettings {
    /// Rays a pixel.
    pub samples: u32,
    /// What light is followed.
    pub light: LightTransport,
    /// Seed of all that is random.
    pub seed: u64,
    /// Number of the camera: cameras of different numbers draw independently.
    pub sensor: u32,
    /// Number of the frame: frames of different numbers draw independently.
    pub index: u32,
    /// When the first row's exposure begins, s from the scene's epoch.
    pub start: f64,
}

impl Default for FrameSettings {
    /// Four rays a pixel, direct light, seed 1, at time zero.
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

/// A frame: light, readings, and the picture. All lists go row by row from the upper left pixel.
#[derive(Clone, Debug, PartialEq)]
pub struct CameraFrame {
    /// Columns.
    pub width: u32,
    /// Rows.
    pub height: u32,
    /// Bands: 1 or 3.
    pub bands: usize,
    /// When the first row's exposure began, s.
    pub start: f64,
    /// How long each row was exposed, s.
    pub exposure: f64,
    /// Light that arrived, without noise: mean radiance of the scene over the pixel and the
    /// exposure, less the lens' losses off the axis, W m⁻² sr⁻¹ within the band; band by band for
    /// each pixel.
    pub radiance: Vec<f32>,
    /// Digital numbers of the detector: one a pixel under a mosaic or with one band, else three.
    pub raw: Vec<u16>,
    /// Bits of a digital number.
    pub bits: u32,
    /// The mosaic that `raw` was read under.
    pub mosaic: Option<BayerPattern>,
    /// The picture for the eye, 8 bits, band by band for each pixel.
    pub picture: Vec<u8>,
    /// True planar depth of each pixel ([`FrameTruth::depth`](super::FrameTruth::depth)), where a robot's
    /// camera was asked for it.
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
