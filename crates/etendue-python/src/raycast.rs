//! Ray casting.

use crate::arrays::{Floats, array, check_finite, floats_of_either, wrong_shape};
use crate::errors::Outcome;
use crate::threads;
use etendue::raycast::{CastScratch, HitTile, RayTile, Tiling};
use etendue::scene::Scene;
use nalgebra::{Point3, Vector3};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use rayon::prelude::*;
use std::ops::RangeInclusive;

/// Index of a miss.
pub const INVALID_ID: u32 = u32::MAX;

/// At most this number of rays is cast on the calling thread, in a few milliseconds.
const FEW: usize = threads::RAYS_PER_THREAD;

/// Number of tiles that are cast together, on one thread.
const TILES: usize = 128;

/// Squares of lengths of directions in this range neither overflowed nor lost digits.
const NORMAL_SQUARES: RangeInclusive<f64> = 1e-280..=1e280;

/// Columns of the hits.
struct HitColumns {
    t_hit: Vec<f64>,
    geometry_ids: Vec<u32>,
    primitive_ids: Vec<u32>,
    primitive_uvs: Vec<f64>,
    primitive_normals: Vec<f64>,
}

/// The part of the columns of one batch of rays.
struct BatchColumns<'c> {
    t_hit: &'c mut [f64],
    geometry_ids: &'c mut [u32],
    primitive_ids: &'c mut [u32],
    primitive_uvs: &'c mut [f64],
    primitive_normals: &'c mut [f64],
}

/// Rays of six numbers each: origin and direction.
struct RayRows<'r, T>(&'r [T]);

/// Buffers of a thread.
#[derive(Default)]
struct BatchMemory {
    rays: Vec<RayTile>,
    lengths: Vec<[f64; 16]>,
    hits: Vec<HitTile>,
    scratch: CastScratch,
}

impl HitColumns {
    /// Columns of zeros.
    fn new(rays: usize) -> Self {
        Self {
            t_hit: vec![0.0; rays],
            geometry_ids: vec![0; rays],
            primitive_ids: vec![0; rays],
            primitive_uvs: vec![0.0; 2 * rays],
            primitive_normals: vec![0.0; 3 * rays],
        }
    }

    /// The parts of the batches of `batch` rays.
    fn batches(&mut self, batch: usize) -> impl Iterator<Item = BatchColumns<'_>> {
        let ids = self.geometry_ids.chunks_mut(batch);
        let ids = ids.zip(self.primitive_ids.chunks_mut(batch));
        let vectors = self.primitive_uvs.chunks_mut(2 * batch);
        let vectors = vectors.zip(self.primitive_normals.chunks_mut(3 * batch));
        let all = self.t_hit.chunks_mut(batch).zip(ids).zip(vectors);
        all.map(|((t_hit, ids), vectors)| BatchColumns {
            t_hit,
            geometry_ids: ids.0,
            primitive_ids: ids.1,
            primitive_uvs: vectors.0,
            primitive_normals: vectors.1,
        })
    }
}

impl BatchColumns<'_> {
    /// Writes the hit of a lane of a tile, whose direction has a length.
    #[inline]
    fn write(&mut self, ray: usize, hits: &HitTile, lane: usize, length: f64) {
        let is_hit = hits.is_hit(lane);
        let zero_if_miss = |value: f64| if is_hit { value } else { 0.0 };
        self.t_hit[ray] = hits.distance[lane] / length;
        self.geometry_ids[ray] = hits.object[lane];
        self.primitive_ids[ray] = if is_hit {
            hits.triangle[lane]
        } else {
            INVALID_ID
        };
        let uvs = hits.barycentric.map(|weights| zero_if_miss(weights[lane]));
        self.primitive_uvs[2 * ray..][..2].copy_from_slice(&uvs);
        let normal = hits.normal.map(|axis| zero_if_miss(axis[lane]));
        self.primitive_normals[3 * ray..][..3].copy_from_slice(&normal);
    }
}

