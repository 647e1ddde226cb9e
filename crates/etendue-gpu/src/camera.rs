//! Frames of cameras on a device.

mod records;

use crate::caster::{CastRays, GpuCaster, GpuHit, HitRecord, RayRecord, bind_at};
use crate::device::GpuDevice;
use crate::error::GpuError;
use crate::geometry::index;
use crate::scene::{PlacedObjects, Placement};
use crate::shaders::{self, MOST_LAMPS};
use crate::transfers::Scratch;
use etendue_raycast::{CastScratch, Hit, Ray};
use etendue_sensors::camera::{
    Camera, CameraFrame, CameraWorld, DirectFrame, DirectLamp, FrameSettings, FrameTruth,
    NotDirectFrame,
};
use nalgebra::Isometry3;
use rayon::prelude::*;
use records::{Parameters, Surfaces, directions, poses};
use std::ops::Range;
use thiserror::Error;
use wgpu::{Buffer, CommandEncoder, CommandEncoderDescriptor, ComputePipeline};

/// Most pixels that are rendered together. Their memory is 256 bytes each.
const MOST_PIXELS: usize = 1 << 19;

/// A camera in a world, whose frames a device exposes.
///
/// Frames are those of [`CameraWorld::expose`], with the same draws, up to the rounding of `f32`: radiances to about 1e-5 of their own or of a hundredth of the
/// brightest.
/// A sample within that rounding of an edge of an object, of a shadow or of a pixel may be on its other side.
pub struct GpuCamera<'a> {
    device: &'a GpuDevice,
    caster: &'a GpuCaster,
    world: &'a CameraWorld<'a>,
    camera: &'a Camera,
    directions: Buffer,
}

/// A frame that a device exposed.
#[derive(Clone, Debug, PartialEq)]
pub struct GpuFrame {
    /// The frame.
    pub frame: CameraFrame,
    /// Number of pixels that the host rendered: those that meet mirrors, glass, gloss or images.
    pub on_host: usize,
}

/// Errors of frames on a device.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum GpuFrameError {
    /// The settings or the scene have a property that the device form lacks.
    #[error("the GPU does not render this frame: {0}")]
    NotDirect(#[from] NotDirectFrame),
    /// The scene has too many lamps.
    #[error("the GPU does not render this frame: it has {0} lamps, more than {MOST_LAMPS}")]
    Lamps(usize),
    /// The device failed.
    #[error(transparent)]
    Device(#[from] GpuError),
}

/// The memory of the pixels that are rendered together.
struct PixelMemory<'a> {
    camera_rays: Scratch<'a>,
    camera_hits: Scratch<'a>,
    rays: Scratch<'a>,
    hits: Scratch<'a>,
    state: Scratch<'a>,
}

/// The sum of the radiance of a pixel, and what is needed to continue.
type PixelState = [f32; 8];

/// What all pixels of a frame share.
struct FrameSteps<'a> {
    camera: &'a GpuCamera<'a>,
    parameters: Parameters,
    objects: PlacedObjects<'a>,
    surfaces: Surfaces<'a>,
    poses: Scratch<'a>,
    memory: PixelMemory<'a>,
    aim: ComputePipeline,
    shade: ComputePipeline,
}

impl<'a> GpuCamera<'a> {
    /// Prepares a camera in a world whose scene the caster holds ([`GpuCaster::new`] of
    /// [`Scene::caster`](etendue_scene::Scene::caster)).
    ///
    /// # Errors
    /// Where the caster has another scene, or the device has too little memory or is lost.
    pub fn new(
        device: &'a GpuDevice,
        caster: &'a GpuCaster,
        world: &'a CameraWorld<'a>,
        camera: &'a Camera,
    ) -> Result<Self, GpuError> {
        caster.scene.check(world.scene().caster())?;
        Ok(Self {
            directions: device.storage("the rays of the pixels", &directions(camera))?,
            device,
            caster,
            world,
            camera,
        })
    }

