//! Ray trees on a device: light paths by way of mirrors and glass, and the surfaces that rays hit.

use crate::caster::{CastRays, bind};
use crate::device::GpuDevice;
use crate::error::GpuError;
use crate::geometry::index;
use crate::lidar::GpuLidar;
use crate::numbers::double_single;
use crate::scene::PlacedObjects;
use crate::shaders::{self, SHARES};
use crate::transfers::Scratch;
use bytemuck::{Pod, Zeroable};
use etendue_physics::surface::{Material, Passage, Side};
use etendue_scene::MaterialId;
use etendue_sensors::transport::{TreeSettings, World};
use rayon::prelude::*;
use wgpu::{Buffer, CommandEncoder, ComputePipeline};

/// Most generations of branches.
pub(crate) const MOST_GENERATIONS: u32 = 31;

/// Size of a branch and of a surface in the memory of the device, bytes.
const BRANCH: usize = 48;
pub(crate) const SURFACE: usize = 48;

/// Size of the numbers of branches per generation, bytes.
const COUNTS: u64 = 4 * (MOST_GENERATIONS as u64 + 1);

/// Place of the number of branches in the first ray of a generation, and size of a ray, bytes.
const COUNT_IN_RAY: u64 = 72;
const RAY: u64 = 80;

/// The memory of ray trees, which all submissions share. Branches are in slots behind the rays of the beams, one generation
/// after the other; without mirrors and glass there is none.
pub(crate) struct Trees<'a> {
    branch: ComputePipeline,
    cast: ComputePipeline,
    generations: u32,
    /// Most branches of a generation.
    room: u32,
    /// Least share of the power of a ray in a branch.
    threshold: f32,
    surfaces: Scratch<'a>,
    links: Scratch<'a>,
    branches: Scratch<'a>,
}

/// Rays of beams, and the slots of all generations.
pub(crate) struct Slots<'a> {
    /// Number of rays of the beams.
    pub rays: u32,
    /// Length of the columns of the rays of the beams.
    pub column: u32,
    pub all: &'a Buffer,
    pub hits: &'a Buffer,
}

/// Parameters of the shader that continues paths.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
struct BranchParameters {
    counts: [u32; 4],
    slots: [u32; 4],
    limits: [f32; 4],
}

