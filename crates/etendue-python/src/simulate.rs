//! Simulation of one sweep.

use crate::arrays::{check_finite, whole_number};
use crate::errors::Outcome;
use crate::gpu::Gpu;
use crate::lidar::Lidar;
use crate::scene::{Scene, SceneArgument};
use crate::sweep::Sweep;
use crate::threads::{self, Control};
use crate::trajectory::SensorMotion;
use crate::variations::Variations;
use crate::weather::air;
use etendue::config::scene::LoadedScene;
use etendue::scene::Scene as Objects;
use etendue::sensors::lidar::{
    Lidar as Description, LightModel, Sweep as RawSweep, SweepSettings, simulate as simulate_sweep,
};
use etendue::sensors::transport::World;
use nalgebra::Isometry3;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::borrow::Cow;

/// A world with the noise profiles and the ambient light of a scene file.
pub fn world_of<'a>(world: World<'a, f64>, loaded: &'a LoadedScene) -> World<'a, f64> {
    world
        .with_profiles(&loaded.profiles)
        .in_light(&loaded.ambient)
}

/// Simulate one sweep of a lidar.
///
/// The result depends on the arguments only, not on `threads`.
///
/// Parameters
/// ----------
/// scene : Scene
/// lidar : Lidar
/// pose : array of the shape (4, 4), or (position, quaternion), or Trajectory, optional
///     Pose of the sensor, world from sensor: a homogeneous matrix, or a position (m) and a quaternion
///     (x, y, z, w). A trajectory moves the sensor; its first pose is at the time 0.
///     Default: the pose in the scene file, with its motion.
/// bodies : dict of str to pose, optional
///     Poses of objects by name, world from object; the objects do not move during the sweep. Acceleration
///     structures are shared with the scene.
/// values : dict of str to float, optional
///     Numbers of materials and of the lidar by path: "materials.NAME.PARAMETER" as for `jacobian`, and
///     "sensor.KEY" with a key of the sensor file.
/// weather : dict of str to float, optional
///     Kinds of weather, each of which replaces the same kind in the scene file, as the options of `etendue
///     simulate`: "visibility" (m, haze), "fog" (visibility in fog, m), "rain", "snow" (mm/h), "dust" (g/m³) and
///     "drops_from" (mm, diameter from which drops are drawn one by one). 0 removes rain, snow or dust.
/// paths : int, optional
///     Number of random light paths per ray, for light that several rough surfaces reflect. Default: ray trees,
///     which are faster and only follow mirrors and glass.
/// seed : int, default 1
///     Seed of all noise.
/// sweep : int, default 0
///     Index of the sweep: sweeps of one seed have different noise, and other beams if the pattern of
///     the lidar does not repeat.
/// time : float, optional
///     Start of the sweep, s. Default: `sweep` times the duration of a sweep.
/// device : str, default "cpu"
///     "cpu", "gpu" (the first of `devices()`), "gpu:N" (that of the number N), or "auto": a GPU if there is one that is
///     not software, else the CPU. What a GPU does not simulate (docs/gpu.md) is simulated on the CPU, with a
///     UserWarning that names the reason.
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
///     The motion of the sensor does not cover the sweep.
/// UnknownNameError
///     No object, number or kind of weather has a name.
/// DeviceError
///     There is no such GPU, or it fails; with "auto", that is a warning, and the CPU simulates.
/// KeyboardInterrupt
///     Ctrl-C was pressed.
/// ValueError
///     The scene has no pose, or an argument is outside its domain.
///
/// Examples
/// --------
/// >>> import etendue as et
/// >>> sweep = et.simulate(et.Scene.arena(), et.Lidar("hokuyo-urg-04lx"), seed=1)
/// >>> sweep.points.shape[1], sweep.image("range")[0].shape
/// (3, (1, 682))
///
/// On a GPU, if there is one:
///
/// >>> lidar = et.Lidar("velodyne-vlp-16")
/// >>> on_gpu, on_cpu = (et.simulate(et.Scene.arena(), lidar, device=name) for name in ("auto", "cpu"))
/// >>> abs(len(on_gpu) - len(on_cpu)) <= 3
/// True
#[pyfunction]
#[pyo3(signature = (scene, lidar, pose = None, *, bodies = None, values = None, weather = None, paths = None, seed = 1, sweep = 0, time = None, device = "cpu", threads = None, truth = false))]
#[expect(clippy::too_many_arguments, reason = "keyword arguments of Python")]
pub fn simulate(
    py: Python<'_>,
    scene: SceneArgument<'_>,
    lidar: &Bound<'_, Lidar>,
    pose: Option<&Bound<'_, PyAny>>,
    bodies: Option<&Bound<'_, PyDict>>,
    values: Option<&Bound<'_, PyDict>>,
    weather: Option<&Bound<'_, PyDict>>,
    paths: Option<i64>,
    #[pyo3(from_py_with = seed_of)] seed: u64,
    #[pyo3(from_py_with = sweep_of)] sweep: u32,
    time: Option<f64>,
    device: &str,
    threads: Option<i64>,
    truth: bool,
) -> Outcome<Sweep> {
    // Read the arguments.
    let (scene, lidar) = (scene.get(), lidar.get());
    let loaded = scene.loaded();
    check_finite("time", time.as_slice())?;
    let settings = SweepSettings {
        seed,
        sweep,
        start: time,
        air: air(&loaded.air, weather)?,
        light: light_of(paths)?,
        with_truth: truth,
        ..SweepSettings::default()
    };
    let variations = Variations::single(scene, lidar, bodies, values)?;
    let description = variations.lidar(0, lidar)?;
    let motion = SensorMotion::of(scene, pose)?;
    let start = settings.start_of(&description);
    motion.check_span(start, start + description.sweep_duration())?;

    let single = Single {
        scene,
        lidar,
        description: &description,
        variations: &variations,
        motion,
        settings,
    };

    // Simulate on the GPU, or where there is none or it cannot, on the CPU.
    let gpu = Gpu::of(py, device)?;
    let of_gpu = gpu.map(|gpu| gpu.simulate(py, &single, threads));
    let result = match of_gpu.transpose()?.flatten() {
        Some(result) => result,
        None => threads::run_controlled(py, threads, single.rays(), None, |control| {
            single.simulate(control)
        })??,
    };
    Ok(Sweep::new(result, lidar.sensor(), loaded, truth))
}

