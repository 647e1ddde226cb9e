//! Ambient light at the receiver of a lidar.

use crate::caster::{HitRecord, bind_at};
use crate::device::GpuDevice;
use crate::error::GpuError;
use crate::geometry::index;
use crate::lidar::{GpuLidar, GpuSweepError};
use crate::lobes::lobes_of;
use crate::numbers::double_single;
use crate::scene::PlacedObjects;
use crate::shaders::{self, MOST_BEAM_RAYS};
use crate::transfers::Scratch;
use crate::trees::{SURFACE, Slots, Trees};
use bytemuck::{Pod, Zeroable};
use etendue_physics::surface::{Material, Passage, Side};
use etendue_scene::MaterialId;
use etendue_sensors::lidar::{DirectAmbient, DirectRay};
use etendue_sensors::transport::World;
use std::f64::consts::PI;
use wgpu::{Buffer, CommandEncoder, ComputePipeline};

/// Mark of a material whose scattered sunlight the host computes.
const LEFT: f32 = -1.0;

/// Number of knots of the cosine of the incidence.
const KNOTS: usize = 32;

/// Most thin sheets in a row through which the sun shines: etendue-sensors, transport/background.rs.
const MOST_SHEETS: usize = 8;

/// The materials of a world in ambient light, in the memory of a device (ambient.wgsl).
pub(crate) struct AmbientMaterials {
    records: Buffer,
    has_sheets: bool,
}

/// The ambient light in the field of view of a receiver.
pub(crate) struct AmbientLight<'a> {
    parameters: Parameters,
    aim: ComputePipeline,
    add: ComputePipeline,
    shadows: Scratch<'a>,
    /// The passage through thin sheets, if there are any.
    sheets: Option<Sheets<'a>>,
}

/// The passage of rays to the sun through thin sheets.
struct Sheets<'a> {
    pass: ComputePipeline,
    /// The surfaces of the hits of these rays.
    surfaces: Scratch<'a>,
}

/// Parameters of the shader.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
struct Parameters {
    counts: [u32; 4],
    sun_xy: [f32; 4],
    sun_z: [f32; 4],
    light: [f32; 4],
    weights: [f32; MOST_BEAM_RAYS],
}

impl AmbientMaterials {
    /// The materials of a world; `None` without ambient light, or where the device binds too few buffers.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "the shaders compute powers in f32"
    )]
    pub fn new(device: &GpuDevice, world: &World<f64>) -> Result<Option<Self>, GpuError> {
        let Some(background) = world.background().filter(|_| device.binds_all()) else {
            return Ok(None);
        };
        let count = index(world.scene().materials().len());
        let mut records: Vec<[f32; 4]> = vec![];
        let mut lobes: Vec<[f32; 4]> = vec![];
        let mut has_sheets = false;
        for id in (0..count).map(MaterialId) {
            let material = world.material(id);
            let first = index((1 + KNOTS) * count as usize + lobes.len());
            let number = match lobes_of(material) {
                Some(own) => {
                    lobes.extend(
                        own.iter()
                            .flatten()
                            .map(|numbers| numbers.map(|x| x as f32)),
                    );
                    own.len() as f32
                }
                None => LEFT,
            };
            let is_sheet = is_sheet(material);
            has_sheets |= is_sheet;
            let sheet = f32::from(u8::from(is_sheet));
            records.push([number, sheet, f32::from_bits(first), 0.0]);
            let [front, back] =
                [Side::Front, Side::Back].map(|side| background.fractions(id, side));
            assert_eq!(
                [front.len(), back.len()],
                [KNOTS; 2],
                "as many as the shader has"
            );
            let knots = front.iter().zip(back);
            let knots = knots.map(|(a, b)| [a.scattered, a.emitted, b.scattered, b.emitted]);
            records.extend(knots.map(|numbers| numbers.map(|x| x as f32)));
        }
        records.extend(lobes);
        Ok(Some(Self {
            records: device.storage("the materials in ambient light", &records)?,
            has_sheets,
        }))
    }
}

fn is_sheet(material: &Material<f64>) -> bool {
    let through = material.specular(1.0, Side::Front).transmitted;
    through.is_some_and(|through| matches!(through.passage, Passage::Sheet { .. }))
}

