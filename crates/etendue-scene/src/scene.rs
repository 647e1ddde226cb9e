//! The scene: objects with poses and materials.

use crate::cast::{Caster, HitPacket, Isa, RayPacket, spawn_near};
use crate::mesh::bounds;
use crate::{Defect, Hit, Mesh, MeshAudit, MeshError, Ray};
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
        if self.objects.is_empty() {
            return Err(SceneError::Empty);
        }
        for object in &self.objects {
            self.check(object)?;
        }
        let caster = Caster::new(&self.meshes, &self.objects);
        Ok(Scene {
            parts: self,
            caster,
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
        Lobe::Part { lobe, .. } => has_inside(lobe),
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

    /// Least and greatest coordinates of everything, in the world, m.
    pub fn bounds(&self) -> [Point3<f64>; 2] {
        let in_world = self.objects().iter().flat_map(|object| {
            let vertices = &self.mesh(object.mesh).vertices;
            vertices
                .iter()
                .map(|vertex| object.world_from_object * vertex)
        });
        bounds(in_world).expect("a scene has an object, an object a triangle")
    }

    /// The nearest surface that `ray` meets; of equally near ones the lowest object and triangle.
    ///
    /// Edges are watertight, and the answer is that of testing every triangle in `f64`, bit for
    /// bit.
    pub fn closest_hit(&self, ray: &Ray) -> Option<Hit> {
        self.caster.closest(&self.parts.meshes, ray)
    }

    /// The nearest surface that each ray meets: same answers as [`Scene::closest_hit`], faster for
    /// coherent rays.
    pub fn closest_hits(&self, rays: &[Ray], hits: &mut Vec<Option<Hit>>) {
        hits.clear();
        hits.extend(rays.iter().map(|ray| self.closest_hit(ray)));
    }

    /// The nearest surface that each of sixteen rays meets.
    pub fn closest_packet(&self, rays: &RayPacket, hits: &mut HitPacket) {
        self.caster.closest_packet(&self.parts.meshes, rays, hits);
    }

    /// Casts rays with these instructions from now on; the answers stay the same.
    pub fn set_isa(&mut self, isa: Isa) {
        self.caster.set_isa(isa);
    }

    /// Whether anything stands between the ray's near and far limit.
    pub fn occluded(&self, ray: &Ray) -> bool {
        self.closest_hit(ray).is_some()
    }

    /// The smallest `near` for a ray that leaves in `direction` from the point
    /// `ray.origin + ray.direction * hit.distance`, so that rounding cannot make it meet the
    /// triangle it starts on.
    ///
    /// It is a bound on the rounding errors of that point and of the next meeting, in `f64`: it
    /// grows with the distance from the world's and the object's origin and with grazing
    /// directions, and is a few nanometres at 500 km, a picometre in a room.
    pub fn spawn_near(&self, ray: &Ray, hit: &Hit, direction: &Vector3<f64>) -> f64 {
        let object = &self.parts.objects[hit.object.0 as usize];
        let mesh = self.mesh(object.mesh);
        let start = ray.origin + ray.direction * hit.distance;
        let local = object.world_from_object.inverse_transform_point(&start);
        let way = object.world_from_object.inverse_transform_vector(direction);
        let corners = mesh.triangles[hit.triangle as usize].map(|v| mesh.vertices[v as usize]);
        let farthest = corners.iter().map(|c| c.coords.amax()).fold(0.0, f64::max);
        let reach = ray.origin.coords.amax()
            + hit.distance
            + object.world_from_object.translation.vector.amax()
            + farthest;
        spawn_near(&local, &way, corners, reach)
    }

    /// Meets the triangle of `hit` again in the scalar `S`, with `world_from_object` as the
    /// pose of the hit object: the choice was made on plain numbers, the value carries derivatives.
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
        let flat = (corners[1] - corners[0])
            .cross(&(corners[2] - corners[0]))
            .normalize();
        let height = flat.dot(&corners[0].coords);
        let turn = world_from_object.rotation.to_rotation_matrix();
        // Column by column: nalgebra's generic product is several times slower for dual numbers.
        let column = |axis: usize| turn.matrix().column(axis) * S::from(flat[axis]);
        let normal = column(0) + column(1) + column(2);
        let start = origin.coords - world_from_object.translation.vector;
        let distance = (-normal.dot(&start) + height) / normal.dot(direction);
        let material = mesh.materials.get(hit.triangle as usize);
        SurfacePoint {
            distance,
            point: origin + direction * distance,
            normal,
            material: material.copied().unwrap_or(object.material),
        }
    }
}
