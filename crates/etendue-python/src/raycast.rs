//! Ray casting.

use crate::arrays::{array, check_finite, floats, wrong_shape};
use crate::errors::Outcome;
use crate::threads;
use etendue::raycast::{CastScratch, Hit, Ray};
use etendue::scene::Scene;
use nalgebra::{Point3, Vector3};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use rayon::prelude::*;

/// Index of a miss.
pub const INVALID_ID: u32 = u32::MAX;

/// Number of rays that are read, cast and written together, while they are in the cache.
const BLOCK: usize = 4096;

/// Columns of the hits.
struct HitColumns {
    t_hit: Vec<f64>,
    geometry_ids: Vec<u32>,
    primitive_ids: Vec<u32>,
    primitive_uvs: Vec<f64>,
    primitive_normals: Vec<f64>,
}

/// The part of the columns of one block of rays.
struct BlockColumns<'c> {
    t_hit: &'c mut [f64],
    geometry_ids: &'c mut [u32],
    primitive_ids: &'c mut [u32],
    primitive_uvs: &'c mut [f64],
    primitive_normals: &'c mut [f64],
}

/// Buffers of a thread.
#[derive(Default)]
struct BlockMemory {
    rays: Vec<Ray>,
    lengths: Vec<f64>,
    hits: Vec<Option<Hit>>,
    scratch: CastScratch,
}

impl HitColumns {
    /// Columns of misses.
    fn of_misses(rays: usize) -> Self {
        Self {
            t_hit: vec![f64::INFINITY; rays],
            geometry_ids: vec![INVALID_ID; rays],
            primitive_ids: vec![INVALID_ID; rays],
            primitive_uvs: vec![0.0; 2 * rays],
            primitive_normals: vec![0.0; 3 * rays],
        }
    }

    /// The parts of the blocks.
    fn blocks(&mut self) -> impl IndexedParallelIterator<Item = BlockColumns<'_>> {
        let ids = self.geometry_ids.par_chunks_mut(BLOCK);
        let ids = ids.zip(self.primitive_ids.par_chunks_mut(BLOCK));
        let vectors = self.primitive_uvs.par_chunks_mut(2 * BLOCK);
        let vectors = vectors.zip(self.primitive_normals.par_chunks_mut(3 * BLOCK));
        let all = self.t_hit.par_chunks_mut(BLOCK).zip(ids).zip(vectors);
        all.map(|((t_hit, ids), vectors)| BlockColumns {
            t_hit,
            geometry_ids: ids.0,
            primitive_ids: ids.1,
            primitive_uvs: vectors.0,
            primitive_normals: vectors.1,
        })
    }
}

impl BlockColumns<'_> {
    /// Casts the rays of a block, six numbers each, at a time (s), and writes their hits.
    fn cast(self, scene: &Scene, numbers: &[f64], time: f64, memory: &mut BlockMemory) {
        let BlockMemory {
            rays,
            lengths,
            hits,
            scratch,
        } = memory;
        rays.clear();
        lengths.clear();
        for ray in numbers.chunks_exact(6) {
            let (direction, length) = normalized(&ray[3..]);
            lengths.push(length);
            rays.push(Ray {
                time,
                ..Ray::new(Point3::from_slice(&ray[..3]), direction)
            });
        }
        scene.closest_hits(rays, hits, scratch);
        for (ray, (hit, length)) in hits.iter().zip(lengths).enumerate() {
            if let Some(hit) = hit {
                self.t_hit[ray] = hit.distance / *length;
                self.geometry_ids[ray] = hit.object.0;
                self.primitive_ids[ray] = hit.triangle;
                self.primitive_uvs[2 * ray..][..2].copy_from_slice(&hit.barycentric);
                self.primitive_normals[3 * ray..][..3].copy_from_slice(hit.normal.as_slice());
            }
        }
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
    let numbers = floats("rays", rays)?;
    let Some((6, shape)) = numbers.shape.split_last() else {
        return Err(wrong_shape("rays", "(..., 6)", &numbers.shape).into());
    };
    let (numbers, shape) = (&numbers.values, shape);
    check_finite("rays", numbers)?;
    let mut directions = numbers.chunks_exact(6).map(|ray| &ray[3..]);
    if let Some(number) = directions.position(has_no_length) {
        let (_, length) = normalized(&numbers[6 * number + 3..][..3]);
        let text = format!("rays: the direction of ray {number} has the length {length}");
        return Err(PyValueError::new_err(text).into());
    }

    // Cast them in blocks.
    let count = numbers.len() / 6;
    let columns = threads::run(py, threads, count, || {
        let deformed = scene.deforms().then(|| scene.at(time));
        let scene = deformed.as_ref().unwrap_or(scene);
        let mut columns = HitColumns::of_misses(count);
        let blocks = numbers.par_chunks(6 * BLOCK).zip(columns.blocks());
        blocks.for_each_init(BlockMemory::default, |memory, (numbers, columns)| {
            columns.cast(scene, numbers, time, memory);
        });
        columns
    })?;

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
fn has_no_length(direction: &[f64]) -> bool {
    let largest = direction
        .iter()
        .fold(0.0_f64, |most, one| most.max(one.abs()));
    largest == 0.0 || (largest > 1e300 && !normalized(direction).1.is_finite())
}

/// Unit vector and length of a direction, without overflow or underflow of squares.
fn normalized(direction: &[f64]) -> (Vector3<f64>, f64) {
    let direction = Vector3::from_column_slice(direction);
    let scale = direction.amax();
    if scale == 0.0 {
        return (direction, 0.0);
    }
    let scaled = direction / scale;
    let norm = scaled.norm();
    (scaled / norm, norm * scale)
}
