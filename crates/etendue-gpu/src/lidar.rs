//! Whole sweeps of a lidar on a device.

use crate::ambient::AmbientMaterials;
use crate::caster::GpuCaster;
use crate::device::GpuDevice;
use crate::error::GpuError;
use crate::geometry::index;
use crate::numbers::{double_single, joined};
use crate::phase::PhaseBuffers;
use crate::profiles::profiles;
use crate::sampled::SampledBuffers;
use crate::scene::Placement;
use crate::shaders::{Detector, MOST_BEAM_RAYS, TABLE};
use crate::steps::{Aimed, ShotRecord, Steps};
use crate::transfers::Scratch;
use crate::trees::{MOST_GENERATIONS, specular_materials};
use crate::velocities::Velocities;
use bytemuck::{Pod, Zeroable};
use etendue_physics::SPEED_OF_LIGHT;
use etendue_physics::pulse::{
    DualPair, EchoForm, EchoTiming, Fmcw, IntensityResponse, ReflectivityScale, ReturnMode,
};
use etendue_physics::surface::Side;
use etendue_scene::{MaterialId, ObjectId};
use etendue_sensors::lidar::{
    AveragedNormals, CorrelatedDraws, DirectEcho, DirectLight, DirectLightReturn, DirectRay,
    DirectReceiver, DirectReturn, DirectShot, DirectSurface, DirectSweep, Lidar, NotDirect, Shot,
    Sweep, SweepSettings, Triangulation,
};
use etendue_sensors::transport::World;
use nalgebra::Isometry3;
use rayon::prelude::*;
use thiserror::Error;
use wgpu::{Buffer, ComputePipeline};

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
    pub(crate) object_materials: Buffer,
    pub(crate) triangle_materials: Buffer,
    pub(crate) backscatter: Buffer,
    /// The mirrors and glass (branch.wgsl), if there are any.
    pub(crate) specular: Option<Buffer>,
    /// The noise profiles (profiles.wgsl), if there are any.
    pub(crate) profiles: Option<Buffer>,
    /// The materials in ambient light, if there is any.
    pub(crate) lit: Option<AmbientMaterials>,
}

/// A sweep that a device simulated.
#[derive(Clone, Debug, PartialEq)]
pub struct GpuSweep {
    /// The sweep.
    pub sweep: Sweep,
    /// Number of shots that the host simulated: those with more light paths or echoes than the device lists, and rays that pass
    /// many triangles at one point.
    pub on_host: usize,
    /// Why the host applied the receiver to the light of all shots, if it did.
    pub receiver_on_host: Option<NotDirect>,
}

/// The work of the host in a sweep on a device, as [`GpuSweep`] has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HostWork {
    /// Number of shots that the host simulated.
    pub shots: usize,
    /// Why the host applied the receiver, if it did.
    pub receiver: Option<NotDirect>,
}

/// Errors of the simulation of a sweep on a device.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum GpuSweepError {
    /// The lidar or the scene has a property that the device form lacks.
    #[error("the GPU does not simulate this sweep: {0}")]
    NotDirect(#[from] NotDirect),
    /// The beams have too many rays.
    #[error(
        "the GPU does not simulate this sweep: a beam has {0} rays, more than {MOST_BEAM_RAYS}"
    )]
    Rays(usize),
    /// Light follows too many surfaces.
    #[error(
        "the GPU does not simulate this sweep: light follows up to {0} surfaces, more than {most}",
        most = MOST_GENERATIONS + 1
    )]
    Depth(u32),
    /// The shots of a batch are not ordered by columns and channels.
    #[error(
        "the GPU does not simulate this batch: the shots of the lidar are not ordered by columns"
    )]
    Order,
    /// Ambient light needs more buffers than the device binds.
    #[error(
        "the GPU does not simulate this sweep: the device binds too few buffers for ambient light"
    )]
    AmbientLight,
    /// The device failed.
    #[error(transparent)]
    Device(#[from] GpuError),
}

/// The result of a shot, or a further echo of a shot, in the form of the shaders.
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
    stretch: f32,
    source_object: u32,
    source_material: u32,
    source_cos_incidence: f32,
    source_distance: [f32; 2],
    velocity: [f32; 2],
    ambient: f32,
    /// Index of the next echo of the shot among the further ones, or `u32::MAX`.
    next: u32,
}

/// Light that returns from a surface, in the form of the shaders.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
struct ReturnRecord {
    object: u32,
    triangle: u32,
    share: f32,
    cos_incidence: f32,
    range: [f32; 2],
    optical_range: [f32; 2],
}

