//! How long to expose.

use super::frame::FrameSettings;
use super::model::{Camera, Exposure};
use super::render::radiance_at;
use super::sampler::Rays;
use super::studio::Stage;
use nalgebra::Isometry3;

/// Places a side that the meter looks at.
const PLACES: u32 = 16;

/// The exposure of a frame, s: where it is automatic, so long that the meter's mean of the
/// brightest band is as asked for. The meter is a coarse picture at the start of the frame; each of
/// its places counts at most as much as four times their median, so that the sun in the picture
/// does not leave the rest black.
pub(super) fn exposure<const N: usize>(
    stage: &Stage<N>,
    camera: &Camera,
    settings: &FrameSettings,
    world_from_camera: &(impl Fn(f64) -> Isometry3<f64> + Sync),
) -> f64 {
    let (mean, [shortest, longest]) = match camera.shutter.exposure {
        Exposure::Fixed(time) => return time,
        Exposure::Auto { mean, limits } => (mean, limits),
    };
    let rays = Rays::new(camera, settings.start, 0.0, world_from_camera);
    let places = PLACES.min(camera.width).min(camera.height);
    let sensitivity = stage.sensitivity(camera);
    let mut signals: Vec<f64> = (0..places * places)
        .map(|i| {
            let at = |k: u32, size: u32| (2 * k + 1) * size / (2 * places);
            let pixel = [at(i % places, camera.width), at(i / places, camera.height)];
            let radiance = radiance_at(stage, camera, settings, &rays, pixel);
            radiance.component_mul(&sensitivity).max()
        })
        .collect();
    signals.sort_by(f64::total_cmp);
    let most = 4.0 * signals[signals.len() / 2];
    let ceiling = if most > 0.0 { most } else { f64::INFINITY };
    let sum: f64 = signals.iter().map(|signal| signal.min(ceiling)).sum();
    let signal = sum / signals.len() as f64;
    (mean * camera.detector.saturation() / signal).clamp(shortest, longest)
}
