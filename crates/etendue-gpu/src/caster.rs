//! Casting rays on a device.

use crate::device::GpuDevice;
use crate::error::GpuError;
use crate::geometry::index;
use crate::numbers::{double_single, joined, point, vector};
use crate::scene::{GpuScene, PlacedObjects, Placement};
use crate::shaders;
use crate::transfers::Scratch;
use bytemuck::{Pod, Zeroable};
use etendue_raycast::{CastScratch, Hit, ObjectId, Ray, RayCaster};
use rayon::prelude::*;
use wgpu::{
    BindGroup, BindGroupDescriptor, BindGroupEntry, Buffer, CommandEncoder,
    CommandEncoderDescriptor, ComputePipeline,
};

/// Most rays of one submission: drivers end those that take seconds. The rays and hits of a million take 117 MB.
pub(crate) const MOST_RAYS: usize = 1 << 20;

/// The nearest hit of a ray on a device.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GpuHit {
    /// Distance along the ray, m, to about 12 digits.
    pub distance: f64,
    /// The object.
    pub object: ObjectId,
    /// Index of the triangle in the object's mesh.
    pub triangle: u32,
    /// Cosine of the incidence, in [0, 1], in single precision.
    pub cos_incidence: f32,
}

/// The work of a traversal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TraversalCounts {
    /// Nodes that were visited, each of 64 bytes.
    pub nodes: u64,
    /// Triangles that were tested in `f32`, each of 48 bytes.
    pub triangles: u64,
}

/// A ray caster of a device: the results of [`RayCaster`] up to the rounding of 44 bits.
///
/// Rays that pass more than about fifteen triangles at one point, within the rounding of `f32`, are cast on the host.
///
/// The triangle of a hit is that of the CPU except where a ray hits several at the same distance, or passes an edge,
/// within about 1e-12 of the coordinates. Edges belong to the triangles on both sides: no ray passes between them.
pub struct GpuCaster {
    pub(crate) scene: GpuScene,
    pipeline: ComputePipeline,
}

/// Rays in the memory of a device.
pub struct GpuRays<'a> {
    bindings: BindGroup,
    hits: Scratch<'a>,
    count: u32,
    /// The other buffers of `bindings`, which are not used for anything else meanwhile.
    _inputs: (Scratch<'a>, PlacedObjects<'a>),
}

/// A ray in the form of the shaders.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct RayRecord {
    origin: [f32; 6],
    direction: [f32; 6],
    near: [f32; 2],
    far: [f32; 2],
    /// Index of the time of the ray.
    time: u32,
    mask: u32,
    unused: u32,
    environment: u32,
}

/// A hit in the form of the shaders.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct HitRecord {
    object: u32,
    triangle: u32,
    distance: [f32; 2],
    cos_incidence: f32,
    nodes: u32,
    triangles: u32,
    /// Whether the host has to cast the ray.
    is_undecided: u32,
}

/// Rays of a dispatch, in slots of buffers.
pub(crate) struct CastRays<'a> {
    /// First slot. The first ray of slots beyond the first has their number.
    pub first: u32,
    /// Most rays.
    pub rays: u32,
    /// Number of rays in a column: rays of consecutive columns are cast in tiles of neighbours. 1 for rays in another
    /// order.
    pub column: u32,
    pub all: &'a Buffer,
    pub hits: &'a Buffer,
    /// Surfaces from which paths continue, for the shader that keeps them.
    pub surfaces: Option<&'a Buffer>,
}

/// The parameters of the shader.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
struct Parameters {
    rays: u32,
    zero: u32,
    row: u32,
    /// Length of the columns, a multiple of 4; 0 for rays without such an order.
    column: u32,
    origin: [f32; 6],
    reach: f32,
    first: u32,
}

impl RayRecord {
    pub fn of(ray: &Ray, time: u32) -> Self {
        Self {
            origin: point(&ray.origin),
            direction: vector(&ray.direction),
            near: double_single(ray.near),
            far: double_single(ray.far),
            time,
            mask: ray.mask,
            unused: 0,
            environment: 0,
        }
    }
}

