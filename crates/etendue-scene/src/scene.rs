//! The scene: objects with poses and materials.

use crate::cast::{
    Caster, HitPacket, HitTile, Isa, Loops, RayPacket, RayTile, Tiling, flat_normal, spawn_near,
    turned,
};
use crate::mesh::{bounds, check_vertices};
use crate::{Defect, Deformation, Hit, Mesh, MeshAudit, MeshError, Ray, Trajectory};
use etendue_physics::profile::{Profile, ProfileSampler};
use etendue_physics::surface::{Lobe, Material};
use etendue_physics::{Scalar, Spectrum};
use nalgebra::{Isometry3, Point3, Vector3};
use std::sync::Arc;
use thiserror::Error;

/// Number of a material in its scene.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct MaterialId(pub u32);

/// Number of a mesh in its scene.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct MeshId(pub u32);

/// Number of an object in its scene.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ObjectId(pub u32);

/// A material with the name the user gave it.
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
    /// Where it stands.
    pub world_from_object: Isometry3<f64>,
    /// Its material where the mesh names none per triangle.
    pub material: MaterialId,
    /// Rays whose mask shares no bit with this do not see it.
    pub mask: u32,
}

/// Why a scene cannot be built.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SceneError {
    /// An object's mesh is unusable.
    #[error("object \"{object}\": {source}")]
    Mesh {
        /// The object's name.
        object: String,
        /// What is wrong.
        source: MeshError,
    },
    /// An object names a mesh that does not exist.
    #[error("object \"{object}\" uses mesh {mesh}, the scene has {meshes}")]
    MeshOutOfRange {
        /// The object's name.
        object: String,
        /// The mesh it names.
        mesh: u32,
        /// How many meshes there are.
        meshes: usize,
    },
    /// A motion is for an object that does not exist.
    #[error("a motion is for object {object}, the scene has {objects}")]
    ObjectOutOfRange {
        /// The object's number.
        object: u32,
        /// How many objects there are.
        objects: usize,
    },
    /// A mesh was given another number of vertices than it has.
    #[error("mesh {mesh} has {vertices} vertices, and was given {given}")]
    VertexCount {
        /// The mesh's number.
        mesh: u32,
        /// How many it has.
        vertices: usize,
        /// How many were given.
        given: usize,
    },
    /// A mesh cannot take the vertices it was given.
    #[error("mesh {mesh}: {source}")]
    Deformed {
        /// The mesh's number.
        mesh: u32,
        /// What is wrong.
        source: MeshError,
    },
    /// An object stands nowhere.
    #[error("object \"{object}\" has a pose that is not finite")]
    PoseNotFinite {
        /// The object's name.
        object: String,
    },
    /// An object, or its mesh, names a material that does not exist.
    #[error("object \"{object}\" uses material {material}, the scene has {materials}")]
    MaterialOutOfRange {
        /// The object's name.
        object: String,
        /// The material it names.
        material: u32,
        /// How many materials there are.
        materials: usize,
    },
    /// A solid that refracts light has its outside inside.
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
    /// There is nothing in the scene.
    #[error("the scene has no object")]
    Empty,
}

/// What is put into a [`Scene`].
#[derive(Clone, Debug, Default)]
pub struct SceneBuilder {
    /// Materials, in the order of their numbers.
    pub materials: Vec<NamedMaterial>,
    /// Meshes, in the order of their numbers; several objects may share one.
    pub meshes: Vec<Arc<Mesh>>,
    /// Objects, in the order of their numbers.
    pub objects: Vec<Object>,
}

/// Meshes, objects and materials, ready for rays. Immutable: many runs share one.
#[derive(Clone, Debug)]
pub struct Scene {
    parts: SceneBuilder,
    caster: Caster,
    /// The calibrated noise of each material that has one; empty where none has.
    profiles: Vec<Option<Arc<ProfileSampler>>>,
    /// Meshes whose vertices move.
    deformations: Vec<(MeshId, Arc<Deformation>)>,
}

