//! Simulation of many environments.

use crate::arrays::{check_finite, wrong_shape};
use crate::errors::{Failure, Outcome};
use crate::gpu::Gpu;
use crate::lidar::Lidar;
use crate::pose::poses as read_poses;
use crate::scene::{Scene, SceneArgument};
use crate::simulate::{light_of, seed_of, sweep_of};
use crate::threads::{self, Control, Progress};
use crate::variations::Variations;
use crate::weather::air;
use etendue::sensors::lidar::{
    Air, Lidar as Description, LightModel, Sweep, SweepScratch, SweepSettings, simulate_into,
};
use etendue::sensors::transport::World;
use nalgebra::Isometry3;
use numpy::{
    Element, PyArrayDyn, PyArrayMethods, PyReadwriteArrayDyn, PyUntypedArray,
    PyUntypedArrayMethods, dtype as dtype_of,
};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use rayon::prelude::*;
#[cfg(feature = "gpu")]
use std::ops::Range;

/// A number type of the results.
pub trait Number: Element + Copy + Into<f64> + Send + Sync {
    /// A number in this type.
    fn of(number: f64) -> Self;

    /// The same numbers, if the type is that of GPUs.
    #[cfg(feature = "gpu")]
    fn singles(numbers: &mut [Self]) -> Option<&mut [f32]>;
}

impl Number for f64 {
    fn of(number: f64) -> Self {
        number
    }

    #[cfg(feature = "gpu")]
    fn singles(_: &mut [Self]) -> Option<&mut [f32]> {
        None
    }
}

impl Number for f32 {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "the caller requested the type"
    )]
    fn of(number: f64) -> Self {
        number as Self
    }

    #[cfg(feature = "gpu")]
    fn singles(numbers: &mut [Self]) -> Option<&mut [f32]> {
        Some(numbers)
    }
}

