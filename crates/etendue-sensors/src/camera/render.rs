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

/// Rows and columns of a block of pixels: packets of rays are four high and four wide, and what
/// belongs to a block stays in a core's own cache.
const ROWS: u32 = 4;
const COLUMNS: u32 = 64;

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
            let row = ROWS * u32::try_from(number).expect("rows are numbered in u32");
            render_rows(stage, settings, &rays, row, pixels);
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

/// A few rows of pixels, block by block.
fn render_rows<const N: usize, F: Fn(f64) -> Isometry3<f64>>(
    stage: &Stage<N>,
    settings: &FrameSettings,
    rays: &Rays<F>,
    first: u32,
    pixels: &mut [Bands<N>],
) {
    let width = rays.camera.width;
    let rows = first..first + u32::try_from(pixels.len()).expect("a few rows") / width;
    let mut column = 0;
    while column < width {
        let columns = column..width.min(column + COLUMNS);
        column = columns.end;
        let places: Vec<[u32; 2]> = rows
            .clone()
            .flat_map(|row| columns.clone().map(move |column| [column, row]))
            .collect();
        let found = render_block(stage, settings, rays, &places);
        for ([column, row], radiance) in places.iter().zip(found) {
            pixels[((row - first) * width + column) as usize] = radiance;
        }
    }
}

/// Mean radiance of the pixels of a block, all their samples.
fn render_block<const N: usize, F: Fn(f64) -> Isometry3<f64>>(
    stage: &Stage<N>,
    settings: &FrameSettings,
    rays: &Rays<F>,
    places: &[[u32; 2]],
) -> Vec<Bands<N>> {
    let width = rays.camera.width;
    let mut streams: Vec<Stream> = places
        .iter()
        .map(|[column, row]| stream(settings, row * width + column))
        .collect();
    let samplers: Vec<Sampler> = streams
        .iter_mut()
        .map(|stream| Sampler::new(settings.samples, stream))
        .collect();
    let tracer = Tracer::new(stage, &settings.light);
    let mut sum = vec![Bands::zeros(); places.len()];
    let mut hits: Vec<Option<Hit>> = vec![];
    let (mut cast, mut shares) = (vec![], vec![]);
    for sample in 0..settings.samples {
        cast.clear();
        shares.clear();
        for (place, sampler) in places.iter().zip(&samplers) {
            let sent = rays.through(*place, sampler.place(sample));
            cast.push(or_nothing(sent.as_ref()));
            shares.push(sent.map(|sent| sent.share / f64::from(settings.samples)));
        }
        stage.scene().closest_hits(&cast, &mut hits);
        let found = tracer.trace(&cast, &hits, &mut streams);
        for ((pixel, share), radiance) in sum.iter_mut().zip(&shares).zip(found) {
            if let Some(share) = share {
                *pixel += radiance * *share;
            }
        }
    }
    sum
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
