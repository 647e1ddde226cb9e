//! Whole sweeps of a lidar on a device.

use crate::caster::{GpuCaster, HitRecord, RayRecord, bind};
use crate::device::GpuDevice;
use crate::error::GpuError;
use crate::geometry::index;
use crate::numbers::{double_single, joined};
use crate::scene::Placement;
use crate::shaders::{self, TABLE};
use bytemuck::{Pod, Zeroable};
use etendue_physics::pulse::{IntensityResponse, ReflectivityScale, SingleEchoTiming};
use etendue_physics::surface::Side;
use etendue_raycast::Ray;
use etendue_scene::{MaterialId, ObjectId};
use etendue_sensors::lidar::{
    AveragedNormals, CorrelatedDraws, DirectEcho, DirectShot, DirectSurface, DirectSweep, Lidar,
    NotDirect, Sweep, SweepSettings,
};
use etendue_sensors::transport::World;
use nalgebra::Isometry3;
use rayon::prelude::*;
use thiserror::Error;
use wgpu::{Buffer, CommandEncoderDescriptor, ComputePipeline};

/// A lidar in a world, simulated on a device.
///
/// Sweeps are those of [`simulate`](etendue_sensors::lidar::simulate()), with noise from the same draws, up to the
/// rounding of `f32`: powers and intensities to about 1e-5, ranges to about 1e-6 of a standard deviation of the noise.
/// A shot whose power is that close to the threshold may have an echo on one processor only, and an intensity or a
/// range that close to a rounding step may be the next one.
pub struct GpuLidar<'a> {
    pub(crate) device: &'a GpuDevice,
    pub(crate) caster: &'a GpuCaster,
    pub(crate) world: &'a World<'a, f64>,
    pub(crate) lidar: &'a Lidar,
    receive: ComputePipeline,
    pub(crate) object_materials: Buffer,
    pub(crate) triangle_materials: Buffer,
    pub(crate) backscatter: Buffer,
}

/// A sweep that a device simulated.
#[derive(Clone, Debug, PartialEq)]
pub struct GpuSweep {
    /// The sweep.
    pub sweep: Sweep,
    /// Number of shots that the host simulated: those that hit mirrors, glass or surfaces with a noise profile.
    pub on_host: usize,
}

/// Errors of the simulation of a sweep on a device.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum GpuSweepError {
    /// The lidar or the scene has a property that the device form lacks.
    #[error("the GPU does not simulate this sweep: {0}")]
    NotDirect(#[from] NotDirect),
    /// Objects move during the sweeps of a batch.
    #[error("the GPU does not simulate this batch: objects move during the sweep")]
    Moving,
    /// The shots of a batch are not ordered by columns and channels.
    #[error(
        "the GPU does not simulate this batch: the shots of the lidar are not ordered by columns"
    )]
    Order,
    /// The device failed.
    #[error(transparent)]
    Device(#[from] GpuError),
}

/// The result of a shot in the form of the shaders.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
struct EchoRecord {
    status: u32,
    object: u32,
    material: u32,
    cos_incidence: f32,
    distance: [f32; 2],
    range: [f32; 2],
    intensity: f32,
    power: f32,
    unused: [u32; 2],
}

/// Parameters of the shader that detects echoes.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct ReceiveParameters {
    pub counts: [u32; 4],
    pub environments: [u32; 4],
    key: [u32; 4],
    kinds: [u32; 4],
    light: [f32; 4],
    receiver: [f32; 4],
    timing: [f32; 4],
    limits: [f32; 4],
    step: [f32; 4],
    response: [f32; 4],
    neighbour: [f32; 4],
    pattern: [f32; 4],
}

/// Bit of the number of a material whose shots the host simulates.
const ON_HOST: u32 = 1 << 31;

/// Bits of the status of an echo.
const PLAIN: u32 = 8;
const TOO_NEAR: u32 = 1;
const RETURN: u32 = 2;
const OF_SURFACE: u32 = 4;

