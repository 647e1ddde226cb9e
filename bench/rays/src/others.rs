//! Other Rust crates, single rays.

use crate::rays::RayPacket;
use etendue_raycast::Mesh;
use obvhs::bvh2::{Bvh2, builder::build_bvh2_from_tris};
use obvhs::triangle::Triangle;
use obvhs::{BvhBuildParams, ray};
use parry3d::math::Vector;
use parry3d::query::RayCast;
use parry3d::shape::TriMesh;

pub struct Obvhs {
    tree: Bvh2,
    triangles: Vec<Triangle>,
}

impl Obvhs {
    pub fn new(mesh: &Mesh) -> Self {
        let corner = |v: u32| {
            let p = mesh.vertices[v as usize];
            glam::vec3a(p.x as f32, p.y as f32, p.z as f32)
        };
        let triangles: Vec<Triangle> = mesh
            .triangles
            .iter()
            .map(|t| Triangle {
                v0: corner(t[0]),
                v1: corner(t[1]),
                v2: corner(t[2]),
            })
            .collect();
        let tree = build_bvh2_from_tris(
            &triangles,
            BvhBuildParams::medium_build(),
            &mut Default::default(),
        );
        Self { tree, triangles }
    }

    pub fn trace(&self, packets: &[RayPacket]) -> (usize, f64) {
        let mut tally = (0, 0.0);
        for p in packets {
            for i in 0..16 {
                let [o, d] =
                    [&p.origin, &p.direction].map(|v| glam::vec3a(v[0][i], v[1][i], v[2][i]));
                let ray = ray::Ray::new_inf(o, d);
                let mut hit = ray::RayHit::none();
                let is_hit = self.tree.ray_traverse(ray, &mut hit, |ray, id| {
                    self.triangles[self.tree.primitive_indices[id] as usize].intersect(ray)
                });
                if is_hit {
                    tally.0 += 1;
                    tally.1 += f64::from(hit.t);
                }
            }
        }
        tally
    }
}

pub struct Parry(TriMesh);

impl Parry {
    pub fn new(mesh: &Mesh) -> Self {
        let vertices = mesh
            .vertices
            .iter()
            .map(|p| Vector::new(p.x as f32, p.y as f32, p.z as f32));
        Self(TriMesh::new(vertices.collect(), mesh.triangles.clone()).expect("a good mesh"))
    }

    pub fn trace(&self, packets: &[RayPacket]) -> (usize, f64) {
        let mut tally = (0, 0.0);
        for p in packets {
            for i in 0..16 {
                let [o, d] =
                    [&p.origin, &p.direction].map(|v| Vector::new(v[0][i], v[1][i], v[2][i]));
                let ray = parry3d::query::Ray::new(o.into(), d);
                if let Some(t) = self.0.cast_local_ray(&ray, 1e6, false) {
                    tally.0 += 1;
                    tally.1 += f64::from(t);
                }
            }
        }
        tally
    }
}
