//! Where things are and what they are made of: meshes, objects, materials, and the rays that
//! find them. Nothing here knows a sensor.

mod audit;
mod cast;
mod deformation;
pub mod lighting;
mod mesh;
mod motion;
pub mod primitive;
mod ray;
mod scene;
mod texture;

pub use audit::{Defect, Finding, MeshAudit};
pub use cast::{HitPacket, HitTile, Isa, Loops, RayPacket, RayTile, UnknownIsa, fetch, tile_order};
pub use deformation::{Deformation, DeformationError, VertexFrame};
pub use mesh::{Mesh, MeshError};
pub use motion::{Interpolation, KeyFrame, KeyFrameTrajectory, Trajectory, TrajectoryError, Twist};
pub use ray::{Hit, Ray};
pub use scene::{
    MaterialId, MeshId, NamedMaterial, Object, ObjectId, Scene, SceneBuilder, SceneError,
    SurfacePoint,
};
pub use texture::{Mapping, Pictures, Texture, TextureError, TexturedObject, Textures};
