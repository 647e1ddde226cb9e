//! Frames in the form of the shaders.
#![expect(
    clippy::cast_possible_truncation,
    reason = "the shaders compute radiances in f32"
)]

use crate::caster::GpuCaster;
use crate::device::GpuDevice;
use crate::error::GpuError;
use crate::geometry::index;
use crate::numbers;
use crate::shaders::MOST_LAMPS;
use crate::transfers::Scratch;
use bytemuck::{Pod, Zeroable};
use etendue_physics::Purpose;
use etendue_physics::camera::body_from_optical;
use etendue_scene::{MaterialId, ObjectId};
use etendue_sensors::camera::{Camera, CameraWorld, DirectBackdrop, DirectFrame, DirectLamp};
use nalgebra::{Isometry3, Point2, Vector3};
use rayon::prelude::*;
use std::f64::consts::{FRAC_PI_2, PI};

/// Number of intervals of a frame, between which poses of a moving camera are interpolated.
const INTERVALS: u32 = 256;

/// Marks of a material: it does not scatter as Lambert's law states; it is a thin sheet.
const NOT_LAMBERT: u32 = 1;
const SHEET: u32 = 2;

/// Mark of an object: it has images.
const TEXTURED: u32 = 1;

/// Parameters of the shader.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub(super) struct Parameters {
    counts: [u32; 4],
    key: [u32; 4],
    frame: [u32; 4],
    stage: [u32; 4],
    places: [u32; 4],
    steps: [f32; 4],
    lens: [f32; 4],
    vignetting: [f32; 4],
    gradation: [f32; 4],
    indicatrix: [f32; 4],
    to_sun: [f32; 4],
    sky: [f32; 4],
    ground: [f32; 4],
    lamps: [LampRecord; MOST_LAMPS],
}

/// A lamp in the form of the shader.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
struct LampRecord {
    kind: [f32; 4],
    position: [f32; 8],
    axis: [f32; 4],
    right: [f32; 4],
    up: [f32; 4],
    power: [f32; 4],
}

/// Objects and materials in the form of the shader.
pub(super) struct Surfaces<'a> {
    pub buffer: Scratch<'a>,
    /// Where the materials begin, and those of triangles.
    places: [u32; 2],
}

impl Parameters {
    /// The parameters of a frame with a number of poses.
    pub fn new(
        frame: &DirectFrame,
        lamps: &[DirectLamp],
        surfaces: &Surfaces,
        poses: usize,
    ) -> Self {
        // Image and time.
        let camera = frame.camera();
        let settings = frame.settings();
        let [width, height] = [camera.width, camera.height].map(f64::from);
        let time = camera.collection_time(frame.exposure());
        let share = |part: f64| {
            if time > 0.0 {
                (part / time) as f32
            } else {
                0.0
            }
        };
        let [u, v] = camera.intrinsics.centre;
        let [a1, a2, a3] = camera.vignetting.polynomial;
        let [materials, triangles] = surfaces.places;
        let mut lamp_records = [LampRecord::zeroed(); MOST_LAMPS];
        for (record, lamp) in lamp_records.iter_mut().zip(lamps) {
            *record = LampRecord::new(lamp);
        }
        let backdrop = Backdrop::new(&frame.backdrop());
        Self {
            counts: [0; 4],
            key: [
                settings.seed as u32,
                (settings.seed >> 32) as u32,
                settings.index,
                settings.sensor << 20 | Purpose::Pixel as u32,
            ],
            frame: [camera.width, settings.samples, 0, index(frame.bands())],
            stage: [index(lamps.len()), 0, backdrop.kind, 0],
            places: [materials, triangles, index(poses) - 1, 0],
            steps: [0.0, 0.0, 0.0, share(frame.exposure())],
            lens: [
                u as f32,
                v as f32,
                (2.0 / width.hypot(height)) as f32,
                share(camera.shutter.line_time),
            ],
            vignetting: [camera.vignetting.cosine_power, a1, a2, a3].map(|x| x as f32),
            gradation: backdrop.gradation,
            indicatrix: backdrop.indicatrix,
            to_sun: backdrop.to_sun,
            sky: backdrop.sky,
            ground: backdrop.ground,
            lamps: lamp_records,
        }
    }

