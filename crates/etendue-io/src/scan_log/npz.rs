//! Sweeps as NumPy arrays.

use super::Geometries;
use crate::npy::{Element, write_array};
use crate::npz::{NpzArray, has_arrays, read_arrays};
use crate::output::{OutputSet, SimulatedSweeps, check_beams};
use crate::precision::single;
use crate::table::ColumnData;
use crate::{FileLocation, FormatError};
use etendue_sensors::{BeamMeasurement, RangeReading, Scan, ScanLog, Truth};
use nalgebra::{Isometry2, Vector2};
use std::io::{self, Seek, Write};
use std::ops::Range;
use std::path::Path;
use zip::write::SimpleFileOptions;

/// Arrays whose numbers are finite.
const FINITE: [&str; 6] = [
    "azimuth_rad",
    "elevation_rad",
    "time_s",
    "intensity",
    "power_per_m2_sr",
    "world_from_sensor",
];

/// Whether the content is an archive of beams.
pub(super) fn is_scan_log(bytes: &[u8]) -> bool {
    has_arrays(bytes, &["azimuth_rad", "range_m"])
}

/// Reads the archives of [`write_sweeps_npz`]. Only `azimuth_rad` and `range_m` are required.
pub(super) fn parse(path: &Path, bytes: &[u8]) -> Result<ScanLog, FormatError> {
    let beams = Beams {
        path,
        arrays: read_arrays(path, bytes)?,
    };
    beams.check_finite()?;
    let mut geometries = Geometries::default();
    let mut elevated = Geometries::default();
    let mut scans = Vec::new();
    for (number, scan) in beams.scans()?.into_iter().enumerate() {
        // Directions, readings and intensities
        let azimuths = beams.required("azimuth_rad")?;
        let elevations = beams.per_beam("elevation_rad")?;
        let elevations = elevations.map_or(Vec::new(), |all| numbers(all, &scan));
        let intensities = match beams.per_beam("intensity")? {
            None => beams.per_beam("power_per_m2_sr")?,
            intensities => intensities,
        };
        let times = beams.per_beam("time_s")?;
        scans.push(Scan {
            time: times.map_or(number as f64, |times| times.number(scan.start)),
            beam_interval: 0.0,
            azimuths: geometries.share(numbers(azimuths, &scan)),
            elevations: elevated.share_elevations(elevations),
            readings: beams.readings(&scan)?,
            intensities: intensities.map_or(Vec::new(), |all| {
                let numbers = scan.clone().map(|beam| single(all.number(beam)));
                numbers.collect()
            }),
            odom_from_robot: beams.pose(number),
        });
    }
    Ok(ScanLog {
        description: "etendue NPZ".into(),
        scans,
        warnings: Vec::new(),
    })
}

/// The numbers of a part of an array.
fn numbers(all: &ColumnData, part: &Range<usize>) -> Vec<f64> {
    part.clone().map(|beam| all.number(beam)).collect()
}

/// The arrays of an archive of beams.
struct Beams<'a> {
    path: &'a Path,
    arrays: Vec<NpzArray>,
}

