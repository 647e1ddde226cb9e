//! Ray casting.

use crate::arrays::{Floats, array, check_finite, floats, floats_of_either, names, wrong_shape};
use crate::errors::Outcome;
use crate::threads;
use etendue::config::toml_file::UnknownName;
use etendue::raycast::{CastScratch, HitTile, RayTile, TileMembers, Tiling};
use etendue::scene::Scene;
use nalgebra::{Point3, Vector3};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use rayon::current_num_threads;
use rayon::prelude::*;
use std::array::from_fn;
use std::ops::RangeInclusive;

/// Index of a miss.
pub const INVALID_ID: u32 = u32::MAX;

/// At most this number of rays is cast on the calling thread, in a few milliseconds.
const FEW: usize = threads::RAYS_PER_THREAD;

/// Number of tiles that are read, cast and written together, while they are in the fastest cache.
const TILES: usize = 8;

/// Squares of lengths of directions in this range neither overflowed nor lost digits.
const NORMAL_SQUARES: RangeInclusive<f64> = 1e-280..=1e280;

/// Which columns of the hits are computed.
#[expect(
    clippy::struct_excessive_bools,
    reason = "one for each of the five columns"
)]
#[derive(Clone, Copy)]
pub struct HitKeys {
    t_hit: bool,
    geometry_ids: bool,
    primitive_ids: bool,
    primitive_uvs: bool,
    primitive_normals: bool,
}

/// Columns of the hits; empty where they are not computed.
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

/// Rays of six numbers each: origin and direction; or of three, the direction, with a common origin.
#[derive(Clone, Copy)]
struct RayRows<'r, T> {
    numbers: &'r [T],
    /// The common origin, m.
    origin: Option<Point3<f64>>,
}

/// A query of rays.
struct Cast<'c> {
    scene: &'c Scene,
    tiling: Tiling,
    /// s.
    time: f64,
}

/// Buffers of a thread.
struct BatchMemory {
    rays: Vec<RayTile>,
    lengths: Vec<[f64; 16]>,
    hits: Vec<HitTile>,
    scratch: Box<CastScratch>,
}

impl Default for BatchMemory {
    fn default() -> Self {
        Self {
            rays: vec![RayTile::EMPTY; TILES],
            lengths: vec![[1.0; 16]; TILES],
            hits: vec![HitTile::NONE; TILES],
            scratch: CastScratch::for_worker(),
        }
    }
}

impl HitKeys {
    /// All columns.
    const ALL: Self = Self {
        t_hit: true,
        geometry_ids: true,
        primitive_ids: true,
        primitive_uvs: true,
        primitive_normals: true,
    };

    /// Their names.
    const NAMES: [&str; 5] = [
        "t_hit",
        "geometry_ids",
        "primitive_ids",
        "primitive_uvs",
        "primitive_normals",
    ];

    /// The argument `keys`: names of columns; all by default.
    pub fn read(keys: Option<&Bound<'_, PyAny>>) -> Outcome<Self> {
        let Some(keys) = keys else {
            return Ok(Self::ALL);
        };
        let keys = names("keys", keys)?;
        if let Some(unknown) = keys.iter().find(|key| !Self::NAMES.contains(&key.as_str())) {
            return Err(UnknownName::new("keys", unknown, Self::NAMES).into());
        }
        let [
            t_hit,
            geometry_ids,
            primitive_ids,
            primitive_uvs,
            primitive_normals,
        ] = Self::NAMES.map(|name| keys.iter().any(|key| key == name));
        Ok(Self {
            t_hit,
            geometry_ids,
            primitive_ids,
            primitive_uvs,
            primitive_normals,
        })
    }
}

impl HitColumns {
    /// Columns of zeros.
    fn new(rays: usize, keys: HitKeys) -> Self {
        let mut columns = Self::with_room(rays, keys);
        columns.grow(rays, keys);
        columns
    }

    /// Empty columns with room for a number of rays.
    fn with_room(rays: usize, keys: HitKeys) -> Self {
        let size = |is_wanted: bool, width: usize| if is_wanted { width * rays } else { 0 };
        Self {
            t_hit: Vec::with_capacity(size(keys.t_hit, 1)),
            geometry_ids: Vec::with_capacity(size(keys.geometry_ids, 1)),
            primitive_ids: Vec::with_capacity(size(keys.primitive_ids, 1)),
            primitive_uvs: Vec::with_capacity(size(keys.primitive_uvs, 2)),
            primitive_normals: Vec::with_capacity(size(keys.primitive_normals, 3)),
        }
    }

