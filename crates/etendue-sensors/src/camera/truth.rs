//! Ground truth of a frame.
#![expect(clippy::cast_possible_truncation, reason = "f32 suffices for images")]

use super::model::Camera;
use super::render::{ray_or_null, rows_per_deformation};
use super::sampler::{CENTRE, CameraPoses, PixelRays};
use etendue_physics::camera::body_from_optical;
use etendue_scene::{CastScratch, Hit, MaterialId, ObjectId, Ray, Scene};
use nalgebra::{Point3, Vector3};
use rayon::prelude::*;

/// Ground truth of a frame: the first surface, glass included, at the centre of each pixel at the middle
/// of its exposure.
///
/// Lists are in row-major order from the upper left pixel. Without a surface, numbers are NaN and
/// identifiers `None`.
#[derive(Clone, Debug, PartialEq)]
pub struct FrameTruth {
    /// Columns.
    pub width: u32,
    /// Rows.
    pub height: u32,
    /// Planar depth, m: the coordinate along the optical axis, **not** the length of the ray.
    pub depth: Vec<f32>,
    /// Length of the ray, m.
    pub range: Vec<f32>,
    /// Unit normals in the world, towards the camera.
    pub normal: Vec<[f32; 3]>,
    /// Object of each pixel.
    pub object: Vec<Option<ObjectId>>,
    /// Material of each pixel.
    pub material: Vec<Option<MaterialId>>,
    /// Optical flow to the next frame, pixels (right, down); NaN if the point leaves the field of view.
    /// Occlusion is ignored.
    pub flow: Vec<[f32; 2]>,
}

/// Semantic class of each object and material.
///
/// An object without a class has the class of its material, which is the name of the material.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClassMap {
    /// Names of the classes; 0 is "nothing".
    pub names: Vec<String>,
    of_object: Vec<Option<u16>>,
    of_material: Vec<u16>,
}

impl ClassMap {
    /// Classes of a scene; `of_object` holds the name of the class of each object, if it has one.
    pub fn new(scene: &Scene, of_object: &[Option<String>]) -> Self {
        let mut map = Self {
            names: vec!["nothing".into()],
            ..Self::default()
        };
        for name in of_object {
            let class = name.as_ref().map(|name| map.class(name));
            map.of_object.push(class);
        }
        for material in scene.materials() {
            let class = map.class(&material.name);
            map.of_material.push(class);
        }
        map
    }

    /// Index of a class, added if it is new.
    fn class(&mut self, name: &str) -> u16 {
        let index = self.names.iter().position(|other| other == name);
        let number = index.unwrap_or_else(|| {
            self.names.push(name.to_owned());
            self.names.len() - 1
        });
        u16::try_from(number).unwrap_or(u16::MAX)
    }

    /// Index of the class of an object and a material; 0 without a surface.
    pub fn of(&self, object: Option<ObjectId>, material: Option<MaterialId>) -> u16 {
        let (Some(object), Some(material)) = (object, material) else {
            return 0;
        };
        let own = self.of_object.get(object.0 as usize).copied().flatten();
        own.unwrap_or_else(|| self.of_material[material.0 as usize])
    }
}

/// Ground truth of a pixel.
struct PixelTruth {
    depth: f32,
    range: f32,
    normal: [f32; 3],
    object: Option<ObjectId>,
    material: Option<MaterialId>,
    flow: [f32; 2],
}

/// A pixel without a surface.
const NOTHING: PixelTruth = PixelTruth {
    depth: f32::NAN,
    range: f32::NAN,
    normal: [f32::NAN; 3],
    object: None,
    material: None,
    flow: [f32::NAN; 2],
};

/// Ground truth of a frame, with the optical flow to `flow_time` seconds later.
pub(super) fn frame_truth(
    scene: &Scene,
    camera: &Camera,
    start: f64,
    exposure: f64,
    flow_time: f64,
    world_from_camera: &CameraPoses,
) -> FrameTruth {
    // Divide the rows into blocks of one deformation each.
    let rays = PixelRays::new(camera, start, exposure, world_from_camera);
    let rows_per_deformation = rows_per_deformation(scene, camera);
    let mut pixels: Vec<PixelTruth> = Vec::with_capacity((camera.width * camera.height) as usize);
    for first in (0..camera.height).step_by(rows_per_deformation as usize) {
        // Deform the scene at the middle of the block, and at the other end of the flow.
        let middle = rays.time(first + rows_per_deformation / 2, 0.5);
        let deformed = scene
            .deforms()
            .then(|| [middle, middle + flow_time].map(|time| scene.at(time)));
        let truth = TruthRays {
            scene: deformed.as_ref().map_or(scene, |[now, _]| now),
            later: deformed.as_ref().map(|[_, later]| later),
            rays: &rays,
            flow_time,
        };
        // Evaluate the pixels of the block.
        let numbers =
            first * camera.width..camera.height.min(first + rows_per_deformation) * camera.width;
        pixels.par_extend(
            numbers
                .into_par_iter()
                .map_init(CastScratch::for_worker, |scratch, pixel| {
                    truth.at([pixel % camera.width, pixel / camera.width], scratch)
                }),
        );
    }
    images(camera, &pixels)
}