/// The results of all shots.
#[derive(Default)]
struct Echoes {
    shots: Vec<EchoRecord>,
    further: Vec<EchoRecord>,
    /// The light of shots whose receiver the host applies.
    light: Vec<ReturnRecord>,
}

/// Parameters of the shader that detects echoes.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct ReceiveParameters {
    pub counts: [u32; 4],
    pub environments: [u32; 4],
    pub key: [u32; 4],
    kinds: [u32; 4],
    light: [f32; 4],
    receiver: [f32; 4],
    timing: [f32; 4],
    limits: [f32; 4],
    step: [f32; 4],
    response: [f32; 4],
    ambient: [f32; 4],
    neighbour: [f32; 4],
    pattern: [f32; 4],
    pub weights: [f32; MOST_BEAM_RAYS],
}

/// Bits of the number of a material whose shots the host simulates, and of a mirror or glass.
const ON_HOST: u32 = 1 << 31;
const SPECULAR: u32 = 1 << 30;

/// Bits of the status of an echo.
const PLAIN: u32 = 8;
const TOO_NEAR: u32 = 1;
const RETURN: u32 = 2;
const ERROR: u32 = 16;
const HAS_VELOCITY: u32 = 32;
const LISTED: u32 = 64;

/// Kinds of receivers.
const TRIANGULATION: u32 = 3;
const PHASE: u32 = 4;
const FMCW: u32 = 5;
const ON_THE_HOST: u32 = 6;

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
        // Materials of objects and triangles, with their marks.
        let scene = world.scene();
        caster.scene.check(scene.caster())?;
        let specular = specular_materials(device, world)?;
        let profiles = profiles(device, world)?;
        let marked = |material: MaterialId| {
            let ends_paths = world.material(material).ends_paths();
            let is_profiled = world.profiles().profile(material).is_some();
            let is_left =
                (is_profiled && profiles.is_none()) || (!ends_paths && specular.is_none());
            let marks = [(is_left, ON_HOST), (!ends_paths, SPECULAR)];
            let marks = marks.map(|(is_set, mark)| if is_set { mark } else { 0 });
            material.0 | marks[0] | marks[1]
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
            object_materials: device.storage("the materials of the objects", &object_materials)?,
            triangle_materials: device
                .storage("the materials of the triangles", &triangle_materials)?,
            backscatter: device.storage("the materials", &backscatter_tables(world))?,
            lit: AmbientMaterials::new(device, world)?,
            specular,
            profiles,
            device,
            caster,
            world,
            lidar,
        })
    }

    /// Simulates a sweep: [`simulate`](etendue_sensors::lidar::simulate()). The host aims the rays; the device casts them,
    /// and computes powers, echoes with noise, ranges and intensities; the host adds the positions.
    /// The host simulates shots with more light paths or echoes than the device lists by the plain pipeline.
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
        Ok(GpuSweep {
            sweep,
            on_host: on_host.shots,
            receiver_on_host: on_host.receiver,
        })
    }

    /// [`GpuLidar::simulate`] that reuses the memory of `sweep`, whose content is replaced. Returns the work of the host.
    ///
    /// # Errors
    /// As [`GpuLidar::simulate`]; `sweep` is empty then.
    pub fn simulate_into<P: Fn(f64) -> Isometry3<f64> + Sync>(
        &self,
        settings: &SweepSettings,
        world_from_sensor: P,
        sweep: &mut Sweep,
    ) -> Result<HostWork, GpuSweepError> {
        let memory = std::mem::take(sweep);
        let pose = &world_from_sensor;
        let direct = DirectSweep::new(self.world, self.lidar, settings, pose, memory)?;
        let echoes = if direct.shots().is_empty() {
            Echoes::default()
        } else {
            self.echoes(&direct)?
        };
        let receiver = match direct.receiver() {
            DirectReceiver::OnHost(reason) => Some(*reason),
            _ => None,
        };
        let (finished, shots) = direct.finish(|shot| echoes.shot(shot));
        *sweep = finished;
        Ok(HostWork { shots, receiver })
    }

    /// Number of channels: the shots of a column.
    pub(crate) fn channels(&self) -> u32 {
        index(self.lidar.channels.len())
    }

    /// The results of all shots.
    fn echoes(&self, sweep: &DirectSweep) -> Result<Echoes, GpuSweepError> {
        // Shots, and the poses of objects at their times.
        let device = self.device;
        let (shots, times) = placed_shots(sweep);
        let times = if self.caster.scene().has_moving_objects() {
            &times[..]
        } else {
            &times[..1]
        };
        let steps = Steps::new(self, sweep, Placement::at(times), 1, shots.len())?;
        let velocities = match sweep.receiver() {
            DirectReceiver::Fmcw(_) => {
                Some(Velocities::new(self, sweep, &steps, Placement::at(times))?)
            }
            _ => None,
        };

        // Results, and what is common to all shots.
        let bytes = (shots.len() * size_of::<EchoRecord>()) as u64;
        let echoes = device.scratch("the echoes", bytes)?;
        let noise = sweep.correlated_noise();
        let channels = channel_records(sweep, noise.as_ref()).collect::<Vec<_>>();
        let channels = device.scratch_with("the channels", &channels)?;
        let no_poses = device.scratch("the poses of the sensor", 96)?;

        // Simulate as many shots at a time as the steps hold.
        let detecting = Detecting::new(device, sweep, &steps, "receive")?;
        let list = List::new(device, sweep, &steps, shots.len())?;
        for (number, part) in shots.chunks(steps.together).enumerate() {
            let (first, count) = (index(number * steps.together), index(part.len()));
            let part = device.scratch_with("the shots", part)?;
            let mut parameters = receive_parameters(sweep, noise.as_ref(), &steps.beam);
            parameters.environments = [count, first, 0, 0];
            let aimed = Aimed {
                shots: &part,
                poses: &no_poses,
                environments: [count, 0, 0, 0],
                velocities: velocities.as_ref(),
            };
            let mut outputs = vec![(6, &*echoes)];
            // Receivers on the host need no channels
            if detecting.detector != Detector::Light {
                outputs.push((5, &channels));
            }
            outputs.extend(list.as_ref().map(List::binding));
            steps.submit(self, count, &aimed, &detecting, parameters, &outputs)?;
        }
        Ok(Echoes {
            shots: device.read_vec(&echoes, shots.len())?,
            further: match &list {
                Some(List::Echoes(list)) => read_list(device, list)?,
                _ => vec![],
            },
            light: match &list {
                Some(List::Light(list)) => read_list(device, list)?,
                _ => vec![],
            },
        })
    }
}