    /// Appends zeros for a number of rays, and returns these.
    fn grow(&mut self, rays: usize, keys: HitKeys) -> BatchColumns<'_> {
        BatchColumns {
            t_hit: grown(&mut self.t_hit, keys.t_hit, rays),
            geometry_ids: grown(&mut self.geometry_ids, keys.geometry_ids, rays),
            primitive_ids: grown(&mut self.primitive_ids, keys.primitive_ids, rays),
            primitive_uvs: grown(&mut self.primitive_uvs, keys.primitive_uvs, 2 * rays),
            primitive_normals: grown(
                &mut self.primitive_normals,
                keys.primitive_normals,
                3 * rays,
            ),
        }
    }

    /// The parts of the batches of `batch` rays.
    fn batches(&mut self, batch: usize) -> impl Iterator<Item = BatchColumns<'_>> {
        let ids = parts(&mut self.geometry_ids, batch);
        let ids = ids.zip(parts(&mut self.primitive_ids, batch));
        let vectors = parts(&mut self.primitive_uvs, 2 * batch);
        let vectors = vectors.zip(parts(&mut self.primitive_normals, 3 * batch));
        let all = parts(&mut self.t_hit, batch).zip(ids).zip(vectors);
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
    /// Writes the hits of a tile, whose directions have these lengths.
    fn write(&mut self, tile: &TileMembers, hits: &HitTile, lengths: &[f64; 16]) {
        // Evaluate all lanes.
        let is_hit: [bool; 16] = from_fn(|lane| hits.is_hit(lane));
        let zero_if_miss = |values: &[f64; 16]| -> [f64; 16] {
            from_fn(|lane| if is_hit[lane] { values[lane] } else { 0.0 })
        };
        // Write each column.
        if !self.t_hit.is_empty() {
            let distances: [f64; 16] = from_fn(|lane| hits.distance[lane] / lengths[lane]);
            for (lane, ray) in tile.rays() {
                self.t_hit[ray] = distances[lane];
            }
        }
        if !self.geometry_ids.is_empty() {
            for (lane, ray) in tile.rays() {
                self.geometry_ids[ray] = hits.object[lane];
            }
        }
        if !self.primitive_ids.is_empty() {
            for (lane, ray) in tile.rays() {
                let id = hits.triangle[lane];
                self.primitive_ids[ray] = if is_hit[lane] { id } else { INVALID_ID };
            }
        }
        if !self.primitive_uvs.is_empty() {
            let [u, v] = hits.barycentric.each_ref().map(zero_if_miss);
            for (lane, ray) in tile.rays() {
                self.primitive_uvs[2 * ray..][..2].copy_from_slice(&[u[lane], v[lane]]);
            }
        }
        if !self.primitive_normals.is_empty() {
            let [x, y, z] = hits.normal.each_ref().map(zero_if_miss);
            for (lane, ray) in tile.rays() {
                let normal = [x[lane], y[lane], z[lane]];
                self.primitive_normals[3 * ray..][..3].copy_from_slice(&normal);
            }
        }
    }
}

/// Appends zeros to a column, if it is wanted, and returns them.
fn grown<T: Copy + Default>(column: &mut Vec<T>, is_wanted: bool, size: usize) -> &mut [T] {
    let before = column.len();
    if is_wanted {
        column.resize(before + size, T::default());
    }
    &mut column[before..]
}

/// Parts of a column; empty parts without end of an empty column.
fn parts<T>(column: &mut [T], size: usize) -> impl Iterator<Item = &mut [T]> {
    let is_empty = column.is_empty();
    let none = std::iter::repeat_with(Default::default).take_while(move |_| is_empty);
    column.chunks_mut(size).chain(none)
}

