//! Edits of scenes.

use crate::deformation::Deformation;
use crate::error::SceneError;
use crate::scene::Scene;
use etendue_raycast::{MeshId, ObjectId};
use etendue_simd::Isa;
use nalgebra::{Isometry3, Point3};
use std::sync::Arc;

/// Changes of a [`Scene`], applied in their order; [`SceneEdit::finish`] gives the changed scene.
#[derive(Debug)]
#[must_use = "an edit changes nothing until it is finished"]
pub struct SceneEdit {
    scene: Scene,
    /// New constant poses.
    poses: Vec<(ObjectId, Isometry3<f64>)>,
}

impl SceneEdit {
    /// An edit without changes.
    pub(crate) fn new(scene: Scene) -> Self {
        Self {
            scene,
            poses: Vec::new(),
        }
    }

    /// Places an object at a constant pose; a moving object no longer moves. The cost of any number of
    /// poses grows with the number of objects, not with their meshes: 0.1 ms for a hundred.
    pub fn with_pose(mut self, object: ObjectId, world_from_object: Isometry3<f64>) -> Self {
        let number = object.0 as usize;
        self.scene.parts.objects[number].world_from_object = world_from_object;
        self.scene.motions[number] = None;
        let motions = &mut self.scene.parts.motions;
        motions.retain(|(other, _)| *other != object);
        self.poses.push((object, world_from_object));
        self
    }

    /// Replaces the vertices of a mesh (m, in its own frame). The acceleration structure is refitted:
    /// results are exact, and queries take longer the farther the vertices moved, until
    /// [`SceneEdit::with_rebuilt_tree`].
    ///
    /// # Errors
    /// Where the number of vertices differs, or one is not finite.
    pub fn with_vertices(
        mut self,
        mesh: MeshId,
        vertices: Vec<Point3<f64>>,
    ) -> Result<Self, SceneError> {
        let caster = &mut self.scene.caster;
        caster.set_vertices(mesh, vertices)?;
        self.scene.parts.meshes[mesh.0 as usize] = caster.mesh(mesh).clone();
        Ok(self)
    }

    /// Lets the vertices of a mesh move. Rays hit the mesh as it is at time zero;
    /// [`Scene::at`] gives the scene at another time.
    ///
    /// # Errors
    /// Where the number of vertices differs.
    pub fn with_deformation(
        self,
        mesh: MeshId,
        deformation: Arc<Deformation>,
    ) -> Result<Self, SceneError> {
        let mut edit = self.with_vertices(mesh, deformation.at(0.0))?;
        let deformations = &mut edit.scene.parts.deformations;
        deformations.retain(|(other, _)| *other != mesh);
        deformations.push((mesh, deformation));
        Ok(edit)
    }

    /// Rebuilds the acceleration structure of a mesh, for instance after much deformation.
    pub fn with_rebuilt_tree(mut self, mesh: MeshId) -> Self {
        self.scene.caster.rebuild(mesh);
        self
    }

    /// Packs the leaves of all acceleration structures: see
    /// [`RayCaster::pack`](etendue_raycast::RayCaster::pack).
    pub fn with_packed_trees(mut self) -> Self {
        self.scene.caster.pack();
        self
    }

    /// Casts rays with another instruction set; results stay the same.
    pub fn with_isa(mut self, isa: Isa) -> Self {
        self.scene.caster = self.scene.caster.with_isa(isa);
        self
    }

    /// The changed scene.
    pub fn finish(mut self) -> Scene {
        if !self.poses.is_empty() {
            self.scene.caster.set_poses(&self.poses);
        }
        self.scene
    }
}

impl Scene {
    /// Starts an edit, which gives a changed scene. What does not change stays shared.
    ///
    /// ```
    /// # use etendue_scene::*;
    /// # use nalgebra::Isometry3;
    /// # let paint = etendue_physics::surface::Material { lobes: vec![] };
    /// # let object = Object {
    /// #     name: "box".into(),
    /// #     mesh: MeshId(0),
    /// #     world_from_object: Isometry3::identity(),
    /// #     material: MaterialId(0),
    /// #     mask: u32::MAX,
    /// # };
    /// # let scene = SceneBuilder {
    /// #     meshes: vec![primitive::cuboid([4.0; 3])?.into()],
    /// #     materials: vec![NamedMaterial { name: "paint".into(), material: paint }],
    /// #     objects: vec![object],
    /// #     ..SceneBuilder::default()
    /// # }
    /// # .build()?;
    /// let pose = Isometry3::translation(1.0, 0.0, 0.0);
    /// let moved = scene.clone().edit().with_pose(ObjectId(0), pose).finish();
    /// assert_eq!(moved.world_from_object(ObjectId(0), 0.0), pose);
    /// assert_eq!(scene.world_from_object(ObjectId(0), 0.0), Isometry3::identity());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn edit(self) -> SceneEdit {
        SceneEdit::new(self)
    }

    /// The scene with its deforming meshes at a time, s. The cost grows with the number of deforming
    /// triangles, about 0.1 µs each; the rest is shared.
    #[must_use]
    pub fn at(&self, time: f64) -> Self {
        let mut edit = self.clone().edit();
        for (mesh, deformation) in &self.parts.deformations {
            edit = edit
                .with_vertices(*mesh, deformation.at(time))
                .expect("vertices were checked when the deformation was set");
        }
        edit.finish()
    }
}
