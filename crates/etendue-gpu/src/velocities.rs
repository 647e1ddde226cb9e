//! Radial velocities of surfaces, for receivers that measure them.

use crate::caster::bind_at;
use crate::device::GpuDevice;
use crate::error::GpuError;
use crate::geometry::index;
use crate::lidar::GpuLidar;
use crate::numbers::{double_single, point, vector};
use crate::scene::Placement;
use crate::steps::Steps;
use crate::transfers::Scratch;
use bytemuck::{Pod, Zeroable};
use etendue_scene::ObjectId;
use etendue_sensors::lidar::{DirectSweep, PointVelocities};
use nalgebra::Vector3;
use rayon::prelude::*;
use wgpu::{Buffer, CommandEncoder, ComputePipeline};

/// What the velocities of surfaces depend on: the motion of the sensor at each shot, and that of objects at the times of the
/// shots.
pub(crate) struct Velocities<'a> {
    pipeline: ComputePipeline,
    of_shots: Scratch<'a>,
    first_motions: Scratch<'a>,
    motions: Scratch<'a>,
}

/// Velocities of the points of an object in the form of the shader.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
struct MotionRecord {
    point: [f32; 6],
    velocity: [f32; 6],
    gradient: [[f32; 6]; 3],
    unused: [f32; 2],
}

/// Parameters of the shader.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
struct Parameters {
    counts: [u32; 4],
    environments: [u32; 4],
}

impl<'a> Velocities<'a> {
    /// The velocities of the shots of a sweep, whose rays refer to the times of a placement by index. Objects with poses of their
    /// own in environments are at rest.
    pub fn new(
        lidar: &GpuLidar<'a>,
        sweep: &DirectSweep,
        steps: &Steps,
        placement: Placement,
    ) -> Result<Self, GpuError> {
        let shots = (0..sweep.shots().len()).into_par_iter();
        let of_shot = |number| double_single(sweep.radial_velocity(&sweep.shots().at(number)));
        let of_shots: Vec<[f32; 2]> = shots.map(of_shot).collect();

        // The motions of the objects, those of all times one after the other.
        let Placement { times, bodies } = placement;
        let mut first_motions = vec![];
        let mut motions: Vec<MotionRecord> = vec![];
        let own = |object, time: &f64| sweep.point_velocities(object, *time);
        for object in (0..index(lidar.world.scene().objects().len())).map(ObjectId) {
            let is_body = bodies.iter().any(|(body, _)| *body == object);
            if is_body || times.first().and_then(|time| own(object, time)).is_none() {
                first_motions.push(u32::MAX);
                continue;
            }
            first_motions.push(index(motions.len()));
            let at_times = times.par_iter();
            motions.par_extend(at_times.filter_map(|time| own(object, time)).map(record));
        }
        let device = lidar.device;
        Ok(Self {
            pipeline: device.pipeline(steps.velocities(), "write_velocities")?,
            of_shots: device.scratch_with("the velocities of the sensor", &of_shots)?,
            first_motions: device.scratch_with("the objects in motion", &first_motions)?,
            motions: device.scratch_with("the motions of the objects", &motions)?,
        })
    }

    /// Writes the velocities of a number of shots to their hits. The shots are those from one of an index on, or those of
    /// environments with a number of shots each. `buffers` are the hits, the rays, and the branches.
    pub fn write(
        &self,
        device: &GpuDevice,
        shots: u32,
        [of_environment, first]: [u32; 2],
        buffers: &[(u32, &Buffer)],
        encoder: &mut CommandEncoder,
    ) -> Result<(), GpuError> {
        let parameters = device.uniform(&Parameters {
            counts: [shots, 0, device.row(shots), 0],
            environments: [of_environment, first, 0, 0],
        })?;
        let own = [
            (0, &parameters),
            (3, &*self.of_shots),
            (4, &*self.first_motions),
            (5, &*self.motions),
        ];
        let bindings = bind_at(device, &self.pipeline, &[&own[..], buffers].concat());
        device.dispatch(encoder, &self.pipeline, &bindings, shots);
        Ok(())
    }
}

fn record(own: PointVelocities) -> MotionRecord {
    let row = |number: usize| {
        let row: Vector3<f64> = own.gradient.row(number).transpose();
        vector(&row)
    };
    MotionRecord {
        point: point(&own.point),
        velocity: vector(&own.velocity),
        gradient: [0, 1, 2].map(row),
        unused: [0.0; 2],
    }
}