/// All shots in the frame of the world, and the times that they refer to. Consecutive shots of the same time share one.
fn placed_shots(sweep: &DirectSweep) -> (Vec<ShotRecord>, Vec<f64>) {
    // Place the shots of each part, with its own times.
    let count = sweep.shots().len();
    let part = sweep.part_size();
    let parts = (0..count.div_ceil(part)).into_par_iter();
    let placed: Vec<(Vec<ShotRecord>, Vec<f64>)> = parts
        .map(|number| {
            let mut memory = vec![];
            let own = number * part..count.min((number + 1) * part);
            let first = index(own.start);
            let shots = sweep.list(own, &mut memory);
            let mut times: Vec<f64> = vec![];
            let mut pose = Isometry3::identity();
            let mut record = |(number, shot): (u32, &Shot)| {
                if times.last() != Some(&shot.time) {
                    times.push(shot.time);
                    pose = sweep.world_from_sensor(shot.time);
                }
                let frame = sweep.jittered_frame_of(number, shot);
                ShotRecord::new(&shot.origin, &frame, &pose, index(times.len() - 1))
            };
            let shots = (first..).zip(shots);
            (shots.map(&mut record).collect(), times)
        })
        .collect();

    // Join them.
    let mut all = Vec::with_capacity(count);
    let mut times = vec![];
    for (mut records, own) in placed {
        let first = index(times.len());
        for record in &mut records {
            record.time += first;
        }
        all.append(&mut records);
        times.extend(own);
    }
    (all, times)
}

impl ReceiveParameters {
    /// Sets the index of the sweep of the first environment.
    pub fn set_sweep(&mut self, sweep: u32) {
        self.key[2] = sweep;
    }
}

