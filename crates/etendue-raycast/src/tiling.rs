//! Grouping of rays into tiles of neighbours.

use crate::ray::Ray;
use nalgebra::Vector3;

/// Rays in a tile.
const TILE: usize = 16;

/// An order of rays in which each sixteen consecutive ones are neighbours, as
/// [`RayCaster::closest_hits_in_tiles`](crate::RayCaster::closest_hits_in_tiles) expects: the list is
/// bisected recursively along the axis of the largest spread of directions.
///
/// ```
/// # use nalgebra::Vector3;
/// let left_and_right = |ray: usize| Vector3::new(1.0, if ray % 2 == 0 { 0.5 } else { -0.5 }, 0.0);
/// let order = etendue_raycast::tile_order(&(0..32).map(left_and_right).collect::<Vec<_>>());
/// assert!(order[..16].iter().all(|ray| ray % 2 == 1));
/// ```
pub fn tile_order(directions: &[Vector3<f64>]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..directions.len()).collect();
    bisect(&mut order, directions);
    order
}

/// Sorts a list by recursive bisection.
fn bisect(order: &mut [usize], directions: &[Vector3<f64>]) {
    if order.len() <= TILE {
        order.sort_unstable();
        return;
    }
    let first = directions[order[0]];
    let (low, high) = order.iter().fold((first, first), |(low, high), &ray| {
        (low.inf(&directions[ray]), high.sup(&directions[ray]))
    });
    let axis = (high - low).imax();
    let middle = order.len().div_ceil(TILE) / 2 * TILE;
    order.select_nth_unstable_by(middle, |&a, &b| {
        let along = |ray: usize| directions[ray][axis];
        along(a).total_cmp(&along(b)).then(a.cmp(&b))
    });
    let (before, after) = order.split_at_mut(middle);
    bisect(before, directions);
    bisect(after, directions);
}

/// The layout of neighbours in a list of rays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Tiling {
    /// Number of rays in a row: consecutive rays of a row are neighbours, and so are consecutive rows.
    row: usize,
}

/// Longest row that is detected.
const LONGEST: usize = 4096;

/// Number of rays in one batch.
const BATCH: usize = 2048;

impl Tiling {
    /// Tiles of sixteen consecutive rays.
    pub const IN_ORDER: Self = Self { row: 1 };

    /// Detects rows: after the last ray of a row the direction jumps back, next to the first ray.
    pub fn of(rays: &[Ray]) -> Self {
        let apart = |i: usize, j: usize| (rays[i].direction - rays[j].direction).norm_squared();
        let end = rays.len().min(LONGEST);
        let mut step = 0.0_f64;
        for i in 1..end {
            let jump = apart(i, i - 1);
            if i >= 4 && jump > 16.0 * step {
                let beside = rays.len() >= 2 * i && apart(0, i) < 0.25 * jump;
                return Self {
                    row: if beside { i } else { 1 },
                };
            }
            step = step.max(jump);
        }
        Self { row: 1 }
    }

    /// Number of consecutive rays in a batch: whole tiles.
    pub fn batch(self) -> usize {
        if self.row < 4 {
            return BATCH;
        }
        let band = 4 * self.row;
        band * (BATCH / band).max(1)
    }

    /// The rays of tile number `tile` of a batch of `count` rays, and their number: tiles at the edges
    /// hold fewer than sixteen.
    #[inline]
    pub fn tile(self, tile: usize, count: usize) -> ([usize; 16], usize) {
        let mut of = [0; 16];
        let mut used = 0;
        if self.row < 4 {
            for ray in 16 * tile..count.min(16 * tile + 16) {
                of[used] = ray;
                used += 1;
            }
            return (of, used);
        }
        let across = self.row.div_ceil(4);
        let column = tile % across * 4;
        let band = tile / across * 4;
        for row in band..band + 4 {
            for member in column..self.row.min(column + 4) {
                let ray = row * self.row + member;
                if ray < count {
                    of[used] = ray;
                    used += 1;
                }
            }
        }
        (of, used)
    }

    /// Number of tiles of a batch of `count` rays.
    pub fn tiles(self, count: usize) -> usize {
        if self.row < 4 {
            return count.div_ceil(16);
        }
        count.div_ceil(4 * self.row) * self.row.div_ceil(4)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nalgebra::{Point3, Vector3};

    fn spin(channels: usize, columns: usize) -> Vec<Ray> {
        let ray = |i: usize| {
            let azimuth = 0.003 * (i / channels) as f64;
            let elevation = 0.01 * (i % channels) as f64 - 0.3;
            let flat = elevation.cos();
            let direction =
                Vector3::new(azimuth.cos() * flat, azimuth.sin() * flat, elevation.sin());
            Ray::new(Point3::origin(), direction)
        };
        (0..channels * columns).map(ray).collect()
    }

    #[test]
    fn the_rows_of_a_spinning_lidar_are_found() {
        assert_eq!(Tiling::of(&spin(37, 50)), Tiling { row: 37 });
        assert_eq!(Tiling::of(&spin(1, 500)), Tiling { row: 1 });
        assert_eq!(Tiling::of(&[]), Tiling { row: 1 });
    }

    /// Beams staggered by 8 degrees from row to row: tiles of neighbours in the list span them.
    #[test]
    fn an_order_in_tiles_keeps_neighbours_together() {
        let ray = |i: usize| {
            let row = i % 64;
            let column = i / 64;
            let azimuth = 0.006 * column as f64 + 0.05 * (row % 4) as f64;
            let elevation = 0.006 * row as f64 - 0.2;
            let flat = f64::cos(elevation);
            Vector3::new(azimuth.cos() * flat, azimuth.sin() * flat, elevation.sin())
        };
        let directions: Vec<_> = (0..64 * 32 + 5).map(ray).collect();
        let order = tile_order(&directions);
        let mut sorted = order.clone();
        sorted.sort_unstable();
        assert!(sorted.into_iter().eq(0..directions.len()));
        let apart = |a: usize, b: usize| (directions[a] - directions[b]).norm();
        let width = |tile: &[usize]| {
            let pairs = tile.iter().flat_map(|&a| tile.iter().map(move |&b| (a, b)));
            pairs.map(|(a, b)| apart(a, b)).fold(0.0, f64::max)
        };
        let mut widths: Vec<f64> = order.chunks(TILE).map(width).collect();
        widths.sort_by(f64::total_cmp);
        // Four by four rays are 0.025 across; measured 0.029.
        let median = widths[widths.len() / 2];
        assert!(median < 0.04, "median width {median}");
    }

    #[test]
    fn every_ray_is_in_one_tile() {
        for (row, count) in [(1, 1000), (37, 37 * 9), (37, 100), (128, 512), (5, 7)] {
            let tiling = Tiling { row };
            let mut seen = vec![0; count];
            for tile in 0..tiling.tiles(count) {
                let (of, used) = tiling.tile(tile, count);
                of[..used].iter().for_each(|&ray| seen[ray] += 1);
            }
            assert!(
                seen.iter().all(|&times| times == 1),
                "row {row}, {count} rays"
            );
        }
    }
}