/// A point on a surface as a ray of scalar type `S` meets it.
#[derive(Clone, Copy, Debug)]
pub struct SurfacePoint<S: Scalar> {
    /// Along the ray, m.
    pub distance: S,
    /// In the world, m.
    pub point: Point3<S>,
    /// Outward unit normal in the world (right-handed winding), whatever side the ray is on.
    pub normal: Vector3<S>,
    /// The material there.
    pub material: MaterialId,
}

impl SceneBuilder {
    /// Checks everything and prepares the scene for rays.
    ///
    /// # Errors
    /// Where a mesh or a pose cannot be used, or there is no object.
    pub fn build(self) -> Result<Scene, SceneError> {
        self.build_moving(vec![])
    }

    /// Like [`SceneBuilder::build`], with objects that move: [`Ray::time`] says when a ray meets
    /// them, and their own `world_from_object` becomes that at time zero.
    ///
    /// # Errors
    /// Where a mesh or a pose cannot be used, there is no object, or a motion names no object.
    pub fn build_moving(
        mut self,
        motions: Vec<(ObjectId, Trajectory)>,
    ) -> Result<Scene, SceneError> {
        if self.objects.is_empty() {
            return Err(SceneError::Empty);
        }
        for object in &self.objects {
            self.check(object)?;
        }
        if let Some((stray, _)) = motions
            .iter()
            .find(|(o, _)| o.0 as usize >= self.objects.len())
        {
            return Err(SceneError::ObjectOutOfRange {
                object: stray.0,
                objects: self.objects.len(),
            });
        }
        for (object, motion) in &motions {
            self.objects[object.0 as usize].world_from_object = motion.at(0.0);
        }
        let caster = Caster::new(&self.meshes, &self.objects, motions);
        Ok(Scene {
            parts: self,
            caster,
            profiles: Vec::new(),
            deformations: Vec::new(),
        })
    }

    fn check(&self, object: &Object) -> Result<(), SceneError> {
        let name = || object.name.clone();
        let Some(mesh) = self.meshes.get(object.mesh.0 as usize) else {
            return Err(SceneError::MeshOutOfRange {
                object: name(),
                mesh: object.mesh.0,
                meshes: self.meshes.len(),
            });
        };
        let pose = object.world_from_object.to_homogeneous();
        if !pose.iter().all(|entry| entry.is_finite()) {
            return Err(SceneError::PoseNotFinite { object: name() });
        }
        self.check_materials(object, mesh)?;
        let wrong = |source| SceneError::Mesh {
            object: name(),
            source,
        };
        mesh.check().map_err(wrong)?;
        match self.clear_material(object, mesh) {
            Some(material) => {
                let audit = mesh.audit().map_err(wrong)?;
                refuse_inside_out(object, material, &audit)
            }
            None => Ok(()),
        }
    }

    fn check_materials(&self, object: &Object, mesh: &Mesh) -> Result<(), SceneError> {
        let materials = self.materials.len();
        let undefined = |id: &&MaterialId| id.0 as usize >= materials;
        let used = mesh.materials.iter().chain(Some(&object.material));
        match { used }.find(undefined) {
            Some(id) => Err(SceneError::MaterialOutOfRange {
                object: object.name.clone(),
                material: id.0,
                materials,
            }),
            None => Ok(()),
        }
    }