impl<'a> Trees<'a> {
    /// The memory of the trees of a number of rays. Each of a number of generations has room for as many branches.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "the shaders compute powers in f32"
    )]
    pub fn new(
        lidar: &GpuLidar<'a>,
        settings: &TreeSettings,
        generations: u32,
        rays: usize,
    ) -> Result<Self, GpuError> {
        let device = lidar.device;
        let branches = rays * generations as usize;
        let stack = lidar.caster.scene.stack;
        let bytes = |count: usize, size: usize| (count * size) as u64;
        Ok(Self {
            branch: device.pipeline(shaders::branch(), "branch")?,
            cast: device.pipeline(shaders::trace(stack, true), "cast_rays")?,
            generations,
            room: index(rays),
            threshold: settings.throughput_threshold as f32,
            surfaces: device.scratch("the surfaces", bytes(rays + branches, SURFACE))?,
            links: device.scratch("the links of branches", COUNTS + bytes(rays, 8))?,
            branches: device.scratch("the branches", bytes(branches, BRANCH))?,
        })
    }

    /// Memory on the device, bytes.
    pub fn bytes(&self) -> u64 {
        self.surfaces.size() + self.links.size() + self.branches.size()
    }

    /// Whether there are branches.
    pub fn has_branches(&self) -> bool {
        self.generations > 0
    }

    /// The branches, with the numbers of their bindings in the shader that detects.
    pub fn of_branches(&self) -> [(u32, &Buffer); 2] {
        [(10, &*self.links), (11, &*self.branches)]
    }

    /// The surfaces.
    pub fn surfaces(&self) -> &Buffer {
        &self.surfaces
    }

    /// Casts the rays of the beams, and follows their paths.
    pub fn follow(
        &self,
        lidar: &GpuLidar,
        objects: &PlacedObjects,
        slots: &Slots,
        encoder: &mut CommandEncoder,
    ) -> Result<(), GpuError> {
        self.cast(lidar, objects, slots, [0, slots.rays], encoder)?;
        encoder.clear_buffer(&self.links, 0, Some(COUNTS));
        let mut own = [0, slots.rays];
        for generation in 0..self.generations {
            let next = [slots.rays + generation * self.room, self.room];
            self.spawn(lidar, slots, generation, [own, next], encoder)?;

            // The first ray of the generation has the number of branches.
            let place = u64::from(next[0]) * RAY + COUNT_IN_RAY;
            let count = u64::from(generation + 1) * 4;
            encoder.copy_buffer_to_buffer(&self.links, count, slots.all, place, 4);
            self.cast(lidar, objects, slots, next, encoder)?;
            own = next;
        }
        Ok(())
    }

    /// Casts other rays in the slots of all paths, whose hits, and surfaces, are in buffers.
    pub fn cast_again(
        &self,
        lidar: &GpuLidar,
        objects: &PlacedObjects,
        slots: &Slots,
        (hits, surfaces): (&Buffer, Option<&Buffer>),
        encoder: &mut CommandEncoder,
    ) -> Result<(), GpuError> {
        let device = lidar.device;
        let of_branches = (0..self.generations)
            .map(|generation| (slots.rays + generation * self.room, self.room));
        for (first, rays) in std::iter::once((0, slots.rays)).chain(of_branches) {
            let cast = CastRays {
                first,
                rays,
                column: if first == 0 { slots.column } else { 1 },
                all: slots.all,
                hits,
                surfaces,
            };
            let pipeline = match surfaces {
                Some(_) => &self.cast,
                None => lidar.caster.pipeline(),
            };
            let bindings = { lidar.caster }.bindings(device, pipeline, objects, &cast)?;
            device.dispatch(encoder, pipeline, &bindings, rays);
        }
        Ok(())
    }

    /// Casts a generation: its first slot and most rays.
    fn cast(
        &self,
        lidar: &GpuLidar,
        objects: &PlacedObjects,
        slots: &Slots,
        [first, rays]: [u32; 2],
        encoder: &mut CommandEncoder,
    ) -> Result<(), GpuError> {
        let device = lidar.device;
        let cast = CastRays {
            first,
            rays,
            column: if first == 0 { slots.column } else { 1 },
            all: slots.all,
            hits: slots.hits,
            surfaces: Some(&self.surfaces),
        };
        let bindings = { lidar.caster }.bindings(device, &self.cast, objects, &cast)?;
        device.dispatch(encoder, &self.cast, &bindings, rays);
        Ok(())
    }

    /// Continues the paths of a generation in the next one; each with its first slot and most rays.
    fn spawn(
        &self,
        lidar: &GpuLidar,
        slots: &Slots,
        generation: u32,
        [own, next]: [[u32; 2]; 2],
        encoder: &mut CommandEncoder,
    ) -> Result<(), GpuError> {
        let device = lidar.device;
        let Some(specular) = &lidar.specular else {
            return Ok(());
        };
        let parameters = device.uniform(&BranchParameters {
            counts: [own[1], 0, device.row(own[1]), generation],
            slots: [own[0], next[0], next[1], slots.rays],
            limits: [self.threshold, 0.0, 0.0, 0.0],
        })?;
        let buffers = [
            &parameters,
            slots.all,
            slots.hits,
            &self.surfaces,
            &lidar.object_materials,
            &lidar.triangle_materials,
            specular,
            &self.links,
            &self.branches,
        ];
        let bindings = bind(device, &self.branch, &buffers);
        device.dispatch(encoder, &self.branch, &bindings, own[1]);
        Ok(())
    }
}