impl Beams<'_> {
    /// The array with a name, if there is one.
    fn array(&self, name: &str) -> Option<&NpzArray> {
        self.arrays.iter().find(|array| array.name == name)
    }

    /// Checks that the numbers of [`FINITE`] arrays are finite.
    fn check_finite(&self) -> Result<(), FormatError> {
        for name in FINITE {
            let Some(NpzArray { data, .. }) = self.array(name) else {
                continue;
            };
            let mut numbers = (0..data.len()).map(|at| data.number(at));
            if let Some(number) = numbers.find(|number| !number.is_finite()) {
                let message =
                    format!("the array {name} has the number {number}, which is not finite");
                return Err(self.damaged(message));
            }
        }
        Ok(())
    }

    /// Error of an archive that is not one of beams.
    fn damaged(&self, message: String) -> FormatError {
        let remedy = "give the beams.npz of `etendue simulate`, or an archive with azimuth_rad and range_m of one \
                      shape, (beams,) or (scans, beams), and finite numbers";
        FormatError::malformed(self.path, FileLocation::File, message, remedy)
    }

    /// An array with one number per beam, if there is one.
    fn per_beam(&self, name: &str) -> Result<Option<&ColumnData>, FormatError> {
        let Some(array) = self.array(name) else {
            return Ok(None);
        };
        let beams = self.array("range_m").map_or(0, |ranges| ranges.data.len());
        if array.data.len() == beams {
            return Ok(Some(&array.data));
        }
        let count = array.data.len();
        Err(self.damaged(format!(
            "the array {name} has {count} numbers, and range_m {beams}"
        )))
    }

    /// An array with one number per beam.
    fn required(&self, name: &str) -> Result<&ColumnData, FormatError> {
        let array = self.per_beam(name)?;
        array.ok_or_else(|| self.damaged(format!("there is no array of numbers {name}")))
    }

    /// The beams of each scan: the rows of a table, or those with one number in `sweep`.
    fn scans(&self) -> Result<Vec<Range<usize>>, FormatError> {
        let beams = self.required("range_m")?.len();
        let shape = self.array("range_m").map_or(&[][..], |array| &array.shape);
        let row = match shape {
            [_, row] => usize::try_from(*row).unwrap_or(0),
            _ => beams,
        };
        let sweeps = self.per_beam("sweep")?;
        let begins = |beam: usize| match sweeps {
            Some(sweeps) => beam == 0 || sweeps.number(beam) != sweeps.number(beam - 1),
            None => beam.is_multiple_of(row),
        };
        let starts: Vec<usize> = (0..beams).filter(|beam| begins(*beam)).collect();
        let ends = starts.iter().skip(1).copied().chain([beams]);
        Ok(starts
            .iter()
            .zip(ends)
            .map(|(start, end)| *start..end)
            .collect())
    }

    /// The readings of a scan: an error code, else the range as in REP 117.
    fn readings(&self, scan: &Range<usize>) -> Result<Vec<RangeReading>, FormatError> {
        let ranges = self.required("range_m")?;
        let codes = self.per_beam("error_code")?;
        let reading = |beam: usize| {
            let code = codes.map_or(-1.0, |codes| codes.number(beam));
            let range = ranges.number(beam);
            if (0.0..=255.0).contains(&code) {
                #[expect(
                    clippy::cast_possible_truncation,
                    clippy::cast_sign_loss,
                    reason = "from 0 to 255"
                )]
                return Ok(RangeReading::Error(code as u8));
            }
            if range == f64::NEG_INFINITY {
                return Ok(RangeReading::TooNear);
            }
            if !range.is_finite() {
                return Ok(RangeReading::NoReturn);
            }
            if range < 0.0 {
                return Err(self.damaged(format!("the range {range} of beam {beam} is negative")));
            }
            Ok(RangeReading::Range(range))
        };
        scan.clone().map(reading).collect()
    }

    /// Pose of the sensor in the plane at the start of a scan, if the archive has one.
    fn pose(&self, scan: usize) -> Option<Isometry2<f64>> {
        let poses = &self.array("world_from_sensor")?.data;
        let first = scan * 16;
        let number = |row: usize, column: usize| {
            let at = first + 4 * row + column;
            (at < poses.len()).then(|| poses.number(at))
        };
        let position = Vector2::new(number(0, 3)?, number(1, 3)?);
        Some(Isometry2::new(position, number(1, 0)?.atan2(number(0, 0)?)))
    }
}

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
/// | `point_m` | f8, one more axis of 3 | measured point in the frame of the simulation; NaN for none |
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
        let beams = self.run.sweeps.iter().flat_map(|sweep| &sweep.measurements);
        let points = beams.flat_map(|beam| {
            let position = beam.position;
            position.map_or([f64::NAN; 3], |point| point.coords.into())
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

#[cfg(test)]
mod tests {
    use super::super::parse_scan_log;
    use super::*;
    use std::io::Cursor;

    /// An archive with two arrays of a shape.
    fn archive(shape: &[u64], azimuths: &[f64], ranges: &[f64]) -> Vec<u8> {
        let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
        for (name, numbers) in [("azimuth_rad", azimuths), ("range_m", ranges)] {
            let options = SimpleFileOptions::default();
            zip.start_file(format!("{name}.npy"), options)
                .expect("a name");
            write_array(&mut zip, shape, numbers.iter().copied()).expect("memory");
        }
        zip.finish().expect("memory").into_inner()
    }

    fn parsed(bytes: &[u8]) -> Result<ScanLog, FormatError> {
        parse_scan_log("beams.npz".as_ref(), bytes)
    }

    /// Readings are those of REP 117.
    #[test]
    fn the_rows_of_a_table_are_scans() {
        let ranges = [2.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN];
        let log = parsed(&archive(&[2, 2], &[0.0, 0.1, 0.0, 0.1], &ranges)).expect("beams");
        let readings: Vec<_> = log.scans.iter().map(|scan| &scan.readings[..]).collect();
        let [none, near] = [RangeReading::NoReturn, RangeReading::TooNear];
        let expected = [[RangeReading::Range(2.0), none], [near, none]];
        assert_eq!(readings, expected);
    }

    #[test]
    fn beams_without_a_direction_or_without_a_scan_are_an_error() {
        for (azimuths, ranges, expected) in [
            (
                &[f64::NAN][..],
                &[2.0][..],
                "the array azimuth_rad has the number NaN",
            ),
            (&[0.0], &[-2.0], "the range -2 of beam 0 is negative"),
            (&[], &[], "the log has no scans"),
        ] {
            let found = parsed(&archive(&[azimuths.len() as u64], azimuths, ranges));
            let text = found.expect_err(expected).to_string();
            assert!(text.contains(expected), "{text}");
        }
    }
}
