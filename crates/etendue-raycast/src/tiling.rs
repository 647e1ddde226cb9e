//! Grouping of rays into tiles of neighbours.

use nalgebra::{Point3, Vector3};

/// Rays in a tile.
const TILE: usize = 16;

/// An order of rays in which each sixteen consecutive ones are neighbours: the list is bisected recursively
/// along the axis of the largest spread of directions.
///
/// ```
/// # use nalgebra::Vector3;
/// let left_and_right = |ray: usize| Vector3::new(1.0, if ray % 2 == 0 { 0.5 } else { -0.5 }, 0.0);
/// let order = etendue_raycast::tile_order(&(0..32).map(left_and_right).collect::<Vec<_>>());
/// assert!(order[..16].iter().all(|ray| ray % 2 == 1));
/// ```
pub fn tile_order(directions: &[Vector3<f64>]) -> Vec<usize> {
    let entry = |(ray, direction): (u32, &Vector3<f64>)| Entry {
        direction: [0, 1, 2].map(|axis| direction[axis] as f32),
        ray,
    };
    let mut entries: Vec<Entry> = (0..).zip(directions).map(entry).collect();
    bisect(&mut entries);
    entries.iter().map(|entry| entry.ray as usize).collect()
}

/// A ray of a list that is sorted. Directions are rounded: only speed depends on the order.
#[derive(Clone, Copy)]
struct Entry {
    direction: [f32; 3],
    ray: u32,
}

/// Sorts a list by recursive bisection.
fn bisect(entries: &mut [Entry]) {
    if entries.len() <= TILE {
        entries.sort_unstable_by_key(|entry| entry.ray);
        return;
    }
    // Find the axis of the largest spread.
    let [mut low, mut high] = [f32::INFINITY, f32::NEG_INFINITY].map(|limit| [limit; 3]);
    for entry in &*entries {
        for axis in 0..3 {
            low[axis] = low[axis].min(entry.direction[axis]);
            high[axis] = high[axis].max(entry.direction[axis]);
        }
    }
    let spread = [0, 1, 2].map(|axis| high[axis] - low[axis]);
    let axis = (1..3).fold(0, |most, axis| {
        if spread[axis] > spread[most] {
            axis
        } else {
            most
        }
    });
    // Divide there.
    let middle = entries.len().div_ceil(TILE) / 2 * TILE;
    entries.select_nth_unstable_by(middle, |a, b| {
        let along = a.direction[axis].total_cmp(&b.direction[axis]);
        along.then(a.ray.cmp(&b.ray))
    });
    let (before, after) = entries.split_at_mut(middle);
    bisect(before);
    bisect(after);
}

/// Binary digits of a coordinate of a cell on a face of the cube of directions.
const DIGITS: u32 = 7;

/// An order of rays along Hilbert curves on the faces of a cube around their origin. Sixteen consecutive ones are neighbours if
/// directions fill the faces. It takes less time than [`tile_order`], which arranges the rows of a scan.
fn curve_order(count: usize, direction: impl Fn(usize) -> Vector3<f64>) -> Vec<usize> {
    let entry = |ray: usize| u64::from(place_on_curve(&direction(ray))) << 32 | ray as u64;
    let mut entries: Vec<u64> = (0..count).map(entry).collect();
    entries.sort_unstable();
    let ray = |entry: u64| (entry & u64::from(u32::MAX)) as usize;
    entries.into_iter().map(ray).collect()
}

/// Number of the cell of a direction along the curves.
#[expect(
    clippy::cast_sign_loss,
    reason = "numbers of cells; others become the first"
)]
#[inline]
fn place_on_curve(direction: &Vector3<f64>) -> u32 {
    // Find the face, and the coordinates on it.
    let [x, y, z] = [0, 1, 2].map(|axis| direction[axis] as f32);
    let [along_x, along_y, along_z] = [x.abs(), y.abs(), z.abs()];
    let (axis, [major, u, v]) = if along_x >= along_y && along_x >= along_z {
        (0, [x, y, z])
    } else if along_y >= along_z {
        (1, [y, x, z])
    } else {
        (2, [z, x, y])
    };
    let inverse = 1.0 / major.abs();
    // Cells of about the same angle: a polynomial for the arc tangent, times 4 / pi.
    let half = 0.5 * (1 << DIGITS) as f32;
    let cell = |tangent: f32| {
        let angle = tangent * (1.273 - 0.273 * tangent.abs());
        ((angle + 1.0) * half).min(2.0 * half - 1.0) as u32
    };
    let [u, v] = [cell(u * inverse), cell(v * inverse)];

    // From the highest digits on, find the quarter of the square along the curve. In the frame of the curve, the axes of
    // the square may be swapped, or reversed.
    let mut place = 2 * axis + u32::from(major < 0.0);
    let [mut swapped, mut reversed] = [0; 2];
    for digit in (0..DIGITS).rev() {
        let [u, v] = [u >> digit & 1, v >> digit & 1];
        let exchange = (u ^ v) & swapped;
        let [u, v] = [u ^ exchange ^ reversed, v ^ exchange ^ reversed];
        place = place << 2 | u << 1 | (u ^ v);
        swapped ^= v ^ 1;
        reversed ^= u & (v ^ 1);
    }
    place
}