impl<'a> AmbientLight<'a> {
    /// The ambient light of beams with or without branches. `bytes_of` is the size of a buffer with an element of a size for each
    /// slot.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "the shaders compute powers in f32"
    )]
    pub fn new(
        lidar: &GpuLidar<'a>,
        ambient: &DirectAmbient,
        beam: &[DirectRay],
        has_branches: bool,
        bytes_of: impl Fn(usize) -> u64,
    ) -> Result<Self, GpuSweepError> {
        let Some(materials) = &lidar.lit else {
            return Err(GpuSweepError::AmbientLight);
        };

        // Powers at the receiver per radiance.
        let DirectAmbient { background, window } = *ambient;
        let per_radiance = window.background(1.0);
        let irradiance = background.irradiance();
        let light = [
            irradiance.direct,
            irradiance.diffuse / PI,
            background.black_body(),
        ];
        let [direct, sky, black_body] = light.map(|radiance| (per_radiance * radiance) as f32);

        // Sun and field of view.
        let sun = background.towards_sun();
        let [x, y, z] = [sun.x, sun.y, sun.z].map(double_single);
        let chord = 2.0 * (0.25 * window.field_of_view).sin();
        let seen = per_radiance * irradiance.direct / window.solid_angle();
        let mut weights = [0.0; MOST_BEAM_RAYS];
        for (weight, ray) in weights.iter_mut().zip(beam) {
            *weight = ray.weight as f32;
        }
        let device = lidar.device;
        let source = shaders::ambient(beam.len(), has_branches);
        Ok(Self {
            parameters: Parameters {
                counts: [0; 4],
                sun_xy: [x[0], x[1], y[0], y[1]],
                sun_z: [z[0], z[1], (chord * chord) as f32, seen as f32],
                light: [direct, sky, black_body, 0.0],
                weights,
            },
            sheets: if materials.has_sheets && direct > 0.0 && lidar.specular.is_some() {
                Some(Sheets {
                    pass: device.pipeline(source.clone(), "pass_sheets")?,
                    surfaces: device.scratch("the surfaces in the sun", bytes_of(SURFACE))?,
                })
            } else {
                None
            },
            aim: device.pipeline(source.clone(), "aim_suns")?,
            add: device.pipeline(source, "add_suns")?,
            shadows: device.scratch("the shadows", bytes_of(size_of::<HitRecord>()))?,
        })
    }

    /// Writes the power of the ambient light of a number of shots to their hits. Their rays become those to the sun.
    pub fn add(
        &self,
        lidar: &GpuLidar,
        shots: u32,
        objects: &PlacedObjects,
        slots: &Slots,
        trees: &Trees,
        encoder: &mut CommandEncoder,
    ) -> Result<(), GpuError> {
        // Light of the sky and of surfaces, and rays to the sun.
        let (device, Some(materials)) = (lidar.device, &lidar.lit) else {
            return Ok(());
        };
        let parameters = device.uniform(&Parameters {
            counts: [shots, 0, device.row(shots), 0],
            ..self.parameters
        })?;
        let mut common = vec![
            (0, &parameters),
            (1, slots.hits),
            (4, &lidar.object_materials),
            (5, &lidar.triangle_materials),
            (6, &materials.records),
        ];
        if trees.has_branches() {
            common.extend(trees.of_branches());
        }
        let own = [(2, slots.all), (3, trees.surfaces())];
        let bindings = bind_at(device, &self.aim, &[&common[..], &own].concat());
        device.dispatch(encoder, &self.aim, &bindings, shots);
        if self.parameters.light[0] <= 0.0 {
            return Ok(());
        }

        // Shadows, behind one sheet after the other.
        if let (Some(sheets), Some(specular)) = (&self.sheets, &lidar.specular) {
            for _ in 0..MOST_SHEETS {
                let surfaces = Some(&*sheets.surfaces);
                trees.cast_again(lidar, objects, slots, (&self.shadows, surfaces), encoder)?;
                let own = [
                    (2, slots.all),
                    (7, &*self.shadows),
                    (8, &*sheets.surfaces),
                    (9, specular),
                ];
                let bindings = bind_at(device, &sheets.pass, &[&common[..], &own].concat());
                device.dispatch(encoder, &sheets.pass, &bindings, shots);
            }
        }
        trees.cast_again(lidar, objects, slots, (&self.shadows, None), encoder)?;
        let mut own = vec![(0, &parameters), (1, slots.hits), (7, &*self.shadows)];
        if trees.has_branches() {
            own.extend(trees.of_branches());
        }
        let bindings = bind_at(device, &self.add, &own);
        device.dispatch(encoder, &self.add, &bindings, shots);
        Ok(())
    }
}
