//! Map of surfels in a voxel hash table.

use super::scan::{SampledScan, Surfel};
use crate::geometry::{VoxelTable, voxel_key};
use nalgebra::{Isometry3, Vector3};

/// Map with at most one surfel per fine voxel, in buckets of coarse voxels.
pub struct SurfaceMap {
    /// Side of the fine voxels, m.
    voxel: f64,
    /// Coarse voxels.
    buckets: VoxelTable,
    /// Surfels of each coarse voxel.
    surfels: Vec<Vec<Surfel>>,
    /// Offsets of coarse voxels by ascending distance.
    shells: Vec<Shell>,
}

/// Ratio of the sides of coarse and fine voxels.
const FINE_PER_BUCKET: f64 = 3.0;

/// Largest offset of a searched coarse voxel along an axis.
const REACH: i32 = 5;

/// Offset of a coarse voxel.
struct Shell {
    offset: [i32; 3],
    /// Least distance of a point in the voxel at the offset from a point in the central one, in sides.
    distance: f64,
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
            buckets: VoxelTable::default(),
            surfels: Vec::new(),
            shells: shells(),
        }
    }

    /// Side of the fine voxels, m.
    pub(super) fn voxel(&self) -> f64 {
        self.voxel
    }

    /// Number of surfels.
    pub fn len(&self) -> usize {
        self.surfels.iter().map(Vec::len).sum()
    }

    /// Whether the map has no surfel.
    pub fn is_empty(&self) -> bool {
        self.surfels.is_empty()
    }

    /// All surfels in the world frame.
    pub fn surfels(&self) -> impl Iterator<Item = &Surfel> {
        self.surfels.iter().flatten()
    }

    /// The nearest surfel that passes a gate.
    pub(super) fn nearest(&self, to: &Surfel, gate: PairGate) -> Option<&Surfel> {
        let side = FINE_PER_BUCKET * self.voxel;
        let centre = voxel_key(&to.position, side);
        let mut limit = gate.max_distance * gate.max_distance;
        let mut nearest = None;
        for shell in &self.shells {
            // All remaining voxels are too far away.
            if (shell.distance * side).powi(2) > limit {
                break;
            }
            let key = [0, 1, 2].map(|i| centre[i].saturating_add(shell.offset[i]));
            if squared_distance(&to.position, key, side) > limit {
                continue;
            }
            let Some(bucket) = self.buckets.find(key) else {
                continue;
            };
            for surfel in &self.surfels[bucket] {
                let squared = (surfel.position - to.position).norm_squared();
                if squared < limit && surfel.normal.dot(&to.normal) >= gate.min_cosine {
                    limit = squared;
                    nearest = Some(surfel);
                }
            }
        }
        nearest
    }

    /// Inserts a scan at a pose; occupied voxels keep their surfel.
    pub(super) fn insert(&mut self, scan: &SampledScan, world_from_lidar: &Isometry3<f64>) {
        let side = FINE_PER_BUCKET * self.voxel;
        for surfel in &scan.fine {
            let surfel = surfel.moved(world_from_lidar);
            let number = self.buckets.insert(voxel_key(&surfel.position, side)) as usize;
            if number == self.surfels.len() {
                self.surfels.push(Vec::new());
            }
            let bucket = &mut self.surfels[number];
            let key = voxel_key(&surfel.position, self.voxel);
            let occupied = bucket
                .iter()
                .any(|other| voxel_key(&other.position, self.voxel) == key);
            if !occupied {
                bucket.push(surfel);
            }
        }
    }
}

/// Squared distance of a point from the voxel of side `side` with a key, m².
fn squared_distance(point: &Vector3<f64>, key: [i32; 3], side: f64) -> f64 {
    let along = |i: usize| {
        let low = f64::from(key[i]) * side;
        (low - point[i]).max(point[i] - low - side).max(0.0)
    };
    [0, 1, 2].map(along).iter().map(|d| d * d).sum()
}

/// Offsets of the coarse voxels within [`REACH`], by ascending distance.
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
        let scan = SampledScan::new(&random_walls(), voxels, &CellOptions::default());
        let mut map = SurfaceMap::new(0.15);
        map.insert(&scan, &Isometry3::identity());
        assert!(map.len() > 1500, "{}", map.len());
        let gate = PairGate {
            max_distance: 1.5,
            min_cosine: 0.7,
        };
        let mut found = 0;
        for surfel in &scan.coarse {
            let query = surfel.moved(&Isometry3::translation(0.8, -0.3, 0.2));
            let nearest = map.nearest(&query, gate);
            let all = map.surfels().filter(|s| s.normal.dot(&query.normal) >= 0.7);
            let distances = all.map(|s| (s.position - query.position).norm());
            let least = distances.fold(f64::INFINITY, f64::min);
            match nearest {
                Some(s) => {
                    assert_eq!((s.position - query.position).norm(), least);
                    found += 1;
                }
                None => assert!(least >= 1.5, "{least}"),
            }
        }
        assert!(found > 200, "{found}");
    }
}