    /// The first of the object's materials behind which light travels in another medium.
    fn clear_material(&self, object: &Object, mesh: &Mesh) -> Option<&NamedMaterial> {
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

/// Whether light that passes the lobe is in another medium behind it.
fn has_inside<T>(lobe: &Lobe<T>) -> bool {
    match lobe {
        Lobe::Dielectric(_) | Lobe::RoughDielectric(_) => true,
        Lobe::Blend(blend) => has_inside(&blend.lobe),
        _ => false,
    }
}

fn refuse_inside_out(
    object: &Object,
    material: &NamedMaterial,
    audit: &MeshAudit,
) -> Result<(), SceneError> {
    let wrong = [Defect::InsideOutPart, Defect::InconsistentWinding];
    match audit.findings.iter().find(|f| wrong.contains(&f.defect)) {
        Some(finding) => Err(SceneError::ClearInsideOut {
            object: object.name.clone(),
            material: material.name.clone(),
            triangle: finding.first,
        }),
        None => Ok(()),
    }
}

impl Scene {
    /// What it was built from: to build another that differs a little.
    pub fn parts(&self) -> &SceneBuilder {
        &self.parts
    }

    /// The materials, by number.
    pub fn materials(&self) -> &[NamedMaterial] {
        &self.parts.materials
    }

    /// Gives a material the calibrated noise of a sensor: beams that see it alone are drawn from the
    /// profile instead of the receiver's own noise.
    pub fn set_profile(&mut self, material: MaterialId, profile: Arc<Profile>) {
        self.profiles.resize(self.parts.materials.len(), None);
        if let Some(place) = self.profiles.get_mut(material.0 as usize) {
            *place = Some(Arc::new(ProfileSampler::new(profile)));
        }
    }

    /// The calibrated noise of a material, if it has any.
    pub fn profile(&self, material: MaterialId) -> Option<&Arc<Profile>> {
        Some(self.sampler(material)?.profile())
    }

    /// The same, ready to be drawn from.
    pub fn sampler(&self, material: MaterialId) -> Option<&ProfileSampler> {
        self.profiles.get(material.0 as usize)?.as_deref()
    }

    /// Whether any material has calibrated noise.
    pub fn has_profiles(&self) -> bool {
        !self.profiles.is_empty()
    }

    /// The objects, by number.
    pub fn objects(&self) -> &[Object] {
        &self.parts.objects
    }

    /// The mesh of that number.
    pub fn mesh(&self, id: MeshId) -> &Mesh {
        &self.parts.meshes[id.0 as usize]
    }

    /// How many triangles a ray could meet: a mesh counts once an object.
    pub fn triangle_count(&self) -> usize {
        let meshes = self.objects().iter().map(|object| self.mesh(object.mesh));
        meshes.map(|mesh| mesh.triangles.len()).sum()
    }

    /// Least and greatest coordinates of everything, in the world, m: of what moves, at its key
    /// frames and at time zero.
    pub fn bounds(&self) -> [Point3<f64>; 2] {
        let in_world = (0..).zip(self.objects()).flat_map(|(number, object)| {
            let vertices = &self.mesh(object.mesh).vertices;
            let places = self.places(ObjectId(number));
            places
                .into_iter()
                .flat_map(move |place| vertices.iter().map(move |vertex| place * vertex))
        });
        bounds(in_world).expect("a scene has an object, an object a triangle")
    }

    /// Where an object is at time zero and at its key frames.
    fn places(&self, object: ObjectId) -> Vec<Isometry3<f64>> {
        let at_zero = self.objects()[object.0 as usize].world_from_object;
        let frames = match self.motion(object) {
            Some(Trajectory::KeyFrames(trajectory)) => trajectory.frames(),
            _ => &[],
        };
        let poses = frames.iter().map(|frame| frame.pose);
        std::iter::once(at_zero).chain(poses).collect()
    }

    /// The nearest surface that `ray` meets; of equally near ones the lowest object and triangle.
    ///
    /// Edges are watertight, and the answer is that of testing every triangle in `f64`, bit for
    /// bit.
    pub fn closest_hit(&self, ray: &Ray) -> Option<Hit> {
        self.caster.closest(&self.parts.meshes, ray)
    }

    /// The nearest surface that each ray meets: the same answers as [`Scene::closest_hit`], bit for
    /// bit on any number of threads, faster for coherent rays.
    ///
    /// Rays are coherent where neighbours in the list are neighbours in space; best are rows of at
    /// least four rays, one beside the other, such as the columns of a spinning lidar.
    pub fn closest_hits(&self, rays: &[Ray], hits: &mut Vec<Option<Hit>>) {
        let listed = (Tiling::of(rays), rays);
        self.caster.many::<false>(&self.parts.meshes, listed, hits);
    }

    /// [`Scene::closest_hits`] of rays of which each sixteen that follow each other are neighbours:
    /// in [`tile_order`](crate::tile_order).
    pub fn closest_hits_in_tiles(&self, rays: &[Ray], hits: &mut Vec<Option<Hit>>) {
        let listed = (Tiling::IN_ORDER, rays);
        self.caster.many::<false>(&self.parts.meshes, listed, hits);
    }

    /// The nearest surface that each ray of each tile meets: the same answers as
    /// [`Scene::closest_hit`], for callers that keep rays in this form.
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
    /// # }
    /// # .build()?;
    /// let mut tile = RayTile::EMPTY;
    /// tile.put(0, &Ray::new(Point3::origin(), Vector3::x()));
    /// tile.used = 1;
    /// let mut hits = [HitTile::NONE];
    /// scene.closest_hits_of_tiles(&[tile.clone()], &mut hits);
    /// assert_eq!(hits[0].hit(0), scene.closest_hit(&tile.ray(0)));
    /// assert_eq!(hits[0].hit(1), None);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn closest_hits_of_tiles(&self, rays: &[RayTile], hits: &mut [HitTile]) {
        self.caster.tiles(&self.parts.meshes, rays, hits);
    }

    /// The nearest surface that each of sixteen rays meets, at time zero.
    pub fn closest_packet(&self, rays: &RayPacket, hits: &mut HitPacket) {
        self.caster.closest_packet(&self.parts.meshes, rays, hits);
    }

    /// The nearest `most` surfaces that the ray meets, nearest first; of equally near ones the
    /// lowest object and triangle comes first.
    pub fn first_hits(&self, ray: &Ray, most: usize, hits: &mut Vec<Hit>) {
        self.caster.several(&self.parts.meshes, ray, most, hits);
    }

    /// All that the ray meets, nearest first, found by testing every triangle of the scene: the
    /// yardstick for the other ways of casting, and slow.
    pub fn exhaustive_hits(&self, ray: &Ray) -> Vec<Hit> {
        self.caster.exhaustive(&self.parts.meshes, ray)
    }

    /// Whether anything stands between the ray's near and far limit.
    pub fn occluded(&self, ray: &Ray) -> bool {
        self.caster.occluded(&self.parts.meshes, ray)
    }

    /// [`Scene::occluded`] of each ray, faster for coherent rays.
    pub fn occlusions(&self, rays: &[Ray], occluded: &mut Vec<bool>) {
        let mut hits = vec![];
        self.caster
            .many::<true>(&self.parts.meshes, (Tiling::of(rays), rays), &mut hits);
        occluded.clear();
        occluded.extend(hits.iter().map(Option::is_some));
    }

    /// The instructions that rays are cast with.
    pub fn isa(&self) -> Isa {
        self.caster.isa()
    }

    /// Casts rays with these instructions from now on, or plainly where the processor lacks them;
    /// the answers stay the same.
    pub fn set_isa(&mut self, isa: Isa) {
        self.caster.set_isa(isa);
    }

    /// Does work with the instructions that rays are cast with: loops over lanes become their
    /// vectors. What comes out is the same with each.
    ///
    /// ```
    /// # use etendue_scene::*;
    /// # let paint = etendue_physics::surface::Material { lobes: vec![] };
    /// # let object = Object {
    /// #     name: "box".into(),
    /// #     mesh: MeshId(0),
    /// #     world_from_object: nalgebra::Isometry3::identity(),
    /// #     material: MaterialId(0),
    /// #     mask: u32::MAX,
    /// # };
    /// # let scene = SceneBuilder {
    /// #     meshes: vec![primitive::cuboid([4.0; 3])?.into()],
    /// #     materials: vec![NamedMaterial { name: "paint".into(), material: paint }],
    /// #     objects: vec![object],
    /// # }
    /// # .build()?;
    /// struct Sum<'a>(&'a [f64; 16], &'a [f64; 16]);
    /// impl Loops for Sum<'_> {
    ///     type Output = [f64; 16];
    ///
    ///     #[inline(always)]
    ///     fn run(self) -> [f64; 16] {
    ///         std::array::from_fn(|i| self.0[i] + self.1[i])
    ///     }
    /// }
    /// assert_eq!(scene.vectorised(Sum(&[1.0; 16], &[2.0; 16])), [3.0; 16]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn vectorised<W: Loops>(&self, work: W) -> W::Output {
        self.caster.vectorised(work)
    }

