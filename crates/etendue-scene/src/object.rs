//! Objects and named materials.

use etendue_physics::Spectrum;
use etendue_physics::surface::Material;
use etendue_raycast::{MaterialId, MeshId};
use nalgebra::Isometry3;

/// A material with its name.
#[derive(Clone, Debug, PartialEq)]
pub struct NamedMaterial {
    /// The name scene files use.
    pub name: String,
    /// Its optical behaviour over wavelength.
    pub material: Material<Spectrum>,
}

/// A mesh placed in the world.
#[derive(Clone, Debug)]
pub struct Object {
    /// The name scene files use.
    pub name: String,
    /// Its shape.
    pub mesh: MeshId,
    /// Its pose.
    pub world_from_object: Isometry3<f64>,
    /// Its material where the mesh has none per triangle.
    pub material: MaterialId,
    /// Visibility mask: rays whose mask shares no bit with it ignore the object.
    pub mask: u32,
}
