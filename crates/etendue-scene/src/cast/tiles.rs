//! Which rays of a long list make good packets.

use crate::Ray;

/// How neighbours lie in a list of rays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Tiling {
    /// Rays in a row: neighbours in a row follow each other, rows follow each other.
    row: usize,
}

/// Longest row that is looked for.
const LONGEST: usize = 4096;

/// Rays in one piece of work.
const PIECE: usize = 2048;

impl Tiling {
    /// Looks for rows: after the last ray of a row the direction jumps, to beside the first.
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

    /// How many consecutive rays make a piece of work: whole tiles.
    pub fn piece(self) -> usize {
        if self.row < 4 {
            return PIECE;
        }
        let band = 4 * self.row;
        band * (PIECE / band).max(1)
    }

    /// The rays of tile number `tile` of a piece of `count` rays. Tiles at the edges hold fewer.
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
        let [column, band] = [tile % across * 4, tile / across * 4];
        for row in band..band + 4 {
            for place in column..self.row.min(column + 4) {
                let ray = row * self.row + place;
                if ray < count {
                    of[used] = ray;
                    used += 1;
                }
            }
        }
        (of, used)
    }

    /// How many tiles a piece of `count` rays has.
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
