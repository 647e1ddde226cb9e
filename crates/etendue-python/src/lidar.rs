//! Lidars.

use crate::errors::{Failure, Outcome};
use crate::toml_values;
use etendue::config::presets::SENSORS;
use etendue::config::sensor::{Sensor, parse, presets as all_presets};
use etendue::config::toml_file::Document;
use etendue::estimate::model::{LinearizedMeasurements, NoiselessLidar};
use etendue::io::output::OutputSet;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use toml_edit::DocumentMut;

/// Description of a lidar: an immutable value.
///
/// Parameters
/// ----------
/// name : str or os.PathLike
///     Name of a preset (`etendue.presets()`), or path of a sensor file in TOML.
///
/// Raises
/// ------
/// UnknownNameError
///     No preset has the name.
/// ConfigError, FormatError
///     The file is invalid or cannot be read.
///
/// Examples
/// --------
/// The values are those of the sensor file, by dotted keys with units:
///
/// >>> import etendue as et
/// >>> lidar = et.Lidar("hokuyo-urg-04lx")
/// >>> lidar["wavelength_nm"], lidar["range.far_m"]
/// (785.0, 5.6)
/// >>> near = lidar.replace({"range.far_m": 2.0})
/// >>> near["range.far_m"]
/// 2.0
#[pyclass(frozen, module = "etendue")]
pub struct Lidar {
    sensor: Arc<Sensor>,
    document: Document,
    /// The lidar of differentiable models, with its shots; computed when first used.
    noiseless: OnceLock<NoiselessLidar>,
    memory: Arc<GradientMemory>,
}

/// Memory of deleted gradients, for the next one by a lidar.
#[derive(Default)]
pub struct GradientMemory(Mutex<Option<LinearizedMeasurements>>);

impl GradientMemory {
    /// Takes the memory, or new memory where another call has it.
    pub fn take(&self) -> LinearizedMeasurements {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.take().unwrap_or_default()
    }

    /// Keeps the memory of measurements that are no longer used.
    pub fn keep(&self, used: LinearizedMeasurements) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(used);
    }
}

impl Lidar {
    /// The sensor.
    pub fn sensor(&self) -> &Arc<Sensor> {
        &self.sensor
    }

    /// The lidar of differentiable models.
    pub fn noiseless(&self) -> &NoiselessLidar {
        (self.noiseless).get_or_init(|| NoiselessLidar::new(&self.sensor.lidar))
    }

    /// Memory for gradients.
    pub fn gradient_memory(&self) -> &Arc<GradientMemory> {
        &self.memory
    }

    /// Number of rays of a sweep.
    pub fn rays(&self) -> usize {
        let lidar = &self.sensor.lidar;
        let shots = lidar.columns() as usize * lidar.channels.len();
        shots * lidar.beam.ray_count()
    }

    /// The lidar with other numbers in its file, by dotted keys.
    pub fn with_numbers<'a>(
        &self,
        numbers: impl IntoIterator<Item = (&'a str, f64)>,
    ) -> Outcome<Self> {
        let mut document = self.values();
        for (key, number) in numbers {
            toml_values::set_number(&mut document, key, number)?;
        }
        Self::of(Document::new(self.document.path(), document.to_string()))
    }

    /// Dotted keys of the numbers in its file.
    pub fn number_keys(&self) -> Vec<String> {
        toml_values::number_keys(&self.values())
    }

    /// The lidar of a document.
    fn of(document: Document) -> Outcome<Self> {
        let sensor = Arc::new(parse(&document)?);
        Ok(Self {
            sensor,
            document,
            noiseless: OnceLock::new(),
            memory: Arc::default(),
        })
    }

    /// The document, to read and to change its values.
    fn values(&self) -> DocumentMut {
        let parsed = self.document.text().parse();
        parsed.expect("the text was parsed by the constructor")
    }
}

#[pymethods]
impl Lidar {
    #[new]
    fn new(name: PathBuf) -> Outcome<Self> {
        let is_file = name.extension().is_some_and(|ending| ending == "toml") || name.is_file();
        if is_file {
            return Self::of(Document::read(&name)?);
        }
        Self::of(SENSORS.find(&name.to_string_lossy())?.document())
    }