    /// Number of samples of a pixel.
    pub fn samples(&self) -> u32 {
        self.frame[1]
    }

    /// The last stage: after the last lamp in the dark, else after the scattered ray.
    pub fn last_stage(&self) -> u32 {
        let [lamps, _, backdrop, _] = self.stage;
        lamps + u32::from(backdrop != 0)
    }

    /// Sets the pixels, and the sample of each.
    pub fn set_pixels(&mut self, count: u32, row: u32, first: u32, sample: u32) {
        self.counts = [count, 0, row, first];
        self.frame[2] = sample;
        for (shift, step) in self.steps.iter_mut().zip(DirectFrame::SAMPLE_STEPS) {
            *shift = (f64::from(sample) * step).fract() as f32;
        }
    }

    /// Sets the stage.
    pub fn set_stage(&mut self, stage: u32) {
        self.stage[1] = stage;
    }
}

/// The surroundings in the form of the shader.
#[derive(Default)]
struct Backdrop {
    kind: u32,
    gradation: [f32; 4],
    indicatrix: [f32; 4],
    to_sun: [f32; 4],
    sky: [f32; 4],
    ground: [f32; 4],
}

impl Backdrop {
    fn new(backdrop: &DirectBackdrop) -> Self {
        match backdrop {
            DirectBackdrop::Dark => Self::default(),
            DirectBackdrop::Uniform(radiance) => Self {
                kind: 1,
                sky: four(radiance),
                ..Self::default()
            },
            DirectBackdrop::Sky {
                dome,
                irradiance,
                ground,
            } => {
                let distribution = dome.distribution();
                let ([a, b], [c, d, e]) = (distribution.gradation, distribution.indicatrix);
                Self {
                    kind: 2,
                    gradation: [a as f32, b as f32, c as f32, 0.0],
                    indicatrix: [d as f32, e as f32, (d * FRAC_PI_2).exp() as f32, 0.0],
                    to_sun: four(&dome.to_sun().into()),
                    sky: four(&irradiance.map(|band| band / dome.whole())),
                    ground: four(ground),
                }
            }
        }
    }
}

impl LampRecord {
    fn new(lamp: &DirectLamp) -> Self {
        match lamp {
            DirectLamp::Sun {
                axes: [right, up, axis],
                half_angle,
                irradiance,
            } => {
                // One minus the cosine of the angle.
                let depth = 2.0 * (0.5 * half_angle).sin().powi(2);
                Self {
                    kind: [0.0, depth as f32, 0.0, 0.0],
                    axis: four(&(*axis).into()),
                    right: four(&(*right).into()),
                    up: four(&(*up).into()),
                    power: four(irradiance),
                    ..Self::zeroed()
                }
            }
            DirectLamp::Point {
                position,
                intensity,
                spot,
            } => {
                let cone = spot.as_ref();
                let [inner, outer] = cone.map_or([0.0; 2], |cone| [cone.inner, cone.outer]);
                let axis = cone.map_or(Vector3::zeros(), |cone| cone.axis);
                Self {
                    kind: [1.0, 0.0, inner as f32, outer as f32],
                    position: eight(&numbers::point(position)),
                    axis: four(&axis.into()),
                    power: four(intensity),
                    ..Self::zeroed()
                }
            }
            DirectLamp::Area { lamp, radiance } => {
                let pose = &lamp.world_from_lamp;
                let side = |axis: Vector3<f64>| four(&(pose.rotation * axis).into());
                let [width, height] = lamp.size;
                Self {
                    kind: [2.0, lamp.area() as f32, 0.0, 0.0],
                    position: eight(&numbers::vector(&pose.translation.vector)),
                    axis: four(&lamp.normal().into()),
                    right: side(Vector3::x() * width),
                    up: side(Vector3::y() * height),
                    power: four(radiance),
                }
            }
        }
    }
}

fn four(numbers: &[f64; 3]) -> [f32; 4] {
    let [x, y, z] = numbers.map(|number| number as f32);
    [x, y, z, 0.0]
}

fn eight(numbers: &[f32; 6]) -> [f32; 8] {
    std::array::from_fn(|i| numbers.get(i).copied().unwrap_or(0.0))
}

