//! Buffers of the vectorised pipeline of pulsed lidars.

use super::direct::DirectMemory;
use super::poses::Poses;
use crate::lidar::firing::Column;
use crate::lidar::shot::Shot;
use crate::transport::DirectReturnLanes;
use etendue_scene::{HitTile, RayTile};

/// Buffers of the vectorised pipeline, reused from batch to batch.
#[derive(Default)]
pub(in crate::lidar) struct FastMemory {
    pub poses: Poses,
    /// Shots that are computed from a rotor where its precomputed beams do not apply.
    pub shots: Vec<Shot>,
    /// Columns on a rotor.
    pub columns: Vec<Column>,
    pub cast: CastTiles,
    pub direct: DirectMemory,
}

/// Rays, as of [`CastBatch`](super::cast_batch::CastBatch), their first hits, and their direct returns.
#[derive(Default)]
pub(in crate::lidar) struct CastTiles {
    pub tiles: Vec<RayTile>,
    pub hits: Vec<HitTile>,
    pub direct_returns: Vec<DirectReturnLanes>,
}