impl GpuHit {
    /// A hit of the ray caster of the host.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "the cosine has single precision"
    )]
    fn of_host(hit: &Hit, ray: &Ray) -> Self {
        Self {
            distance: hit.distance,
            object: hit.object,
            triangle: hit.triangle,
            cos_incidence: hit.normal.dot(&ray.direction).abs() as f32,
        }
    }
}

impl HitRecord {
    fn hit(&self) -> Option<GpuHit> {
        (self.object != u32::MAX).then(|| GpuHit {
            distance: joined(self.distance),
            object: ObjectId(self.object),
            triangle: self.triangle,
            cos_incidence: self.cos_incidence.abs(),
        })
    }
}

impl GpuCaster {
    /// Copies the scene of a ray caster to a device, and compiles the shader.
    ///
    /// # Errors
    /// As [`GpuScene::new`].
    pub fn new(device: &GpuDevice, caster: &RayCaster) -> Result<Self, GpuError> {
        let scene = GpuScene::new(device, caster)?;
        Ok(Self {
            pipeline: device.pipeline(shaders::trace(scene.stack, false), "cast_rays")?,
            scene,
        })
    }

    /// The scene on the device.
    pub fn scene(&self) -> &GpuScene {
        &self.scene
    }

    /// The nearest hit of each ray: [`RayCaster::closest_hits`]. `caster` is that of [`GpuCaster::new`], or differs
    /// from it in the motions of objects only.
    ///
    /// # Errors
    /// Where the caster has other objects, or the device has too little memory or is lost.
    pub fn closest_hits(
        &self,
        device: &GpuDevice,
        caster: &RayCaster,
        rays: &[Ray],
    ) -> Result<Vec<Option<GpuHit>>, GpuError> {
        Ok(self.counted_hits(device, caster, rays)?.0)
    }

    /// [`GpuCaster::closest_hits`] with the work of the traversal.
    ///
    /// # Errors
    /// As [`GpuCaster::closest_hits`].
    pub fn counted_hits(
        &self,
        device: &GpuDevice,
        caster: &RayCaster,
        rays: &[Ray],
    ) -> Result<(Vec<Option<GpuHit>>, TraversalCounts), GpuError> {
        let mut hits = Vec::with_capacity(rays.len());
        let mut counts = TraversalCounts::default();
        for rays in rays.chunks(MOST_RAYS.min(device.most_elements(size_of::<RayRecord>()))) {
            let batch = self.upload(device, caster, rays)?;
            let encoder = self.dispatches(device, &batch, 1);
            device.queue.submit([encoder.finish()]);
            let found: Vec<HitRecord> = device.read_vec(&batch.hits, rays.len())?;
            for hit in &found {
                counts.nodes += u64::from(hit.nodes);
                counts.triangles += u64::from(hit.triangles);
            }
            let hit = |(ray, found): (&Ray, &HitRecord)| match found.is_undecided {
                0 => found.hit(),
                _ => caster
                    .closest_hit(ray, &mut CastScratch::for_worker())
                    .map(|hit| GpuHit::of_host(&hit, ray)),
            };
            hits.par_extend(rays.par_iter().zip(&found).map(hit));
        }
        Ok((hits, counts))
    }

