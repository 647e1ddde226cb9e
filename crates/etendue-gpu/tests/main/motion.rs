//! Objects at the times of rays, masks, limits.

use crate::agreement::Differences;
use crate::opened::device;
use etendue_raycast::{BoundingBox, Instance, Mesh, MeshId, Ray, RayCaster, RigidMotion};
use nalgebra::{Isometry3, Point3, Translation3, UnitQuaternion, Vector3};
use std::sync::Arc;

/// A motion along x that turns about z.
#[derive(Debug)]
struct Turning {
    start: Vector3<f64>,
    speed: f64,
    rate: f64,
}

impl RigidMotion for Turning {
    fn world_from_object(&self, time: f64) -> Isometry3<f64> {
        Isometry3::from_parts(
            Translation3::from(self.start + Vector3::x() * (self.speed * time)),
            UnitQuaternion::from_euler_angles(0.0, 0.0, self.rate * time),
        )
    }

    fn bounds(&self, local: &BoundingBox, span: [f64; 2]) -> BoundingBox {
        let reach = local.reach();
        let [start, end] = span.map(|time| {
            BoundingBox::point(self.world_from_object(time).translation.vector.into()).grown(reach)
        });
        start.union(&end)
    }
}

/// A cuboid about the origin.
fn cuboid(half: f64) -> Mesh {
    let vertex = |i: u32| {
        let side = |bit: u32| if i >> bit & 1 == 1 { half } else { -half };
        Point3::new(side(0), side(1), side(2))
    };
    Mesh {
        vertices: (0..8).map(vertex).collect(),
        triangles: vec![
            [0, 2, 1],
            [1, 2, 3],
            [4, 5, 6],
            [5, 7, 6],
            [0, 1, 4],
            [1, 5, 4],
            [2, 6, 3],
            [3, 6, 7],
            [0, 4, 2],
            [2, 4, 6],
            [1, 3, 5],
            [3, 7, 5],
        ],
        materials: vec![],
    }
}

/// A cuboid around fifty smaller ones: at rest with and without rotation, moving and turning, some of them masked.
fn caster() -> RayCaster {
    let at = |i: u32| {
        let angle = f64::from(i) * 0.7;
        Vector3::new(angle.cos(), angle.sin(), 0.3 * angle.sin()) * (4.0 + 0.3 * f64::from(i % 11))
    };
    let mut instances = vec![Instance::new(MeshId(1), Isometry3::identity())];
    for i in 0..50 {
        let turned =
            UnitQuaternion::from_euler_angles(0.1 * f64::from(i), 0.3, -0.2 * f64::from(i));
        let mut instance = Instance::new(MeshId(0), Isometry3::from(at(i)));
        match i % 4 {
            0 => {}
            1 => instance.world_from_object.rotation = turned,
            _ => {
                instance.motion = Some(Arc::new(Turning {
                    start: at(i),
                    speed: 0.2 * f64::from(i % 7),
                    rate: 0.5 * f64::from(i % 5),
                }));
            }
        }
        if i % 10 == 3 {
            instance.mask = 2;
        }
        instances.push(instance);
    }
    let meshes = [0.5, 20.0].map(|half| Arc::new(cuboid(half)));
    RayCaster::new(meshes.into(), &instances).unwrap()
}

/// Rays in all directions at many times; every third with limits, every fifth with a mask.
fn rays() -> Vec<Ray> {
    let ray = |i: u32| {
        let azimuth = f64::from(i) * 2.399_963;
        let up = f64::from(i % 1009) / 504.0 - 1.0;
        let level = (1.0 - up * up).max(0.0).sqrt();
        let direction = Vector3::new(level * azimuth.cos(), level * azimuth.sin(), up);
        let origin = Point3::new(0.01 * f64::from(i % 13), 0.02, -0.03);
        let mut ray = Ray::new(origin, direction.normalize());
        ray.time = f64::from(i / 16) * 1e-4;
        if i.is_multiple_of(3) {
            ray.near = 4.0;
            ray.far = 19.0;
        }
        if i.is_multiple_of(5) {
            ray.mask = 1;
        }
        ray
    };
    (0..30_000).map(ray).collect()
}

/// Measured on lavapipe: no other triangle, 3e-14.
#[test]
fn objects_are_met_where_they_are_at_the_time_of_each_ray() {
    let Some(device) = device("objects_are_met_where_they_are_at_the_time_of_each_ray") else {
        return;
    };
    let differences = Differences::of(device, &caster(), &rays());
    println!("{differences:?}");
    assert!(differences.hits > 20_000);
    assert_eq!(differences.other_triangle, 0);
    assert!(differences.distance < 1e-11);
}
