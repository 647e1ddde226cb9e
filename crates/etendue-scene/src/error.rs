//! Errors in the contents of scenes.

use etendue_raycast::{MeshError, RayCasterError};
use thiserror::Error;

/// An error in the contents of a scene.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SceneError {
    /// The mesh of an object cannot be used.
    #[error("object \"{object}\": {source}")]
    Mesh {
        /// The object's name.
        object: String,
        /// The reason.
        source: MeshError,
    },
    /// A mesh that no object uses, or new vertices of a mesh, cannot be used.
    #[error(transparent)]
    Geometry(#[from] RayCasterError),
    /// An object refers to a mesh that does not exist.
    #[error("object \"{object}\" uses mesh {mesh}, the scene has {meshes}")]
    MeshOutOfRange {
        /// The object's name.
        object: String,
        /// The mesh it refers to.
        mesh: u32,
        /// Number of meshes.
        meshes: usize,
    },
    /// A motion is for an object that does not exist.
    #[error("a motion is for object {object}, the scene has {objects}")]
    ObjectOutOfRange {
        /// The object's index.
        object: u32,
        /// Number of objects.
        objects: usize,
    },
    /// A deformation is for a mesh that does not exist.
    #[error("a deformation is for mesh {mesh}, the scene has {meshes}")]
    DeformationOutOfRange {
        /// The mesh's index.
        mesh: u32,
        /// Number of meshes.
        meshes: usize,
    },
    /// The pose of an object is not finite.
    #[error("object \"{object}\" has a pose that is not finite")]
    PoseNotFinite {
        /// The object's name.
        object: String,
    },
    /// An object, or its mesh, refers to a material that does not exist.
    #[error("object \"{object}\" uses material {material}, the scene has {materials}")]
    MaterialOutOfRange {
        /// The object's name.
        object: String,
        /// The material it refers to.
        material: u32,
        /// Number of materials.
        materials: usize,
    },
    /// A closed mesh of a refracting material is inside out.
    #[error(
        "object \"{object}\" is clear (\"{material}\") and inside out at triangle {triangle}: \
         light would refract the wrong way; turn its triangles over"
    )]
    ClearInsideOut {
        /// The object's name.
        object: String,
        /// Its material's name.
        material: String,
        /// A triangle of the part that is inside out.
        triangle: usize,
    },
    /// The scene has no object.
    #[error("the scene has no object")]
    Empty,
}