/// [`frame_truth`] in a scene without deforming meshes, with the first hits of all rays from `cast`.
pub(super) fn frame_truth_of_hits<E>(
    scene: &Scene,
    rays: &PixelRays,
    flow_time: f64,
    cast: impl FnOnce(&[Ray]) -> Result<Vec<Option<Hit>>, E>,
) -> Result<FrameTruth, E> {
    // Aim.
    let camera = rays.camera;
    let at = |number: u32| [number % camera.width, number / camera.width];
    let numbers = (0..camera.width * camera.height).into_par_iter();
    let aimed: Vec<Ray> = numbers
        .clone()
        .map(|number| ray_or_null(rays.ray(at(number), CENTRE, &mut None).as_ref()))
        .collect();

    // Cast and evaluate.
    let hits = cast(&aimed)?;
    let truth = TruthRays {
        scene,
        later: None,
        rays,
        flow_time,
    };
    let pixels: Vec<PixelTruth> = { numbers.zip(&aimed).zip(&hits) }
        .map(|((number, ray), hit)| match hit {
            Some(hit) => truth.of_hit(at(number), ray, hit),
            None => NOTHING,
        })
        .collect();
    Ok(images(camera, &pixels))
}

/// The images of pixels.
fn images(camera: &Camera, pixels: &[PixelTruth]) -> FrameTruth {
    FrameTruth {
        width: camera.width,
        height: camera.height,
        depth: pixels.iter().map(|pixel| pixel.depth).collect(),
        range: pixels.iter().map(|pixel| pixel.range).collect(),
        normal: pixels.iter().map(|pixel| pixel.normal).collect(),
        object: pixels.iter().map(|pixel| pixel.object).collect(),
        material: pixels.iter().map(|pixel| pixel.material).collect(),
        flow: pixels.iter().map(|pixel| pixel.flow).collect(),
    }
}

/// Evaluation of the ground truth of pixels.
struct TruthRays<'a, 'c> {
    scene: &'a Scene,
    /// The scene at the end of the flow, where meshes deform.
    later: Option<&'a Scene>,
    rays: &'a PixelRays<'c>,
    flow_time: f64,
}

impl TruthRays<'_, '_> {
    /// Ground truth of a pixel.
    fn at(&self, pixel: [u32; 2], scratch: &mut CastScratch) -> PixelTruth {
        let camera_ray = self.rays.ray(pixel, CENTRE, &mut None);
        let hit = camera_ray
            .as_ref()
            .and_then(|camera_ray| self.scene.closest_hit(&camera_ray.ray, scratch));
        match (camera_ray, hit) {
            (Some(camera_ray), Some(hit)) => self.of_hit(pixel, &camera_ray.ray, &hit),
            _ => NOTHING,
        }
    }

    /// Ground truth of a pixel from its hit.
    fn of_hit(&self, pixel: [u32; 2], ray: &Ray, hit: &Hit) -> PixelTruth {
        let pose = self.scene.world_from_object(hit.object, ray.time);
        let point = ray.origin + ray.direction * hit.distance;
        let is_back = hit.normal.dot(&ray.direction) > 0.0;
        let normal = if is_back { -hit.normal } else { hit.normal };
        let in_optical = self.in_camera(&point, ray.time);
        let in_object = match self.later {
            Some(later) => point_on_triangle(later, hit),
            None => pose.inverse_transform_point(&point),
        };
        let flow = self.flow(pixel, hit.object, &in_object, ray.time + self.flow_time);
        PixelTruth {
            depth: in_optical.z as f32,
            range: hit.distance as f32,
            normal: normal.map(|n| n as f32).into(),
            object: Some(hit.object),
            material: Some(self.scene.material_of(hit)),
            flow: flow.unwrap_or([f32::NAN; 2]),
        }
    }

    /// A point of the world in the optical frame at a time.
    fn in_camera(&self, point: &Point3<f64>, time: f64) -> Vector3<f64> {
        let world_from_camera = (self.rays.world_from_camera)(time);
        let body = world_from_camera.inverse_transform_point(point);
        body_from_optical().inverse() * body.coords
    }

    /// Optical flow of a point of an object until a time, pixels.
    fn flow(
        &self,
        [column, row]: [u32; 2],
        object: ObjectId,
        in_object: &Point3<f64>,
        time: f64,
    ) -> Option<[f32; 2]> {
        let point = self.scene.world_from_object(object, time) * in_object;
        let intrinsics = &self.rays.camera.intrinsics;
        let image = intrinsics.project(&self.in_camera(&point, time))?;
        let du = image.x - f64::from(column);
        let dv = image.y - f64::from(row);
        Some([du as f32, dv as f32])
    }
}

/// Position of a hit in the frame of its object, from the vertices of `scene`.
fn point_on_triangle(scene: &Scene, hit: &Hit) -> Point3<f64> {
    let mesh = scene.mesh(scene.objects()[hit.object.0 as usize].mesh);
    let [a, b, c] = mesh.corners(hit.triangle);
    let [second, third] = hit.barycentric;
    a + (b - a) * second + (c - a) * third
}
