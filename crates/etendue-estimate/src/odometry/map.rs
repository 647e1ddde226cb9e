//! Map of surfels in a voxel hash table.

use super::replicates::group_of;
use super::scan::{SampledScan, Surfel};
use super::sensor_bias::{BIASES, CorrectionErrors, displacements};
use crate::geometry::{CELLS_PER_SIDE, CellTable, block_of, voxel_key};
use nalgebra::{Isometry3, Vector3};

/// Map with at most one surfel per voxel. Its occupied buckets of voxels are listed by blocks of buckets: most blocks near
/// a point are empty, and most buckets of the others.
pub struct SurfaceMap {
    /// Side of the voxels, m.
    voxel: f64,
    /// Numbers of the occupied buckets.
    numbers: CellTable,
    /// Surfels of each bucket.
    buckets: Vec<Vec<MapSurfel>>,
    /// Offsets of blocks by ascending distance.
    shells: Vec<Shell>,
}

/// Surfel of the map.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct MapSurfel {
    pub surfel: Surfel,
    pub origin: SurfelOrigin,
}

/// Origin of a surfel of the map.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct SurfelOrigin {
    /// Number of the scan that added it.
    pub scan: u32,
    /// Group of its patch of the world.
    pub group: u8,
    /// Displacements along the normal by the biases of the ranges of that scan.
    pub displaced: [f64; BIASES],
}

/// Ratio of the sides of buckets and voxels.
const VOXELS_PER_BUCKET: f64 = 3.0;

/// Distance, in sides of buckets, below which single buckets are searched instead of blocks.
const MOST_BUCKETS: f64 = 1.25;

/// Largest offset of a searched block along an axis.
const REACH: i32 = 2;

/// Number of offsets of searched blocks along an axis.
const OFFSETS: usize = 2 * REACH.unsigned_abs() as usize + 1;

/// Offset of a block.
struct Shell {
    offset: [i32; 3],
    /// Least distance of a point in the block at the offset from a point in the central one, in sides.
    distance: f64,
}

/// The nearest surfel to a point of a scan at one of the poses of a registration.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SurfelMatch<'a> {
    surfel: Option<&'a MapSurfel>,
    /// Position of the point at that pose, m.
    position: Vector3<f64>,
    /// Distance from the point that no other surfel was below, m.
    others: f64,
}

/// Conditions on the surfel that is paired with a point.
#[derive(Clone, Copy, Debug)]
pub(super) struct PairGate {
    /// Greatest distance of the points, m.
    pub max_distance: f64,
    /// Least cosine of the angle between the normals.
    pub min_cosine: f64,
}

impl SurfaceMap {
    /// Empty map with voxels of side `voxel`, m.
    pub fn new(voxel: f64) -> Self {
        Self {
            voxel,
            numbers: CellTable::default(),
            buckets: Vec::new(),
            shells: shells(),
        }
    }

    /// Side of the voxels, m.
    pub(super) fn voxel(&self) -> f64 {
        self.voxel
    }

    /// Number of surfels.
    pub fn len(&self) -> usize {
        self.surfels().count()
    }

    /// Whether the map has no surfel.
    pub fn is_empty(&self) -> bool {
        self.buckets.is_empty()
    }

    /// All surfels in the world frame.
    pub fn surfels(&self) -> impl Iterator<Item = &Surfel> {
        self.buckets.iter().flatten().map(|found| &found.surfel)
    }