impl<'a> GpuLidar<'a> {
    /// Prepares a lidar in a world whose scene the caster holds ([`GpuCaster::new`] of
    /// [`Scene::caster`](etendue_scene::Scene::caster)).
    ///
    /// # Errors
    /// Where the caster has another scene, or the device has too little memory or is lost.
    pub fn new(
        device: &'a GpuDevice,
        caster: &'a GpuCaster,
        world: &'a World<'a, f64>,
        lidar: &'a Lidar,
    ) -> Result<Self, GpuError> {
        // Materials of objects and triangles, with a mark on those that the host simulates.
        let scene = world.scene();
        caster.scene.check(scene.caster())?;
        let marked = |material: MaterialId| {
            let is_direct = DirectSweep::is_direct(world, material);
            material.0 | if is_direct { 0 } else { ON_HOST }
        };
        let mut triangle_materials: Vec<u32> = vec![];
        let mut of_mesh = std::collections::BTreeMap::new();
        let mut object_materials = vec![];
        for object in scene.objects() {
            let own = &scene.mesh(object.mesh).materials;
            let first = if own.is_empty() {
                u32::MAX
            } else {
                *of_mesh.entry(object.mesh).or_insert_with(|| {
                    let first = index(triangle_materials.len());
                    triangle_materials.extend(own.iter().map(|material| marked(*material)));
                    first
                })
            };
            object_materials.push([first, marked(object.material)]);
        }
        Ok(Self {
            receive: device.pipeline(shaders::receive(), "receive")?,
            object_materials: device.storage("the materials of the objects", &object_materials)?,
            triangle_materials: device
                .storage("the materials of the triangles", &triangle_materials)?,
            backscatter: device.storage("the materials", &backscatter_tables(world))?,
            device,
            caster,
            world,
            lidar,
        })
    }

    /// Simulates a sweep: [`simulate`](etendue_sensors::lidar::simulate()). The host aims the rays; the device casts them,
    /// and computes powers, echoes with noise, ranges and intensities; the host adds the positions.
    /// The host simulates shots that hit mirrors, glass or surfaces with a noise profile by the plain pipeline.
    ///
    /// # Errors
    /// Where the lidar, the scene or the settings have a property that the device form lacks, or the device fails.
    pub fn simulate<P: Fn(f64) -> Isometry3<f64> + Sync>(
        &self,
        settings: &SweepSettings,
        world_from_sensor: P,
    ) -> Result<GpuSweep, GpuSweepError> {
        let mut sweep = Sweep::default();
        let on_host = self.simulate_into(settings, world_from_sensor, &mut sweep)?;
        Ok(GpuSweep { sweep, on_host })
    }

    /// [`GpuLidar::simulate`] that reuses the memory of `sweep`, whose content is replaced. Returns the number of shots that
    /// the host simulated.
    ///
    /// # Errors
    /// As [`GpuLidar::simulate`]; `sweep` is empty then.
    pub fn simulate_into<P: Fn(f64) -> Isometry3<f64> + Sync>(
        &self,
        settings: &SweepSettings,
        world_from_sensor: P,
        sweep: &mut Sweep,
    ) -> Result<usize, GpuSweepError> {
        let memory = std::mem::take(sweep);
        let pose = &world_from_sensor;
        let direct = DirectSweep::new(self.world, self.lidar, settings, pose, memory)?;
        let echoes = if direct.shots().is_empty() {
            vec![]
        } else {
            self.echoes(&direct)?
        };
        let (finished, on_host) = direct.finish(|shot| echoes[shot].shot());
        *sweep = finished;
        Ok(on_host)
    }

    /// Number of channels: the shots of a column.
    pub(crate) fn channels(&self) -> u32 {
        index(self.lidar.channels.len())
    }