/// How a list of rays is grouped into tiles of neighbours, so that they are cast together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tiling {
    /// Sixteen consecutive rays.
    Consecutive,
    /// Four consecutive rays of four consecutive rows. The number of rays in a row is at least four.
    Rows(usize),
    /// Rays of one origin in any order, sorted by their directions.
    Sorted,
}

/// The rays of one tile.
#[derive(Clone, Copy, Debug)]
pub struct TileMembers {
    rays: [u32; TILE],
    used: usize,
}

/// Longest row that is detected.
const LONGEST: usize = 4096;

/// Number of rays in one batch.
const BATCH: usize = 2048;

/// Number of rays that are sorted together.
const SORTED_BATCH: usize = 16_384;

/// Fewer rays than this are not sorted: their tiles would be wide.
const FEWEST_SORTED: usize = 512;

/// Rays are sorted if the mean square of the differences between consecutive directions exceeds this.
const SCATTERED: f64 = 0.02;

impl Tiling {
    /// Detects the tiling of `count` rays from the first 4,096, whose origins (m) and unit directions are
    /// given by number.
    ///
    /// After the last ray of a row the direction jumps back, next to the first ray. Rays are sorted if they have one origin
    /// and consecutive directions differ by more than 0.14 (root of the mean square, of the first 512 or of all).
    ///
    /// ```
    /// # use etendue_raycast::Tiling;
    /// # use nalgebra::{Point3, Vector3};
    /// // Columns of 16 rays.
    /// let along = |ray: usize| {
    ///     let [azimuth, elevation] = [0.01 * (ray / 16) as f64, 0.01 * (ray % 16) as f64];
    ///     let flat = elevation.cos();
    ///     Vector3::new(azimuth.cos() * flat, azimuth.sin() * flat, elevation.sin())
    /// };
    /// let tiling = Tiling::of(1600, |_| Point3::origin(), along);
    /// assert_eq!(tiling, Tiling::Rows(16));
    /// assert_eq!(tiling.tiles(1600, along).len(), 100);
    /// ```
    pub fn of(
        count: usize,
        origin: impl Fn(usize) -> Point3<f64>,
        direction: impl Fn(usize) -> Vector3<f64>,
    ) -> Self {
        // Find the end of a row. Rays that are scattered have no rows.
        let end = count.min(LONGEST);
        let mut last = Vector3::zeros();
        let mut step = 0.0_f64;
        let mut sum = 0.0;
        let mut is_scattered = false;
        for i in 0..end {
            let own = direction(i);
            let jump = (own - last).norm_squared();
            last = own;
            if i == 0 {
                continue;
            }
            if i >= 4 && jump > 16.0 * step {
                let apart = (direction(0) - own).norm_squared();
                return if count >= 2 * i && apart < 0.25 * jump {
                    Self::Rows(i)
                } else {
                    Self::Consecutive
                };
            }
            step = step.max(jump);
            sum += jump;
            is_scattered = sum > SCATTERED * (i + 1) as f64;
            if is_scattered && i + 1 == FEWEST_SORTED {
                break;
            }
        }

        // Tell scattered rays from a line of neighbours.
        let is_sorted =
            count >= FEWEST_SORTED && is_scattered && (1..end).all(|ray| origin(ray) == origin(0));
        if is_sorted {
            Self::Sorted
        } else {
            Self::Consecutive
        }
    }