    /// Where an object is at a time, s (`world_from_object`).
    pub fn world_from_object(&self, object: ObjectId, time: f64) -> Isometry3<f64> {
        self.caster.world_from_object(object, time)
    }

    /// How an object moves, if it does.
    pub fn motion(&self, object: ObjectId) -> Option<&Trajectory> {
        self.caster.motion(object)
    }

    /// Places objects anew; those that moved stand still from now on. Costs the more the more
    /// objects the scene has, whatever their meshes: 0.1 ms for a hundred.
    pub fn set_poses(&mut self, poses: &[(ObjectId, Isometry3<f64>)]) {
        for (object, pose) in poses {
            self.parts.objects[object.0 as usize].world_from_object = *pose;
        }
        self.caster.set_poses(poses);
    }

    /// Moves a mesh's vertices, m, in its own frame. The search tree keeps its shape: right in any
    /// case, and slower the farther they moved, until [`Scene::rebuild`].
    ///
    /// # Errors
    /// Where the number of vertices differs, or one is not finite; the scene is then as before.
    pub fn deform(&mut self, mesh: MeshId, vertices: Vec<Point3<f64>>) -> Result<(), SceneError> {
        let number = mesh.0 as usize;
        let known = self.parts.meshes[number].vertices.len();
        if vertices.len() != known {
            return Err(SceneError::VertexCount {
                mesh: mesh.0,
                vertices: known,
                given: vertices.len(),
            });
        }
        check_vertices(&vertices).map_err(|source| SceneError::Deformed {
            mesh: mesh.0,
            source,
        })?;
        Arc::make_mut(&mut self.parts.meshes[number]).vertices = vertices;
        let parts = &self.parts;
        self.caster
            .follow(number, &parts.meshes[number], &parts.objects, false);
        Ok(())
    }

