//! Closed-loop demonstrations after Elmquist et al. 2021 (doi:10.1115/1.4050080), section 4: a scaled
//! car drives an unknown course ([`course`]), and a vehicle records a town ([`street`]). Both worlds
//! are procedural, from a seed.

pub mod course;
pub mod street;

use etendue_physics::Spectrum;
use etendue_physics::surface::Material;
use etendue_scene::{
    MaterialId, Mesh, MeshId, NamedMaterial, Object, Scene, SceneBuilder, SceneError,
};
use nalgebra::Isometry3;
use std::sync::Arc;

/// Object of a procedural world.
#[derive(Clone, Debug, PartialEq)]
pub struct WorldPart {
    /// Name.
    pub name: String,
    /// Surface.
    pub mesh: Arc<Mesh>,
    /// Pose in the world.
    pub world_from_part: Isometry3<f64>,
    /// Name of its material.
    pub material: &'static str,
}

/// Scene of parts; `look_up` returns a material by name.
///
/// # Errors
/// If a mesh is invalid or there is no part.
pub fn scene(
    parts: &[WorldPart],
    mut look_up: impl FnMut(&str) -> Material<Spectrum>,
) -> Result<Scene, SceneError> {
    let mut builder = SceneBuilder::default();
    let mut names: Vec<&str> = Vec::new();
    for part in parts {
        // Material, once per name
        let known = names.iter().position(|name| *name == part.material);
        let material = known.unwrap_or_else(|| {
            names.push(part.material);
            builder.materials.push(NamedMaterial {
                name: part.material.into(),
                material: look_up(part.material),
            });
            names.len() - 1
        });

        // Mesh, once per shared pointer
        let mesh = builder
            .meshes
            .iter()
            .position(|mesh| Arc::ptr_eq(mesh, &part.mesh));
        let mesh = mesh.unwrap_or_else(|| {
            builder.meshes.push(part.mesh.clone());
            builder.meshes.len() - 1
        });

        // Object
        let number = |index: usize| u32::try_from(index).unwrap_or(u32::MAX);
        builder.objects.push(Object {
            name: part.name.clone(),
            mesh: MeshId(number(mesh)),
            world_from_object: part.world_from_part,
            material: MaterialId(number(material)),
            mask: u32::MAX,
        });
    }
    builder.build()
}
