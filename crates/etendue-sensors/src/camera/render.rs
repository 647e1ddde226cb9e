//! Radiance of every pixel.

use super::bands::Bands;
use super::frame::FrameSettings;
use super::model::Camera;
use super::sampler::{CameraPoses, PixelRay, PixelRays, PixelSampler};
use super::spectral_scene::SpectralScene;
use super::transport::Tracer;
use etendue_physics::{Purpose, Stream};
use etendue_scene::{CastScratch, Ray, Scene};
use nalgebra::{Point3, Vector3};
use rayon::prelude::*;

/// Rows that a thread renders at a time: packets of rays are four rows high.
const ROWS: u32 = 4;
/// Columns of a block, whose rays and surfaces fit in the processor caches.
const COLUMNS: u32 = 64;

/// Receives the number of rows of each rendered part of a frame, from several threads.
pub(super) type RowObserver<'a> = &'a (dyn Fn(u32) + Sync);

/// Mean radiance of each pixel, with vignetting. Each pixel has its own random stream: the result does not
/// depend on the number of threads.
pub(super) fn render<const N: usize>(
    spectral_scene: &SpectralScene<N>,
    camera: &Camera,
    settings: &FrameSettings,
    exposure: f64,
    world_from_camera: &CameraPoses,
    observe: RowObserver<'_>,
) -> Vec<Bands<N>> {
    let rays = PixelRays::new(camera, settings.start, exposure, world_from_camera);
    let mut image = vec![Bands::<N>::zeros(); (camera.width * camera.height) as usize];
    let rows_per_deformation = rows_per_deformation(spectral_scene.scene(), camera);
    image
        .chunks_mut((rows_per_deformation * camera.width) as usize)
        .zip((0..).step_by(rows_per_deformation as usize))
        .for_each(|(pixels, first)| {
            let middle = rays.time(first + rows_per_deformation / 2, 0.5);
            spectral_scene.at(middle, |spectral_scene| {
                render_rows(spectral_scene, settings, &rays, first, pixels, observe);
            });
        });
    image
}

/// Rows that weight one evaluation of deforming meshes: all, or a few under a rolling shutter.
pub(super) fn rows_per_deformation(scene: &Scene, camera: &Camera) -> u32 {
    if scene.deforms() && camera.shutter.line_time > 0.0 {
        ROWS
    } else {
        camera.height
    }
}

/// Renders rows of the image starting with `first`, in parallel bands.
fn render_rows<const N: usize>(
    spectral_scene: &SpectralScene<N>,
    settings: &FrameSettings,
    rays: &PixelRays,
    first: u32,
    pixels: &mut [Bands<N>],
    observe: RowObserver<'_>,
) {
    let Camera { width, height, .. } = *rays.camera;
    pixels
        .par_chunks_mut((ROWS * width) as usize)
        .enumerate()
        .for_each_init(CastScratch::for_worker, |scratch, (band, pixels)| {
            let band = u32::try_from(band).expect("pixels are numbered in u32");
            let top = first + ROWS * band;
            for left in (0..width).step_by(COLUMNS as usize) {
                let block = Block {
                    columns: [left, width.min(left + COLUMNS)],
                    rows: [top, height.min(top + ROWS)],
                };
                block.render(spectral_scene, settings, rays, pixels, scratch);
            }
            observe(ROWS.min(height - top));
        });
}

/// Random stream of a pixel.
fn stream(settings: &FrameSettings, pixel: u32) -> Stream {
    Stream::new(
        settings.seed,
        settings.sensor,
        settings.index,
        pixel,
        Purpose::Pixel,
    )
}

/// A block of the image.
struct Block {
    /// First column, and the one after the last.
    columns: [u32; 2],
    /// First row, and the one after the last.
    rows: [u32; 2],
}

impl Block {
    /// Pixels in tiles of four columns, row by row: sixteen neighbours form a packet of rays.
    fn pixels(&self) -> Vec<[u32; 2]> {
        let [left, right] = self.columns;
        let [above, below] = self.rows;
        let tiles = (left..right).step_by(4);
        let tile = move |tile: u32| {
            (above..below)
                .flat_map(move |row| (tile..right.min(tile + 4)).map(move |column| [column, row]))
        };
        tiles.flat_map(tile).collect()
    }

