//! Light from the sensor to the scene and back.
//!
//! A [`World`] is a scene seen at one wavelength. [`trace_tree`] follows mirrors and glass exactly
//! and sends diffuse light straight back (a lidar's usual model).
//! [`trace_paths`] also finds, by chance, what came back over several diffuse surfaces.
//! [`Background`] is the light that reaches a receiver without the sensor's doing.
//!
//! Choices (which triangle, which branch) are made on plain numbers, values are computed in the
//! scalar `S`: the same code simulates in `f64` and differentiates with dual numbers.
//!
//! Left out: polarisation, diffraction, interference, and the focusing of curved mirrors and
//! lenses (a return falls with the square of the whole path's length).

mod background;
mod branch;
mod first;
mod path_tracing;
mod straight;
mod tile;
mod tree;
mod world;

pub use background::{AmbientLight, Background, Cone, Sun};
pub(crate) use first::{FirstReturns, PoseTile};
pub use path_tracing::{PathSettings, trace_paths};
pub(crate) use straight::frame_about;
pub(crate) use tile::TileReturns;
pub(crate) use tree::first_distance;
pub use tree::{
    Factor, LightReturn, TreeAudit, TreeSettings, trace_tree, trace_tree_from, trace_trees,
};
pub use world::{LightRay, World, WorldError};