/// The sweep of a call.
pub struct Single<'a> {
    pub scene: &'a Scene,
    pub lidar: &'a Lidar,
    /// The lidar with the values of the call.
    pub description: &'a Description,
    variations: &'a Variations,
    motion: SensorMotion<'a>,
    pub settings: SweepSettings,
}

impl Single<'_> {
    /// Number of rays.
    pub fn rays(&self) -> usize {
        self.lidar.rays()
    }

    /// The objects, with the poses of the call.
    pub fn objects(&self) -> Cow<'_, Objects> {
        self.variations.objects(0, &self.scene.loaded().scene)
    }

    /// The world of these objects.
    pub fn world<'o>(&'o self, objects: &'o Objects) -> Outcome<World<'o, f64>> {
        (self.variations).world(0, self.scene.loaded(), objects, self.description)
    }

    /// The pose of the sensor at a time, s, unless Ctrl-C was pressed.
    pub fn pose(&self, time: f64, control: &Control) -> Isometry3<f64> {
        control.check();
        self.motion.at(time)
    }

    /// Simulates on the CPU.
    fn simulate(&self, control: &Control) -> Outcome<RawSweep> {
        let objects = self.objects();
        let world = self.world(&objects)?;
        let pose = |time| self.pose(time, control);
        Ok(simulate_sweep(
            &world,
            self.description,
            &self.settings,
            pose,
        ))
    }
}

/// The light transport of the argument `paths`.
pub fn light_of(paths: Option<i64>) -> PyResult<LightModel> {
    let Some(given) = paths else {
        return Ok(LightModel::default());
    };
    let paths = u32::try_from(given).ok().filter(|paths| *paths > 0);
    let paths = paths.ok_or_else(|| {
        PyValueError::new_err(format!(
            "paths: expected a number from 1 to {}, got {given}",
            u32::MAX
        ))
    })?;
    Ok(LightModel::with_paths(paths))
}

/// The argument `seed`.
pub fn seed_of(value: &Bound<'_, PyAny>) -> PyResult<u64> {
    whole_number("seed", value, u64::MAX)
}

/// The argument `sweep`.
pub fn sweep_of(value: &Bound<'_, PyAny>) -> PyResult<u32> {
    whole_number("sweep", value, u32::MAX)
}