/// The mirrors and glass of a world in the memory of a device; `None` where there are none, or the device binds too few
/// buffers.
pub(crate) fn specular_materials(
    device: &GpuDevice,
    world: &World<f64>,
) -> Result<Option<Buffer>, GpuError> {
    // List them.
    let count = world.scene().materials().len();
    let all: Vec<MaterialId> = (0..index(count)).map(MaterialId).collect();
    let continues = |id: &&MaterialId| !world.material(**id).ends_paths();
    let specular: Vec<MaterialId> = all.iter().filter(continues).copied().collect();
    if specular.is_empty() || !device.binds_all() {
        return Ok(None);
    }

    // Write a head per material, then the tables.
    let mut records: Vec<[f32; 4]> = vec![[0.0; 4]; 2 * count];
    for (number, id) in specular.iter().enumerate() {
        let first = index(2 * count + number * 3 * SHARES);
        let place = 2 * id.0 as usize;
        let heads = head_of(world.material(*id), first);
        records[place..place + 2].copy_from_slice(&heads);
    }
    let tables = { specular.par_iter() }.flat_map_iter(|id| tables_of(world.material(*id)));
    records.par_extend(tables);
    Ok(Some(device.storage("the mirrors and glass", &records)?))
}

/// Refractive index of the medium behind a surface, 1 where light is not refracted, and the medium.
fn medium_of(material: &Material<f64>) -> (f64, [f64; 2]) {
    match { material.specular(1.0, Side::Front).transmitted }.map(|through| through.passage) {
        Some(Passage::Interface {
            index_ratio,
            medium,
        }) => (1.0 / index_ratio, [medium.group_index, medium.absorption]),
        _ => (1.0, [1.0, 0.0]),
    }
}

/// The head of a material, whose tables begin at an entry.
#[expect(
    clippy::cast_possible_truncation,
    reason = "the shaders compute powers in f32"
)]
fn head_of(material: &Material<f64>, first: u32) -> [[f32; 4]; 2] {
    let (own, [group_index, absorption]) = medium_of(material);
    let [own, group_index] = [own, group_index].map(double_single);
    let refracts = { material.specular(1.0, Side::Front).transmitted }
        .is_some_and(|through| matches!(through.passage, Passage::Interface { .. }));
    [
        [own[0], own[1], group_index[0], group_index[1]],
        [
            absorption as f32,
            f32::from_bits(first),
            f32::from(u8::from(refracts)),
            0.0,
        ],
    ]
}

/// The tables of a material (branch.wgsl), at equally spaced square roots of one minus a cosine.
#[expect(
    clippy::cast_possible_truncation,
    reason = "the shaders compute powers in f32"
)]
fn tables_of(material: &Material<f64>) -> Vec<[f32; 4]> {
    // Cosines of the incidence: from the front; from the back, by the cosine behind; total reflection.
    let (own, _) = medium_of(material);
    let inside = |behind: f64| (1.0 - (1.0 - behind * behind) / (own * own)).sqrt();
    let critical = inside(0.0) * (1.0 - 1e-12);
    let last = (SHARES - 1) as f64;
    let cosine = |number: usize| 1.0 - (number as f64 / last).powi(2);
    let front = (0..SHARES).map(|number| (cosine(number), Side::Front));
    let back = (0..SHARES).map(|number| (inside(cosine(number)), Side::Back));
    let total = (0..SHARES).map(|number| (cosine(number).min(critical), Side::Back));

    // Shares.
    let entry = |(cosine, side): (f64, Side)| {
        let specular = material.specular(cosine.clamp(0.0, 1.0), side);
        let (fraction, extra) = match specular.transmitted {
            Some(through) => match through.passage {
                Passage::Sheet { extra_path } => (through.fraction, extra_path),
                Passage::Interface { .. } => (through.fraction, 0.0),
            },
            None => (0.0, 0.0),
        };
        [
            specular.reflected as f32,
            fraction as f32,
            extra as f32,
            0.0,
        ]
    };
    front.chain(back).chain(total).map(entry).collect()
}
