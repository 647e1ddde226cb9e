//! Construction and checks of scenes.

use crate::audit::{Defect, MeshAudit};
use crate::error::SceneError;
use crate::object::{NamedMaterial, Object};
use crate::parts::SceneBuilder;
use crate::scene::Scene;
use etendue_physics::surface::Lobe;
use etendue_raycast::{MaterialId, Mesh};
use std::sync::Arc;

impl SceneBuilder {
    /// Checks the contents and builds the scene.
    ///
    /// # Errors
    /// Where a mesh or a pose cannot be used, there is no object, a motion is for an object that does not
    /// exist, or a deformation does not fit its mesh.
    pub fn build(self) -> Result<Scene, SceneError> {
        self.build_after(None)
    }

    /// [`SceneBuilder::build`] that takes meshes equal to those of `previous`, with their acceleration structures,
    /// from it. The scene is the same as without: an edited scene is built sooner.
    ///
    /// # Errors
    /// As [`SceneBuilder::build`].
    pub fn build_reusing(mut self, previous: &Scene) -> Result<Scene, SceneError> {
        for mesh in &mut self.meshes {
            let known = &previous.parts.meshes;
            if known.iter().any(|known| Arc::ptr_eq(known, mesh)) {
                continue;
            }
            let mut known = known.iter();
            if let Some(known) = known.find(|known| known.as_ref() == mesh.as_ref()) {
                *mesh = known.clone();
            }
        }
        self.build_after(Some(previous))
    }

    fn build_after(mut self, previous: Option<&Scene>) -> Result<Scene, SceneError> {
        // Check the objects.
        if self.objects.is_empty() {
            return Err(SceneError::Empty);
        }
        for object in &self.objects {
            self.check(object, previous)?;
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
        let mut edit = Scene::new(self, previous)?.edit();
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

    /// Checks an object and its mesh, unless `previous` has the mesh.
    fn check(&self, object: &Object, previous: Option<&Scene>) -> Result<(), SceneError> {
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
        let checked = previous.map_or(&[][..], |previous| &previous.parts.meshes);
        if !checked.iter().any(|known| Arc::ptr_eq(known, mesh)) {
            mesh.check().map_err(unusable)?;
        }
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
