//! Light on every pixel.

use super::Bands;
use super::frame::FrameSettings;
use super::model::Camera;
use super::sampler::{PixelRay, Rays, Sampler};
use super::studio::Stage;
use super::transport::Tracer;
use etendue_physics::{Purpose, Stream};
use etendue_scene::{Hit, Ray};
use nalgebra::{Isometry3, Point3, Vector3};
use rayon::prelude::*;

/// Rows that one thread renders at a time: packets of rays are four rows high.
const ROWS: u32 = 8;

/// Mean radiance of each pixel, with the lens' losses off the axis. The same on any number of
/// threads: each pixel has its own stream of random numbers.
pub(super) fn render<const N: usize>(
    stage: &Stage<N>,
    camera: &Camera,
    settings: &FrameSettings,
    exposure: f64,
    world_from_camera: &(impl Fn(f64) -> Isometry3<f64> + Sync),
) -> Vec<Bands<N>> {
    let rays = Rays::new(camera, settings.start, exposure, world_from_camera);
    let mut image = vec![Bands::<N>::zeros(); (camera.width * camera.height) as usize];
    let piece = (ROWS * camera.width) as usize;
    image
        .par_chunks_mut(piece)
        .enumerate()
        .for_each(|(number, pixels)| {
            let first = u32::try_from(number * piece).expect("pixels are numbered in u32");
            render_piece(stage, settings, &rays, first, pixels);
        });
    image
}

fn stream(settings: &FrameSettings, pixel: u32) -> Stream {
    Stream::new(
        settings.seed,
        settings.sensor,
        settings.index,
        pixel,
        Purpose::Pixel,
    )
}

fn render_piece<const N: usize, F: Fn(f64) -> Isometry3<f64>>(
    stage: &Stage<N>,
    settings: &FrameSettings,
    rays: &Rays<F>,
    first: u32,
    pixels: &mut [Bands<N>],
) {
    let width = rays.camera.width;
    let numbers = first..first + u32::try_from(pixels.len()).expect("a few rows");
    let mut streams: Vec<Stream> = numbers
        .clone()
        .map(|pixel| stream(settings, pixel))
        .collect();
    let samplers: Vec<Sampler> = streams
        .iter_mut()
        .map(|stream| Sampler::new(settings.samples, stream))
        .collect();
    let tracer = Tracer::new(stage, &settings.light);
    let mut hits: Vec<Option<Hit>> = vec![];
    for sample in 0..settings.samples {
        let sent: Vec<Option<PixelRay>> = numbers
            .clone()
            .zip(&samplers)
            .map(|(pixel, sampler)| {
                rays.through([pixel % width, pixel / width], sampler.place(sample))
            })
            .collect();
        let cast: Vec<Ray> = sent.iter().map(|sent| or_nothing(sent.as_ref())).collect();
        stage.scene().closest_hits(&cast, &mut hits);
        let found = tracer.trace(&cast, &hits, &mut streams);
        for ((pixel, sent), radiance) in pixels.iter_mut().zip(&sent).zip(found) {
            if let Some(sent) = sent {
                *pixel += radiance * (sent.share / f64::from(settings.samples));
            }
        }
    }
}

/// A ray to nowhere keeps rows of rays whole where the lens sees nothing.
fn or_nothing(sent: Option<&PixelRay>) -> Ray {
    match sent {
        Some(sent) => sent.ray,
        None => Ray {
            far: 0.0,
            mask: 0,
            ..Ray::new(Point3::origin(), Vector3::x())
        },
    }
}

/// What one ray through the middle of a pixel sees.
pub(super) fn radiance_at<const N: usize, F: Fn(f64) -> Isometry3<f64>>(
    stage: &Stage<N>,
    camera: &Camera,
    settings: &FrameSettings,
    rays: &Rays<F>,
    [column, row]: [u32; 2],
) -> Bands<N> {
    let mut streams = [stream(settings, row * camera.width + column)];
    let middle = Sampler::new(1, &mut streams[0]).place(0);
    let Some(sent) = rays.through([column, row], middle) else {
        return Bands::zeros();
    };
    let hit = stage.scene().closest_hit(&sent.ray);
    let found = Tracer::new(stage, &settings.light).trace(&[sent.ray], &[hit], &mut streams);
    found.into_iter().sum::<Bands<N>>() * sent.share
}
