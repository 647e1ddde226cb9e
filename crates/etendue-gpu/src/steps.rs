//! The steps of a number of shots on a device: aiming, casting, detecting.

use crate::ambient::AmbientLight;
use crate::caster::{CastRays, HitRecord, MOST_RAYS, RayRecord, bind, bind_at};
use crate::device::GpuDevice;
use crate::error::GpuError;
use crate::geometry::index;
use crate::lidar::{GpuLidar, GpuSweepError};
use crate::numbers::{double_single, point, vector};
use crate::receive::{Detecting, OwnBuffers, ReceiveParameters, averages};
use crate::scene::{PlacedObjects, Placement};
use crate::shaders::{self, Detector, Extras, MOST_BEAM_RAYS};
use crate::transfers::Scratch;
use crate::trees::{MOST_GENERATIONS, Slots, Trees};
use crate::velocities::Velocities;
use bytemuck::{Pod, Zeroable};
use etendue_physics::beam::BeamFrame;
use etendue_sensors::lidar::{DirectRay, DirectReceiver, DirectSweep};
use nalgebra::{Isometry3, Point3, Vector3};
use wgpu::{Buffer, CommandEncoder, CommandEncoderDescriptor, ComputePipeline};

/// The memory of the steps, which all submissions share.
pub(crate) struct Steps<'a> {
    device: &'a GpuDevice,
    /// The rays of each beam.
    pub beam: Vec<DirectRay>,
    /// Most groups of shots in one submission.
    pub together: usize,
    objects: PlacedObjects<'a>,
    aim: ComputePipeline,
    /// Weights of the pointing errors of a beam and its predecessors, rad.
    pointing: [f32; 4],
    rays: Scratch<'a>,
    hits: Scratch<'a>,
    /// The paths by way of mirrors and glass, and the surfaces, if the scene has mirrors, glass or noise profiles.
    trees: Option<Trees<'a>>,
    has_profiles: bool,
    /// The sight of the lens of lidars that triangulate.
    sights: Option<Sights<'a>>,
    /// The ambient light that adds noise.
    ambient: Option<AmbientLight<'a>>,
}

/// The sight of the lens of a lidar that triangulates.
struct Sights<'a> {
    /// Distance of the lens from the origin of a shot, m.
    baseline: f64,
    aim: ComputePipeline,
    mark: ComputePipeline,
    hits: Scratch<'a>,
}

/// Parameters of the shader of the sight.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
struct SightParameters {
    counts: [u32; 4],
    environments: [u32; 4],
    baseline: [f32; 4],
}

/// Shots of one submission.
pub(crate) struct Aimed<'a> {
    pub shots: &'a Buffer,
    /// Poses of the sensor in environments.
    pub poses: &'a Buffer,
    /// Number of shots of an environment, index of the first environment, whether there are environments, 0.
    pub environments: [u32; 4],
    /// The velocities of surfaces, for receivers that measure them.
    pub velocities: Option<&'a Velocities<'a>>,
}

/// A shot in the form of the shaders.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct ShotRecord {
    origin: [f32; 6],
    axis: [f32; 6],
    left: [f32; 6],
    up: [f32; 6],
    /// Index of its time.
    pub time: u32,
    /// Upwards from the sensor.
    up_of_sensor: [f32; 3],
}

/// Parameters of the shader that aims.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
struct AimParameters {
    counts: [u32; 4],
    environments: [u32; 4],
    key: [u32; 4],
    pointing: [f32; 4],
    beam: [[f32; 12]; MOST_BEAM_RAYS],
}

impl<'a> Steps<'a> {
    /// The steps of a sweep's shots, in groups of a size that are not divided, with at most `groups` in one submission.
    pub fn new(
        lidar: &GpuLidar<'a>,
        sweep: &DirectSweep,
        placement: Placement,
        size: usize,
        groups: usize,
    ) -> Result<Self, GpuSweepError> {
        let device = lidar.device;
        let beam = beam_of(sweep)?;
        let settings = sweep.tree();
        let generations = match lidar.specular {
            Some(_) => settings.max_depth.saturating_sub(1),
            None => 0,
        };
        if generations > MOST_GENERATIONS {
            return Err(GpuSweepError::Depth(settings.max_depth));
        }
        let of_group = (size * beam.len()).max(1);
        let in_all = of_group * (1 + generations as usize);
        let together = (MOST_RAYS / in_all).clamp(1, groups.max(1));
        let of_rays = |size: usize| (together * in_all * size) as u64;
        let caster = lidar.world.scene().caster();
        let keeps_surfaces =
            generations > 0 || lidar.profiles.is_some() || sweep.ambient().is_some();
        Ok(Self {
            device,
            together,
            objects: lidar.caster.scene().place(device, caster, placement)?,
            aim: device.pipeline(shaders::aim(), "aim_shots")?,
            pointing: averages(&sweep.pointing()),
            rays: device.scratch("the rays", of_rays(size_of::<RayRecord>()))?,
            hits: device.scratch("the hits", of_rays(size_of::<HitRecord>()))?,
            ambient: match sweep.ambient() {
                Some(own) => Some(AmbientLight::new(
                    lidar,
                    &own,
                    &beam,
                    generations > 0,
                    of_rays,
                )?),
                None => None,
            },
            trees: if keeps_surfaces {
                let rays = together * of_group;
                Some(Trees::new(lidar, &settings, generations, rays)?)
            } else {
                None
            },
            has_profiles: lidar.profiles.is_some(),
            sights: match sweep.receiver() {
                DirectReceiver::Pulsed { .. }
                | DirectReceiver::Sampled(_)
                | DirectReceiver::Phase { .. }
                | DirectReceiver::Fmcw(_)
                | DirectReceiver::OnHost(_) => None,
                DirectReceiver::Triangulation(own) => Some(Sights {
                    baseline: own.baseline,
                    aim: device.pipeline(shaders::sight(), "aim_sights")?,
                    mark: device.pipeline(shaders::sight(), "mark_hidden")?,
                    hits: device.scratch("the sights", of_rays(size_of::<HitRecord>()))?,
                }),
            },
            beam,
        })
    }

