//! Simulation of many poses.

use crate::arrays::{array, check_finite};
use crate::errors::Outcome;
use crate::lidar::Lidar;
use crate::pose::poses as read_poses;
use crate::scene::Scene;
use crate::simulate::{seed_of, world};
use crate::threads;
use etendue::sensors::lidar::{Sweep, SweepScratch, SweepSettings, simulate_into};
use numpy::PyArrayDyn;
use pyo3::prelude::*;
use rayon::prelude::*;

/// Range (m), intensity (counts) and validity of a batch.
type BatchArrays<'py> = (
    Bound<'py, PyArrayDyn<f64>>,
    Bound<'py, PyArrayDyn<f64>>,
    Bound<'py, PyArrayDyn<bool>>,
);

/// Simulate a sweep at each of many poses.
///
/// Item `i` equals `simulate(scene, lidar, poses[i], seed=seed, sweep=i, time=time)`: all items begin at the
/// same time, with different noise.
///
/// Parameters
/// ----------
/// scene : Scene
/// lidar : Lidar
/// poses : array of the shape (n, 4, 4)
///     Poses of the sensor, world from sensor.
/// seed : int, default 0
///     Seed of all noise.
/// time : float, default 0
///     Start of every sweep, s.
/// threads : int, optional
///     Number of threads; the results do not depend on it.
///
/// Returns
/// -------
/// range : float64 (n, channels, columns)
///     Range of the first return of each shot, m; NaN where there is none. The highest ring is the first row.
/// intensity : float64 (n, channels, columns)
///     Its intensity, counts; NaN where there is none.
/// valid : bool (n, channels, columns)
///     Whether the shot has a return.
///
/// Examples
/// --------
/// >>> import etendue as et
/// >>> import numpy as np
/// >>> scene, lidar = et.Scene.arena(), et.Lidar("hokuyo-urg-04lx")
/// >>> poses = np.stack([scene.sensor_pose] * 3)
/// >>> range, intensity, valid = et.simulate_batch(scene, lidar, poses)
/// >>> range.shape
/// (3, 1, 682)
#[pyfunction]
#[pyo3(signature = (scene, lidar, poses, *, seed = 0, time = 0.0, threads = None))]
pub fn simulate_batch<'py>(
    scene: &Bound<'py, Scene>,
    lidar: &Bound<'py, Lidar>,
    poses: &Bound<'py, PyAny>,
    #[pyo3(from_py_with = seed_of)] seed: u64,
    time: f64,
    threads: Option<i64>,
) -> Outcome<BatchArrays<'py>> {
    // Read the poses, and allocate the images.
    let py = scene.py();
    let (loaded, sensor) = (scene.get().loaded(), lidar.get().sensor());
    let description = &sensor.lidar;
    check_finite("time", &[time])?;
    let poses = read_poses("poses", poses)?;
    let [channels, columns] = [description.channels.len(), description.columns() as usize];
    let cells = channels * columns;
    let mut ranges = vec![f64::NAN; poses.len() * cells];
    let mut intensities = ranges.clone();

    // Simulate all poses.
    let rays = poses.len() * lidar.get().rays();
    threads::run(py, threads, rays, || {
        let world = world(loaded, description)?;
        let images = ranges
            .par_chunks_mut(cells)
            .zip(intensities.par_chunks_mut(cells));
        let runs = (poses.par_iter().enumerate()).zip(images);
        let memory = || (Sweep::default(), SweepScratch::default());
        runs.for_each_init(
            memory,
            |(sweep, scratch), ((number, pose), (range, intensity))| {
                let settings = SweepSettings {
                    seed,
                    sweep: u32::try_from(number).unwrap_or(u32::MAX),
                    start: Some(time),
                    air: loaded.air.clone(),
                    ..SweepSettings::default()
                };
                simulate_into(&world, description, &settings, |_| *pose, sweep, scratch);
                let first = |sweep: &Sweep, shot: usize| sweep.points_of(shot).first().copied();
                range.copy_from_slice(
                    &sweep.image(|sweep, shot| {
                        first(sweep, shot).map_or(f64::NAN, |point| point.range)
                    }),
                );
                intensity.copy_from_slice(&sweep.image(|sweep, shot| {
                    first(sweep, shot).map_or(f64::NAN, |point| point.intensity)
                }));
            },
        );
        Outcome::Ok(())
    })??;

    // Give the memory to NumPy.
    let valid = ranges.iter().map(|range| !range.is_nan()).collect();
    let shape = [poses.len(), channels, columns];
    Ok((
        array(py, ranges, &shape)?,
        array(py, intensities, &shape)?,
        array(py, valid, &shape)?,
    ))
}