    /// Exposes a frame: [`CameraWorld::expose`]. The device aims, casts and shades the samples of all pixels; the host renders
    /// pixels that meet mirrors, glass, gloss or images, and reads out the detector.
    ///
    /// # Errors
    /// Where the settings or the scene have a property that the device form lacks, or the device fails.
    pub fn expose<P: Fn(f64) -> Isometry3<f64> + Sync>(
        &self,
        settings: &FrameSettings,
        world_from_camera: P,
    ) -> Result<GpuFrame, GpuFrameError> {
        self.expose_observed(settings, world_from_camera, |_| {})
    }

    /// As [`GpuCamera::expose`], and passes the share of the samples that are cast to `observe`.
    ///
    /// # Errors
    /// As [`GpuCamera::expose`].
    pub fn expose_observed<P: Fn(f64) -> Isometry3<f64> + Sync>(
        &self,
        settings: &FrameSettings,
        world_from_camera: P,
        observe: impl Fn(f64),
    ) -> Result<GpuFrame, GpuFrameError> {
        // Prepare.
        let frame = DirectFrame::new(self.world, self.camera, settings, &world_from_camera)?;
        let lamps = frame.lamps();
        if lamps.len() > MOST_LAMPS {
            return Err(GpuFrameError::Lamps(lamps.len()));
        }
        let steps = FrameSteps::new(self, &frame, &lamps)?;

        // Render parts of the image.
        let count = self.camera.width as usize * self.camera.height as usize;
        let mut radiance = Vec::with_capacity(count);
        for first in (0..count).step_by(MOST_PIXELS) {
            let own = first..count.min(first + MOST_PIXELS);
            let done = |share: f64| {
                let pixels = first as f64 + share * own.len() as f64;
                observe(pixels / count as f64);
            };
            steps.render(own.clone(), done)?;
            let states: Vec<PixelState> = self.device.read_vec(&steps.memory.state, own.len())?;
            radiance.par_extend(states.par_iter().map(radiance_of));
        }
        let (frame, on_host) = frame.finish(&radiance);
        Ok(GpuFrame { frame, on_host })
    }

    /// Ground truth of a frame: [`CameraWorld::truth`]. The device finds the first surfaces; where it finds those of the CPU,
    /// the result is the same to the last bit.
    ///
    /// # Errors
    /// Where meshes deform, or the device fails.
    pub fn truth(
        &self,
        settings: &FrameSettings,
        exposure: f64,
        flow_time: f64,
        world_from_camera: impl Fn(f64) -> Isometry3<f64> + Sync,
    ) -> Result<FrameTruth, GpuFrameError> {
        if self.world.scene().deforms() {
            return Err(NotDirectFrame::Deforming.into());
        }
        let times = [exposure, flow_time];
        let cast = |rays: &[Ray]| self.hits(rays);
        let world = self.world;
        Ok(world.truth_of_hits(self.camera, settings, times, world_from_camera, cast)?)
    }

    /// The first hits of rays, in `f64`.
    fn hits(&self, rays: &[Ray]) -> Result<Vec<Option<Hit>>, GpuError> {
        let caster = self.world.scene().caster();
        let found = self.caster.closest_hits(self.device, caster, rays)?;
        // A ray at an edge may miss the triangle in f64.
        let exact = |(ray, hit): (&Ray, &GpuHit)| {
            let hit = caster.hit_of(ray, hit.object, hit.triangle);
            hit.or_else(|| caster.closest_hit(ray, &mut CastScratch::for_worker()))
        };
        let pairs = rays.par_iter().zip(&found);
        Ok(pairs
            .map(|(ray, hit)| exact((ray, hit.as_ref()?)))
            .collect())
    }
}

impl<'a> FrameSteps<'a> {
    fn new(
        camera: &'a GpuCamera<'a>,
        frame: &DirectFrame,
        lamps: &[DirectLamp],
    ) -> Result<Self, GpuError> {
        let GpuCamera { device, caster, .. } = *camera;
        let settings = frame.settings();
        // Objects have one time in frames of several samples or rows.
        let time = settings.start + 0.5 * frame.exposure();
        let scene = camera.world.scene();
        let poses = poses(frame);
        let surfaces = Surfaces::new(device, caster, camera.world, time)?;
        let pixels = MOST_PIXELS.min(camera.camera.width as usize * camera.camera.height as usize);
        Ok(Self {
            parameters: Parameters::new(frame, lamps, &surfaces, poses.len()),
            objects: caster
                .scene()
                .place(device, scene.caster(), Placement::at(&[time]))?,
            poses: device.scratch_with("the poses of the camera", &poses)?,
            memory: PixelMemory::new(device, pixels)?,
            aim: device.pipeline(shaders::camera(), "aim_pixels")?,
            shade: device.pipeline(shaders::camera(), "shade")?,
            surfaces,
            camera,
        })
    }

