//! The scene.

use crate::deformation::Deformation;
use crate::motion::Trajectory;
use crate::object::{NamedMaterial, Object};
use crate::parts::SceneBuilder;
use etendue_raycast::{
    BoundingBox, CastScratch, Hit, HitTile, Instance, MaterialId, Mesh, MeshId, ObjectId, Ray,
    RayCaster, RayCasterError, RayTile, RigidMotion,
};
use etendue_simd::Isa;
use nalgebra::{Isometry3, Point3, Vector3};
use std::sync::Arc;

/// Meshes, objects and materials, prepared for rays.
///
/// A scene is constant and shared by any number of runs. [`Scene::edit`] gives a changed one.
#[derive(Clone, Debug)]
pub struct Scene {
    pub(crate) parts: SceneBuilder,
    /// The motion of each object.
    pub(crate) motions: Vec<Option<Arc<Trajectory>>>,
    pub(crate) caster: RayCaster,
}

impl Scene {
    /// A scene of checked parts. Acceleration structures of meshes that `previous` shares are those of it.
    pub(crate) fn new(
        parts: SceneBuilder,
        previous: Option<&Self>,
    ) -> Result<Self, RayCasterError> {
        let instance = |(object, motion): (&Object, &Option<Arc<Trajectory>>)| Instance {
            mesh: object.mesh,
            world_from_object: object.world_from_object,
            motion: motion.clone().map(|motion| motion as Arc<dyn RigidMotion>),
            mask: object.mask,
        };
        let mut motions = vec![None; parts.objects.len()];
        for (object, motion) in &parts.motions {
            motions[object.0 as usize] = Some(motion.clone());
        }
        let instances: Vec<Instance> = parts.objects.iter().zip(&motions).map(instance).collect();
        let meshes = parts.meshes.clone();
        Ok(Self {
            caster: match previous {
                Some(previous) => RayCaster::reusing(meshes, &instances, &previous.caster)?,
                None => RayCaster::new(meshes, &instances)?,
            },
            parts,
            motions,
        })
    }

    /// The parts of the scene, for building another one.
    pub fn parts(&self) -> &SceneBuilder {
        &self.parts
    }

    /// The materials, by index.
    pub fn materials(&self) -> &[NamedMaterial] {
        &self.parts.materials
    }

    /// The objects, by index.
    pub fn objects(&self) -> &[Object] {
        &self.parts.objects
    }

    /// A mesh.
    pub fn mesh(&self, mesh: MeshId) -> &Mesh {
        &self.parts.meshes[mesh.0 as usize]
    }

    /// Number of triangles of all objects.
    pub fn triangle_count(&self) -> usize {
        let meshes = self.objects().iter().map(|object| self.mesh(object.mesh));
        meshes.map(|mesh| mesh.triangles.len()).sum()
    }

    /// Least and greatest coordinates of all objects in the world, m; of moving ones, at time zero and
    /// at their key frames.
    pub fn bounds(&self) -> [Point3<f64>; 2] {
        let in_world = (0..).zip(self.objects()).flat_map(|(number, object)| {
            let vertices = &self.mesh(object.mesh).vertices;
            let poses = self.key_poses(ObjectId(number));
            poses
                .into_iter()
                .flat_map(move |pose| vertices.iter().map(move |vertex| pose * vertex))
        });
        let bounds = BoundingBox::around(in_world).expect("a scene has an object with a triangle");
        [bounds.low, bounds.high]
    }

    /// The poses of an object at time zero and at its key frames.
    fn key_poses(&self, object: ObjectId) -> Vec<Isometry3<f64>> {
        let at_zero = self.objects()[object.0 as usize].world_from_object;
        let frames = match self.motion(object) {
            Some(Trajectory::KeyFrames(trajectory)) => trajectory.frames(),
            _ => &[],
        };
        let poses = frames.iter().map(|frame| frame.pose);
        std::iter::once(at_zero).chain(poses).collect()
    }

    /// The pose of an object at a time, s.
    pub fn world_from_object(&self, object: ObjectId, time: f64) -> Isometry3<f64> {
        self.caster.world_from_object(object, time)
    }

    /// The motion of an object, if it moves.
    pub fn motion(&self, object: ObjectId) -> Option<&Trajectory> {
        self.motions[object.0 as usize].as_deref()
    }

    /// Whether the vertices of any mesh move.
    pub fn deforms(&self) -> bool {
        !self.parts.deformations.is_empty()
    }

    /// The deformation of a mesh, if its vertices move.
    pub fn deformation(&self, mesh: MeshId) -> Option<&Deformation> {
        let own = self
            .parts
            .deformations
            .iter()
            .find(|(other, _)| *other == mesh);
        own.map(|(_, deformation)| &**deformation)
    }

    /// The material of the triangle of a hit.
    #[inline]
    pub fn material_of(&self, hit: &Hit) -> MaterialId {
        self.material_at(hit.object, hit.triangle)
    }

    /// The material of a triangle of an object.
    #[inline]
    pub fn material_at(&self, object: ObjectId, triangle: u32) -> MaterialId {
        let object = &self.parts.objects[object.0 as usize];
        let own = self.mesh(object.mesh).materials.get(triangle as usize);
        own.copied().unwrap_or(object.material)
    }

    /// The ray caster.
    pub fn caster(&self) -> &RayCaster {
        &self.caster
    }

    /// The instruction set that rays are cast with.
    pub fn isa(&self) -> Isa {
        self.caster.isa()
    }

    /// Memory of the acceleration structures, bytes: [`RayCaster::bytes`].
    pub fn tree_bytes(&self) -> usize {
        self.caster.bytes()
    }

