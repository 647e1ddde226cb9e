//! Pictures of sweeps.

use crate::errors::Outcome;
use etendue::config::toml_file::UnknownName;
use etendue::io::output::OutputSet;
use etendue::sensors::lidar::Sweep;
use etendue_plot::{Extent, Figure, Plot, palette, png};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::path::PathBuf;

/// Kinds of pictures of a sweep.
const KINDS: [&str; 3] = ["top", "range", "intensity"];

/// Pixels per unit of a drawing.
const SCALE: f64 = 2.0;

/// Largest area of a plot, in units of a drawing.
const LARGEST: [f64; 2] = [640.0, 560.0];

/// A picture, which notebooks show.
///
/// Examples
/// --------
/// >>> import etendue as et
/// >>> sweep = et.simulate(et.Scene.arena(), et.Lidar("hokuyo-urg-04lx"))
/// >>> sweep.plot().png[:4]
/// b'\x89PNG'
#[pyclass(frozen, module = "etendue")]
pub struct Picture {
    png: Vec<u8>,
}

#[pymethods]
impl Picture {
    /// bytes: content of a PNG file.
    #[getter]
    pub fn png<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.png)
    }

    /// Write a PNG file.
    ///
    /// Parameters
    /// ----------
    /// path : str or os.PathLike
    ///     Path that ends in ".png".
    ///
    /// Raises
    /// ------
    /// FormatError
    ///     The file cannot be written.
    fn save(&self, path: PathBuf) -> Outcome<()> {
        let mut outputs = OutputSet::new();
        outputs.add(&path, |file| file.write_all(&self.png))?;
        outputs.commit()?;
        Ok(())
    }

    fn _repr_png_<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        self.png(py)
    }

    fn __repr__(&self) -> String {
        format!("Picture({} bytes of PNG)", self.png.len())
    }
}

/// The picture of a kind of a sweep; by default the points from above for one channel, else the range image.
pub fn of_sweep(sweep: &Sweep, title: &str, kind: Option<&str>) -> Outcome<Picture> {
    let by_default = if sweep.channels == 1 { "top" } else { "range" };
    let png = match kind.unwrap_or(by_default) {
        "top" => png::render(&from_above(sweep, title).draw(), SCALE),
        "range" => etendue_cli::range_image::png(sweep),
        "intensity" => etendue_cli::range_image::intensity_png(sweep),
        other => return Err(UnknownName::new("picture", other, KINDS).into()),
    };
    let png = png.map_err(|error| PyRuntimeError::new_err(error.to_string()))?;
    Ok(Picture { png })
}

/// Points of a sweep from above, in the frame of the sensor.
fn from_above(sweep: &Sweep, title: &str) -> Figure {
    let points: Vec<[f64; 2]> = (sweep.points.iter())
        .map(|point| [point.position.x, point.position.y])
        .collect();
    let extent = Extent::of(points.iter().copied().chain([[0.0, 0.0]])).padded();
    let mut plot = Plot::to_scale(extent, ["x, m", "y, m"], LARGEST).with_scale_bar("m");
    plot.add_dots("returns", points, palette::category(0, 1.5));
    plot.add_dots("sensor", vec![[0.0, 0.0]], palette::category(1, 6.0));
    Figure::new(title)
        .with_subtitle("returns from above, in the frame of the sensor")
        .with_plot(plot)
}