    /// Writes the radiance of the block to the rows of the image.
    fn render<const N: usize>(
        &self,
        spectral_scene: &SpectralScene<N>,
        settings: &FrameSettings,
        rays: &PixelRays,
        image: &mut [Bands<N>],
        scratch: &mut CastScratch,
    ) {
        let pixels = self.pixels();
        let radiances = radiances_of(&pixels, spectral_scene, settings, rays, scratch);
        for ([column, row], radiance) in pixels.iter().zip(radiances) {
            let pixel = (row - self.rows[0]) * rays.camera.width + column;
            image[pixel as usize] = radiance;
        }
    }
}

/// Mean radiance of pixels, by their columns and rows.
fn radiances_of<const N: usize>(
    pixels: &[[u32; 2]],
    spectral_scene: &SpectralScene<N>,
    settings: &FrameSettings,
    rays: &PixelRays,
    scratch: &mut CastScratch,
) -> Vec<Bands<N>> {
    let width = rays.camera.width;
    let mut streams: Vec<Stream> = pixels
        .iter()
        .map(|[column, row]| stream(settings, row * width + column))
        .collect();
    let samplers: Vec<PixelSampler> = streams
        .iter_mut()
        .map(|stream| PixelSampler::new(settings.samples, stream))
        .collect();

    // Trace one sample of every pixel at a time.
    let mut tracer = Tracer::new(spectral_scene, &settings.light, scratch);
    let mut cast = Vec::new();
    let mut weights = Vec::new();
    let mut hits = Vec::new();
    let mut pose_cache = None;
    let mut sums = vec![Bands::<N>::zeros(); pixels.len()];
    for sample in 0..settings.samples {
        cast.clear();
        weights.clear();
        for (pixel, sampler) in pixels.iter().zip(&samplers) {
            let ray = rays.ray(*pixel, sampler.sample(sample), &mut pose_cache);
            weights.push(ray.as_ref().map_or(0.0, |ray| ray.vignetting));
            cast.push(ray_or_null(ray.as_ref()));
        }
        tracer.cast(&cast, &mut hits);
        let radiances = tracer.trace(&cast, &hits, &mut streams);
        for ((sum, weight), radiance) in sums.iter_mut().zip(&weights).zip(radiances) {
            *sum += radiance * (weight / f64::from(settings.samples));
        }
    }
    sums
}

/// Mean radiance of some pixels, by their numbers in row-major order: those of [`render`] in a scene without
/// deforming meshes.
pub(super) fn render_pixels<const N: usize>(
    spectral_scene: &SpectralScene<N>,
    settings: &FrameSettings,
    rays: &PixelRays,
    numbers: &[u32],
) -> Vec<Bands<N>> {
    let width = rays.camera.width;
    let part = |numbers: &[u32]| {
        let pixels: Vec<[u32; 2]> = { numbers.iter() }
            .map(|number| [number % width, number / width])
            .collect();
        radiances_of(
            &pixels,
            spectral_scene,
            settings,
            rays,
            &mut CastScratch::for_worker(),
        )
    };
    numbers
        .par_chunks(COLUMNS as usize)
        .flat_map_iter(part)
        .collect()
}

/// The ray, or a null ray outside the field of view of the lens, which keeps packets complete.
pub(super) fn ray_or_null(ray: Option<&PixelRay>) -> Ray {
    match ray {
        Some(ray) => ray.ray,
        None => Ray {
            far: 0.0,
            mask: 0,
            ..Ray::new(Point3::origin(), Vector3::x())
        },
    }
}

/// Radiance along the ray through the centre of a pixel.
pub(super) fn radiance_at<const N: usize>(
    spectral_scene: &SpectralScene<N>,
    camera: &Camera,
    settings: &FrameSettings,
    rays: &PixelRays,
    [column, row]: [u32; 2],
    scratch: &mut CastScratch,
) -> Bands<N> {
    let mut streams = [stream(settings, row * camera.width + column)];
    let centre = PixelSampler::new(1, &mut streams[0]).sample(0);
    let Some(pixel_ray) = rays.ray([column, row], centre, &mut None) else {
        return Bands::zeros();
    };
    let scene = spectral_scene.scene();
    let hit = scene.closest_hit(&pixel_ray.ray, scratch);
    let mut tracer = Tracer::new(spectral_scene, &settings.light, scratch);
    let radiances = tracer.trace(&[pixel_ray.ray], &[hit], &mut streams);
    radiances.into_iter().sum::<Bands<N>>() * pixel_ray.vignetting
}