impl<T: Copy + Into<f64> + Sync> RayRows<'_, T> {
    /// Number of rays.
    fn len(&self) -> usize {
        self.0.len() / 6
    }

    /// Origin of a ray, m.
    fn origin(&self, ray: usize) -> Point3<f64> {
        let start = 6 * ray;
        Point3::from([0, 1, 2].map(|axis| self.0[start + axis].into()))
    }

    /// Direction of a ray, of any length.
    fn direction(&self, ray: usize) -> Vector3<f64> {
        let start = 6 * ray + 3;
        Vector3::from([0, 1, 2].map(|axis| self.0[start + axis].into()))
    }

    /// Casts all rays at a time (s), few rays on the calling thread.
    fn cast(&self, scene: &Scene, time: f64) -> PyResult<HitColumns> {
        // Divide the rays and the columns into batches.
        let unit = |ray| normalized(self.direction(ray)).0;
        let tiling = Tiling::of(self.len(), |ray| self.origin(ray), unit);
        let batch = tiling.batch();
        let mut columns = HitColumns::new(self.len());
        let mut batches: Vec<_> = self
            .0
            .chunks(6 * batch)
            .zip(columns.batches(batch))
            .collect();

        // Cast them.
        let cast = |memory: &mut BatchMemory, (numbers, columns): &mut (&[T], BatchColumns)| {
            let rays = RayRows(numbers);
            let are_valid = rays.are_valid();
            if are_valid {
                rays.cast_batch(scene, tiling, time, memory, columns);
            }
            are_valid
        };
        let are_valid = if self.len() <= FEW {
            let mut memory = BatchMemory::default();
            batches.iter_mut().all(|batch| cast(&mut memory, batch))
        } else {
            let batches = batches.par_iter_mut();
            batches
                .map_init(BatchMemory::default, cast)
                .all(|valid| valid)
        };
        drop(batches);
        if !are_valid {
            self.check()?;
        }
        Ok(columns)
    }

    /// Casts a batch of valid rays, and writes the hits.
    fn cast_batch(
        &self,
        scene: &Scene,
        tiling: Tiling,
        time: f64,
        memory: &mut BatchMemory,
        columns: &mut BatchColumns,
    ) {
        // Read the rays into tiles.
        let unit = |ray| normalized(self.direction(ray)).0;
        let tiles = tiling.tiles(self.len(), unit);
        memory.rays.resize(tiles.len(), RayTile::EMPTY);
        memory.lengths.resize(tiles.len(), [1.0; 16]);
        for ((tile, rays), lengths) in tiles.iter().zip(&mut memory.rays).zip(&mut memory.lengths) {
            for (lane, ray) in tile.rays() {
                let (origin, direction) = (self.origin(ray), self.direction(ray));
                for axis in 0..3 {
                    rays.origin[axis][lane] = origin[axis];
                    rays.direction[axis][lane] = direction[axis];
                }
            }
            rays.used = tile.used();
            rays.time = [time; 16];
            normalize(rays, lengths);
        }

        // Cast them, and write the hits.
        memory.hits.resize(tiles.len(), HitTile::NONE);
        let hits = memory.hits.chunks_mut(TILES);
        for (rays, hits) in memory.rays.chunks(TILES).zip(hits) {
            scene.closest_hits_of_tiles(rays, hits, &mut memory.scratch);
        }
        for ((tile, hits), lengths) in tiles.iter().zip(&memory.hits).zip(&memory.lengths) {
            for (lane, ray) in tile.rays() {
                columns.write(ray, hits, lane, lengths[lane]);
            }
        }
    }

    /// Whether all numbers are finite and all directions have a length.
    fn are_valid(&self) -> bool {
        let finite = |all: bool, number: &T| all & (*number).into().is_finite();
        self.0.iter().fold(true, finite)
            && !(0..self.len()).any(|ray| has_no_length(self.direction(ray)))
    }

    /// Error that names the first number that is not finite, or the first direction without a length.
    fn check(&self) -> PyResult<()> {
        let numbers: Vec<f64> = self.0.iter().map(|&number| number.into()).collect();
        check_finite("rays", &numbers)?;
        let mut rays = 0..self.len();
        let Some(number) = rays.find(|&ray| has_no_length(self.direction(ray))) else {
            return Ok(());
        };
        let (_, length) = normalized(self.direction(number));
        let text = format!("rays: the direction of ray {number} has the length {length}");
        Err(PyValueError::new_err(text))
    }
}