    /// Number of consecutive rays that are grouped on their own: the list is divided into batches of this length.
    pub fn batch(self) -> usize {
        match self {
            Self::Consecutive => BATCH,
            Self::Rows(row) => {
                let band = 4 * row;
                band * (BATCH / band).max(1)
            }
            Self::Sorted => SORTED_BATCH,
        }
    }

    /// The tiles of a batch of `count` rays, whose directions (of any length) are given by number. Every ray is in one tile.
    pub fn tiles(
        self,
        count: usize,
        direction: impl Fn(usize) -> Vector3<f64>,
    ) -> Vec<TileMembers> {
        let rays = 0..count;
        match self {
            Self::Consecutive => TileMembers::chunks(&rays.collect::<Vec<_>>()),
            Self::Rows(row) => TileMembers::of_rows(row, count),
            Self::Sorted => TileMembers::chunks(&curve_order(count, direction)),
        }
    }
}

impl TileMembers {
    const NONE: Self = Self {
        rays: [0; TILE],
        used: 0,
    };

    /// Pairs of a lane and the number of its ray in the batch.
    #[inline(always)]
    pub fn rays(&self) -> impl Iterator<Item = (usize, usize)> {
        let rays = self.rays[..self.used].iter().enumerate();
        rays.map(|(lane, &ray)| (lane, ray as usize))
    }

    /// Number of rays, at least one.
    pub fn used(&self) -> usize {
        self.used
    }

    /// Adds a ray.
    fn push(&mut self, ray: usize) {
        self.rays[self.used] = ray as u32;
        self.used += 1;
    }

    /// Tiles of consecutive rays of an order.
    fn chunks(order: &[usize]) -> Vec<Self> {
        let tile = |rays: &[usize]| {
            let mut tile = Self::NONE;
            for &ray in rays {
                tile.push(ray);
            }
            tile
        };
        order.chunks(TILE).map(tile).collect()
    }

