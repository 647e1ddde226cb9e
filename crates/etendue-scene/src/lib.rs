//! Where things are and what they are made of: meshes, objects, materials, and the rays that
//! find them. Nothing here knows a sensor.

pub mod cast;
mod mesh;
mod motion;
mod ray;
mod scene;

pub use cast::{HitPacket, Isa, RayPacket, UnknownIsa};
pub use mesh::{Mesh, MeshError};
pub use motion::{KeyFrame, Motion, MotionError};
pub use ray::{Hit, Ray};
pub use scene::{
    MaterialId, MeshId, NamedMaterial, Object, ObjectId, Scene, SceneBuilder, SceneError,
    SurfacePoint,
};