/// Nearest hits of the rays of an argument of the shape (..., 6).
pub fn cast<'py>(
    scene: &Scene,
    rays: &Bound<'py, PyAny>,
    time: f64,
    threads: Option<i64>,
) -> Outcome<Bound<'py, PyDict>> {
    // Read the rays.
    let py = rays.py();
    check_finite("time", &[time])?;
    let numbers = floats_of_either("rays", rays)?;
    let Some((6, shape)) = numbers.shape.split_last() else {
        return Err(wrong_shape("rays", "(..., 6)", &numbers.shape).into());
    };

    // Cast them.
    let count = shape.iter().product();
    let deforms = scene.deforms();
    let cast = || {
        let deformed = deforms.then(|| scene.at(time));
        let scene = deformed.as_ref().unwrap_or(scene);
        match &numbers.values {
            Floats::Single(values) => RayRows(values).cast(scene, time),
            Floats::Double(values) => RayRows(values).cast(scene, time),
        }
    };
    let columns = if count <= FEW && !deforms {
        threads::check(threads)?;
        py.detach(cast)
    } else {
        threads::run(py, threads, count, cast)?
    }?;

    // Name the columns.
    let with = |size: usize| [shape, &[size]].concat();
    let result = PyDict::new(py);
    result.set_item("t_hit", array(py, columns.t_hit, shape)?)?;
    result.set_item("geometry_ids", array(py, columns.geometry_ids, shape)?)?;
    result.set_item("primitive_ids", array(py, columns.primitive_ids, shape)?)?;
    result.set_item("primitive_uvs", array(py, columns.primitive_uvs, &with(2))?)?;
    let normals = array(py, columns.primitive_normals, &with(3))?;
    result.set_item("primitive_normals", normals)?;
    Ok(result)
}

/// Whether the length of a direction is zero, or overflows.
fn has_no_length(direction: Vector3<f64>) -> bool {
    let largest = direction.amax();
    largest == 0.0 || (largest > 1e300 && !normalized(direction).1.is_finite())
}

/// Divides the directions of a tile by their lengths.
fn normalize(rays: &mut RayTile, lengths: &mut [f64; 16]) {
    // Square all lanes.
    let [x, y, z] = &mut rays.direction;
    let mut is_normal = true;
    for lane in 0..16 {
        let square = x[lane] * x[lane] + y[lane] * y[lane] + z[lane] * z[lane];
        is_normal &= NORMAL_SQUARES.contains(&square);
        lengths[lane] = square.sqrt();
    }

    // Very short or long directions are scaled first.
    if !is_normal {
        for lane in 0..16 {
            let (unit, length) = normalized(Vector3::new(x[lane], y[lane], z[lane]));
            [x[lane], y[lane], z[lane]] = unit.into();
            lengths[lane] = length;
        }
        return;
    }
    for lane in 0..16 {
        x[lane] /= lengths[lane];
        y[lane] /= lengths[lane];
        z[lane] /= lengths[lane];
    }
}

/// Unit vector and length of a direction, without overflow or underflow of squares.
fn normalized(direction: Vector3<f64>) -> (Vector3<f64>, f64) {
    let square = direction.norm_squared();
    if NORMAL_SQUARES.contains(&square) {
        let length = square.sqrt();
        return (direction / length, length);
    }
    let scale = direction.amax();
    if scale == 0.0 {
        return (direction, 0.0);
    }
    let scaled = direction / scale;
    let norm = scaled.norm();
    (scaled / norm, norm * scale)
}
