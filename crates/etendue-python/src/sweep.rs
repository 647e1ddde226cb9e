//! Sweeps as arrays.

use crate::arrays::{array, read_only};
use crate::errors::Outcome;
use crate::picture::{self, Picture};
use crate::pose::matrix;
use etendue::config::scene::LoadedScene;
use etendue::config::sensor::Sensor;
use etendue::config::toml_file::UnknownName;
use etendue::io::FormatError;
use etendue::io::output::OutputSet;
use etendue::io::points::PointFormat;
use etendue::io::table::{Encoding, PointTable};
use etendue::sensors::lidar::{Outcome as ShotOutcome, Return, Shot, Sweep as Simulated};
use numpy::{Element, PyArrayDyn};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBytes, PyDict};
use std::path::PathBuf;
use std::sync::Arc;

/// Columns of the returns that were read, each made once.
struct ReturnColumns {
    points: PyOnceLock<Py<PyAny>>,
    range: PyOnceLock<Py<PyAny>>,
    intensity: PyOnceLock<Py<PyAny>>,
    time: PyOnceLock<Py<PyAny>>,
    ring: PyOnceLock<Py<PyAny>>,
    column: PyOnceLock<Py<PyAny>>,
    azimuth: PyOnceLock<Py<PyAny>>,
    elevation: PyOnceLock<Py<PyAny>>,
}

impl ReturnColumns {
    /// Columns of which none was read.
    fn new() -> Self {
        Self {
            points: PyOnceLock::new(),
            range: PyOnceLock::new(),
            intensity: PyOnceLock::new(),
            time: PyOnceLock::new(),
            ring: PyOnceLock::new(),
            column: PyOnceLock::new(),
            azimuth: PyOnceLock::new(),
            elevation: PyOnceLock::new(),
        }
    }
}

/// Values of an image, and where there is one.
type Image<'py> = (Bound<'py, PyArrayDyn<f64>>, Bound<'py, PyArrayDyn<bool>>);

/// Names of the images of every sweep.
const IMAGES: [&str; 5] = ["range", "intensity", "time", "azimuth", "elevation"];

/// Names of the images of sweeps with truth.
const TRUE_IMAGES: [&str; 2] = ["true_range", "true_label"];

/// One sweep of a lidar: an immutable value that `simulate` returns.
///
/// The attributes `points` to `elevation` have one row per return, shot by shot. They are read-only arrays,
/// made when they are first read. `image` gives one value per shot. A shot without a return has no row and a
/// mask in images.
///
/// Examples
/// --------
/// >>> import etendue as et
/// >>> sweep = et.simulate(et.Scene.arena(), et.Lidar("hokuyo-urg-04lx"))
/// >>> len(sweep) == len(sweep.points) == len(sweep.range)
/// True
/// >>> values, valid = sweep.image("range")
/// >>> bool((values[valid] == sweep.range).all())
/// True
#[pyclass(frozen, module = "etendue")]
pub struct Sweep {
    simulated: Simulated,
    sensor: Arc<Sensor>,
    loaded: Arc<LoadedScene>,
    has_truth: bool,
    columns: ReturnColumns,
}

impl Sweep {
    /// A simulated sweep of a sensor in a scene, with or without truth.
    pub fn new(
        sweep: Simulated,
        sensor: &Arc<Sensor>,
        loaded: &Arc<LoadedScene>,
        has_truth: bool,
    ) -> Self {
        Self {
            simulated: sweep,
            sensor: sensor.clone(),
            loaded: loaded.clone(),
            has_truth,
            columns: ReturnColumns::new(),
        }
    }

    /// The simulated sweep.
    pub fn simulated(&self) -> &Simulated {
        &self.simulated
    }

