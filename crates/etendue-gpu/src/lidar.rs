//! Whole sweeps of a lidar on a device.

use crate::ambient::AmbientMaterials;
use crate::caster::GpuCaster;
use crate::device::GpuDevice;
use crate::error::GpuError;
use crate::geometry::index;
use crate::numbers::joined;
use crate::profiles::profiles;
use crate::receive::{Detecting, channel_records, most_reported, receive_parameters};
use crate::scene::Placement;
use crate::shaders::{Detector, MOST_BEAM_RAYS, TABLE};
use crate::steps::{Aimed, ShotRecord, Steps};
use crate::transfers::Scratch;
use crate::trees::{MOST_GENERATIONS, specular_materials};
use crate::velocities::Velocities;
use bytemuck::{Pod, Zeroable};
use etendue_physics::surface::Side;
use etendue_scene::{MaterialId, ObjectId};
use etendue_sensors::lidar::{
    DirectEcho, DirectLight, DirectLightReturn, DirectReceiver, DirectReturn, DirectShot,
    DirectSurface, DirectSweep, Lidar, NotDirect, Shot, Sweep, SweepSettings,
};
use etendue_sensors::transport::World;
use nalgebra::Isometry3;
use rayon::prelude::*;
use thiserror::Error;
use wgpu::Buffer;

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
            cos_incidence: f64::from(self.cos_incidence.abs()),
            side: if self.cos_incidence.is_sign_negative() {
                Side::Back
            } else {
                Side::Front
            },
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

/// Backscatter of both sides of every material at equally spaced square roots of one minus the cosine of the incidence.
#[expect(
    clippy::cast_possible_truncation,
    reason = "the shaders compute powers in f32"
)]
fn backscatter_tables(world: &World<f64>) -> Vec<f32> {
    let last = (TABLE - 1) as f64;
    let entry = |number: usize| {
        let material = world.prepared_material(MaterialId(index(number / TABLE / 2)));
        let side = match number / TABLE % 2 {
            0 => Side::Front,
            _ => Side::Back,
        };
        let place = (number % TABLE) as f64 / last;
        let cos_incidence = (1.0 - place * place).max(0.0);
        material.backscatter(cos_incidence, side) as f32
    };
    let count = world.scene().materials().len() * 2 * TABLE;
    (0..count).into_par_iter().map(entry).collect()
}