    /// The results of all shots.
    fn echoes(&self, sweep: &DirectSweep) -> Result<Vec<EchoRecord>, GpuError> {
        // Rays, and the poses of objects at their times.
        let device = self.device;
        let (rays, times) = rays_of(sweep);
        let count = index(rays.len());
        let times = if self.caster.scene().has_moving_objects() {
            &times[..]
        } else {
            &times[..1]
        };
        let objects = self.caster.scene.place(
            device,
            self.world.scene().caster(),
            Placement::Times(times),
        )?;

        // Buffers of the steps.
        let rays = device.scratch_with("the rays", &rays)?;
        let of_all = |size: usize| u64::from(count) * size as u64;
        let hits = device.scratch("the hits", of_all(size_of::<HitRecord>()))?;
        let echoes = device.scratch("the echoes", of_all(size_of::<EchoRecord>()))?;

        // Cast and detect in one submission.
        let mut encoder = device
            .device
            .create_command_encoder(&CommandEncoderDescriptor::default());
        let row = device.row(count);
        let bindings =
            self.caster
                .bindings(device, &objects, [count, self.channels()], &rays, &hits)?;
        device.dispatch(&mut encoder, self.caster.pipeline(), &bindings, count);
        let noise = sweep.correlated_noise();
        let parameters = device.uniform(&receive_parameters(sweep, noise.as_ref(), count, row))?;
        let channels = channel_records(sweep, noise.as_ref()).collect::<Vec<_>>();
        let channels = device.scratch_with("the channels", &channels)?;
        let buffers = [
            &parameters,
            &hits,
            &self.object_materials,
            &self.triangle_materials,
            &self.backscatter,
            &channels,
            &echoes,
        ];
        let bindings = bind(device, &self.receive, &buffers);
        device.dispatch(&mut encoder, &self.receive, &bindings, count);
        device.submit_and_read(encoder, &echoes, count as usize)
    }
}

/// The rays of all shots, and the times that they refer to. Consecutive shots of the same time share one.
fn rays_of(sweep: &DirectSweep) -> (Vec<RayRecord>, Vec<f64>) {
    // Times.
    let shots = sweep.shots();
    let all = (0..shots.len()).into_par_iter();
    let of_shots: Vec<f64> = all.map(|number| shots.at(number).time).collect();
    let mut times = vec![];
    let mut numbers = Vec::with_capacity(shots.len());
    for time in of_shots {
        if times.last() != Some(&time) {
            times.push(time);
        }
        numbers.push(index(times.len() - 1));
    }

    // Rays from the poses at these times.
    let pose = |time: &f64| sweep.world_from_sensor(*time);
    let poses: Vec<Isometry3<f64>> = times.par_iter().map(pose).collect();
    let ray = |(number, time): (usize, &u32)| {
        let shot = shots.at(number);
        let pose = &poses[*time as usize];
        let ray = Ray::new(pose * shot.origin, pose.rotation * shot.direction());
        RayRecord::of(&ray, *time)
    };
    (numbers.par_iter().enumerate().map(ray).collect(), times)
}

impl ReceiveParameters {
    /// Sets the index of the sweep of the first environment.
    pub fn set_sweep(&mut self, sweep: u32) {
        self.key[2] = sweep;
    }
}

impl EchoRecord {
    fn shot(&self) -> DirectShot {
        let surface = (self.object != u32::MAX).then(|| DirectSurface {
            distance: joined(self.distance),
            object: ObjectId(self.object),
            material: MaterialId(self.material),
            cos_incidence: f64::from(self.cos_incidence),
        });
        let echo = if self.status & PLAIN != 0 {
            DirectEcho::Plain
        } else if self.status & TOO_NEAR != 0 {
            DirectEcho::TooNear
        } else if self.status & RETURN != 0 {
            DirectEcho::Return {
                range: joined(self.range),
                intensity: f64::from(self.intensity),
                power: f64::from(self.power),
                is_of_surface: self.status & OF_SURFACE != 0,
            }
        } else {
            DirectEcho::None
        };
        DirectShot { surface, echo }
    }
}