    /// A column with a value for each return, made once.
    fn column_of<T: Element>(
        &self,
        py: Python<'_>,
        made: &PyOnceLock<Py<PyAny>>,
        value: impl Fn(&Return, Shot) -> T,
    ) -> PyResult<Py<PyAny>> {
        let make = || {
            let points = self.simulated.points.iter();
            let values = points.map(|point| value(point, self.simulated.shot_of(point)));
            read_only(py, values.collect(), &[self.simulated.points.len()])
        };
        made.get_or_try_init(py, make)
            .map(|column| column.clone_ref(py))
    }

    /// Numbers of shots with a return, without, too near, and with an error code.
    fn counts(&self) -> [usize; 4] {
        let mut counts = [0; 4];
        for outcome in &self.simulated.outcomes {
            counts[match outcome {
                ShotOutcome::Points { .. } => 0,
                ShotOutcome::NoReturn => 1,
                ShotOutcome::TooNear => 2,
                ShotOutcome::Error(_) => 3,
            }] += 1;
        }
        counts
    }

    /// Image of a value per shot, NaN for none, of the shape (channels, columns).
    fn image_of<'py>(
        &self,
        py: Python<'py>,
        value: impl Fn(usize) -> Option<f64>,
    ) -> PyResult<Image<'py>> {
        let image = self
            .simulated
            .image(|_, shot| value(shot).unwrap_or(f64::NAN));
        let valid = image.iter().map(|value| !value.is_nan()).collect();
        let (channels, columns) = self.shape();
        let shape = [channels, columns];
        Ok((array(py, image, &shape)?, array(py, valid, &shape)?))
    }
}

#[pymethods]
impl Sweep {
    /// float64 (n, 3): points in the frame of the sensor at the time of their shot, m.
    #[getter]
    fn points(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        let make = || {
            let points = &self.simulated.points;
            let coordinates = points
                .iter()
                .flat_map(|point| [point.position.x, point.position.y, point.position.z]);
            read_only(py, coordinates.collect(), &[points.len(), 3])
        };
        let points = self.columns.points.get_or_try_init(py, make)?;
        Ok(points.clone_ref(py))
    }

    /// float64 (n,): reported range, m.
    #[getter]
    fn range(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        self.column_of(py, &self.columns.range, |point, _| point.range)
    }

    /// float64 (n,): reported intensity, in the counts of the device.
    #[getter]
    fn intensity(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        self.column_of(py, &self.columns.intensity, |point, _| point.intensity)
    }

    /// float64 (n,): time of the shot since the start of the run, s.
    #[getter]
    fn time(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        self.column_of(py, &self.columns.time, |_, shot| shot.time)
    }

    /// uint16 (n,): ring of the channel; 0 is the lowest.
    #[getter]
    fn ring(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        let rings = &self.simulated.rings;
        self.column_of(py, &self.columns.ring, |_, shot| {
            rings[usize::from(shot.channel)]
        })
    }

    /// uint32 (n,): column of the shot.
    #[getter]
    fn column(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        self.column_of(py, &self.columns.column, |_, shot| shot.column)
    }

    /// float64 (n,): azimuth of the beam in the frame of the sensor, rad, anticlockwise from x.
    #[getter]
    fn azimuth(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        self.column_of(py, &self.columns.azimuth, |_, shot| shot.azimuth)
    }

    /// float64 (n,): elevation of the beam above the x-y plane, rad.
    #[getter]
    fn elevation(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        self.column_of(py, &self.columns.elevation, |_, shot| shot.elevation)
    }

    /// dict of str to numpy.ndarray, or None: ground truth of the returns, if `simulate` had `truth=True`.
    ///
    /// It is the surface that contributed most of the light: `label`, int32 (n,), index of the object,
    /// -1 for the air and for false alarms; `material`, int32 (n,), index of the material, -1 likewise;
    /// `range`, float64 (n,), true range, m, and `incidence`, float64 (n,), rad, NaN likewise.
    #[getter]
    fn truth<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        if !self.has_truth {
            return Ok(None);
        }
        // Columns of the sources
        let sources = || self.simulated.points.iter().map(|point| point.source);
        let index = |id: u32| i32::try_from(id).unwrap_or(i32::MAX);
        let labels = sources().map(|source| source.map_or(-1, |of| index(of.instance.0)));
        let materials = sources().map(|source| source.map_or(-1, |of| index(of.material.0)));
        let ranges = sources().map(|source| source.map_or(f64::NAN, |of| of.range));
        let incidences = sources().map(|source| source.map_or(f64::NAN, |of| of.incidence()));

