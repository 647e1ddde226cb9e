//! Scenes: objects with meshes, materials and motions, lights and textures.
//!
//! A [`SceneBuilder`] holds the parts of a scene and checks them. A [`Scene`] is constant and ready for
//! rays, which the ray caster [`etendue_raycast`] traces; a [`SceneEdit`] gives a changed one. A
//! [`Trajectory`] moves objects, a [`Deformation`] vertices, [`Textures`] put images on objects, and
//! [`lighting`] is the light that is not the sensor's own. [`primitive`] makes meshes of simple shapes,
//! and a [`MeshAudit`] reports the defects of a mesh.
//!
//! ```
//! use etendue_physics::surface::Material;
//! use etendue_scene::{
//!     CastScratch, MaterialId, MeshId, NamedMaterial, Object, Ray, SceneBuilder, primitive::rectangle,
//! };
//! use nalgebra::{Isometry3, Point3, Vector3};
//!
//! let paint = NamedMaterial { name: "paint".into(), material: Material { lobes: vec![] } };
//! let panel = Object {
//!     name: "panel".into(),
//!     mesh: MeshId(0),
//!     world_from_object: Isometry3::translation(0.0, 0.0, -2.0),
//!     material: MaterialId(0),
//!     mask: u32::MAX,
//! };
//! let scene = SceneBuilder {
//!     materials: vec![paint],
//!     meshes: vec![rectangle([1.0, 1.0])?.into()],
//!     objects: vec![panel],
//!     ..SceneBuilder::default()
//! }
//! .build()?;
//! let down = Ray::new(Point3::origin(), -Vector3::z());
//! let hit = scene.closest_hit(&down, &mut CastScratch::new());
//! assert_eq!(hit.map(|hit| hit.distance), Some(2.0));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod audit;
mod builder;
mod deformation;
mod edit;
mod error;
pub mod lighting;
mod motion;
mod object;
mod obstruction;
mod parts;
pub mod primitive;
mod scene;
mod surface;
mod texture;

pub use audit::{Defect, Finding, MeshAudit};
pub use deformation::{Deformation, DeformationError, VertexFrame};
pub use edit::SceneEdit;
pub use error::SceneError;
pub use etendue_raycast::{
    CastScratch, Hit, HitTile, MaterialId, Mesh, MeshError, MeshId, ObjectId, Ray, RayCasterError,
    RayTile, tile_order,
};
pub use motion::{Interpolation, KeyFrame, KeyFrameTrajectory, Trajectory, TrajectoryError, Twist};
pub use object::{NamedMaterial, Object};
pub use obstruction::{Obstruction, ObstructionSearch};
pub use parts::SceneBuilder;
pub use scene::Scene;
pub use surface::SurfacePoint;
pub use texture::{Mapping, Pictures, Texture, TextureError, TexturedObject, Textures};