/// A list with as many elements per shot as there are. The number of all has the place of an element.
pub(crate) enum List<'a> {
    /// Further echoes.
    Echoes(Scratch<'a>),
    /// Light of surfaces.
    Light(Scratch<'a>),
}

impl<'a> List<'a> {
    /// Room for the list of a number of shots, if the receiver needs one: for one further echo per shot of receivers that report
    /// two, else three, and at least for one; for the light of two surfaces per ray.
    pub fn new(
        device: &'a GpuDevice,
        sweep: &DirectSweep,
        steps: &Steps,
        shots: usize,
    ) -> Result<Option<Self>, GpuError> {
        let list = |what, count: usize, size: usize| {
            let list = device.scratch(what, ((1 + count.max(1)) * size) as u64)?;
            device.write(&list, &[0; size_of::<u32>()]);
            Ok::<_, GpuError>(list)
        };
        if let DirectReceiver::OnHost(_) = sweep.receiver() {
            let count = 2 * steps.beam.len() * shots;
            let most = device.most_elements(size_of::<ReturnRecord>()) - 1;
            let light = list("the light", count.min(most), size_of::<ReturnRecord>())?;
            return Ok(Some(Self::Light(light)));
        }
        let of_shot = match most_reported(sweep.receiver()) {
            Some(1) => return Ok(None),
            Some(2) => 1,
            _ => 3,
        };
        let size = size_of::<EchoRecord>();
        let echoes = list("the further echoes", of_shot * shots, size)?;
        Ok(Some(Self::Echoes(echoes)))
    }

    /// The list, with the number of its binding in the shader that detects.
    pub fn binding(&self) -> (u32, &Buffer) {
        match self {
            Self::Echoes(list) | Self::Light(list) => (17, list),
        }
    }
}

/// Reads a list.
fn read_list<T: Pod + Send + Sync>(device: &GpuDevice, list: &Buffer) -> Result<Vec<T>, GpuError> {
    let count: Vec<u32> = device.read_vec(list, 1)?;
    let room = list.size() / size_of::<T>() as u64 - 1;
    let count = u64::from(count[0]).min(room);
    let mut all = bytemuck::zeroed_vec(usize::try_from(count).unwrap_or(0));
    if !all.is_empty() {
        device.read(list, 1, &mut all)?;
    }
    Ok(all)
}

/// Most echoes that a receiver reports of a shot; `None` without a limit.
fn most_reported(receiver: &DirectReceiver) -> Option<usize> {
    match receiver {
        DirectReceiver::Pulsed { returns, .. } => returns.limit(),
        DirectReceiver::Sampled(own) => own.receiver.returns.limit(),
        DirectReceiver::Fmcw(_) | DirectReceiver::OnHost(_) => None,
        DirectReceiver::Triangulation(_) | DirectReceiver::Phase { .. } => Some(1),
    }
}

impl Echoes {
    fn shot(&self, number: usize) -> DirectShot {
        // First surface and first echo.
        let own = &self.shots[number];
        let [_, second, third, _] = own.status.to_le_bytes();
        let surface = (own.object != u32::MAX).then(|| DirectSurface {
            distance: joined(own.distance),
            object: ObjectId(own.object),
            material: MaterialId(own.material),
            cos_incidence: f64::from(own.cos_incidence),
        });
        let echo = if own.status & LISTED != 0 {
            let first = own.next as usize;
            let all = &self.light[first..first + (own.status >> 8) as usize];
            DirectEcho::Light(all.iter().map(ReturnRecord::light).collect())
        } else if own.status & PLAIN != 0 {
            DirectEcho::Plain
        } else if own.status & TOO_NEAR != 0 {
            DirectEcho::TooNear
        } else if own.status & ERROR != 0 {
            DirectEcho::Error(second)
        } else if own.status & RETURN != 0 {
            DirectEcho::Return(own.reported())
        } else {
            DirectEcho::None
        };

        // The others.
        let mut further = vec![];
        let is_return = matches!(echo, DirectEcho::Return(_));
        let mut next = if is_return { own.next } else { u32::MAX };
        while let Some(other) = self.further.get(next as usize) {
            further.push(other.reported());
            next = other.next;
        }
        let light = DirectLight {
            power: f64::from(own.power),
            surfaces: u16::from(third),
        };
        DirectShot {
            surface,
            echo,
            further,
            light,
            ambient: f64::from(own.ambient),
        }
    }
}

impl ReturnRecord {
    fn light(&self) -> DirectLightReturn {
        DirectLightReturn {
            object: ObjectId(self.object),
            triangle: self.triangle,
            cos_incidence: f64::from(self.cos_incidence),
            range: joined(self.range),
            optical_range: joined(self.optical_range),
            share: f64::from(self.share),
        }
    }
}

impl EchoRecord {
    /// The echo, which is reported.
    fn reported(&self) -> DirectReturn {
        let has_velocity = self.status & HAS_VELOCITY != 0;
        DirectReturn {
            range: joined(self.range),
            intensity: f64::from(self.intensity),
            power: f64::from(self.power),
            stretch: f64::from(self.stretch),
            velocity: has_velocity.then(|| joined(self.velocity)),
            source: (self.source_object != u32::MAX).then(|| DirectSurface {
                distance: joined(self.source_distance),
                object: ObjectId(self.source_object),
                material: MaterialId(self.source_material),
                cos_incidence: f64::from(self.source_cos_incidence),
            }),
        }
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
    beam: &[DirectRay],
) -> ReceiveParameters {
    // Receiver.
    let settings = sweep.settings();
    let lidar = sweep.lidar();
    let receiver = ReceiverNumbers::of(sweep.receiver());
    let mut weights = [0.0; MOST_BEAM_RAYS];
    for (weight, ray) in weights.iter_mut().zip(beam) {
        *weight = ray.weight as f32;
    }

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
    let averages = |own: Option<&AveragedNormals>| own.map_or([0.0; 4], averages);
    ReceiveParameters {
        counts: [0, 0, 0, index(lidar.channels.len())],
        environments: [0; 4],
        key: [
            settings.seed as u32,
            (settings.seed >> 32) as u32,
            settings.sweep,
            settings.sensor << 20,
        ],
        kinds: [
            receiver.timing,
            response,
            u32::from(!settings.without_noise),
            receiver.reported,
        ],
        light: [
            receiver.length as f32,
            sweep.two_way_extinction() as f32,
            sweep.echo_reach() as f32,
            lidar.intensity.top.unwrap_or(-1.0) as f32,
        ],
        receiver: receiver.powers.map(|number| number as f32),
        timing: receiver.ranges,
        limits: pair(limits.near, limits.far),
        step: pair(limits.step, inverse),
        response: [numbers[0] as f32, numbers[1] as f32, 0.0, 0.0],
        ambient: {
            let saturation = match sweep.receiver() {
                DirectReceiver::Pulsed { form, .. } => form.saturation_per_ambient,
                DirectReceiver::Sampled(own) => own.form.saturation_per_ambient,
                _ => 0.0,
            };
            let is_lit = f32::from(u8::from(sweep.ambient().is_some()));
            [is_lit, saturation as f32, 0.0, 0.0]
        },
        neighbour: averages(noise.map(|noise| &noise.neighbour)),
        pattern: averages(noise.map(|noise| &noise.beam)),
        weights,
    }
}

/// The weights of a moving average times its standard deviation.
#[expect(
    clippy::cast_possible_truncation,
    reason = "the shaders compute noise in f32"
)]
pub(crate) fn averages(own: &AveragedNormals) -> [f32; 4] {
    own.weights.map(|weight| (own.sd * weight) as f32)
}

