//! Simulation of one sweep.

use crate::arrays::{check_finite, whole_number};
use crate::errors::{Failure, Outcome};
use crate::lidar::Lidar;
use crate::pose::pose as read_pose;
use crate::scene::Scene;
use crate::sweep::Sweep;
use crate::threads;
use etendue::config::scene::LoadedScene;
use etendue::scene::Trajectory;
use etendue::sensors::lidar::{Lidar as Description, SweepSettings, simulate as simulate_sweep};
use etendue::sensors::transport::{World, WorldError};
use nalgebra::Isometry3;
use pyo3::prelude::*;

/// The scene at the wavelength of a lidar, with its noise profiles and its ambient light.
pub fn world<'a>(
    loaded: &'a LoadedScene,
    lidar: &Description,
) -> Result<World<'a, f64>, WorldError> {
    let world = World::at_wavelength(&loaded.scene, lidar.wavelength)?;
    Ok(world
        .with_profiles(&loaded.profiles)
        .in_light(&loaded.ambient))
}

/// Simulate one sweep of a lidar.
///
/// The result depends on the arguments only, not on `threads`.
///
/// Parameters
/// ----------
/// scene : Scene
/// lidar : Lidar
/// pose : array of the shape (4, 4), or (position, quaternion), optional
///     Pose of the sensor, world from sensor: a homogeneous matrix, or a position (m) and a quaternion
///     (x, y, z, w). Default: the pose in the scene file, with its motion.
/// seed : int, default 0
///     Seed of all noise.
/// sweep : int, default 0
///     Index of the sweep: sweeps of one seed have different noise, and other beams if the pattern of
///     the lidar does not repeat.
/// time : float, optional
///     Start of the sweep, s. Default: `sweep` times the duration of a sweep.
/// threads : int, optional
///     Number of threads. Default: one per processor, and fewer for small sweeps.
/// truth : bool, default False
///     Whether to find the first surface on the axis of each beam, and to give `Sweep.truth`.
///
/// Returns
/// -------
/// Sweep
///
/// Raises
/// ------
/// WorldError
///     A material has no values at the wavelength of the lidar.
/// TrajectoryError
///     The motion in the scene file does not cover the sweep.
/// ValueError
///     The scene has no pose, or an argument is outside its domain.
///
/// Examples
/// --------
/// >>> import etendue as et
/// >>> sweep = et.simulate(et.Scene.arena(), et.Lidar("hokuyo-urg-04lx"), seed=1)
/// >>> sweep.points.shape[1], sweep.image("range")[0].shape
/// (3, (1, 682))
#[pyfunction]
#[pyo3(signature = (scene, lidar, pose = None, *, seed = 0, sweep = 0, time = None, threads = None, truth = false))]
#[expect(clippy::too_many_arguments, reason = "keyword arguments of Python")]
pub fn simulate(
    py: Python<'_>,
    scene: &Bound<'_, Scene>,
    lidar: &Bound<'_, Lidar>,
    pose: Option<&Bound<'_, PyAny>>,
    #[pyo3(from_py_with = seed_of)] seed: u64,
    #[pyo3(from_py_with = sweep_of)] sweep: u32,
    time: Option<f64>,
    threads: Option<i64>,
    truth: bool,
) -> Outcome<Sweep> {
    // Read the pose and the settings.
    let (scene, lidar) = (scene.get(), lidar.get());
    let given = pose.map(|pose| read_pose("pose", pose)).transpose()?;
    let start = scene.sensor_pose_or(given)?;
    check_finite("time", time.as_slice())?;
    let loaded = scene.loaded();
    let settings = SweepSettings {
        seed,
        sweep,
        start: time,
        air: loaded.air.clone(),
        with_truth: truth,
        ..SweepSettings::default()
    };
    let description = &lidar.sensor().lidar;
    let motion = motion_of(loaded, given, &settings, description)?;

    // Simulate.
    let result = threads::run(py, threads, lidar.rays(), || {
        let world = world(loaded, description)?;
        let pose = |time| motion.map_or(start, |motion| motion.at(time));
        Ok::<_, Failure>(simulate_sweep(&world, description, &settings, pose))
    })??;
    Ok(Sweep::new(result, lidar.sensor(), loaded, truth))
}

/// The argument `seed`.
pub fn seed_of(value: &Bound<'_, PyAny>) -> PyResult<u64> {
    whole_number("seed", value, u64::MAX)
}

/// The argument `sweep`.
fn sweep_of(value: &Bound<'_, PyAny>) -> PyResult<u32> {
    whole_number("sweep", value, u32::MAX)
}

/// The motion of the sensor in the scene file, if no pose is given; an error if it does not cover the sweep.
fn motion_of<'a>(
    loaded: &'a LoadedScene,
    given: Option<Isometry3<f64>>,
    settings: &SweepSettings,
    lidar: &Description,
) -> Outcome<Option<&'a Trajectory>> {
    let placement = loaded.sensor.as_ref().filter(|_| given.is_none());
    let motion = placement.and_then(|placement| placement.motion.as_ref());
    if let Some(Trajectory::KeyFrames(frames)) = motion {
        let start = settings.start_of(lidar);
        frames.check_span(start, start + lidar.sweep_duration())?;
    }
    Ok(motion)
}
