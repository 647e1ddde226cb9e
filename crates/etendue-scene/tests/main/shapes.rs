//! Meshes and scenes to cast rays at.

use etendue_physics::surface::Material;
use etendue_scene::{
    MaterialId, Mesh, MeshId, NamedMaterial, Object, ObjectId, Ray, Scene, SceneBuilder, Trajectory,
};
use nalgebra::{Isometry3, Point3, Vector3};
use std::sync::Arc;

/// An axis-aligned box around the origin with the given edge lengths, m.
pub fn cuboid(size: [f64; 3]) -> Mesh {
    let corner = |i: usize| {
        let side = |axis: usize| if i >> axis & 1 == 1 { 0.5 } else { -0.5 };
        Point3::new(size[0] * side(0), size[1] * side(1), size[2] * side(2))
    };
    let quads = [
        [0, 2, 3, 1],
        [4, 5, 7, 6],
        [0, 1, 5, 4],
        [2, 6, 7, 3],
        [0, 4, 6, 2],
        [1, 3, 7, 5],
    ];
    Mesh {
        vertices: (0..8).map(corner).collect(),
        triangles: quads
            .iter()
            .flat_map(|&[a, b, c, d]| [[a, b, c], [a, c, d]])
            .collect(),
        materials: vec![],
    }
}

/// A sphere with bumps, closed, of `2 * rings * segments` or so triangles.
pub fn noisy_sphere(radius: f64, rings: u32, segments: u32) -> Mesh {
    let bump = |i: u32, j: u32| 1.0 + 0.05 * f64::from((i * 7919 + j * 104_729) % 101) / 101.0;
    let mut vertices = vec![Point3::new(0.0, 0.0, -radius)];
    for i in 1..rings {
        let elevation = std::f64::consts::PI * (f64::from(i) / f64::from(rings) - 0.5);
        for j in 0..segments {
            let azimuth = std::f64::consts::TAU * f64::from(j) / f64::from(segments);
            let (sin, cos) = azimuth.sin_cos();
            let way = Vector3::new(
                cos * elevation.cos(),
                sin * elevation.cos(),
                elevation.sin(),
            );
            vertices.push(Point3::from(way * (radius * bump(i, j))));
        }
    }
    vertices.push(Point3::new(0.0, 0.0, radius));
    let top = vertices.len() as u32 - 1;
    let at = |i: u32, j: u32| 1 + (i - 1) * segments + j % segments;
    let mut triangles = vec![];
    for j in 0..segments {
        triangles.push([0, at(1, j + 1), at(1, j)]);
        triangles.push([top, at(rings - 1, j), at(rings - 1, j + 1)]);
        for i in 1..rings - 1 {
            triangles.push([at(i, j), at(i, j + 1), at(i + 1, j)]);
            triangles.push([at(i, j + 1), at(i + 1, j + 1), at(i + 1, j)]);
        }
    }
    Mesh {
        vertices,
        triangles,
        materials: vec![],
    }
}

/// The mesh with every vertex moved.
pub fn moved(mut mesh: Mesh, by: Vector3<f64>) -> Mesh {
    for vertex in &mut mesh.vertices {
        *vertex += by;
    }
    mesh
}

/// Object `number`, still at the origin, with the mesh of that number.
pub fn object(number: u32) -> Object {
    Object {
        name: format!("object {number}"),
        mesh: MeshId(number),
        world_from_object: Isometry3::identity(),
        material: MaterialId(0),
        mask: u32::MAX,
    }
}

/// A scene of one still object per mesh.
pub fn scene_of(parts: Vec<(Mesh, Isometry3<f64>)>) -> Scene {
    let (meshes, poses): (Vec<Mesh>, Vec<Isometry3<f64>>) = parts.into_iter().unzip();
    let objects = (0..)
        .zip(poses)
        .map(|(number, world_from_object)| Object {
            world_from_object,
            ..object(number)
        })
        .collect();
    scene_with(meshes, objects, vec![])
}

/// A scene of these.
pub fn scene_with(
    meshes: Vec<Mesh>,
    objects: Vec<Object>,
    motions: Vec<(ObjectId, Trajectory)>,
) -> Scene {
    SceneBuilder {
        materials: vec![NamedMaterial {
            name: "anything".into(),
            material: Material { lobes: vec![] },
        }],
        meshes: meshes.into_iter().map(Arc::new).collect(),
        objects,
        motions: motions
            .into_iter()
            .map(|(object, motion)| (object, motion.into()))
            .collect(),
        ..SceneBuilder::default()
    }
    .build()
    .unwrap()
}

/// Numbers in [0, 1).
pub fn random(seed: u64) -> impl FnMut() -> f64 {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// A random unit vector.
pub fn way(draw: &mut impl FnMut() -> f64) -> Vector3<f64> {
    Vector3::from_fn(|_, _| draw() - 0.5).normalize()
}

/// Rays at vertices, edge midpoints and random points of edges.
pub fn edge_rays(mesh: &Mesh, origin: Point3<f64>, count: usize) -> Vec<Ray> {
    let mut draw = random(count as u64);
    (0..count)
        .map(|i| {
            let pick = (draw() * mesh.triangles.len() as f64) as usize;
            let corners = mesh.triangles[pick].map(|v| mesh.vertices[v as usize]);
            let along = [0.0, 0.5, draw()][i % 3];
            let side = (draw() * 3.0) as usize % 3;
            let target = corners[side] + (corners[(side + 1) % 3] - corners[side]) * along;
            Ray::new(origin, (target - origin).normalize())
        })
        .collect()
}

/// A turn of a spinning lidar in 0.1 s, column by column, moving along x at `speed`, m/s.
pub fn spin(origin: Point3<f64>, channels: usize, columns: usize, speed: f64) -> Vec<Ray> {
    let ray = |i: usize| {
        let turn = (i / channels) as f64 / columns as f64;
        let azimuth = std::f64::consts::TAU * turn + 0.01;
        let elevation = 1.2 * ((i % channels) as f64 / channels as f64 - 0.45);
        let flat = elevation.cos();
        let direction = Vector3::new(azimuth.cos() * flat, azimuth.sin() * flat, elevation.sin());
        Ray {
            time: 0.1 * turn,
            ..Ray::new(origin + Vector3::x() * (0.1 * turn * speed), direction)
        }
    };
    (0..channels * columns).map(ray).collect()
}