    /// Memory on the device, bytes.
    pub fn bytes(&self) -> u64 {
        let trees = self.trees.as_ref().map_or(0, Trees::bytes);
        self.rays.size() + self.hits.size() + self.objects.bytes() + trees
    }

    /// The shader of a receiver.
    pub fn receive(&self, detector: Detector) -> String {
        let extras = Extras {
            trees: self.trees.as_ref().is_some_and(Trees::has_branches),
            profiles: self.draws_from_profiles(detector),
        };
        shaders::receive(detector, self.beam.len(), extras)
    }

    /// Whether the shader of a receiver draws from noise profiles.
    fn draws_from_profiles(&self, detector: Detector) -> bool {
        self.has_profiles && detector != Detector::Light
    }

    /// The shader of the velocities of surfaces.
    pub fn velocities(&self) -> String {
        let has_branches = self.trees.as_ref().is_some_and(Trees::has_branches);
        shaders::velocities(self.beam.len(), has_branches)
    }

    /// Aims, casts and detects a number of shots. `outputs` are the other buffers of the shader that detects.
    pub fn submit(
        &self,
        lidar: &GpuLidar,
        shots: u32,
        aimed: &Aimed,
        detecting: &Detecting,
        mut parameters: ReceiveParameters,
        outputs: &[(u32, &Buffer)],
    ) -> Result<(), GpuError> {
        // Aim.
        let device = self.device;
        let descriptor = CommandEncoderDescriptor::default();
        let mut encoder = device.device.create_command_encoder(&descriptor);
        let rays_of_shot = index(self.beam.len());
        let rays = shots * rays_of_shot;
        let [of_environment, first, is_many, _] = aimed.environments;
        let of_aim = device.uniform(&AimParameters {
            counts: [rays, 0, device.row(rays), rays_of_shot],
            environments: [of_environment, first, is_many, lidar.channels()],
            key: parameters.key,
            pointing: self.pointing,
            beam: beam_records(&self.beam),
        })?;
        let buffers = [&of_aim, aimed.shots, aimed.poses, &self.rays];
        let bindings = bind(device, &self.aim, &buffers);
        device.dispatch(&mut encoder, &self.aim, &bindings, rays);

        // Cast.
        let column = lidar.channels() * rays_of_shot;
        let slots = Slots {
            rays,
            column,
            all: &self.rays,
            hits: &self.hits,
        };
        match &self.trees {
            Some(trees) => trees.follow(lidar, &self.objects, &slots, &mut encoder)?,
            None => self.cast(lidar, [rays, column], &self.hits, &mut encoder)?,
        }
        if let Some(sights) = &self.sights {
            self.look(lidar, sights, shots, aimed, &mut encoder)?;
        }
        if let (Some(ambient), Some(trees)) = (&self.ambient, &self.trees) {
            ambient.add(lidar, shots, &self.objects, &slots, trees, &mut encoder)?;
        }
        if let Some(velocities) = aimed.velocities {
            let mut buffers = vec![(1, &*self.hits), (2, &*self.rays)];
            let trees = self.trees.as_ref().filter(|trees| trees.has_branches());
            buffers.extend(trees.map(Trees::of_branches).into_iter().flatten());
            let [of_environment, _, is_many, _] = aimed.environments;
            let first = if is_many == 0 {
                parameters.environments[1]
            } else {
                0
            };
            velocities.write(
                device,
                shots,
                [of_environment, first],
                &buffers,
                &mut encoder,
            )?;
        }

        // Detect.
        parameters.counts[0] = shots;
        parameters.counts[2] = device.row(shots);
        let parameters = device.uniform(&parameters)?;
        let mut buffers = vec![
            (0, &parameters),
            (1, &*self.hits),
            (2, &lidar.object_materials),
            (3, &lidar.triangle_materials),
            (4, &lidar.backscatter),
        ];
        buffers.extend(outputs);
        if let Some(trees) = &self.trees {
            if trees.has_branches() {
                buffers.extend(trees.of_branches());
            }
            let is_drawn = self.draws_from_profiles(detecting.detector);
            if let Some(profiles) = lidar.profiles.as_ref().filter(|_| is_drawn) {
                buffers.extend([
                    (12, trees.surfaces()),
                    (13, aimed.shots),
                    (14, aimed.poses),
                    (15, profiles),
                ]);
            }
        }
        match &detecting.own {
            OwnBuffers::None => {}
            OwnBuffers::Phase(own) => {
                buffers.extend([(16, &own.parameters), (18, &*own.cells)]);
            }
            OwnBuffers::Sampled(own) => {
                buffers.extend([(16, &own.parameters), (18, &*own.tables)]);
            }
        }
        let receive = &detecting.pipeline;
        let bindings = bind_at(device, receive, &buffers);
        device.dispatch(&mut encoder, receive, &bindings, shots);
        device.queue.submit([encoder.finish()]);
        Ok(())
    }