/// The shader that detects, with the parameters of the receiver.
pub(crate) struct Detecting<'a> {
    pub detector: Detector,
    pub pipeline: ComputePipeline,
    pub own: OwnBuffers<'a>,
}

/// Parameters of a receiver that has its own.
pub(crate) enum OwnBuffers<'a> {
    None,
    Phase(PhaseBuffers<'a>),
    Sampled(SampledBuffers<'a>),
}

impl<'a> Detecting<'a> {
    /// The entry point of the shader for the receiver of a sweep.
    pub fn new(
        device: &'a GpuDevice,
        sweep: &DirectSweep,
        steps: &Steps,
        entry: &'static str,
    ) -> Result<Self, GpuError> {
        let reports_one = most_reported(sweep.receiver()) == Some(1);
        let (detector, own) = match sweep.receiver() {
            DirectReceiver::Phase { receiver, spread } => {
                let own = PhaseBuffers::new(device, sweep, receiver, *spread)?;
                (Detector::Phase, OwnBuffers::Phase(own))
            }
            DirectReceiver::Sampled(own) => {
                let buffers = SampledBuffers::new(device, sweep, own)?;
                let detector = if reports_one {
                    Detector::SampledEcho
                } else {
                    Detector::SampledEchoes
                };
                (detector, OwnBuffers::Sampled(buffers))
            }
            DirectReceiver::Fmcw(_) => (Detector::Fmcw, OwnBuffers::None),
            DirectReceiver::OnHost(_) => (Detector::Light, OwnBuffers::None),
            DirectReceiver::Pulsed { .. } | DirectReceiver::Triangulation(_) if reports_one => {
                (Detector::Echo, OwnBuffers::None)
            }
            DirectReceiver::Pulsed { .. } | DirectReceiver::Triangulation(_) => {
                (Detector::Echoes, OwnBuffers::None)
            }
        };
        Ok(Self {
            detector,
            pipeline: device.pipeline(steps.receive(detector), entry)?,
            own,
        })
    }
}

/// A receiver in the form of the shader.
struct ReceiverNumbers {
    /// What is timed; 3 for triangulation; 4 for phase; 5 for frequency-modulated waves.
    timing: u32,
    /// Which echo is reported.
    reported: u32,
    /// Distance within which returns merge, m.
    length: f64,
    /// Threshold, saturation, and variances of the power.
    powers: [f64; 4],
    /// Jitter, standard deviation of the pulse, noise of the pulse or zero of the threshold, level of the edge; noise and
    /// step of the angle and the baseline in double-single numbers; time of the beat of a velocity in double-single numbers,
    /// and the noise of a beat.
    ranges: [f32; 4],
}

impl ReceiverNumbers {
    fn of(receiver: &DirectReceiver) -> Self {
        match receiver {
            DirectReceiver::Pulsed { form, returns } => Self::pulsed(form, *returns),
            DirectReceiver::Sampled(own) => Self::pulsed(&own.form, own.receiver.returns),
            DirectReceiver::Triangulation(own) => Self::triangulation(own),
            DirectReceiver::Fmcw(own) => Self::fmcw(own),
            DirectReceiver::Phase { .. } => Self::other(PHASE),
            DirectReceiver::OnHost(_) => Self::other(ON_THE_HOST),
        }
    }

    /// A receiver without such numbers.
    fn other(timing: u32) -> Self {
        Self {
            timing,
            reported: 0,
            length: 0.0,
            powers: [0.0; 4],
            ranges: [0.0; 4],
        }
    }

    #[expect(
        clippy::cast_possible_truncation,
        reason = "the shaders compute errors of ranges in f32"
    )]
    fn triangulation(own: &Triangulation) -> Self {
        let [baseline, rest] = double_single(own.baseline);
        let [noise, step] = [own.angle_noise, own.angle_step].map(|number| number as f32);
        Self {
            timing: TRIANGULATION,
            reported: 0,
            length: 0.0,
            powers: [own.threshold, 0.0, 0.0, 0.0],
            ranges: [noise, step, baseline, rest],
        }
    }

    /// Beats as ranges: a beat of the range $R$ has the frequency $2BR/cT$, one of the velocity $v$ $2v/\lambda$.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "the shaders compute errors of ranges in f32"
    )]
    fn fmcw(own: &Fmcw) -> Self {
        let range_per_frequency = SPEED_OF_LIGHT * own.chirp / (2.0 * own.bandwidth);
        let [time, rest] = double_single(2.0 / own.wavelength * range_per_frequency);
        let noise = own.beat_noise(1.0) * range_per_frequency;
        Self {
            timing: FMCW,
            reported: 3,
            length: own.resolution(),
            powers: [own.threshold * own.noise, 0.0, 0.0, 0.0],
            ranges: [time, rest, noise as f32, 0.0],
        }
    }

    #[expect(
        clippy::cast_possible_truncation,
        reason = "the shaders compute errors of ranges in f32"
    )]
    fn pulsed(form: &EchoForm, returns: ReturnMode) -> Self {
        let (timing, timed, level) = match form.timing {
            EchoTiming::Pulse { noise } => (0, noise, 0.0),
            EchoTiming::Edge { noise, level } => (1, noise, level),
            EchoTiming::Threshold { zero } => (2, zero, 0.0),
        };
        let [constant, per_power] = form.variance;
        Self {
            timing,
            reported: match returns {
                ReturnMode::Strongest => 0,
                ReturnMode::First => 1,
                ReturnMode::Last => 2,
                ReturnMode::All => 3,
                ReturnMode::Dual(DualPair::LastAndStrongest) => 4,
                ReturnMode::Dual(DualPair::TwoStrongest) => 5,
                ReturnMode::Dual(DualPair::FirstAndLast) => 6,
                ReturnMode::Dual(DualPair::TwoFirst) => 7,
            },
            length: form.length,
            powers: [
                form.threshold,
                form.saturation.min(1e30),
                constant,
                per_power,
            ],
            ranges: [form.jitter, form.pulse_sd, timed, level].map(|number| number as f32),
        }
    }
}