    /// Lets the vertices of a mesh move. Rays meet it as it is at time zero: ask
    /// [`Scene::at`] for the scene as it is later.
    ///
    /// # Errors
    /// Where the number of vertices differs; the scene is then as before.
    pub fn set_deformation(
        &mut self,
        mesh: MeshId,
        deformation: Arc<Deformation>,
    ) -> Result<(), SceneError> {
        self.deform(mesh, deformation.at(0.0))?;
        self.deformations.retain(|(other, _)| *other != mesh);
        self.deformations.push((mesh, deformation));
        Ok(())
    }

    /// Whether the vertices of any mesh move.
    pub fn deforms(&self) -> bool {
        !self.deformations.is_empty()
    }

    /// How the vertices of a mesh move, if they do.
    pub fn deformation(&self, mesh: MeshId) -> Option<&Deformation> {
        let known = self.deformations.iter().find(|(other, _)| *other == mesh);
        known.map(|(_, deformation)| &**deformation)
    }

    /// The scene with its deforming meshes as they are at a time, s. Costs the more the more
    /// triangles deform, about 0.1 µs each; everything else is shared.
    #[must_use]
    pub fn at(&self, time: f64) -> Self {
        let mut then = self.clone();
        for (mesh, deformation) in &self.deformations {
            let moved = then.deform(*mesh, deformation.at(time));
            debug_assert!(moved.is_ok(), "checked when it was set");
        }
        then
    }

    /// Builds a mesh's search tree anew, after much deformation.
    pub fn rebuild(&mut self, mesh: MeshId) {
        let number = mesh.0 as usize;
        let parts = &self.parts;
        self.caster
            .follow(number, &parts.meshes[number], &parts.objects, true);
    }

    /// Packs the leaves of all search trees, as those of meshes of more than 16.8 million triangles
    /// are from the start: two thirds of the memory, a fifth fewer rays per second, the same answers.
    ///
    /// [`Scene::rebuild`] unpacks those of a smaller mesh again.
    pub fn pack_trees(&mut self) {
        self.caster.pack(&self.parts.meshes);
    }