/// Simulate a sweep at each of many poses.
///
/// Item `i` equals `simulate(scene, lidar, poses[i], seed=seed, sweep=sweep + i, time=time)` with the bodies and
/// values of environment `i`, bit for bit in float64: all items begin at the same time, with different noise.
///
/// Environments share the meshes of the scene and their acceleration structures. While an environment is
/// simulated, it has objects, materials and a lidar of its own; one per thread exists at a time.
///
/// Parameters
/// ----------
/// scene : Scene
/// lidar : Lidar
/// poses : array of the shape (n, 4, 4)
///     Poses of the sensor, world from sensor.
/// bodies : dict of str to array of the shape (n, 4, 4), optional
///     Poses of objects by name in each environment, world from object. They do not move during the sweep.
/// values : dict of str to array of the shape (n,), optional
///     Numbers of each environment by path: "materials.NAME.PARAMETER" as for `jacobian`, and "sensor.KEY" with a
///     key of the sensor file.
/// randomise : dict of str to (float, float), optional
///     Least and greatest number by path; the numbers are those of `draw(randomise, n, seed=seed)`.
/// weather : dict of str to float, optional
///     Weather, as for `simulate`.
/// paths : int, optional
///     Number of random light paths per ray, as for `simulate`.
/// seed : int, default 1
///     Seed of all noise and of `randomise`.
/// sweep : int, default 0
///     Index of the sweep of item 0. The next step of n environments is at `sweep + n`.
/// time : float, default 0
///     Start of every sweep, s.
/// labels : bool, default False
///     Whether to return the objects.
/// dtype : {"float64", "float32"}, default "float64"
///     Type of range and intensity.
/// out : dict of str to numpy.ndarray, optional
///     Arrays in C order, "range", "intensity" (of one type, float64 or float32), "valid" (bool) and, for labels,
///     "label" (int32), which are overwritten and returned. `dtype` is then that of "range".
/// device : str, default "cpu"
///     As for `simulate`. The images of a GPU are computed in float32; docs/python.md states how they agree with those
///     of the CPU. The scene stays in the memory of the GPU until `scene` is deleted. `values` and `randomise` are
///     simulated on the CPU, with a warning.
/// threads : int, optional
///     Number of threads; the results do not depend on it.
/// progress : callable or bool, optional
///     Function of the finished and of all environments, called about every 50 ms. An exception ends the call.
///     True shows a bar of tqdm where it is installed.
///
/// Returns
/// -------
/// range : float (n, channels, columns)
///     Range of the first return of each shot, m; NaN where there is none. The highest ring is the first row.
/// intensity : float (n, channels, columns)
///     Its intensity, counts; NaN where there is none.
/// valid : bool (n, channels, columns)
///     Whether the shot has a return.
/// label : int32 (n, channels, columns)
///     With `labels`: index of the object of the first return; -1 for none, for the air and for false alarms.
///
/// Raises
/// ------
/// UnknownNameError
///     No object or number has a name.
/// DeviceError
///     As for `simulate`.
/// KeyboardInterrupt
///     Ctrl-C was pressed; `out` has the environments that were finished.
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
///
/// Objects and materials of each environment:
///
/// >>> mirror = np.stack([np.eye(4)] * 3)
/// >>> mirror[:, 0, 3] = 0.1, 0.2, 0.3
/// >>> _ = et.simulate_batch(scene, lidar, poses, bodies={"mirror": mirror},
/// ...     randomise={"materials.wall.reflectance": (0.3, 0.9), "sensor.range.far_m": (4.0, 5.6)})
///
/// On a GPU, if there is one:
///
/// >>> vlp = et.Lidar("velodyne-vlp-16")
/// >>> on_gpu, *_ = et.simulate_batch(scene, vlp, poses, dtype="float32", device="auto")
/// >>> on_cpu, *_ = et.simulate_batch(scene, vlp, poses, dtype="float32")
/// >>> bool(np.nanmedian(abs(on_gpu - on_cpu)) < 1e-5)
/// True
#[pyfunction]
#[pyo3(signature = (scene, lidar, poses, *, bodies = None, values = None, randomise = None, weather = None, paths = None, seed = 1, sweep = 0, time = 0.0, labels = false, dtype = None, out = None, device = "cpu", threads = None, progress = None))]
#[expect(clippy::too_many_arguments, reason = "keyword arguments of Python")]
pub fn simulate_batch<'py>(
    scene: SceneArgument<'py>,
    lidar: &Bound<'py, Lidar>,
    poses: &Bound<'py, PyAny>,
    bodies: Option<&Bound<'py, PyDict>>,
    values: Option<&Bound<'py, PyDict>>,
    randomise: Option<&Bound<'py, PyDict>>,
    weather: Option<&Bound<'py, PyDict>>,
    paths: Option<i64>,
    #[pyo3(from_py_with = seed_of)] seed: u64,
    #[pyo3(from_py_with = sweep_of)] sweep: u32,
    time: f64,
    labels: bool,
    dtype: Option<&Bound<'py, PyAny>>,
    out: Option<&Bound<'py, PyDict>>,
    device: &str,
    threads: Option<i64>,
    progress: Option<&Bound<'py, PyAny>>,
) -> Outcome<Bound<'py, PyTuple>> {
    // Read the arguments.
    let py = scene.py();
    let (scene, lidar) = (scene.get(), lidar.get());
    check_finite("time", &[time])?;
    let poses = read_poses("poses", poses)?;
    let changes = [bodies, values, randomise];
    let batch = Batch {
        scene,
        lidar,
        variations: Variations::batch(scene, lidar, changes, seed, poses.len())?,
        air: air(&scene.loaded().air, weather)?,
        light: light_of(paths)?,
        seed,
        sweep,
        time,
        labels,
        poses: &poses,
    };
    let progress = Progress::of(progress, poses.len())?;
    let gpu = Gpu::of(py, device)?;
    let gpu = gpu.as_ref().filter(|_| !poses.is_empty());

    // Simulate into arrays of the type.
    if is_single(py, dtype, out)? {
        batch.run::<f32>(py, out, gpu, threads, progress.as_ref())
    } else {
        batch.run::<f64>(py, out, gpu, threads, progress.as_ref())
    }
}

/// Environments and settings of a call.
pub struct Batch<'a> {
    pub scene: &'a Scene,
    pub lidar: &'a Lidar,
    pub variations: Variations,
    air: Air,
    light: LightModel,
    seed: u64,
    sweep: u32,
    time: f64,
    labels: bool,
    pub poses: &'a [Isometry3<f64>],
}

/// Images of several environments, one after the other.
pub struct Arrays<'a, T> {
    pub range: &'a mut [T],
    pub intensity: &'a mut [T],
    pub valid: &'a mut [bool],
    pub label: Option<&'a mut [i32]>,
    /// Number of cells of an image.
    pub cells: usize,
}

/// Images of one environment.
struct Images<'a, T> {
    range: &'a mut [T],
    intensity: &'a mut [T],
    valid: &'a mut [bool],
    label: Option<&'a mut [i32]>,
}

