//! The contents of a scene before it is built.

use crate::deformation::Deformation;
#[cfg(doc)]
use crate::edit::SceneEdit;
use crate::motion::Trajectory;
use crate::object::{NamedMaterial, Object};
#[cfg(doc)]
use crate::scene::Scene;
#[cfg(doc)]
use etendue_raycast::Ray;
use etendue_raycast::{Mesh, MeshId, ObjectId};
use std::sync::Arc;

/// The contents of a [`Scene`], to be checked and built.
#[derive(Clone, Debug, Default)]
pub struct SceneBuilder {
    /// Materials, by index.
    pub materials: Vec<NamedMaterial>,
    /// Meshes, by index; objects may share one.
    pub meshes: Vec<Arc<Mesh>>,
    /// Objects, by index.
    pub objects: Vec<Object>,
    /// Motions of objects: they are intersected at the pose of [`Ray::time`], and their
    /// `world_from_object` becomes the pose at time zero.
    pub motions: Vec<(ObjectId, Arc<Trajectory>)>,
    /// Deformations of meshes, as by [`SceneEdit::with_deformation`].
    pub deformations: Vec<(MeshId, Arc<Deformation>)>,
}
