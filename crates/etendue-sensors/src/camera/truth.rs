//! What a frame shows, exactly.
#![expect(
    clippy::cast_possible_truncation,
    reason = "pictures need no more than f32"
)]

use super::model::Camera;
use super::render::slab;
use super::sampler::{MIDDLE, Rays};
use etendue_physics::camera::body_from_optical;
use etendue_scene::{Hit, MaterialId, ObjectId, Ray, Scene};
use nalgebra::{Isometry3, Point3, Vector3};
use rayon::prelude::*;

/// Ground truth of a frame: the first surface, glass included, at the centre of each pixel at the
/// middle of its exposure. Lists are in row-major order from the upper left pixel; without a surface
/// numbers are NaN and identifiers `None`.
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
    /// Object.
    pub object: Vec<Option<ObjectId>>,
    /// Material.
    pub material: Vec<Option<MaterialId>>,
    /// Optical flow to the next frame, pixels (right, down); NaN if the point leaves the field of view.
    /// Occlusion is ignored.
    pub flow: Vec<[f32; 2]>,
}

/// The class of each object and material.
///
/// An object's own class counts; where it has none, the class is its material's name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClassMap {
    /// Names of the classes; 0 is "nothing".
    pub names: Vec<String>,
    of_object: Vec<Option<u16>>,
    of_material: Vec<u16>,
}

impl ClassMap {
    /// The classes of a scene; `of_object` names those of objects that have one, in their order.
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

    fn class(&mut self, name: &str) -> u16 {
        let known = self.names.iter().position(|known| known == name);
        let number = known.unwrap_or_else(|| {
            self.names.push(name.to_owned());
            self.names.len() - 1
        });
        u16::try_from(number).unwrap_or(u16::MAX)
    }

    /// The number of the class that an object and material have; 0 for nothing.
    pub fn of(&self, object: Option<ObjectId>, material: Option<MaterialId>) -> u16 {
        let (Some(object), Some(material)) = (object, material) else {
            return 0;
        };
        let own = self.of_object.get(object.0 as usize).copied().flatten();
        own.unwrap_or_else(|| self.of_material[material.0 as usize])
    }
}

struct Seen {
    depth: f32,
    range: f32,
    normal: [f32; 3],
    object: Option<ObjectId>,
    material: Option<MaterialId>,
    flow: [f32; 2],
}

const NOTHING: Seen = Seen {
    depth: f32::NAN,
    range: f32::NAN,
    normal: [f32::NAN; 3],
    object: None,
    material: None,
    flow: [f32::NAN; 2],
};

pub(super) fn look(
    scene: &Scene,
    camera: &Camera,
    start: f64,
    exposure: f64,
    flow_time: f64,
    world_from_camera: impl Fn(f64) -> Isometry3<f64> + Sync,
) -> FrameTruth {
    let rays = Rays::new(camera, start, exposure, world_from_camera);
    let slab = slab(scene, camera);
    let mut seen: Vec<Seen> = Vec::with_capacity((camera.width * camera.height) as usize);
    for first in (0..camera.height).step_by(slab as usize) {
        let middle = rays.time(first + slab / 2, 0.5);
        let then = scene
            .deforms()
            .then(|| [middle, middle + flow_time].map(|time| scene.at(time)));
        let look = Look {
            scene: then.as_ref().map_or(scene, |[now, _]| now),
            later: then.as_ref().map(|[_, later]| later),
            rays: &rays,
            flow_time,
        };
        let pixels = first * camera.width..camera.height.min(first + slab) * camera.width;
        seen.par_extend(
            pixels
                .into_par_iter()
                .map(|pixel| look.at([pixel % camera.width, pixel / camera.width])),
        );
    }
    FrameTruth {
        width: camera.width,
        height: camera.height,
        depth: seen.iter().map(|seen| seen.depth).collect(),
        range: seen.iter().map(|seen| seen.range).collect(),
        normal: seen.iter().map(|seen| seen.normal).collect(),
        object: seen.iter().map(|seen| seen.object).collect(),
        material: seen.iter().map(|seen| seen.material).collect(),
        flow: seen.iter().map(|seen| seen.flow).collect(),
    }
}

struct Look<'a, 'c, F> {
    scene: &'a Scene,
    /// The scene when the flow ends, where meshes deform.
    later: Option<&'a Scene>,
    rays: &'a Rays<'c, F>,
    flow_time: f64,
}

impl<F: Fn(f64) -> Isometry3<f64>> Look<'_, '_, F> {
    fn at(&self, pixel: [u32; 2]) -> Seen {
        let sent = self.rays.through(pixel, MIDDLE, &mut None);
        let hit = sent
            .as_ref()
            .and_then(|sent| self.scene.closest_hit(&sent.ray));
        match (sent, hit) {
            (Some(sent), Some(hit)) => self.seen(pixel, &sent.ray, &hit),
            _ => NOTHING,
        }
    }

    fn seen(&self, pixel: [u32; 2], ray: &Ray, hit: &Hit) -> Seen {
        let pose = self.scene.world_from_object(hit.object, ray.time);
        let point = ray.origin + ray.direction * hit.distance;
        let away = hit.normal.dot(&ray.direction) > 0.0;
        let normal = if away { -hit.normal } else { hit.normal };
        let place = self.in_camera(&point, ray.time);
        let in_object = match self.later {
            Some(later) => place_on(later, hit),
            None => pose.inverse_transform_point(&point),
        };
        let flow = self.flow(pixel, hit.object, &in_object, ray.time + self.flow_time);
        Seen {
            depth: place.z as f32,
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
        let [du, dv] = [image.x - f64::from(column), image.y - f64::from(row)];
        Some([du as f32, dv as f32])
    }
}

/// The point of a triangle that was hit, in its object's frame, where the vertices are now.
fn place_on(scene: &Scene, hit: &Hit) -> Point3<f64> {
    let mesh = scene.mesh(scene.objects()[hit.object.0 as usize].mesh);
    let [a, b, c] = mesh.corners(hit.triangle);
    let [second, third] = hit.barycentric;
    a + (b - a) * second + (c - a) * third
}