        // Named arrays
        let shape = [self.simulated.points.len()];
        let truth = PyDict::new(py);
        truth.set_item("label", array(py, labels.collect(), &shape)?)?;
        truth.set_item("material", array(py, materials.collect(), &shape)?)?;
        truth.set_item("range", array(py, ranges.collect(), &shape)?)?;
        truth.set_item("incidence", array(py, incidences.collect(), &shape)?)?;
        Ok(Some(truth))
    }

    /// Image of one value per shot.
    ///
    /// Parameters
    /// ----------
    /// name : str
    ///     - "range" (m), "intensity" (counts): of the first return of each shot
    ///     - "time" (s), "azimuth", "elevation" (rad): of each shot, with or without a return
    ///     - "true_range" (m), "true_label" (index of the object): of the first surface on the axis of the
    ///       beam, if `simulate` had `truth=True`
    ///
    /// Returns
    /// -------
    /// values : float64 (channels, columns)
    ///     The values; NaN where there is none. The highest ring is the first row.
    /// valid : bool (channels, columns)
    ///     Where there is a value.
    ///
    /// Raises
    /// ------
    /// UnknownNameError
    ///     No image has the name.
    ///
    /// Examples
    /// --------
    /// >>> import etendue as et
    /// >>> sweep = et.simulate(et.Scene.arena(), et.Lidar("velodyne-vlp-16"))
    /// >>> values, valid = sweep.image("intensity")
    /// >>> values.shape, valid.dtype
    /// ((16, 1809), dtype('bool'))
    fn image<'py>(&self, py: Python<'py>, name: &str) -> Outcome<Image<'py>> {
        let sweep = &self.simulated;
        let first = |shot: usize| sweep.points_of(shot).first();
        let truth = |shot: usize| sweep.axis_truths.get(shot).copied().flatten();
        let image = match name {
            "range" => self.image_of(py, |shot| Some(first(shot)?.range)),
            "intensity" => self.image_of(py, |shot| Some(first(shot)?.intensity)),
            "time" => self.image_of(py, |shot| Some(sweep.shots.at(shot).time)),
            "azimuth" => self.image_of(py, |shot| Some(sweep.shots.at(shot).azimuth)),
            "elevation" => self.image_of(py, |shot| Some(sweep.shots.at(shot).elevation)),
            "true_range" if self.has_truth => self.image_of(py, |shot| Some(truth(shot)?.range)),
            "true_label" if self.has_truth => {
                self.image_of(py, |shot| Some(f64::from(truth(shot)?.object.0)))
            }
            _ => {
                let true_images = TRUE_IMAGES.iter().filter(|_| self.has_truth);
                let known = IMAGES.iter().chain(true_images).copied();
                return Err(UnknownName::new("image", name, known).into());
            }
        };
        Ok(image?)
    }

    /// Write the returns to a file, in the frame of the sensor.
    ///
    /// Parameters
    /// ----------
    /// path : str or os.PathLike
    ///     The ending determines the format: .pcd, .ply, .npz, .las, .laz, .e57, .bin (KITTI), .mcap, .csv.
    ///
    /// Raises
    /// ------
    /// FormatError
    ///     No format has the ending, the format cannot represent the returns, or the file cannot be written.
    fn save(&self, py: Python<'_>, path: PathBuf) -> Outcome<()> {
        let format = PointFormat::of_ending(&path).filter(|format| format.is_written());
        let format = format.ok_or_else(|| FormatError::Unsupported {
            path: path.clone(),
            message: "no format for writing has this ending".into(),
            remedy: format!("use one of .{}", PointFormat::written_endings().join(", .")),
        })?;
        py.detach(|| {
            let mut table = PointTable::of_scans(std::slice::from_ref(&self.simulated));
            table.classify(&self.loaded.classes.of_object);
            let mut outputs = OutputSet::new();
            format.write(&mut outputs, &path, &table, Encoding::Binary)?;
            outputs.commit()?;
            Ok(())
        })
    }

    /// The returns as an Arrow table, which needs the package `pyarrow`.
    ///
    /// Its columns are those of the sweep, `points` as lists of three numbers, and with truth `true_label`,
    /// `true_material`, `true_range` and `true_incidence`. They share the memory of the arrays. Libraries that read
    /// the Arrow PyCapsule interface (Polars, DuckDB, pandas) accept the sweep itself.
    ///
    /// Returns
    /// -------
    /// pyarrow.Table
    ///
    /// Raises
    /// ------
    /// ModuleNotFoundError
    ///     `pyarrow` is not installed.
    fn to_arrow<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let module = slf.py().import("etendue._arrow")?;
        module.call_method1("table", (slf,))
    }

    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        slf: &Bound<'py, Self>,
        requested_schema: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let table = Self::to_arrow(slf)?;
        table.call_method1("__arrow_c_stream__", (requested_schema,))
    }

    /// Draw the sweep.
    ///
    /// Parameters
    /// ----------
    /// kind : {"top", "range", "intensity"}, optional
    ///     The returns from above, in the frame of the sensor, or an image with a row for each channel.
    ///     Default: "top" for one channel, else "range".
    ///
    /// Returns
    /// -------
    /// Picture
    ///     A picture that notebooks show; `save` writes it to a PNG file.
    ///
    /// Raises
    /// ------
    /// UnknownNameError
    ///     No picture has the kind.
    ///
    /// Examples
    /// --------
    /// >>> import etendue as et
    /// >>> sweep = et.simulate(et.Scene.arena(), et.Lidar("velodyne-vlp-16"))
    /// >>> len(sweep.plot("intensity").png) > 1000
    /// True
    #[pyo3(signature = (kind = None))]
    fn plot(&self, py: Python<'_>, kind: Option<&str>) -> Outcome<Picture> {
        py.detach(|| picture::of_sweep(&self.simulated, &self.sensor.name, kind))
    }

    fn _repr_png_<'py>(&self, py: Python<'py>) -> Outcome<Bound<'py, PyBytes>> {
        Ok(self.plot(py, None)?.png(py))
    }

    /// (int, int): channels and columns, the shape of images.
    #[getter]
    fn shape(&self) -> (usize, usize) {
        (
            usize::from(self.simulated.channels),
            self.simulated.columns as usize,
        )
    }

    /// int: index of the sweep.
    #[getter]
    fn index(&self) -> u32 {
        self.simulated.index
    }

    /// float: time of the start, s.
    #[getter]
    fn start(&self) -> f64 {
        self.simulated.start
    }

    /// float64 (4, 4): pose of the sensor at the start of the sweep, world from sensor.
    #[getter]
    fn pose(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        read_only(py, matrix(&self.simulated.world_from_sensor), &[4, 4])
    }

    fn __copy__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __deepcopy__(slf: Py<Self>, _memo: &Bound<'_, PyAny>) -> Py<Self> {
        slf
    }

    /// For pickle: a sweep is larger than its arrays, and is refused.
    fn __reduce__(_slf: &Bound<'_, Self>) -> PyResult<()> {
        let text = "cannot pickle a Sweep\nhelp: return its arrays, or save it to a file";
        Err(PyTypeError::new_err(text))
    }

    fn __len__(&self) -> usize {
        self.simulated.points.len()
    }

    fn __repr__(&self) -> String {
        let [with_return, no_return, too_near, errors] = self.counts();
        format!(
            "Sweep({:?}, shots={}, with_return={with_return}, no_return={no_return}, too_near={too_near}, \
             errors={errors}, returns={})",
            self.sensor.name,
            self.simulated.shots.len(),
            self.simulated.points.len()
        )
    }
}
