//! Watertight ray casting at triangle meshes, exact in `f64` and fast.
//!
//! A [`RayCaster`] answers which triangle a [`Ray`] hits first. Results are those of testing every
//! triangle with the watertight test of Woop, Benthin and Wald (2013) in `f64`, bit for bit: no ray
//! leaks between triangles, also far from the origin. Bounding volume hierarchies of eight-wide nodes,
//! packets of sixteen coherent rays in `f32` with rounding bounds, and AVX-512, AVX2 or NEON make it
//! fast; they never change a result.
//!
//! # Tour
//!
//! - Geometry: a [`Mesh`] is placed in the world by an [`Instance`], at a constant pose or along a
//!   [`RigidMotion`]. Vertices can move ([`RayCaster::set_vertices`]), and so can objects
//!   ([`RayCaster::set_poses`]).
//! - Single rays: [`RayCaster::closest_hit`], [`RayCaster::occluded`], and [`RayCaster::first_hits`] for
//!   several hits along a ray.
//! - Many rays: [`RayCaster::closest_hits`] finds neighbours in a list by a [`Tiling`]; [`RayTile`]s are
//!   sixteen rays by axis and lane, for callers that compute them so.
//! - Rays from a surface: [`RayCaster::spawn_near`] gives the near limit that rules out
//!   self-intersection.
//! - Traversals on other processors: a [`BoxTree`] over the boxes of triangles or of objects
//!   ([`RayCaster::bounds_of`]).
//! - Memory that queries reuse is a [`CastScratch`], which the caller owns.
//!
//! ```
//! use etendue_raycast::{CastScratch, Instance, Mesh, MeshId, ObjectId, Ray, RayCaster};
//! use nalgebra::{Isometry3, Point3, Vector3};
//! use std::sync::Arc;
//!
//! // A wall of two triangles, 3 m in front of the sensor.
//! let wall = Mesh {
//!     vertices: vec![
//!         Point3::new(0.0, -1.0, -1.0),
//!         Point3::new(0.0, 1.0, -1.0),
//!         Point3::new(0.0, 1.0, 1.0),
//!         Point3::new(0.0, -1.0, 1.0),
//!     ],
//!     triangles: vec![[0, 1, 2], [0, 2, 3]],
//!     materials: vec![],
//! };
//! let instance = Instance::new(MeshId(0), Isometry3::translation(3.0, 0.0, 0.0));
//! let caster = RayCaster::new(vec![Arc::new(wall)], &[instance])?;
//!
//! let mut scratch = CastScratch::new();
//! let ray = Ray::new(Point3::new(0.0, 0.5, -0.5), Vector3::x());
//! let hit = caster.closest_hit(&ray, &mut scratch).expect("the wall is there");
//! assert_eq!((hit.distance, hit.object, hit.triangle), (3.0, ObjectId(0), 0));
//! assert_eq!(hit.normal, Vector3::x());
//!
//! // The same ray, shorter than the way to the wall.
//! let short = Ray { far: 2.0, ..ray };
//! assert!(!caster.occluded(&short, &mut scratch));
//! # Ok::<(), etendue_raycast::RayCasterError>(())
//! ```
#![expect(
    clippy::cast_possible_truncation,
    reason = "f32 bounds are rounded outwards on purpose, and counts are checked to fit u32"
)]
#![expect(
    clippy::inline_always,
    reason = "kernels must land in a function compiled for the instruction set"
)]
#![expect(
    clippy::needless_bitwise_bool,
    reason = "a lazy operator is a branch, which prevents vectorisation"
)]
#![expect(
    clippy::needless_range_loop,
    reason = "loops over sixteen lanes of several arrays become vector instructions"
)]

mod bounding_box;
mod box_tree;
mod bvh;
mod caster;
mod ids;
mod instance;
mod intersect;
mod mesh;
mod motion;
mod ray;
mod ray_tile;
mod rotation;
mod spawn;
mod tiling;
mod tlas;
mod traverse;

pub use bounding_box::BoundingBox;
pub use box_tree::{BoxTree, BoxTreeChild};
pub use caster::{RayCaster, RayCasterError};
pub use ids::{MaterialId, MeshId, ObjectId};
pub use instance::Instance;
pub use mesh::{Mesh, MeshError, check_vertices};
pub use motion::RigidMotion;
pub use ray::{Hit, Ray};
pub use ray_tile::{HitTile, RayTile};
pub use rotation::rotate;
pub use tiling::{TileMembers, Tiling, tile_order};
pub use traverse::scratch::CastScratch;
