//! Scenes of demonstrations.

use crate::failure::Failure;
use etendue::config::material::find;
use etendue::physics::Spectrum;
use etendue::physics::surface::Material;
use etendue::scene::Scene;
use etendue_experiments::demo::{WorldPart, scene};

/// Scene of a demonstration, with materials of the library.
pub fn build(parts: &[WorldPart]) -> Result<Scene, Failure> {
    let scene = scene(parts, library_material);
    scene.map_err(|error| invalid_world(&error))
}

fn library_material(name: &str) -> Material<Spectrum> {
    let found = find(name).expect("demonstrations name materials of the library");
    found.material.clone()
}

/// Error of an invalid procedural world.
pub fn invalid_world(error: &impl ToString) -> Failure {
    Failure::usage(error.to_string(), "give another --seed")
}