    /// Adds up the radiance of some pixels. Passes the share of the samples that are done to `observe`.
    fn render(&self, pixels: Range<usize>, observe: impl Fn(f64)) -> Result<(), GpuError> {
        let samples = self.parameters.samples();
        for sample in 0..samples {
            self.sample(&pixels, sample)?;
            observe(f64::from(sample + 1) / f64::from(samples));
        }
        Ok(())
    }

    /// Adds a sample of each pixel.
    fn sample(&self, pixels: &Range<usize>, sample: u32) -> Result<(), GpuError> {
        let GpuCamera { device, caster, .. } = *self.camera;
        let PixelMemory {
            camera_rays,
            camera_hits,
            rays,
            hits,
            state,
        } = &self.memory;
        let count = index(pixels.len());
        let descriptor = CommandEncoderDescriptor::default();
        let mut encoder = device.device.create_command_encoder(&descriptor);
        let cast = |encoder: &mut CommandEncoder, all: &Buffer, hits: &Buffer| {
            let cast = CastRays {
                first: 0,
                rays: count,
                column: self.camera.camera.width,
                all,
                hits,
                surfaces: None,
            };
            let pipeline = caster.pipeline();
            let bindings = caster.bindings(device, pipeline, &self.objects, &cast)?;
            device.dispatch(encoder, pipeline, &bindings, count);
            Ok::<(), GpuError>(())
        };

        // Aim and cast.
        let mut parameters = self.parameters;
        parameters.set_pixels(count, device.row(count), index(pixels.start), sample);
        let uniform = device.uniform(&parameters)?;
        let buffers = [
            (0, &uniform),
            (1, &**camera_rays),
            (2, &**state),
            (3, &self.camera.directions),
            (4, &*self.poses),
        ];
        let bindings = bind_at(device, &self.aim, &buffers);
        device.dispatch(&mut encoder, &self.aim, &bindings, count);
        cast(&mut encoder, camera_rays, camera_hits)?;

        // Shade, with a ray of each pixel for each lamp and the surroundings.
        for stage in 0..=parameters.last_stage() {
            parameters.set_stage(stage);
            let uniform = device.uniform(&parameters)?;
            let buffers = [
                (0, &uniform),
                (1, &**camera_rays),
                (2, &**state),
                (5, &**camera_hits),
                (6, &**rays),
                (7, &**hits),
                (8, &*self.surfaces.buffer),
                (9, &caster.scene.vertices),
                (10, &caster.scene.corners),
            ];
            let bindings = bind_at(device, &self.shade, &buffers);
            device.dispatch(&mut encoder, &self.shade, &bindings, count);
            if stage < parameters.last_stage() {
                cast(&mut encoder, rays, hits)?;
            }
        }
        device.queue.submit([encoder.finish()]);
        Ok(())
    }
}

impl<'a> PixelMemory<'a> {
    fn new(device: &'a GpuDevice, pixels: usize) -> Result<Self, GpuError> {
        let scratch = |what, size: usize| device.scratch(what, (pixels * size) as u64);
        Ok(Self {
            camera_rays: scratch("the rays of the camera", size_of::<RayRecord>())?,
            camera_hits: scratch("the hits of the camera", size_of::<HitRecord>())?,
            rays: scratch("the rays", size_of::<RayRecord>())?,
            hits: scratch("the hits", size_of::<HitRecord>())?,
            state: scratch("the pixels", size_of::<PixelState>())?,
        })
    }
}

/// The radiance of a pixel; `None` if the host renders it.
fn radiance_of(state: &PixelState) -> Option<[f32; 3]> {
    let [red, green, blue, mark, ..] = *state;
    (mark.to_bits() == 0).then_some([red, green, blue])
}