impl Batch<'_> {
    /// Simulates all environments into given or new arrays.
    fn run<'py, T: Number>(
        &self,
        py: Python<'py>,
        out: Option<&Bound<'py, PyDict>>,
        gpu: Option<&Gpu>,
        threads: Option<i64>,
        progress: Option<&Progress>,
    ) -> Outcome<Bound<'py, PyTuple>> {
        // Find or make the arrays.
        let description = &self.lidar.sensor().lidar;
        let [channels, columns] = [description.channels.len(), description.columns() as usize];
        let shape = [self.poses.len(), channels, columns];
        let range = output::<T>(py, out, "range", &shape)?;
        let intensity = output::<T>(py, out, "intensity", &shape)?;
        let valid = output::<bool>(py, out, "valid", &shape)?;
        let label = self.labels.then(|| output::<i32>(py, out, "label", &shape));
        let label = label.transpose()?;

        // Simulate into them.
        {
            let mut range = writable("range", &range)?;
            let mut intensity = writable("intensity", &intensity)?;
            let mut valid = writable("valid", &valid)?;
            let label = label.as_ref().map(|label| writable("label", label));
            let mut label = label.transpose()?;
            let mut arrays = Arrays {
                range: slice("range", &mut range)?,
                intensity: slice("intensity", &mut intensity)?,
                valid: slice("valid", &mut valid)?,
                label: label
                    .as_mut()
                    .map(|label| slice("label", label))
                    .transpose()?,
                cells: channels * columns,
            };
            let is_done = match gpu {
                Some(gpu) => gpu.simulate_batch(py, self, &mut arrays, threads, progress)?,
                None => false,
            };
            if !is_done {
                threads::run_controlled(py, threads, self.rays(), progress, |control| {
                    self.simulate(arrays.images(), control)
                })??;
            }
        }
        let arrays = [range.into_any(), intensity.into_any(), valid.into_any()];
        let arrays = arrays.into_iter().chain(label.map(Bound::into_any));
        Ok(PyTuple::new(py, arrays.collect::<Vec<_>>())?)
    }

    /// Number of rays of all environments.
    pub fn rays(&self) -> usize {
        self.poses.len() * self.lidar.rays()
    }

    /// Simulates all environments on the CPU.
    fn simulate<T: Number>(&self, mut images: Vec<Images<T>>, control: &Control) -> Outcome<()> {
        let loaded = self.scene.loaded();
        let description = &self.lidar.sensor().lidar;
        let common = self.variations.is_empty();
        let world = (self.variations).world(0, loaded, &loaded.scene, description);
        let world = common.then_some(world).transpose()?;
        let memory = || (Sweep::default(), SweepScratch::default());
        (images.par_iter_mut().enumerate()).try_for_each_init(memory, |memory, (number, images)| {
            control.check();
            if let Some(world) = &world {
                self.one(number, world, description, memory);
            } else {
                let objects = self.variations.objects(number, &loaded.scene);
                let lidar = self.variations.lidar(number, self.lidar)?;
                let world = (self.variations).world(number, loaded, &objects, &lidar)?;
                self.one(number, &world, &lidar, memory);
            }
            images.fill(&memory.0);
            control.advance(1);
            Ok::<(), Failure>(())
        })
    }

    /// Simulates the environment of a number.
    fn one(
        &self,
        number: usize,
        world: &World<f64>,
        lidar: &Description,
        (sweep, scratch): &mut (Sweep, SweepScratch),
    ) {
        let settings = self.settings(number);
        let pose = self.poses[number];
        simulate_into(world, lidar, &settings, |_| pose, sweep, scratch);
    }

    /// The settings of the environment of a number.
    pub fn settings(&self, number: usize) -> SweepSettings {
        SweepSettings {
            seed: self.seed,
            sweep: self
                .sweep
                .wrapping_add(u32::try_from(number).unwrap_or(u32::MAX)),
            start: Some(self.time),
            air: self.air.clone(),
            light: self.light,
            ..SweepSettings::default()
        }
    }
}

impl<T: Number> Images<'_, T> {
    /// Fills the images with the first returns of a sweep.
    fn fill(&mut self, sweep: &Sweep) {
        self.range.fill(T::of(f64::NAN));
        self.intensity.fill(T::of(f64::NAN));
        self.valid.fill(false);
        if let Some(label) = &mut self.label {
            label.fill(-1);
        }
        for (shot, cell) in sweep.cells().enumerate() {
            let Some(point) = sweep.points_of(shot).first() else {
                continue;
            };
            self.range[cell] = T::of(point.range);
            self.intensity[cell] = T::of(point.intensity);
            self.valid[cell] = !point.range.is_nan();
            if let Some(label) = &mut self.label {
                let object = point.source.map(|source| i32::try_from(source.instance.0));
                label[cell] = object.and_then(Result::ok).unwrap_or(-1);
            }
        }
    }
}