impl<T: Copy + Into<f64> + Sync> RayRows<'_, T> {
    /// Number of numbers of a ray.
    fn width(&self) -> usize {
        if self.origin.is_some() { 3 } else { 6 }
    }

    /// Number of rays.
    fn len(&self) -> usize {
        self.numbers.len() / self.width()
    }

    /// Origin of a ray, m.
    fn origin(&self, ray: usize) -> Point3<f64> {
        let start = 6 * ray;
        (self.origin).unwrap_or_else(|| {
            Point3::from([0, 1, 2].map(|axis| self.numbers[start + axis].into()))
        })
    }

    /// Direction of a ray, of any length.
    fn direction(&self, ray: usize) -> Vector3<f64> {
        let start = self.width() * (ray + 1) - 3;
        Vector3::from([0, 1, 2].map(|axis| self.numbers[start + axis].into()))
    }

    /// Casts all rays at a time (s), few rays on the calling thread.
    fn cast(&self, scene: &Scene, time: f64, keys: HitKeys) -> PyResult<HitColumns> {
        let unit = |ray| normalized(self.direction(ray)).0;
        let tiling = Tiling::of(self.len(), |ray| self.origin(ray), unit);
        let cast = Cast {
            scene,
            tiling,
            time,
        };
        if self.len() <= FEW || current_num_threads() == 1 {
            self.cast_in_order(&cast, keys)
        } else {
            self.cast_on_all_threads(&cast, keys)
        }
    }

    /// Casts batch after batch. The columns grow by one batch at a time, whose memory is then in the cache.
    fn cast_in_order(&self, cast: &Cast, keys: HitKeys) -> PyResult<HitColumns> {
        let mut columns = HitColumns::with_room(self.len(), keys);
        let mut memory = BatchMemory::default();
        for numbers in self.numbers.chunks(self.width() * cast.tiling.batch()) {
            let rays = RayRows { numbers, ..*self };
            let mut own = columns.grow(rays.len(), keys);
            if !rays.cast_batch(cast, &mut memory, &mut own) {
                self.check()?;
            }
        }
        Ok(columns)
    }

    /// Casts the batches on all threads of the pool.
    fn cast_on_all_threads(&self, cast: &Cast, keys: HitKeys) -> PyResult<HitColumns> {
        let batch = cast.tiling.batch();
        let mut columns = HitColumns::new(self.len(), keys);
        let mut batches: Vec<_> = self
            .numbers
            .chunks(self.width() * batch)
            .zip(columns.batches(batch))
            .collect();
        let cast = |memory: &mut BatchMemory, (numbers, columns): &mut (&[T], BatchColumns)| {
            let rays = RayRows { numbers, ..*self };
            rays.cast_batch(cast, memory, columns)
        };
        let batches_of_threads = batches.par_iter_mut();
        let are_valid = batches_of_threads
            .map_init(BatchMemory::default, cast)
            .all(|valid| valid);
        drop(batches);
        if !are_valid {
            self.check()?;
        }
        Ok(columns)
    }

    /// Casts a batch of rays, and writes the hits. Returns `false` if a ray is not valid.
    fn cast_batch(
        &self,
        cast: &Cast,
        memory: &mut BatchMemory,
        columns: &mut BatchColumns,
    ) -> bool {
        let tiles = cast.tiling.tiles(self.len(), |ray| self.direction(ray));
        for tiles in tiles.chunks(TILES) {
            // Read the rays into tiles.
            let rays = &mut memory.rays[..tiles.len()];
            for ((tile, rays), lengths) in tiles.iter().zip(&mut *rays).zip(&mut memory.lengths) {
                for (lane, ray) in tile.rays() {
                    let (origin, direction) = (self.origin(ray), self.direction(ray));
                    for axis in 0..3 {
                        rays.origin[axis][lane] = origin[axis];
                        rays.direction[axis][lane] = direction[axis];
                    }
                }
                rays.used = tile.used();
                rays.time = [cast.time; 16];
                if !normalize(rays, lengths) && !tile.rays().all(|(_, ray)| self.is_valid(ray)) {
                    return false;
                }
            }
            // Cast them, and write the hits.
            let hits = &mut memory.hits[..tiles.len()];
            (cast.scene).closest_hits_of_tiles(rays, hits, &mut memory.scratch);
            for ((tile, hits), lengths) in tiles.iter().zip(hits).zip(&memory.lengths) {
                columns.write(tile, hits, lengths);
            }
        }
        true
    }

    /// Whether all numbers of a ray are finite and its direction has a length.
    fn is_valid(&self, ray: usize) -> bool {
        let numbers = &self.numbers[self.width() * ray..][..self.width()];
        let are_finite = numbers.iter().all(|&number| number.into().is_finite());
        are_finite && !has_no_length(self.direction(ray))
    }

    /// Error that names the first number that is not finite, or the first direction without a length.
    fn check(&self) -> PyResult<()> {
        let numbers: Vec<f64> = self.numbers.iter().map(|&number| number.into()).collect();
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

/// Nearest hits of the rays of an argument of the shape (..., 6), or (..., 3) from a common `origin`.
pub fn cast<'py>(
    scene: &Scene,
    rays: &Bound<'py, PyAny>,
    origin: Option<&Bound<'py, PyAny>>,
    keys: HitKeys,
    time: f64,
    threads: Option<i64>,
) -> Outcome<Bound<'py, PyDict>> {
    // Read the rays.
    let py = rays.py();
    check_finite("time", &[time])?;
    let origin = origin.map(read_origin).transpose()?;
    let numbers = floats_of_either("rays", rays)?;
    let (width, expected) = match origin {
        None => (6, "(..., 6)"),
        Some(_) => (3, "(..., 3), with an origin"),
    };
    let shape = match numbers.shape.split_last() {
        Some((last, shape)) if *last == width => shape,
        _ => return Err(wrong_shape("rays", expected, &numbers.shape).into()),
    };

    // Cast them.
    let count = shape.iter().product();
    let deforms = scene.deforms();
    let cast = || {
        let deformed = deforms.then(|| scene.at(time));
        let scene = deformed.as_ref().unwrap_or(scene);
        match &numbers.values {
            Floats::Single(numbers) => RayRows { numbers, origin }.cast(scene, time, keys),
            Floats::Double(numbers) => RayRows { numbers, origin }.cast(scene, time, keys),
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
    if keys.t_hit {
        result.set_item("t_hit", array(py, columns.t_hit, shape)?)?;
    }
    if keys.geometry_ids {
        result.set_item("geometry_ids", array(py, columns.geometry_ids, shape)?)?;
    }
    if keys.primitive_ids {
        result.set_item("primitive_ids", array(py, columns.primitive_ids, shape)?)?;
    }
    if keys.primitive_uvs {
        let weights = array(py, columns.primitive_uvs, &with(2))?;
        result.set_item("primitive_uvs", weights)?;
    }
    if keys.primitive_normals {
        let normals = array(py, columns.primitive_normals, &with(3))?;
        result.set_item("primitive_normals", normals)?;
    }
    Ok(result)
}

/// The argument `origin`.
fn read_origin(origin: &Bound<'_, PyAny>) -> PyResult<Point3<f64>> {
    let numbers = floats("origin", origin)?;
    check_finite("origin", &numbers.values)?;
    match numbers.values[..] {
        [x, y, z] if numbers.shape == [3] => Ok(Point3::new(x, y, z)),
        _ => Err(wrong_shape("origin", "(3,)", &numbers.shape)),
    }
}

/// Whether the length of a direction is zero, or overflows.
fn has_no_length(direction: Vector3<f64>) -> bool {
    let largest = direction.amax();
    largest == 0.0 || (largest > 1e300 && !normalized(direction).1.is_finite())
}

/// Divides the directions of a tile by their lengths. Returns whether no number overflowed or lost digits: then all are finite,
/// and all directions have a length.
fn normalize(rays: &mut RayTile, lengths: &mut [f64; 16]) -> bool {
    // Square all lanes.
    let [x, y, z] = &mut rays.direction;
    let mut is_normal = true;
    for lane in 0..16 {
        let square = x[lane] * x[lane] + y[lane] * y[lane] + z[lane] * z[lane];
        is_normal &= NORMAL_SQUARES.contains(&square);
        lengths[lane] = square.sqrt();
    }
    for axis in &rays.origin {
        is_normal &= axis.iter().fold(0.0, |sum, number| sum + number * 0.0) == 0.0;
    }

    // Very short or long directions are scaled first.
    if !is_normal {
        for lane in 0..16 {
            let (unit, length) = normalized(Vector3::new(x[lane], y[lane], z[lane]));
            [x[lane], y[lane], z[lane]] = unit.into();
            lengths[lane] = length;
        }
        return false;
    }
    for lane in 0..16 {
        x[lane] /= lengths[lane];
        y[lane] /= lengths[lane];
        z[lane] /= lengths[lane];
    }
    true
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
