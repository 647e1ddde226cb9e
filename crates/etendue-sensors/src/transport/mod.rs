//! Light from the sensor to the scene and back.
//!
//! A [`World`] is a scene at one wavelength. [`trace_tree`] follows mirrors and glass exactly and
//! returns light from diffuse and rough surfaces along the reversed path, the usual model of a lidar.
//! [`PathTracer`] also samples, by Monte Carlo, light over several rough surfaces.
//! [`Background`] is the ambient light at a receiver.
//!
//! Discrete choices (triangle, branch) are made with plain numbers; values are computed in the scalar
//! `S`. The same code simulates in `f64` and differentiates with dual numbers.
//!
//! Left out: polarisation, diffraction, interference, and the focusing of curved mirrors and lenses
//! (returned power falls with the square of the total path length).

mod ambient_light;
mod background;
mod branch;
mod direct_lanes;
mod direct_tile;
mod light_ray;
mod path_tracing;
mod pose_tile;
mod shading_frame;
mod surface_table;
mod transmittance;
mod tree;
mod world;

pub use ambient_light::{AmbientLight, Sun};
pub use background::FieldOfView;
pub(crate) use direct_lanes::DirectReturnLanes;
pub(crate) use direct_tile::{DirectReturnTile, RigidReturnTile};
pub use light_ray::LightRay;
pub use path_tracing::{PathSettings, PathTracer};
pub(crate) use pose_tile::{PoseTile, Twist, TwistTile};
pub(crate) use shading_frame::shading_frame;
pub use surface_table::SurfaceFractions;
pub(crate) use tree::first_distance;
pub use tree::{
    LightReturn, ReturnFactor, TreeAudit, TreeSettings, trace_tree, trace_tree_from, trace_trees,
};
pub use world::{Background, CornerHeights, World, WorldError};