    /// The nearest surfel that passes a gate. The match of the same point at an earlier pose saves the search where the point moved by
    /// less than the distance between the match and the next surfel allows, and bounds it elsewhere.
    pub(super) fn nearest<'a>(
        &'a self,
        to: &Surfel,
        gate: PairGate,
        before: &mut SurfelMatch<'a>,
    ) -> Option<&'a MapSurfel> {
        // The earlier match, where no other surfel can be nearer
        if let Some(found) = before.surfel {
            let distance = (found.surfel.position - to.position).norm();
            let others = before.others - (to.position - before.position).norm();
            let is_parallel = found.surfel.normal.dot(&to.normal) >= gate.min_cosine;
            if distance < others && is_parallel {
                return Some(found).filter(|_| distance < gate.max_distance);
            }
        }
        let found = self.search(to, gate, before.surfel);
        *before = SurfelMatch {
            surfel: found.surfel,
            position: to.position,
            others: found.others.sqrt(),
        };
        found.surfel
    }

    /// Searches the nearest surfel that passes a gate, and the distance of the others. A surfel near it bounds the search.
    fn search<'a, 'q>(
        &'a self,
        to: &'q Surfel,
        gate: PairGate,
        near: Option<&'a MapSurfel>,
    ) -> NearestSurfel<'a, 'q> {
        let side = VOXELS_PER_BUCKET * self.voxel;
        let bucket = voxel_key(&to.position, side);
        let mut found = NearestSurfel {
            to,
            min_cosine: gate.min_cosine,
            limit: gate.max_distance * gate.max_distance,
            others: gate.max_distance * gate.max_distance,
            surfel: None,
        };
        if let Some(surfel) = near {
            found.consider(surfel);
        }
        // Buckets within a short distance, that of the point first
        self.search_bucket(bucket, &mut found);
        let reach = found.reach().sqrt();
        if reach < MOST_BUCKETS * side {
            let reach = Vector3::repeat(reach);
            let first = voxel_key(&(to.position - reach), side);
            let last = voxel_key(&(to.position + reach), side);
            self.numbers.visit_box(first, last, |number| {
                let key = self.numbers.keys()[number];
                if key != bucket && squared_distance(&to.position, key, side) <= found.reach() {
                    found.consider_all(&self.buckets[number]);
                }
            });
            return found;
        }
        // Blocks by ascending distance
        let centre = block_of(bucket);
        let block_side = f64::from(CELLS_PER_SIDE) * side;
        let gaps: [[f64; OFFSETS]; 3] = std::array::from_fn(|axis| {
            let keys = (-REACH..=REACH).map(|offset| centre[axis].saturating_add(offset));
            let mut gaps = [0.0; OFFSETS];
            for (gap, key) in gaps.iter_mut().zip(keys) {
                *gap = squared_gap(to.position[axis], key, block_side);
            }
            gaps
        });
        for shell in &self.shells {
            // All remaining blocks are too far away.
            if (shell.distance * block_side).powi(2) > found.reach() {
                break;
            }
            let [x, y, z] = shell
                .offset
                .map(|offset| (offset + REACH).cast_unsigned() as usize);
            if gaps[0][x] + gaps[1][y] + gaps[2][z] <= found.reach() {
                self.search_block(neighbour(centre, shell.offset), &mut found);
            }
        }
        found
    }

    /// Considers the surfels of the near buckets of a block.
    fn search_block<'a>(&'a self, key: [i32; 3], found: &mut NearestSurfel<'a, '_>) {
        let side = VOXELS_PER_BUCKET * self.voxel;
        let position = &found.to.position;
        self.numbers.visit_block(key, |number| {
            let bucket = self.numbers.keys()[number];
            if squared_distance(position, bucket, side) <= found.reach() {
                found.consider_all(&self.buckets[number]);
            }
        });
    }

    /// Considers the surfels of a bucket.
    fn search_bucket<'a>(&'a self, key: [i32; 3], found: &mut NearestSurfel<'a, '_>) {
        if let Some(number) = self.numbers.find(key) {
            found.consider_all(&self.buckets[number]);
        }
    }

    /// Inserts a scan at a pose with its number and the errors of the correction of its ranges; occupied voxels keep their
    /// surfel.
    pub(super) fn insert(
        &mut self,
        scan: &SampledScan,
        world_from_lidar: &Isometry3<f64>,
        number: u32,
        correction: Option<&CorrectionErrors>,
    ) {
        let side = VOXELS_PER_BUCKET * self.voxel;
        for surfel in &scan.fine {
            // Bucket
            let surfel = surfel.moved(world_from_lidar);
            let bucket = self.numbers.insert(voxel_key(&surfel.position, side)) as usize;
            if bucket == self.buckets.len() {
                self.buckets.push(Vec::new());
            }
            // Voxel
            let surfels = &mut self.buckets[bucket];
            let voxel = |surfel: &Surfel| voxel_key(&surfel.position, self.voxel);
            if surfels
                .iter()
                .all(|other| voxel(&other.surfel) != voxel(&surfel))
            {
                let offset = surfel.position - world_from_lidar.translation.vector;
                let origin = SurfelOrigin {
                    scan: number,
                    group: group_of(&surfel.position),
                    displaced: displacements(&surfel.normal, &offset, correction),
                };
                surfels.push(MapSurfel { surfel, origin });
            }
        }
    }
}

/// Integer coordinates of the block at an offset from another.
fn neighbour(block: [i32; 3], offset: [i32; 3]) -> [i32; 3] {
    std::array::from_fn(|i| block[i].saturating_add(offset[i]))
}

/// The nearest of the surfels considered.
struct NearestSurfel<'a, 'q> {
    to: &'q Surfel,
    min_cosine: f64,
    /// Squared distance of the surfel, or that of the gate, m².
    limit: f64,
    /// Squared distance that no other surfel is below, m²: also of those that do not pass the gate.
    others: f64,
    surfel: Option<&'a MapSurfel>,
}

