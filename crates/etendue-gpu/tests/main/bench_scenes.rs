//! The scenes and rays of `bench/rays`.
#![allow(
    dead_code,
    clippy::cast_possible_truncation,
    reason = "the benchmark uses the rest, and other engines store f32"
)]

#[path = "../../../../bench/rays/src/rays.rs"]
pub mod rays;
#[path = "../../../../bench/rays/src/scenes.rs"]
pub mod scenes;

use etendue_raycast::{Instance, Mesh, MeshId, Ray, RayCaster};
use nalgebra::{Isometry3, Vector3};
use scenes::BenchScene;
use std::path::PathBuf;
use std::sync::Arc;

/// A caster of one mesh.
pub fn caster_of(mesh: Mesh) -> RayCaster {
    let instance = Instance::new(MeshId(0), Isometry3::identity());
    RayCaster::new(vec![Arc::new(mesh)], &[instance]).unwrap()
}

/// A number of rays of four moving spinning lidars at places near the sensor's, spread over their rotations.
pub fn rays_of(scene: &BenchScene, count: usize) -> Vec<Ray> {
    let sensor = |i: u32| {
        let offset = f64::from(i) * 0.137;
        scene.sensor + Vector3::new(offset, -0.31 * offset, 0.07 * offset)
    };
    let all: Vec<Ray> = (0..4).flat_map(|i| rays::spin(sensor(i), 15.0)).collect();
    let step = (all.len() / count).max(1);
    all.into_iter().step_by(step).take(count).collect()
}

/// The house, where the recordings and meshes are.
pub fn house() -> Option<BenchScene> {
    let root = std::env::var_os("ETENDUE_DATA").map_or_else(
        || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data"),
        PathBuf::from,
    );
    scenes::house(&root.join("mesh_aws_worlds/small_house_visual.ply"))
}
