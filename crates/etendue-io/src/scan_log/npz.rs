//! Sweeps as NumPy arrays.

use crate::FormatError;
use crate::npy::{Element, write_array};
use crate::output::{OutputSet, Run};
use etendue_sensors::{BeamMeasurement, RangeReading, Truth};
use std::io::{self, Seek, Write};
use std::path::Path;
use zip::write::SimpleFileOptions;

/// Writes an `.npz` that `numpy.load` reads.
///
/// Arrays with one number a beam have the shape (sweeps, beams) where all sweeps have as many
/// beams, else (beams of all sweeps,):
///
/// | array | type | holds |
/// |---|---|---|
/// | `sweep`, `beam` | u4 | numbers |
/// | `time_s`, `azimuth_rad`, `elevation_rad` | f8 | when and where to |
/// | `range_m` | f8 | range; as in REP 117 +inf no return, -inf too near, NaN an error |
/// | `error_code` | i2 | the device's code, -1 where there is none |
/// | `power_per_m2_sr` | f8 | received power |
/// | `returns` | u2 | how many surfaces sent light back |
/// | `point_m` | f8, one more axis of 3 | measured point in the world; NaN where there is none |
/// | `true_range_m`, `true_incidence_rad` | f8 | truth; NaN where the beam meets nothing |
/// | `true_object`, `true_material` | i4 | numbers of names in the run's JSON; -1 where there are none |
/// | `sweep_start_s` | f8, (sweeps,) | when each sweep began |
/// | `world_from_sensor` | f8, (sweeps, 4, 4) | pose of the sensor when it began |
///
/// # Errors
/// Where the file cannot be written.
pub fn write_sweeps_npz(
    outputs: &mut OutputSet,
    path: &Path,
    run: Run<'_>,
) -> Result<(), FormatError> {
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

fn shape(run: Run<'_>) -> Vec<u64> {
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
    run: Run<'a>,
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
        // nalgebra stores columns first, NumPy rows first.
        let poses = sweeps.iter().flat_map(|sweep| {
            let rows = sweep.world_from_sensor.to_homogeneous().transpose();
            rows.iter().copied().collect::<Vec<f64>>()
        });
        self.array("world_from_sensor", &[count, 4, 4], poses)
    }
}
