//! Read-out: from radiance to digital numbers and to the display image.
#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "values are clamped; f32 suffices for radiance"
)]

use super::bands::Bands;
use super::frame::{CameraFrame, FrameSettings};
use super::model::{Camera, Detector, WhiteBalance};
use super::spectral_scene::SpectralScene;
use etendue_physics::camera::FixedPattern;
use etendue_physics::{Purpose, Stream};
use rayon::prelude::*;

/// Reads out a frame.
pub(super) fn frame<const N: usize>(
    spectral_scene: &SpectralScene<N>,
    camera: &Camera,
    settings: &FrameSettings,
    exposure: f64,
    radiance: &[Bands<N>],
) -> CameraFrame {
    let mosaic = camera.colour.mosaic.filter(|_| N == 3);
    let sensitivity = spectral_scene.sensitivity(camera) * exposure;
    let reader = Reader {
        camera,
        settings,
        exposure,
    };

    // Read the detectors of every pixel.
    let raw: Vec<Vec<u16>> = radiance
        .par_iter()
        .enumerate()
        .map(|(number, light)| {
            let number = u32::try_from(number).expect("pixels are numbered in u32");
            let electrons = light.component_mul(&sensitivity);
            match mosaic {
                Some(pattern) => {
                    let channel = pattern.channel(number % camera.width, number / camera.width);
                    reader.read(number, &[electrons[channel]])
                }
                None => reader.read(number, electrons.as_slice()),
            }
        })
        .collect();
    let raw: Vec<u16> = raw.into_iter().flatten().collect();

    // Demosaic, balance and encode.
    let linear = linear::<N>(camera, &raw);
    let gains = gains(spectral_scene, camera);
    let picture = linear.iter().flat_map(|pixel| {
        let balanced = pixel.component_mul(&gains);
        (0..N).map(move |band| byte(camera.tone.encode(balanced[band])))
    });
    CameraFrame {
        width: camera.width,
        height: camera.height,
        bands: N,
        start: settings.start,
        exposure,
        radiance: radiance
            .iter()
            .flat_map(|pixel| pixel.iter().map(|value| *value as f32))
            .collect(),
        bits: camera.detector.bits(),
        mosaic,
        picture: picture.collect(),
        depth: None,
        raw,
    }
}

/// Reads pixels.
struct Reader<'a> {
    camera: &'a Camera,
    settings: &'a FrameSettings,
    /// s.
    exposure: f64,
}

impl Reader<'_> {
    /// Digital numbers of the detectors of a pixel, for their electrons.
    fn read(&self, pixel: u32, electrons: &[f64]) -> Vec<u16> {
        // Temporal noise of the pixel.
        let FrameSettings {
            seed,
            sensor,
            index,
            ..
        } = *self.settings;
        let mut noise = Stream::new(seed, sensor, index, pixel, Purpose::PixelNoise);
        match &self.camera.detector {
            Detector::Emva(detector) => {
                // Fixed-pattern noise is the same in every frame.
                let mut pattern = Stream::new(seed, sensor, 0, pixel, Purpose::PixelPattern);
                let read = electrons.iter().map(|electrons| {
                    let [response, dark] = pattern.normal_pair();
                    let own = FixedPattern { response, dark };
                    number(detector.read(*electrons, self.exposure, &own, &mut noise))
                });
                read.collect()
            }
            Detector::Linear(detector) => {
                let white = f64::from((1_u32 << detector.bits) - 1);
                let read = electrons.iter().map(|electrons| {
                    let intensity = electrons / detector.full_scale;
                    number(detector.noise.read(intensity, &mut noise).clamp(0.0, 1.0) * white)
                });
                read.collect()
            }
        }
    }
}

/// Rounds and clamps to a digital number.
fn number(value: f64) -> u16 {
    value.round().clamp(0.0, f64::from(u16::MAX)) as u16
}

/// Quantises a value in [0, 1] to 8 bits.
fn byte(value: f64) -> u8 {
    (value * 255.0).round().clamp(0.0, 255.0) as u8
}

/// Linear values of all bands of every pixel: 0 is dark, 1 saturated.
fn linear<const N: usize>(camera: &Camera, raw: &[u16]) -> Vec<Bands<N>> {
    let (black, white) = levels(&camera.detector);
    let fraction = |number: &u16| (f64::from(*number) - black) / (white - black);
    match camera.colour.mosaic.filter(|_| N == 3) {
        Some(pattern) => {
            let fractions: Vec<f64> = raw.iter().map(fraction).collect();
            let colours = pattern.demosaic(&fractions, camera.width);
            let pixel = |colour: &[f64; 3]| Bands::from_fn(|band, _| colour[band]);
            colours.iter().map(pixel).collect()
        }
        None => raw
            .chunks_exact(N)
            .map(|pixel| Bands::from_fn(|band, _| fraction(&pixel[band])))
            .collect(),
    }
}

/// Digital numbers at darkness and at saturation.
fn levels(detector: &Detector) -> (f64, f64) {
    match detector {
        Detector::Emva(detector) => {
            let full = detector.black_level + detector.gain * detector.saturation();
            (detector.black_level, full)
        }
        Detector::Linear(detector) => (0.0, f64::from((1_u32 << detector.bits) - 1)),
    }
}

/// Gains of the white balance, with a minimum of 1, so that saturated pixels remain white.
fn gains<const N: usize>(spectral_scene: &SpectralScene<N>, camera: &Camera) -> Bands<N> {
    let gains = match camera.colour.white_balance {
        _ if N == 1 => return Bands::repeat(1.0),
        WhiteBalance::Fixed(gains) => return Bands::from_fn(|band, _| gains[band]),
        WhiteBalance::Scene => spectral_scene.white(camera).map(|white| 1.0 / white),
    };
    if gains.iter().all(|gain| gain.is_finite() && *gain > 0.0) {
        gains / gains.min()
    } else {
        Bands::repeat(1.0)
    }
}
