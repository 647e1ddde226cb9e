//! Construction and checks of scenes.

use crate::audit::{Defect, MeshAudit};
use crate::deformation::Deformation;
#[cfg(doc)]
use crate::edit::SceneEdit;
use crate::motion::Trajectory;
use crate::object::{NamedMaterial, Object};
use crate::scene::Scene;
use etendue_physics::surface::Lobe;
#[cfg(doc)]
use etendue_raycast::Ray;
use etendue_raycast::{MaterialId, Mesh, MeshError, MeshId, ObjectId, RayCasterError};
use std::sync::Arc;
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

impl SceneBuilder {
    /// Checks the contents and builds the scene.
    ///
    /// # Errors
    /// Where a mesh or a pose cannot be used, there is no object, a motion is for an object that does not
    /// exist, or a deformation does not fit its mesh.
    pub fn build(mut self) -> Result<Scene, SceneError> {
        // Check the objects.
        if self.objects.is_empty() {
            return Err(SceneError::Empty);
        }
        for object in &self.objects {
            self.check(object)?;
        }

        // Place the moving ones where they are at time zero.
        let objects = self.objects.len();
        for (object, motion) in &self.motions {
            let Some(moving) = self.objects.get_mut(object.0 as usize) else {
                return Err(SceneError::ObjectOutOfRange {
                    object: object.0,
                    objects,
                });
            };
            moving.world_from_object = motion.at(0.0);
        }

        // Build the scene, and set its deformations.
        let deformations = std::mem::take(&mut self.deformations);
        let meshes = self.meshes.len();
        let mut edit = Scene::new(self)?.edit();
        for (mesh, deformation) in deformations {
            if mesh.0 as usize >= meshes {
                return Err(SceneError::DeformationOutOfRange {
                    mesh: mesh.0,
                    meshes,
                });
            }
            edit = edit.with_deformation(mesh, deformation)?;
        }
        Ok(edit.finish())
    }

    /// Checks an object and its mesh.
    fn check(&self, object: &Object) -> Result<(), SceneError> {
        // Check that the mesh exists.
        let name = || object.name.clone();
        let Some(mesh) = self.meshes.get(object.mesh.0 as usize) else {
            return Err(SceneError::MeshOutOfRange {
                object: name(),
                mesh: object.mesh.0,
                meshes: self.meshes.len(),
            });
        };
        // Check the pose.
        let pose = object.world_from_object.to_homogeneous();
        if !pose.iter().all(|entry| entry.is_finite()) {
            return Err(SceneError::PoseNotFinite { object: name() });
        }
        // Check the materials and the mesh.
        self.check_materials(object, mesh)?;
        let unusable = |source| SceneError::Mesh {
            object: name(),
            source,
        };
        mesh.check().map_err(unusable)?;
        // Meshes of refracting materials have to enclose a volume.
        match self.refracting_material(object, mesh) {
            Some(material) => {
                let audit = MeshAudit::of(mesh).map_err(unusable)?;
                check_orientation(object, material, &audit)
            }
            None => Ok(()),
        }
    }

    /// Checks that an object's materials exist.
    fn check_materials(&self, object: &Object, mesh: &Mesh) -> Result<(), SceneError> {
        let materials = self.materials.len();
        let undefined = |id: &&MaterialId| id.0 as usize >= materials;
        let mut used = mesh.materials.iter().chain(Some(&object.material));
        match used.find(undefined) {
            Some(id) => Err(SceneError::MaterialOutOfRange {
                object: object.name.clone(),
                material: id.0,
                materials,
            }),
            None => Ok(()),
        }
    }

    /// The first of the object's materials behind which light travels in another medium.
    fn refracting_material(&self, object: &Object, mesh: &Mesh) -> Option<&NamedMaterial> {
        let refracts = |named: &NamedMaterial| named.material.lobes.iter().any(has_inside);
        let named = |id: &MaterialId| &self.materials[id.0 as usize];
        if mesh.materials.is_empty() {
            Some(named(&object.material)).filter(|named| refracts(named))
        } else {
            mesh.materials
                .iter()
                .map(named)
                .find(|named| refracts(named))
        }
    }
}

/// Whether light that passes a lobe is in another medium behind it.
fn has_inside<T>(lobe: &Lobe<T>) -> bool {
    match lobe {
        Lobe::Dielectric(_) | Lobe::RoughDielectric(_) => true,
        Lobe::Blend(blend) => has_inside(&blend.lobe),
        _ => false,
    }
}

/// Checks that a mesh of a refracting material has its normals outside.
fn check_orientation(
    object: &Object,
    material: &NamedMaterial,
    audit: &MeshAudit,
) -> Result<(), SceneError> {
    let inverted = [Defect::InsideOutPart, Defect::InconsistentWinding];
    match audit.findings.iter().find(|f| inverted.contains(&f.defect)) {
        Some(finding) => Err(SceneError::ClearInsideOut {
            object: object.name.clone(),
            material: material.name.clone(),
            triangle: finding.first,
        }),
        None => Ok(()),
    }
}
