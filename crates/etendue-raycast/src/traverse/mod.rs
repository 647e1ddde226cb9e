//! Traversal of the acceleration structures, with single rays and with packets of sixteen.

pub(crate) mod beam_cast;
mod edge_functions;
pub(crate) mod first_hits;
mod frustum;
pub(crate) mod geometry;
mod local_ray_tile;
mod packet;
mod packet_leaf_test;
mod packet_traversal;
mod pending_packets;
pub(crate) mod ray_cast;
mod ray_spread;
mod ray_traversal;
pub(crate) mod scratch;
mod stack;
pub(crate) mod tile_cast;
pub(crate) mod triangle_hit;