    /// The nearest hit of a ray: [`RayCaster::closest_hit`].
    pub fn closest_hit(&self, ray: &Ray, scratch: &mut CastScratch) -> Option<Hit> {
        self.caster.closest_hit(ray, scratch)
    }

    /// The nearest hit of each ray: [`RayCaster::closest_hits`].
    pub fn closest_hits(
        &self,
        rays: &[Ray],
        hits: &mut Vec<Option<Hit>>,
        scratch: &mut CastScratch,
    ) {
        self.caster.closest_hits(rays, hits, scratch);
    }

    /// The nearest hit of each ray of each tile: [`RayCaster::closest_hits_of_tiles`].
    ///
    /// ```
    /// # use etendue_scene::{*, primitive::cuboid};
    /// # use nalgebra::{Isometry3, Point3, Vector3};
    /// # let material = || NamedMaterial {
    /// #     name: "paint".into(),
    /// #     material: etendue_physics::surface::Material { lobes: vec![] },
    /// # };
    /// # let scene = SceneBuilder {
    /// #     meshes: vec![cuboid([4.0; 3])?.into()],
    /// #     materials: vec![material()],
    /// #     objects: vec![Object {
    /// #         name: "room".into(),
    /// #         mesh: MeshId(0),
    /// #         world_from_object: Isometry3::identity(),
    /// #         material: MaterialId(0),
    /// #         mask: u32::MAX,
    /// #     }],
    /// #     ..SceneBuilder::default()
    /// # }
    /// # .build()?;
    /// let mut tile = RayTile::EMPTY;
    /// tile.put(0, &Ray::new(Point3::origin(), Vector3::x()));
    /// tile.used = 1;
    /// let mut hits = [HitTile::NONE];
    /// let mut scratch = CastScratch::new();
    /// scene.closest_hits_of_tiles(&[tile.clone()], &mut hits, &mut scratch);
    /// assert_eq!(hits[0].hit(0), scene.closest_hit(&tile.ray(0), &mut scratch));
    /// assert_eq!(hits[0].hit(1), None);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn closest_hits_of_tiles(
        &self,
        rays: &[RayTile],
        hits: &mut [HitTile],
        scratch: &mut CastScratch,
    ) {
        self.caster.closest_hits_of_tiles(rays, hits, scratch);
    }

    /// The nearest hit of each ray of each tile of beams of several rays: [`RayCaster::closest_hits_of_beams`].
    ///
    /// ```
    /// # use etendue_scene::{*, primitive::cuboid};
    /// # use nalgebra::{Isometry3, Point3, Vector3};
    /// # let scene = SceneBuilder {
    /// #     meshes: vec![cuboid([4.0; 3])?.into()],
    /// #     materials: vec![NamedMaterial {
    /// #         name: "paint".into(),
    /// #         material: etendue_physics::surface::Material { lobes: vec![] },
    /// #     }],
    /// #     objects: vec![Object {
    /// #         name: "room".into(),
    /// #         mesh: MeshId(0),
    /// #         world_from_object: Isometry3::identity(),
    /// #         material: MaterialId(0),
    /// #         mask: u32::MAX,
    /// #     }],
    /// #     ..SceneBuilder::default()
    /// # }
    /// # .build()?;
    /// // Sixteen beams of two rays: their axes, and rays 1 mrad to the left.
    /// let tile = |left: f64| {
    ///     let along = |lane: usize| Vector3::new(1.0, 0.01 * lane as f64 + left, 0.0).normalize();
    ///     let rays: Vec<Ray> = (0..16).map(|lane| Ray::new(Point3::origin(), along(lane))).collect();
    ///     RayTile::of(&rays)
    /// };
    /// let tiles = [0.0, 1e-3].map(tile);
    /// let mut hits = [HitTile::NONE, HitTile::NONE];
    /// let mut scratch = CastScratch::new();
    /// scene.closest_hits_of_beams(&tiles, 2, &mut hits, &mut scratch);
    /// assert_eq!(hits[1].hit(5), scene.closest_hit(&tiles[1].ray(5), &mut scratch));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Panics
    /// Where `per_beam` is zero.
    pub fn closest_hits_of_beams(
        &self,
        rays: &[RayTile],
        per_beam: usize,
        hits: &mut [HitTile],
        scratch: &mut CastScratch,
    ) {
        self.caster
            .closest_hits_of_beams(rays, per_beam, hits, scratch);
    }

    /// The nearest `count` hits of a ray: [`RayCaster::first_hits`].
    pub fn first_hits(
        &self,
        ray: &Ray,
        count: usize,
        hits: &mut Vec<Hit>,
        scratch: &mut CastScratch,
    ) {
        self.caster.first_hits(ray, count, hits, scratch);
    }

    /// All hits of a ray by testing every triangle: [`RayCaster::exhaustive_hits`].
    pub fn exhaustive_hits(&self, ray: &Ray) -> Vec<Hit> {
        self.caster.exhaustive_hits(ray)
    }

    /// Whether a ray hits anything between its limits: [`RayCaster::occluded`].
    pub fn occluded(&self, ray: &Ray, scratch: &mut CastScratch) -> bool {
        self.caster.occluded(ray, scratch)
    }

    /// Whether each ray hits anything: [`RayCaster::occlusions`].
    pub fn occlusions(&self, rays: &[Ray], occluded: &mut Vec<bool>, scratch: &mut CastScratch) {
        self.caster.occlusions(rays, occluded, scratch);
    }

    /// The near limit of a ray that starts at a hit: [`RayCaster::spawn_near`].
    pub fn spawn_near(&self, ray: &Ray, hit: &Hit, direction: &Vector3<f64>) -> f64 {
        self.caster.spawn_near(ray, hit, direction)
    }
}
