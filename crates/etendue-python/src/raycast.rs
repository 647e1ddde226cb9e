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

/// Index of a miss.
pub const INVALID_ID: u32 = u32::MAX;

/// Columns of the hits.
#[derive(Default)]
struct HitColumns {
    t_hit: Vec<f64>,
    geometry_ids: Vec<u32>,
    primitive_ids: Vec<u32>,
    primitive_uvs: Vec<f64>,
    primitive_normals: Vec<f64>,
}

impl HitColumns {
    fn add(&mut self, hit: Option<&Hit>, length: f64) {
        let ids = hit.map_or([INVALID_ID; 2], |hit| [hit.object.0, hit.triangle]);
        let distance = hit.map_or(f64::INFINITY, |hit| hit.distance);
        self.t_hit.push(distance / length);
        self.geometry_ids.push(ids[0]);
        self.primitive_ids.push(ids[1]);
        let weights = hit.map_or([0.0; 2], |hit| hit.barycentric);
        self.primitive_uvs.extend(weights);
        let normal: [f64; 3] = hit.map_or([0.0; 3], |hit| hit.normal.into());
        self.primitive_normals.extend(normal);
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
    check_finite("rays", &numbers.values)?;
    let directions = numbers.values.chunks_exact(6).map(|ray| &ray[3..]);
    let directions: Vec<(Vector3<f64>, f64)> = directions.map(normalized).collect();
    let is_wrong = |(_, length): &(Vector3<f64>, f64)| *length <= 0.0 || !length.is_finite();
    if let Some(number) = directions.iter().position(is_wrong) {
        let length = directions[number].1;
        let text = format!("rays: the direction of ray {number} has the length {length}");
        return Err(PyValueError::new_err(text).into());
    }

    // Cast them.
    let columns = threads::run(py, threads, directions.len(), || {
        let deformed = scene.deforms().then(|| scene.at(time));
        let scene = deformed.as_ref().unwrap_or(scene);
        let ray = |(ray, (direction, _)): (&[f64], &(Vector3<f64>, f64))| Ray {
            time,
            ..Ray::new(Point3::from_slice(&ray[..3]), *direction)
        };
        let rays = numbers.values.chunks_exact(6).zip(&directions);
        let rays: Vec<Ray> = rays.map(ray).collect();
        let mut hits = Vec::new();
        scene.closest_hits(&rays, &mut hits, &mut CastScratch::new());
        let mut columns = HitColumns::default();
        for (hit, (_, length)) in hits.iter().zip(&directions) {
            columns.add(hit.as_ref(), *length);
        }
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