impl<'a> Surfaces<'a> {
    /// The surfaces of a world at a time, s.
    pub fn new(
        device: &'a GpuDevice,
        caster: &GpuCaster,
        world: &CameraWorld,
        time: f64,
    ) -> Result<Self, GpuError> {
        // Objects, and the materials of their triangles.
        let scene = world.scene();
        let mut records: Vec<[u32; 4]> = vec![];
        let mut triangles: Vec<u32> = vec![];
        let mut of_mesh = std::collections::BTreeMap::new();
        for (number, object) in (0..).zip(scene.objects()) {
            let own = &scene.mesh(object.mesh).materials;
            let first = if own.is_empty() {
                u32::MAX
            } else {
                *of_mesh.entry(object.mesh).or_insert_with(|| {
                    let first = index(triangles.len());
                    triangles.extend(own.iter().map(|material| material.0));
                    first
                })
            };
            let id = ObjectId(number);
            let [vertex, corner] = caster.scene.first_vertex_and_corner(id);
            records.push([vertex, corner, first, object.material.0]);
            let mark = if world.is_textured(id) { TEXTURED } else { 0 };
            let pose = scene.world_from_object(id, time);
            let rotation = pose.rotation.to_rotation_matrix();
            for row in 0..3 {
                let [x, y, z] = [0, 1, 2].map(|column| bits(rotation.matrix()[(row, column)]));
                records.push([x, y, z, if row == 0 { mark } else { 0 }]);
            }
        }

        // Materials.
        let materials = index(records.len());
        for number in 0..index(scene.materials().len()) {
            let material = MaterialId(number);
            let reflectance = world.lambertian_reflectance(material);
            let [x, y, z] = reflectance.unwrap_or_default().map(|band| bits(band / PI));
            let not_lambert = if reflectance.is_none() {
                NOT_LAMBERT
            } else {
                0
            };
            let sheet = if world.is_sheet(material) { SHEET } else { 0 };
            records.push([x, y, z, not_lambert | sheet]);
        }
        let places = [materials, index(records.len())];
        let fours = triangles.chunks(4);
        records.extend(fours.map(|own| std::array::from_fn(|i| own.get(i).copied().unwrap_or(0))));
        Ok(Self {
            buffer: device.scratch_with("the surfaces", &records)?,
            places,
        })
    }
}

fn bits(number: f64) -> u32 {
    (number as f32).to_bits()
}

/// Unit vectors in the optical frame at the centres of pixels, one more on each side of the image, by rows; with a 1, or
/// zeros without a ray.
pub(super) fn directions(camera: &Camera) -> Vec<[f32; 4]> {
    let columns = camera.width + 2;
    let count = columns * (camera.height + 2);
    let direction = |number: u32| {
        let [column, row] = [number % columns, number / columns].map(|at| f64::from(at) - 1.0);
        let own = camera.intrinsics.unproject(&Point2::new(column, row));
        own.map_or([0.0; 4], |own| {
            [own.x as f32, own.y as f32, own.z as f32, 1.0]
        })
    };
    (0..count).into_par_iter().map(direction).collect()
}

/// The poses of the camera in the form of the shader: one, or those at equal intervals of the frame where it moves.
pub(super) fn poses(frame: &DirectFrame) -> Vec<[f32; 16]> {
    let camera = frame.camera();
    let start = frame.settings().start;
    let time = camera.collection_time(frame.exposure());
    let at = |number: u32| {
        let share = f64::from(number) / f64::from(INTERVALS);
        frame.world_from_camera(start + share * time)
    };
    let all: Vec<Isometry3<f64>> = (0..=INTERVALS).into_par_iter().map(at).collect();
    let is_at_rest = all.iter().all(|pose| *pose == all[0]);
    let count = if is_at_rest { 1 } else { all.len() };
    all[..count].iter().map(pose_record).collect()
}

fn pose_record(world_from_camera: &Isometry3<f64>) -> [f32; 16] {
    let rotation = (world_from_camera.rotation * body_from_optical()).to_rotation_matrix();
    let position = numbers::vector(&world_from_camera.translation.vector);
    let mut record = [0.0; 16];
    for row in 0..3 {
        for column in 0..3 {
            record[4 * row + column] = rotation.matrix()[(row, column)] as f32;
        }
        record[4 * row + 3] = position[row];
    }
    record[12..15].copy_from_slice(&position[3..]);
    record
}