    /// Tiles of four by four rays; those at the edges hold fewer.
    fn of_rows(row: usize, count: usize) -> Vec<Self> {
        let rows = count.div_ceil(row);
        let mut tiles = Vec::with_capacity(rows.div_ceil(4) * row.div_ceil(4));
        for band in (0..rows).step_by(4) {
            for column in (0..row).step_by(4) {
                let mut tile = Self::NONE;
                for start in (band..rows.min(band + 4)).map(|number| number * row) {
                    let members = start + column..start + row.min(column + 4);
                    members
                        .filter(|&ray| ray < count)
                        .for_each(|ray| tile.push(ray));
                }
                if tile.used > 0 {
                    tiles.push(tile);
                }
            }
        }
        tiles
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nalgebra::{Point3, Vector3};

    fn spin(channels: usize, columns: usize) -> Vec<Vector3<f64>> {
        let ray = |i: usize| {
            let azimuth = 0.003 * (i / channels) as f64;
            let elevation = 0.01 * (i % channels) as f64 - 0.3;
            let flat = elevation.cos();
            Vector3::new(azimuth.cos() * flat, azimuth.sin() * flat, elevation.sin())
        };
        (0..channels * columns).map(ray).collect()
    }

    /// The tiling of rays of one origin.
    fn of(directions: &[Vector3<f64>]) -> Tiling {
        Tiling::of(
            directions.len(),
            |_| Point3::origin(),
            |ray| directions[ray],
        )
    }

    /// Directions in an order that jumps over the sphere.
    fn scattered(count: usize) -> Vec<Vector3<f64>> {
        let ray = |i: usize| {
            let [azimuth, z] = [2.4 * i as f64, 1.0 - 2.0 * ((0.754877 * i as f64).fract())];
            let flat = (1.0 - z * z).sqrt();
            Vector3::new(azimuth.cos() * flat, azimuth.sin() * flat, z)
        };
        (0..count).map(ray).collect()
    }

    #[test]
    fn the_rows_of_a_spinning_lidar_are_found() {
        assert_eq!(of(&spin(37, 50)), Tiling::Rows(37));
        assert_eq!(of(&spin(1, 500)), Tiling::Consecutive);
        assert_eq!(of(&[]), Tiling::Consecutive);
    }

    #[test]
    fn scattered_rays_of_one_origin_are_sorted() {
        let rays = scattered(4096);
        assert_eq!(of(&rays), Tiling::Sorted);
        assert_eq!(of(&rays[..100]), Tiling::Consecutive);
        let apart = |ray: usize| Point3::new(ray as f64, 0.0, 0.0);
        assert_eq!(
            Tiling::of(rays.len(), apart, |ray| rays[ray]),
            Tiling::Consecutive
        );
    }

    /// Median of the greatest angle (rad, of small ones) between the rays of a tile.
    fn median_width(order: &[usize], directions: &[Vector3<f64>]) -> f64 {
        let apart = |a: usize, b: usize| (directions[a] - directions[b]).norm();
        let width = |tile: &[usize]| {
            let pairs = tile.iter().flat_map(|&a| tile.iter().map(move |&b| (a, b)));
            pairs.map(|(a, b)| apart(a, b)).fold(0.0, f64::max)
        };
        let mut widths: Vec<f64> = order.chunks(TILE).map(width).collect();
        widths.sort_by(f64::total_cmp);
        widths[widths.len() / 2]
    }

    /// Each cell of a face is next to the one before it on the curve, and the faces follow each other.
    #[test]
    fn cells_that_follow_each_other_on_a_curve_are_neighbours() {
        let count = 1 << DIGITS;
        let middle = |cell: usize| {
            let quarter = std::f64::consts::FRAC_PI_4;
            (quarter * ((2 * cell + 1) as f64 / count as f64 - 1.0)).tan()
        };
        for face in 0..6 {
            let (axis, sign) = (face / 2, 1.0 - 2.0 * (face % 2) as f64);
            let mut cells = vec![None; count * count];
            for (i, j) in (0..count).flat_map(|i| (0..count).map(move |j| (i, j))) {
                let mut direction = Vector3::zeros();
                direction[axis] = sign;
                direction[usize::from(axis == 0)] = middle(i);
                direction[2 - axis / 2] = middle(j);
                let place = place_on_curve(&(3.0 * direction)) as usize;
                let own = place.checked_sub(face * count * count);
                cells[own.expect("faces are in order")] = Some((i, j));
            }
            // The arc tangent is approximate: a cell may be empty, and another hold two middles.
            let found: Vec<(usize, usize)> = cells.into_iter().flatten().collect();
            assert!(found.len() > count * count * 9 / 10, "{}", found.len());
            let is_near = |pair: &[(usize, usize)]| {
                pair[0].0.abs_diff(pair[1].0) + pair[0].1.abs_diff(pair[1].1) <= 2
            };
            let near = found.windows(2).filter(|pair| is_near(pair)).count();
            assert!(near > found.len() * 99 / 100, "{near} of {}", found.len());
        }
    }

    /// Directions of any length, also those that have none, are ordered; tiles along the curve are about as wide as those of
    /// a bisection.
    #[test]
    fn tiles_along_the_curve_are_narrow() {
        let directions = scattered(4096);
        let order = curve_order(directions.len(), |ray| directions[ray] * (1 + ray) as f64);
        let mut sorted = order.clone();
        sorted.sort_unstable();
        assert!(sorted.into_iter().eq(0..directions.len()));
        let [along, bisected] =
            [order, tile_order(&directions)].map(|order| median_width(&order, &directions));
        assert!(along < 1.3 * bisected, "{along} and {bisected}");
        let strange = [[0.0; 3], [f64::NAN; 3], [1e300, 1.0, 0.0], [1.0, 0.0, 0.0]];
        assert_eq!(curve_order(4, |ray| Vector3::from(strange[ray])).len(), 4);
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
        let median = median_width(&order, &directions);
        // Four by four rays are 0.025 across; measured 0.029.
        assert!(median < 0.04, "median width {median}");
    }

    #[test]
    fn every_ray_is_in_one_tile() {
        let rows = [(5, 7), (37, 37 * 9), (37, 100), (128, 512)];
        let rows = rows.map(|(row, count)| (Tiling::Rows(row), count));
        let others = [Tiling::Consecutive, Tiling::Sorted].map(|tiling| (tiling, 1000));
        for (tiling, count) in rows.into_iter().chain(others) {
            let directions = scattered(count);
            let mut seen = vec![0; count];
            for tile in tiling.tiles(count, |ray| directions[ray]) {
                assert!((1..=TILE).contains(&tile.used()));
                tile.rays().for_each(|(_, ray)| seen[ray] += 1);
            }
            assert!(seen.iter().all(|&times| times == 1), "{tiling:?}");
        }
    }
}