    /// Casts a number of rays in columns of a length.
    fn cast(
        &self,
        lidar: &GpuLidar,
        [rays, column]: [u32; 2],
        hits: &Buffer,
        encoder: &mut CommandEncoder,
    ) -> Result<(), GpuError> {
        let device = self.device;
        let cast = CastRays {
            first: 0,
            rays,
            column,
            all: &self.rays,
            hits,
            surfaces: None,
        };
        let pipeline = lidar.caster.pipeline();
        let bindings = { lidar.caster }.bindings(device, pipeline, &self.objects, &cast)?;
        device.dispatch(encoder, pipeline, &bindings, rays);
        Ok(())
    }

    /// Marks the hits that the lens does not see. A shot has one ray, which becomes the sight of the lens.
    fn look(
        &self,
        lidar: &GpuLidar,
        sights: &Sights,
        shots: u32,
        aimed: &Aimed,
        encoder: &mut CommandEncoder,
    ) -> Result<(), GpuError> {
        // Aim.
        let device = self.device;
        let [baseline, up_to] = [sights.baseline, 1.0 - 1e-6].map(double_single);
        let parameters = device.uniform(&SightParameters {
            counts: [shots, 0, device.row(shots), 0],
            environments: aimed.environments,
            baseline: [baseline[0], baseline[1], up_to[0], up_to[1]],
        })?;
        let buffers = [
            &parameters,
            aimed.shots,
            aimed.poses,
            &self.rays,
            &self.hits,
        ];
        let bindings = bind(device, &sights.aim, &buffers);
        device.dispatch(encoder, &sights.aim, &bindings, shots);

        // Cast and mark.
        self.cast(lidar, [shots, lidar.channels()], &sights.hits, encoder)?;
        let buffers = [(0, &parameters), (4, &*self.hits), (5, &*sights.hits)];
        let bindings = bind_at(device, &sights.mark, &buffers);
        device.dispatch(encoder, &sights.mark, &bindings, shots);
        Ok(())
    }
}

/// The rays of the beams of a sweep.
fn beam_of(sweep: &DirectSweep) -> Result<Vec<DirectRay>, GpuSweepError> {
    let beam = sweep.rays();
    match beam.len() {
        1..=MOST_BEAM_RAYS => Ok(beam),
        count => Err(GpuSweepError::Rays(count)),
    }
}

/// The rays of a beam in the form of the shader: offsets, and the shares of the axes in the unit direction.
fn beam_records(beam: &[DirectRay]) -> [[f32; 12]; MOST_BEAM_RAYS] {
    let mut records = [[0.0; 12]; MOST_BEAM_RAYS];
    for (record, ray) in records.iter_mut().zip(beam) {
        let [across, up] = ray.slope;
        let along = 1.0 / (1.0 + across * across + up * up).sqrt();
        let numbers = [
            ray.offset[0],
            ray.offset[1],
            along,
            along * across,
            along * up,
        ];
        for (pair, number) in record.chunks_exact_mut(2).zip(numbers) {
            pair.copy_from_slice(&double_single(number));
        }
    }
    records
}

impl ShotRecord {
    /// A shot with an origin, in the frame of a pose, which refers to a time by index.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "the direction decides about the side of a surface only"
    )]
    pub(crate) fn new(
        origin: &Point3<f64>,
        frame: &BeamFrame,
        pose: &Isometry3<f64>,
        time: u32,
    ) -> Self {
        let [axis, left, up] = [frame.axis, frame.left, frame.up].map(|own| pose.rotation * own);
        Self {
            origin: point(&(pose * origin)),
            axis: vector(&axis),
            left: vector(&left),
            up: vector(&up),
            time,
            up_of_sensor: (pose.rotation * Vector3::z()).map(|x| x as f32).into(),
        }
    }
}
