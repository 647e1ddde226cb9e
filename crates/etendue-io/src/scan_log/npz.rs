//! Sweeps as NumPy arrays.

use crate::FormatError;
use crate::npy::{Element, write_array};
use crate::output::{OutputSet, SimulatedSweeps, check_beams};
use etendue_sensors::{BeamMeasurement, RangeReading, Truth};
use std::io::{self, Seek, Write};
use std::path::Path;
use zip::write::SimpleFileOptions;

/// Writes an `.npz` for `numpy.load`.
///
/// Arrays with one number per beam have the shape (sweeps, beams) if all sweeps have the same
/// number of beams, otherwise (beams of all sweeps,):
///
/// | array | type | content |
/// |---|---|---|
/// | `sweep`, `beam` | u4 | indices |
/// | `time_s`, `azimuth_rad`, `elevation_rad` | f8 | time and direction |
/// | `range_m` | f8 | range; as in REP 117 +inf no return, -inf too near, NaN an error |
/// | `error_code` | i2 | the device's code, -1 for none |
/// | `power_per_m2_sr` | f8 | received power |
/// | `returns` | u2 | number of surfaces that returned light |
/// | `point_m` | f8, one more axis of 3 | measured point in the world; NaN for none |
/// | `true_range_m`, `true_incidence_rad` | f8 | truth; NaN if the beam hits nothing |
/// | `true_object`, `true_material` | i4 | indices of the names in the JSON of the run; -1 for none |
/// | `sweep_start_s` | f8, (sweeps,) | start of each sweep |
/// | `world_from_sensor` | f8, (sweeps, 4, 4) | pose of the sensor at the start |
///
/// # Errors
/// If a number is not finite, or the file cannot be written.
pub fn write_sweeps_npz(
    outputs: &mut OutputSet,
    path: &Path,
    run: SimulatedSweeps<'_>,
) -> Result<(), FormatError> {
    check_beams(path, run)?;
    outputs.add(path, |file| {
        let mut archive = Archive {
            zip: zip::ZipWriter::new(file),
            run,
            shape: shape(run),
        };
        archive.identities()?;
        archive.measurements()?;
        archive.truths()?;
        archive.poses()?;
        archive.zip.finish()?;
        Ok(())
    })
}

fn shape(run: SimulatedSweeps<'_>) -> Vec<u64> {
    let beams = run
        .sweeps
        .first()
        .map_or(0, |sweep| sweep.measurements.len());
    if run
        .sweeps
        .iter()
        .all(|sweep| sweep.measurements.len() == beams)
    {
        vec![run.sweeps.len() as u64, beams as u64]
    } else {
        let all = run
            .sweeps
            .iter()
            .map(|sweep| sweep.measurements.len() as u64);
        vec![all.sum()]
    }
}

struct Archive<'a, W: Write + Seek> {
    zip: zip::ZipWriter<W>,
    run: SimulatedSweeps<'a>,
    shape: Vec<u64>,
}

impl<W: Write + Seek> Archive<'_, W> {
    fn array<T: Element>(
        &mut self,
        name: &str,
        shape: &[u64],
        values: impl IntoIterator<Item = T>,
    ) -> io::Result<()> {
        self.zip.start_file(
            format!("{name}.npy"),
            SimpleFileOptions::default().large_file(true),
        )?;
        write_array(&mut self.zip, shape, values)
    }

    fn per_beam<T: Element>(
        &mut self,
        name: &str,
        value: impl Fn(&BeamMeasurement) -> T,
    ) -> io::Result<()> {
        let shape = self.shape.clone();
        let beams = self.run.sweeps.iter().flat_map(|sweep| &sweep.measurements);
        self.array(name, &shape, beams.map(value))
    }

    fn identities(&mut self) -> io::Result<()> {
        let shape = self.shape.clone();
        let sweeps = self.run.sweeps.iter();
        let numbers = sweeps.flat_map(|s| s.measurements.iter().map(move |_| s.index));
        self.array("sweep", &shape, numbers)?;
        self.per_beam("beam", |beam| beam.beam)
    }

    fn measurements(&mut self) -> io::Result<()> {
        self.per_beam("time_s", |beam| beam.time)?;
        self.per_beam("azimuth_rad", |beam| beam.azimuth)?;
        self.per_beam("elevation_rad", |beam| beam.elevation)?;
        self.per_beam("range_m", |beam| beam.reading.rep117())?;
        self.per_beam("error_code", |beam| match beam.reading {
            RangeReading::Error(code) => i16::from(code),
            _ => -1,
        })?;
        self.per_beam("power_per_m2_sr", |beam| beam.power)?;
        self.per_beam("returns", |beam| beam.returns)?;
        let mut shape = self.shape.clone();
        shape.push(3);
        let points = self.run.sweeps.iter().flat_map(|sweep| {
            sweep.measurements.iter().flat_map(|beam| {
                let point = beam.point().map(|point| sweep.world_from_sensor * point);
                point.map_or([f64::NAN; 3], |point| point.coords.into())
            })
        });
        self.array("point_m", &shape, points)
    }

    fn truths(&mut self) -> io::Result<()> {
        let number = |id: Option<u32>| id.map_or(-1, |id| i32::try_from(id).unwrap_or(-1));
        let of = |beam: &BeamMeasurement, get: fn(Truth) -> f64| beam.truth.map_or(f64::NAN, get);
        self.per_beam("true_range_m", |beam| of(beam, |truth| truth.range))?;
        self.per_beam("true_incidence_rad", |beam| {
            of(beam, |truth| truth.incidence)
        })?;
        self.per_beam("true_object", |beam| {
            number(beam.truth.map(|truth| truth.object.0))
        })?;
        self.per_beam("true_material", |beam| {
            number(beam.truth.map(|truth| truth.material.0))
        })
    }

    fn poses(&mut self) -> io::Result<()> {
        let sweeps = self.run.sweeps;
        let count = sweeps.len() as u64;
        self.array(
            "sweep_start_s",
            &[count],
            sweeps.iter().map(|sweep| sweep.start),
        )?;
        // nalgebra has column-major order, NumPy row-major order.
        let poses = sweeps.iter().flat_map(|sweep| {
            let rows = sweep.world_from_sensor.to_homogeneous().transpose();
            rows.iter().copied().collect::<Vec<f64>>()
        });
        self.array("world_from_sensor", &[count, 4, 4], poses)
    }
}
