//! Meshes and scenes to cast rays at.

use etendue_physics::surface::Material;
use etendue_scene::{MaterialId, Mesh, MeshId, NamedMaterial, Object, Scene, SceneBuilder};
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

/// A scene of one still object per mesh.
pub fn scene_of(parts: Vec<(Mesh, Isometry3<f64>)>) -> Scene {
    let objects = parts
        .iter()
        .enumerate()
        .map(|(number, (_, pose))| Object {
            name: format!("object {number}"),
            mesh: MeshId(number as u32),
            world_from_object: *pose,
            material: MaterialId(0),
            mask: u32::MAX,
        })
        .collect();
    SceneBuilder {
        materials: vec![NamedMaterial {
            name: "anything".into(),
            material: Material { lobes: vec![] },
        }],
        meshes: parts.into_iter().map(|(mesh, _)| Arc::new(mesh)).collect(),
        objects,
    }
    .build()
    .unwrap()
}