    /// The lidar with other values in its file.
    ///
    /// The changed file is read and checked again: errors are those of files, with line and column.
    ///
    /// Parameters
    /// ----------
    /// changes : dict of str to object, optional
    ///     Values by dotted keys of the sensor file, with the unit that the key names; `None` removes a key.
    /// **values
    ///     Values of keys without dots.
    ///
    /// Returns
    /// -------
    /// Lidar
    ///
    /// Raises
    /// ------
    /// ConfigError
    ///     A key is unknown, or a value has the wrong type or is outside its domain.
    ///
    /// Examples
    /// --------
    /// >>> import etendue as et
    /// >>> lidar = et.Lidar("velodyne-vlp-16")
    /// >>> lidar.replace({"range.far_m": 60}, wavelength_nm=850).wavelength
    /// 8.5e-07
    /// >>> lidar.replace({"range.fare_m": 60})  # doctest: +ELLIPSIS
    /// Traceback (most recent call last):
    /// ...
    /// etendue.ConfigError: velodyne-vlp-16.toml:...: unknown key "fare_m"
    /// help: did you mean "far_m"?
    #[pyo3(signature = (changes = None, **values))]
    fn replace(
        &self,
        changes: Option<&Bound<'_, PyDict>>,
        values: Option<&Bound<'_, PyDict>>,
    ) -> Outcome<Self> {
        let mut document = self.values();
        for (key, value) in changes.into_iter().chain(values).flatten() {
            let key: String = key.extract().map_err(|_| {
                PyTypeError::new_err("changes: expected dotted keys of the sensor file")
            })?;
            toml_values::set(&mut document, &key, &value)?;
        }
        Self::of(Document::new(self.document.path(), document.to_string()))
    }

    /// Write the sensor file.
    ///
    /// The file is complete or absent: it is renamed after it is written.
    ///
    /// Parameters
    /// ----------
    /// path : str or os.PathLike
    ///     Path that ends in ".toml".
    ///
    /// Raises
    /// ------
    /// FormatError
    ///     The file cannot be written.
    fn save(&self, py: Python<'_>, path: PathBuf) -> Outcome<()> {
        let text = self.document.text();
        py.detach(|| {
            let mut outputs = OutputSet::new();
            outputs.add(&path, |file| file.write_all(text.as_bytes()))?;
            outputs.commit().map_err(Failure::from)
        })?;
        Ok(())
    }

    /// Dotted keys of the values in the sensor file.
    ///
    /// Returns
    /// -------
    /// list of str
    fn keys(&self) -> Vec<String> {
        toml_values::keys(&self.values())
    }

    /// Value of a dotted key of the sensor file.
    fn __getitem__<'py>(&self, py: Python<'py>, key: &str) -> Outcome<Bound<'py, PyAny>> {
        toml_values::get(py, &self.values(), key)
    }

    /// str: name.
    #[getter]
    fn name(&self) -> &str {
        &self.sensor.name
    }

    /// str: description, in a sentence.
    #[getter]
    fn description(&self) -> &str {
        &self.sensor.description
    }

    /// list of str: references of the values.
    #[getter]
    fn sources(&self) -> Vec<String> {
        self.sensor.sources.clone()
    }

    /// str: kind of the receiver: "pulsed", "phase", "fmcw" or "triangulation".
    #[getter]
    fn receiver(&self) -> &'static str {
        self.sensor.lidar.receiver.name()
    }

    /// float: wavelength, m.
    #[getter]
    fn wavelength(&self) -> f64 {
        self.sensor.lidar.wavelength
    }

    /// int: number of channels, the rows of an image.
    #[getter]
    fn channels(&self) -> usize {
        self.sensor.lidar.channels.len()
    }

    /// int: greatest number of columns of a sweep.
    #[getter]
    fn columns(&self) -> u32 {
        self.sensor.lidar.columns()
    }

    /// int: number of beams of the first sweep, the rows of `jacobian` and `predict`.
    #[getter]
    fn beams(&self) -> usize {
        self.sensor.lidar.shots(0).len()
    }

    /// float: duration of a sweep, s.
    #[getter]
    fn sweep_duration(&self) -> f64 {
        self.sensor.lidar.sweep_duration()
    }

    /// (float, float): nearest and farthest reported range, m.
    #[getter]
    fn range_limits(&self) -> (f64, f64) {
        let limits = self.sensor.lidar.limits;
        (limits.near, limits.far)
    }

    /// str: text of the sensor file.
    #[getter]
    fn toml(&self) -> &str {
        self.document.text()
    }

    /// The lidar of the text of a sensor file, for pickle.
    #[staticmethod]
    fn _of_text(path: PathBuf, text: String) -> Outcome<Self> {
        Self::of(Document::new(path, text))
    }

    fn __copy__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __deepcopy__(slf: Py<Self>, _memo: &Bound<'_, PyAny>) -> Py<Self> {
        slf
    }

    /// For pickle: the text of the sensor file.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let restore = py.import("etendue._restore")?.getattr("lidar")?;
        let arguments = (self.document.path(), self.document.text());
        (restore, arguments).into_pyobject(py)
    }

    fn __repr__(&self) -> String {
        let lidar = &self.sensor.lidar;
        format!(
            "Lidar({:?}, receiver={:?}, channels={}, columns={}, wavelength={:.0} nm)",
            self.sensor.name,
            lidar.receiver.name(),
            lidar.channels.len(),
            lidar.columns(),
            lidar.wavelength * 1e9
        )
    }
}

/// Names of the lidar presets.
///
/// Returns
/// -------
/// list of str
///
/// Examples
/// --------
/// >>> import etendue as et
/// >>> "velodyne-vlp-16" in et.presets()
/// True
#[pyfunction]
pub fn presets() -> Vec<&'static str> {
    all_presets().iter().map(|preset| preset.name).collect()
}
