//! Automatic exposure.

use super::frame::FrameSettings;
use super::model::{Camera, Exposure};
use super::render::radiance_at;
use super::sampler::{CameraPoses, PixelRays};
use super::spectral_scene::SpectralScene;
use etendue_scene::CastScratch;

/// Metered pixels per side of the image.
const METERED_PIXELS: u32 = 16;

/// Exposure time of a frame, s. Automatic exposure brings the mean signal of the brightest band to
/// its set point. The mean is over a coarse image at the start of the frame; signals are clamped to
/// four times their median, so that the sun in the image does not leave the rest black.
pub(super) fn exposure_time<const N: usize>(
    spectral_scene: &SpectralScene<N>,
    camera: &Camera,
    settings: &FrameSettings,
    world_from_camera: &CameraPoses,
) -> f64 {
    let (mean, [shortest, longest]) = match camera.shutter.exposure {
        Exposure::Fixed(time) => return time,
        Exposure::Auto { mean, limits } => (mean, limits),
    };
    let rays = PixelRays::new(camera, settings.start, 0.0, world_from_camera);
    let metered = METERED_PIXELS.min(camera.width).min(camera.height);
    let sensitivity = spectral_scene.sensitivity(camera);
    let mut scratch = CastScratch::new();

    // Meter a coarse image.
    let mut signals: Vec<f64> = (0..metered * metered)
        .map(|i| {
            let at = |k: u32, size: u32| (2 * k + 1) * size / (2 * metered);
            let pixel = [
                at(i % metered, camera.width),
                at(i / metered, camera.height),
            ];
            let radiance =
                radiance_at(spectral_scene, camera, settings, &rays, pixel, &mut scratch);
            radiance.component_mul(&sensitivity).max()
        })
        .collect();

    // Clamp to four times the median.
    signals.sort_by(f64::total_cmp);
    let most = 4.0 * signals[signals.len() / 2];
    let ceiling = if most > 0.0 { most } else { f64::INFINITY };
    let sum: f64 = signals.iter().map(|signal| signal.min(ceiling)).sum();
    let signal = sum / signals.len() as f64;
    (mean * camera.detector.saturation() / signal).clamp(shortest, longest)
}