impl<T> Arrays<'_, T> {
    /// The images of each environment.
    fn images(&mut self) -> Vec<Images<'_, T>> {
        let cells = self.cells;
        let mut label = self.label.as_mut().map(|label| label.chunks_mut(cells));
        let range = self.range.chunks_mut(cells);
        let image = |((range, intensity), valid)| Images {
            range,
            intensity,
            valid,
            label: label.as_mut().and_then(Iterator::next),
        };
        { range.zip(self.intensity.chunks_mut(cells)) }
            .zip(self.valid.chunks_mut(cells))
            .map(image)
            .collect()
    }

    /// The images of some environments.
    #[cfg(feature = "gpu")]
    pub fn part(&mut self, environments: Range<usize>) -> Arrays<'_, T> {
        let own = environments.start * self.cells..environments.end * self.cells;
        Arrays {
            range: &mut self.range[own.clone()],
            intensity: &mut self.intensity[own.clone()],
            valid: &mut self.valid[own.clone()],
            label: self.label.as_mut().map(|label| &mut label[own]),
            cells: self.cells,
        }
    }
}

/// Whether the results are float32.
fn is_single(
    py: Python<'_>,
    dtype: Option<&Bound<'_, PyAny>>,
    out: Option<&Bound<'_, PyDict>>,
) -> PyResult<bool> {
    let given = match (dtype, out) {
        (Some(dtype), None) => py.import("numpy")?.call_method1("dtype", (dtype,))?,
        (_, Some(out)) => match out.get_item("range")? {
            Some(array) if array.hasattr("dtype")? => array.getattr("dtype")?,
            _ => return Ok(false),
        },
        (None, None) => return Ok(false),
    };
    match given.getattr("name")?.extract::<String>()?.as_str() {
        "float32" => Ok(true),
        "float64" => Ok(false),
        _ if out.is_some() => Ok(false),
        other => {
            let text = format!("dtype: expected \"float64\" or \"float32\", got {other}");
            Err(PyTypeError::new_err(text))
        }
    }
}

/// The array of a name in `out`, else a new one.
fn output<'py, T: Element>(
    py: Python<'py>,
    out: Option<&Bound<'py, PyDict>>,
    name: &str,
    shape: &[usize; 3],
) -> PyResult<Bound<'py, PyArrayDyn<T>>> {
    let Some(out) = out else {
        // Where there is too little memory, NumPy raises a MemoryError.
        let zeros = py.import("numpy")?.getattr("zeros")?;
        let array = zeros.call1((PyTuple::new(py, shape)?, dtype_of::<T>(py)))?;
        return Ok(array.cast_into::<PyArrayDyn<T>>()?);
    };
    let wrong = |found: String| {
        let text = format!(
            "out[\"{name}\"]: expected an array of {}, got {found}",
            dtype_of::<T>(py)
        );
        PyTypeError::new_err(text)
    };
    let Some(array) = out.get_item(name)? else {
        return Err(wrong("none".into()));
    };
    let Ok(untyped) = array.cast::<PyUntypedArray>() else {
        return Err(wrong(array.get_type().name()?.to_string()));
    };
    if untyped.shape() != shape {
        let expected = format!("({}, {}, {})", shape[0], shape[1], shape[2]);
        return Err(wrong_shape(
            &format!("out[\"{name}\"]"),
            &expected,
            untyped.shape(),
        ));
    }
    let typed = array.cast::<PyArrayDyn<T>>();
    let typed = typed.map_err(|_| wrong(format!("dtype {}", untyped.dtype())))?;
    Ok(typed.clone())
}

/// An array for writing.
fn writable<'py, T: Element>(
    name: &str,
    array: &Bound<'py, PyArrayDyn<T>>,
) -> PyResult<PyReadwriteArrayDyn<'py, T>> {
    let locked = array.try_readwrite();
    locked.map_err(|error| PyValueError::new_err(format!("out[\"{name}\"]: {error}")))
}

/// The numbers of an array in C order.
fn slice<'a, T: Element>(
    name: &str,
    array: &'a mut PyReadwriteArrayDyn<'_, T>,
) -> PyResult<&'a mut [T]> {
    let is_ordered = array.is_c_contiguous();
    let numbers = array.as_slice_mut().ok().filter(|_| is_ordered);
    let wrong = || PyValueError::new_err(format!("out[\"{name}\"]: expected an array in C order"));
    numbers.ok_or_else(wrong)
}
