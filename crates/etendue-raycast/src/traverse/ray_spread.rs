//! How far the rays of a beam are from its axis.

use crate::ray_tile::{HitTile, RayTile};

/// Bounds on the differences of the rays of some tiles from those of the first, lane by lane.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RaySpread {
    /// Greatest distance between unit directions.
    pub direction: f64,
    /// Greatest distance between origins, m.
    pub origin: f64,
    /// Least and greatest near limit, m.
    pub near: [f64; 2],
    /// Greatest far limit, m.
    pub far: f64,
    /// The visibility mask of all rays.
    pub mask: u32,
}

impl RaySpread {
    /// The spread of full tiles whose lanes share times and masks; `None` for others.
    #[inline(always)]
    pub fn of(tiles: &[RayTile]) -> Option<Self> {
        let first = &tiles[0];
        let mut direction = [0.0; 16];
        let mut origin = [0.0; 16];
        let mut nearest = [f64::INFINITY; 16];
        let mut farther = [0.0; 16];
        let mut far = [0.0; 16];
        let mut differs = false;
        for tile in tiles {
            add_distances(&mut direction, &tile.direction, &first.direction);
            add_distances(&mut origin, &tile.origin, &first.origin);
            differs |= tile.used != 16;
            for lane in 0..16 {
                differs |= tile.time[lane].to_bits() != first.time[lane].to_bits();
                differs |= tile.mask[lane] != first.mask[0];
                nearest[lane] = lesser(nearest[lane], tile.near[lane]);
                farther[lane] = greater(farther[lane], tile.near[lane]);
                far[lane] = greater(far[lane], tile.far[lane]);
            }
        }
        let all = Self {
            direction: direction.into_iter().fold(0.0, greater).sqrt(),
            origin: origin.into_iter().fold(0.0, greater).sqrt(),
            near: [
                nearest.into_iter().fold(f64::INFINITY, lesser),
                farther.into_iter().fold(0.0, greater),
            ],
            far: far.into_iter().fold(0.0, greater),
            mask: first.mask[0],
        };
        (!differs).then_some(all)
    }
}

/// The least and the greatest distance of the hits of some tiles, m; infinite without a hit.
#[inline(always)]
pub(crate) fn extreme_distances(hits: &[HitTile]) -> [f64; 2] {
    let mut low = [f64::INFINITY; 16];
    let mut high = [0.0; 16];
    for hits in hits {
        for lane in 0..16 {
            low[lane] = lesser(low[lane], hits.distance[lane]);
            high[lane] = greater(high[lane], hits.distance[lane]);
        }
    }
    [
        low.into_iter().fold(f64::INFINITY, lesser),
        high.into_iter().fold(0.0, greater),
    ]
}

/// Replaces numbers by squared distances of vectors that are greater.
#[inline(always)]
fn add_distances(squares: &mut [f64; 16], a: &[[f64; 16]; 3], b: &[[f64; 16]; 3]) {
    for lane in 0..16 {
        let [x, y, z] = [0, 1, 2].map(|axis| a[axis][lane] - b[axis][lane]);
        squares[lane] = greater(squares[lane], x * x + y * y + z * z);
    }
}

/// The greater of two numbers, neither of which is a NaN.
#[inline(always)]
fn greater(a: f64, b: f64) -> f64 {
    if a > b { a } else { b }
}

/// The lesser of two numbers, neither of which is a NaN.
#[inline(always)]
fn lesser(a: f64, b: f64) -> f64 {
    if a < b { a } else { b }
}