impl<'a> NearestSurfel<'a, '_> {
    /// Considers the surfels of a bucket.
    fn consider_all(&mut self, bucket: &'a [MapSurfel]) {
        for surfel in bucket {
            self.consider(surfel);
        }
    }

    /// Replaces the surfel by a nearer one that passes the gate.
    fn consider(&mut self, found: &'a MapSurfel) {
        let surfel = &found.surfel;
        let squared = (surfel.position - self.to.position).norm_squared();
        let is_known = self.surfel.is_some_and(|known| std::ptr::eq(known, found));
        if squared >= self.reach() || is_known {
            return;
        }
        if squared < self.limit && surfel.normal.dot(&self.to.normal) >= self.min_cosine {
            self.others = self.others.min(self.limit);
            self.limit = squared;
            self.surfel = Some(found);
        } else {
            self.others = self.others.min(squared);
        }
    }

    /// Squared distance beyond which no surfel changes the result, m².
    fn reach(&self) -> f64 {
        self.limit.max(self.others)
    }
}

/// Squared distance of a point from the voxel of side `side` with a key, m².
fn squared_distance(point: &Vector3<f64>, key: [i32; 3], side: f64) -> f64 {
    let [x, y, z] = [0, 1, 2].map(|axis| squared_gap(point[axis], key[axis], side));
    x + y + z
}

/// Squared distance of a coordinate from the interval of length `side` with a number, m².
fn squared_gap(coordinate: f64, number: i32, side: f64) -> f64 {
    let low = f64::from(number) * side;
    let gap = (low - coordinate).max(coordinate - low - side).max(0.0);
    gap * gap
}

/// Offsets of the blocks within [`REACH`], by ascending distance.
fn shells() -> Vec<Shell> {
    let range = || -REACH..=REACH;
    let offsets = range().flat_map(|x| range().flat_map(move |y| range().map(move |z| [x, y, z])));
    let gap = |k: i32| f64::from((k.abs() - 1).max(0));
    let mut shells: Vec<Shell> = offsets
        .map(|offset| Shell {
            offset,
            distance: offset.iter().map(|k| gap(*k).powi(2)).sum::<f64>().sqrt(),
        })
        .collect();
    let centre_first = |shell: &Shell| shell.offset.iter().map(|k| k * k).sum::<i32>();
    shells.sort_by(|a, b| {
        let by_distance = a.distance.total_cmp(&b.distance);
        by_distance.then(centre_first(a).cmp(&centre_first(b)))
    });
    shells
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::CellOptions;
    use crate::odometry::scan::SampleVoxels;
    use etendue_physics::{Purpose, Stream};
    use nalgebra::Point3;

    fn random_walls() -> Vec<Point3<f64>> {
        let mut draw = Stream::new(3, 0, 0, 0, Purpose::Search);
        let mut side = || draw.uniform() * 4.0 - 2.0;
        let wall = |i: i32| match i % 3 {
            0 => Point3::new(side(), side(), -2.0),
            1 => Point3::new(side(), 2.0, side()),
            _ => Point3::new(2.5, side(), side()),
        };
        (0..20_000).map(wall).collect()
    }

    #[test]
    fn the_nearest_surfel_is_that_of_an_exhaustive_search() {
        let voxels = SampleVoxels {
            fine: 0.15,
            coarse: 0.3,
        };
        let scan = SampledScan::new(
            &random_walls(),
            &(0.0..=50.0),
            voxels,
            &CellOptions::default(),
        );
        let mut map = SurfaceMap::new(0.15);
        map.insert(&scan, &Isometry3::identity(), 0, None);
        assert!(map.len() > 1500, "{}", map.len());
        let mut found = 0;
        let mut before = SurfelMatch::default();
        // Below and above the side of a block
        for (number, surfel) in scan.coarse.iter().enumerate() {
            let gate = PairGate {
                max_distance: [1.5, 3.0][number % 2],
                min_cosine: 0.7,
            };
            let query = surfel.moved(&Isometry3::translation(0.8, -0.3, 0.2));
            let nearest = map.nearest(&query, gate, &mut SurfelMatch::default());
            // From the match of another point, and from that of the same point a few centimetres off
            assert_eq!(map.nearest(&query, gate, &mut before), nearest);
            let moved = query.moved(&Isometry3::translation(0.01, 0.03, -0.02));
            let of_moved = map.nearest(&moved, gate, &mut SurfelMatch::default());
            assert_eq!(map.nearest(&moved, gate, &mut before), of_moved);
            let all = map.surfels().filter(|s| s.normal.dot(&query.normal) >= 0.7);
            let distances = all.map(|s| (s.position - query.position).norm());
            let least = distances.fold(f64::INFINITY, f64::min);
            match nearest {
                Some(s) => {
                    assert_eq!((s.surfel.position - query.position).norm(), least);
                    found += 1;
                }
                None => assert!(least >= gate.max_distance, "{least}"),
            }
        }
        assert!(found > 200, "{found}");
    }
}
