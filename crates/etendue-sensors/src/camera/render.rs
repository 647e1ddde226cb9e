//! Light on every pixel.

use super::bands::Bands;
use super::frame::FrameSettings;
use super::model::Camera;
use super::sampler::{PixelRay, Rays, Sampler};
use super::spectral_scene::SpectralScene;
use super::transport::Tracer;
use etendue_physics::{Purpose, Stream};
use etendue_scene::{Ray, Scene};
use nalgebra::{Isometry3, Point3, Vector3};
use rayon::prelude::*;

/// Rows that one thread renders at a time: packets of rays are four rows high.
const ROWS: u32 = 4;
/// Columns of a block, whose rays and surfaces stay in the processor's caches.
const COLUMNS: u32 = 64;

/// Mean radiance of each pixel, with the lens' losses off the axis. The same on any number of
/// threads: each pixel has its own stream of random numbers.
pub(super) fn render<const N: usize>(
    spectral_scene: &SpectralScene<N>,
    camera: &Camera,
    settings: &FrameSettings,
    exposure: f64,
    world_from_camera: &(impl Fn(f64) -> Isometry3<f64> + Sync),
) -> Vec<Bands<N>> {
    let rays = Rays::new(camera, settings.start, exposure, world_from_camera);
    let mut image = vec![Bands::<N>::zeros(); (camera.width * camera.height) as usize];
    let slab = slab(spectral_scene.scene(), camera);
    image
        .chunks_mut((slab * camera.width) as usize)
        .zip((0..).step_by(slab as usize))
        .for_each(|(pixels, first)| {
            let middle = rays.time(first + slab / 2, 0.5);
            spectral_scene.at(middle, |spectral_scene| {
                render_slab(spectral_scene, settings, &rays, first, pixels);
            });
        });
    image
}

/// Rows that see deforming meshes alike: all, or under a rolling shutter a few at a time.
pub(super) fn slab(scene: &Scene, camera: &Camera) -> u32 {
    if scene.deforms() && camera.shutter.line_time > 0.0 {
        ROWS
    } else {
        camera.height
    }
}

/// Renders rows of the image starting with `first`, in parallel bands.
fn render_slab<const N: usize, F: Fn(f64) -> Isometry3<f64> + Sync>(
    spectral_scene: &SpectralScene<N>,
    settings: &FrameSettings,
    rays: &Rays<F>,
    first: u32,
    pixels: &mut [Bands<N>],
) {
    let Camera { width, height, .. } = *rays.camera;
    pixels
        .par_chunks_mut((ROWS * width) as usize)
        .enumerate()
        .for_each(|(band, pixels)| {
            let band = u32::try_from(band).expect("pixels are numbered in u32");
            let top = first + ROWS * band;
            for left in (0..width).step_by(COLUMNS as usize) {
                let block = Block {
                    columns: [left, width.min(left + COLUMNS)],
                    rows: [top, height.min(top + ROWS)],
                };
                block.render(spectral_scene, settings, rays, pixels);
            }
        });
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

/// A part of the image.
struct Block {
    columns: [u32; 2],
    rows: [u32; 2],
}

impl Block {
    /// Its pixels in tiles of four columns, row by row: sixteen neighbours make a packet of rays.
    fn pixels(&self) -> Vec<[u32; 2]> {
        let ([left, right], [above, below]) = (self.columns, self.rows);
        let tiles = (left..right).step_by(4);
        let tile = move |tile: u32| {
            (above..below)
                .flat_map(move |row| (tile..right.min(tile + 4)).map(move |column| [column, row]))
        };
        tiles.flat_map(tile).collect()
    }

    /// Adds the light on its pixels to those of its rows.
    fn render<const N: usize, F: Fn(f64) -> Isometry3<f64>>(
        &self,
        spectral_scene: &SpectralScene<N>,
        settings: &FrameSettings,
        rays: &Rays<F>,
        image: &mut [Bands<N>],
    ) {
        let width = rays.camera.width;
        let pixels = self.pixels();
        let mut streams: Vec<Stream> = pixels
            .iter()
            .map(|[column, row]| stream(settings, row * width + column))
            .collect();
        let samplers: Vec<Sampler> = streams
            .iter_mut()
            .map(|stream| Sampler::new(settings.samples, stream))
            .collect();
        let tracer = Tracer::new(spectral_scene, &settings.light);
        let (mut cast, mut shares, mut hits) = (vec![], vec![], vec![]);
        let mut posed = None;
        for sample in 0..settings.samples {
            cast.clear();
            shares.clear();
            for (pixel, sampler) in pixels.iter().zip(&samplers) {
                let sent = rays.through(*pixel, sampler.place(sample), &mut posed);
                shares.push(sent.as_ref().map_or(0.0, |sent| sent.share));
                cast.push(or_nothing(sent.as_ref()));
            }
            spectral_scene.scene().closest_hits(&cast, &mut hits);
            let found = tracer.trace(&cast, &hits, &mut streams);
            for (([column, row], share), radiance) in pixels.iter().zip(&shares).zip(found) {
                let pixel = (row - self.rows[0]) * width + column;
                image[pixel as usize] += radiance * (share / f64::from(settings.samples));
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
    spectral_scene: &SpectralScene<N>,
    camera: &Camera,
    settings: &FrameSettings,
    rays: &Rays<F>,
    [column, row]: [u32; 2],
) -> Bands<N> {
    let mut streams = [stream(settings, row * camera.width + column)];
    let middle = Sampler::new(1, &mut streams[0]).place(0);
    let Some(sent) = rays.through([column, row], middle, &mut None) else {
        return Bands::zeros();
    };
    let hit = spectral_scene.scene().closest_hit(&sent.ray);
    let found =
        Tracer::new(spectral_scene, &settings.light).trace(&[sent.ray], &[hit], &mut streams);
    found.into_iter().sum::<Bands<N>>() * sent.share
}