    /// Memory of the search trees, bytes: about 80 per triangle on top of the meshes themselves,
    /// 50 where leaves are packed, and never more than 416.
    pub fn tree_bytes(&self) -> usize {
        self.caster.bytes()
    }

    /// The smallest `near` for a ray that leaves in `direction` from the point
    /// `ray.origin + ray.direction * hit.distance`, so that rounding cannot make it meet the
    /// triangle it starts on.
    ///
    /// It is a bound on the rounding errors of that point and of the next meeting, in `f64`: it
    /// grows with the distance from the world's and the object's origin and with grazing
    /// directions, and is a few nanometres at 500 km, a picometre in a room.
    pub fn spawn_near(&self, ray: &Ray, hit: &Hit, direction: &Vector3<f64>) -> f64 {
        let mesh = self.mesh(self.parts.objects[hit.object.0 as usize].mesh);
        let world_from_object = self.world_from_object(hit.object, ray.time);
        let start = ray.origin + ray.direction * hit.distance;
        let corners = mesh.triangles[hit.triangle as usize].map(|v| mesh.vertices[v as usize]);
        let farthest = corners.iter().map(|c| c.coords.amax()).fold(0.0, f64::max);
        let reach = ray.origin.coords.amax()
            + hit.distance
            + world_from_object.translation.vector.amax()
            + farthest;
        let offset = start - world_from_object * corners[0];
        let edges = [corners[1] - corners[0], corners[2] - corners[0]];
        spawn_near(&offset, direction, &hit.normal, &edges, reach)
    }

    /// Meets the triangle of `hit` again in the scalar `S`, with `world_from_object` as the
    /// pose of the hit object at the ray's time: the choice was made on plain numbers, the value carries derivatives.
    ///
    /// In the object's frame the triangle's plane $n \cdot x = h$ has no derivatives; with the
    /// object's place $p$ and its normal $n$ turned into the world,
    /// $t = \frac{h - n\cdot(o - p)}{n\cdot d}$.
    pub fn surface_at<S: Scalar>(
        &self,
        hit: &Hit,
        origin: &Point3<S>,
        direction: &Vector3<S>,
        world_from_object: &Isometry3<S>,
    ) -> SurfacePoint<S> {
        let object = &self.parts.objects[hit.object.0 as usize];
        let mesh = self.mesh(object.mesh);
        let corners = mesh.corners(hit.triangle);
        let flat = flat_normal([&corners[0], &corners[1], &corners[2]]);
        let height = flat.dot(&corners[0].coords);
        let normal = turned(&world_from_object.rotation, &flat);
        let start = origin.coords - world_from_object.translation.vector;
        let distance = (-normal.dot(&start) + height) / normal.dot(direction);
        SurfacePoint {
            distance,
            point: origin + direction * distance,
            normal,
            material: self.material_of(hit),
        }
    }

    /// Follows a ray in the scalar `S` to the plane of the surface that it hit, where that itself
    /// carries no derivatives: with the plain ray $o_0 + t_0 d_0$ to the hit,
    /// $t = \frac{n\cdot(t_0 d_0 - (o - o_0))}{n\cdot d}$.
    #[inline]
    pub fn surface_of<S: Scalar>(
        &self,
        hit: &Hit,
        origin: &Point3<S>,
        direction: &Vector3<S>,
    ) -> SurfacePoint<S> {
        let normal = &hit.normal;
        let along = |v: &Vector3<S>| v.x * normal.x + v.y * normal.y + v.z * normal.z;
        let moved = origin - origin.map(|part| S::from(part.value()));
        let height = normal.dot(&direction.map(Scalar::value)) * hit.distance;
        let distance = (-along(&moved) + height) / along(direction);
        SurfacePoint {
            distance,
            point: origin + direction * distance,
            normal: normal.map(S::from),
            material: self.material_of(hit),
        }
    }

    /// The material of the triangle that was hit.
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
}