/// Backscatter of every material at equally spaced square roots of one minus the cosine of the incidence.
#[expect(
    clippy::cast_possible_truncation,
    reason = "the shaders compute powers in f32"
)]
fn backscatter_tables(world: &World<f64>) -> Vec<f32> {
    let last = (TABLE - 1) as f64;
    let entry = |number: usize| {
        let material = world.material(MaterialId(index(number / TABLE)));
        let place = (number % TABLE) as f64 / last;
        let cos_incidence = (1.0 - place * place).max(0.0);
        material.backscatter(cos_incidence, Side::Front) as f32
    };
    let count = world.scene().materials().len() * TABLE;
    (0..count).into_par_iter().map(entry).collect()
}

/// Range offset of every channel, the errors common to all its shots, and its row in images, the highest ring first.
pub(crate) fn channel_records<'a>(
    sweep: &'a DirectSweep,
    noise: Option<&'a CorrelatedDraws>,
) -> impl Iterator<Item = [f32; 4]> + 'a {
    let channels = &sweep.lidar().channels;
    let last = index(channels.len()) - 1;
    channels.iter().enumerate().map(move |(number, channel)| {
        let common = noise.map_or(0.0, |noise| noise.common[number]);
        let [[offset, rest], [common, _]] = [channel.range_offset, common].map(double_single);
        let row = last - u32::from(channel.ring);
        [offset, rest, common, f32::from_bits(row)]
    })
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "the halves of the seed; the shaders compute powers in f32"
)]
pub(crate) fn receive_parameters(
    sweep: &DirectSweep,
    noise: Option<&CorrelatedDraws>,
    count: u32,
    row: u32,
) -> ReceiveParameters {
    // Receiver.
    let settings = sweep.settings();
    let lidar = sweep.lidar();
    let form = sweep.echo_form();
    let (is_threshold, timed) = match form.timing {
        SingleEchoTiming::Pulse { noise } => (0, noise),
        SingleEchoTiming::Threshold { zero } => (1, zero),
    };
    let saturation = form.saturation.min(1e30);

    // Intensity.
    let (response, numbers) = match lidar.intensity.response {
        IntensityResponse::Power { counts } => (0, [counts, 0.0]),
        IntensityResponse::Log { zero, per_decade } => (1, [zero, per_decade]),
        IntensityResponse::Reflectivity {
            scale: ReflectivityScale::Percent,
        } => (2, [0.0; 2]),
        IntensityResponse::Reflectivity {
            scale: ReflectivityScale::DiffuseThenRetro { full_scale },
        } => (3, [155.0 / (full_scale / 100.0).ln(), 0.0]),
    };

    // Limits and noise.
    let pair = |a: f64, b: f64| {
        let [a, b] = [a, b].map(double_single);
        [a[0], a[1], b[0], b[1]]
    };
    let limits = &lidar.limits;
    let inverse = if limits.step > 0.0 {
        1.0 / limits.step
    } else {
        0.0
    };
    let weights = |average: Option<&AveragedNormals>| {
        average.map_or([0.0; 4], |own| {
            own.weights.map(|weight| (own.sd * weight) as f32)
        })
    };
    ReceiveParameters {
        counts: [count, 0, row, index(lidar.channels.len())],
        environments: [count, 0, 0, 0],
        key: [
            settings.seed as u32,
            (settings.seed >> 32) as u32,
            settings.sweep,
            settings.sensor << 20,
        ],
        kinds: [
            is_threshold,
            response,
            u32::from(!settings.without_noise),
            0,
        ],
        light: [
            sweep.weight() as f32,
            sweep.two_way_extinction() as f32,
            sweep.echo_reach() as f32,
            lidar.intensity.top.unwrap_or(-1.0) as f32,
        ],
        receiver: [
            form.threshold as f32,
            saturation as f32,
            form.variance[0] as f32,
            form.variance[1] as f32,
        ],
        timing: [form.jitter as f32, form.pulse_sd as f32, timed as f32, 0.0],
        limits: pair(limits.near, limits.far),
        step: pair(limits.step, inverse),
        response: [numbers[0] as f32, numbers[1] as f32, 0.0, 0.0],
        neighbour: weights(noise.map(|noise| &noise.neighbour)),
        pattern: weights(noise.map(|noise| &noise.beam)),
    }
}