    /// Copies rays to the device, at most a million, and places the objects at their times.
    ///
    /// # Errors
    /// Where the caster has other objects, or the device has too little memory or is lost.
    pub fn upload<'d>(
        &self,
        device: &'d GpuDevice,
        caster: &RayCaster,
        rays: &[Ray],
    ) -> Result<GpuRays<'d>, GpuError> {
        let (times, numbers) = self.times(rays);
        let objects = self.scene.place(device, caster, Placement::at(&times))?;
        let records: Vec<RayRecord> = { rays.par_iter().zip(numbers) }
            .map(|(ray, time)| RayRecord::of(ray, time))
            .collect();
        let records = device.scratch_with("the rays", &records)?;
        let bytes = (rays.len() * size_of::<HitRecord>()) as u64;
        let hits = device.scratch("the hits", bytes)?;
        let count = index(rays.len());
        let cast = CastRays {
            first: 0,
            rays: count,
            column: 1,
            all: &records,
            hits: &hits,
            surfaces: None,
        };
        Ok(GpuRays {
            bindings: self.bindings(device, &self.pipeline, &objects, &cast)?,
            hits,
            count,
            _inputs: (records, objects),
        })
    }

    /// Casts uploaded rays a number of times, and waits for the device: for measurements of speed.
    ///
    /// # Errors
    /// Where the device is lost.
    pub fn cast(&self, device: &GpuDevice, rays: &GpuRays, times: u32) -> Result<(), GpuError> {
        device.submit_and_wait(self.dispatches(device, rays, times))
    }

    fn dispatches(&self, device: &GpuDevice, rays: &GpuRays, times: u32) -> CommandEncoder {
        let descriptor = CommandEncoderDescriptor::default();
        let mut encoder = device.device.create_command_encoder(&descriptor);
        for _ in 0..times {
            device.dispatch(&mut encoder, &self.pipeline, &rays.bindings, rays.count);
        }
        encoder
    }

    /// The different times of rays, and the index of each ray's. Without moving objects, one time serves all.
    fn times(&self, rays: &[Ray]) -> (Vec<f64>, Vec<u32>) {
        if !self.scene.has_moving_objects() {
            return (vec![0.0], vec![0; rays.len()]);
        }
        let mut times: Vec<f64> = rays.iter().map(|ray| ray.time).collect();
        times.sort_by(f64::total_cmp);
        times.dedup();
        let number = |ray: &Ray| {
            let found = times.binary_search_by(|time| time.total_cmp(&ray.time));
            index(found.unwrap_or(0))
        };
        let numbers = rays.iter().map(number).collect();
        (times, numbers)
    }

    /// The inputs and outputs of a shader that casts rays.
    pub(crate) fn bindings(
        &self,
        device: &GpuDevice,
        pipeline: &ComputePipeline,
        objects: &PlacedObjects,
        cast: &CastRays,
    ) -> Result<BindGroup, GpuError> {
        let in_tiles = cast.column.is_multiple_of(4);
        let parameters = device.uniform(&Parameters {
            rays: cast.rays,
            zero: 0,
            row: device.row(cast.rays),
            column: if in_tiles { cast.column } else { 0 },
            origin: point(&objects.middle),
            reach: objects.reach,
            first: cast.first,
        })?;
        let mut buffers = vec![
            &parameters,
            &self.scene.nodes,
            &self.scene.triangles,
            &self.scene.vertices,
            &self.scene.corners,
            &objects.instances,
            &objects.poses,
            cast.all,
            cast.hits,
        ];
        buffers.extend(cast.surfaces);
        Ok(bind(device, pipeline, &buffers))
    }

    /// The shader.
    pub(crate) fn pipeline(&self) -> &ComputePipeline {
        &self.pipeline
    }
}

/// Binds buffers in their order to the first group of a pipeline.
pub(crate) fn bind(
    device: &GpuDevice,
    pipeline: &ComputePipeline,
    buffers: &[&Buffer],
) -> BindGroup {
    let numbered: Vec<(u32, &Buffer)> = (0..).zip(buffers.iter().copied()).collect();
    bind_at(device, pipeline, &numbered)
}

/// Binds buffers by number to the first group of a pipeline.
pub(crate) fn bind_at(
    device: &GpuDevice,
    pipeline: &ComputePipeline,
    buffers: &[(u32, &Buffer)],
) -> BindGroup {
    let entries: Vec<BindGroupEntry> = buffers
        .iter()
        .map(|(binding, buffer)| BindGroupEntry {
            binding: *binding,
            resource: buffer.as_entire_binding(),
        })
        .collect();
    device.device.create_bind_group(&BindGroupDescriptor {
        label: None,
        layout: &pipeline.get_bind_group_layout(0),
        entries: &entries,
    })
}
