//! Presets of inertial units compared with their recordings.

use crate::recordings::recording;
use etendue_config::robot::preset_device;
use etendue_physics::inertial::{
    ImuReading, ImuRun, MotionState, STANDARD_GRAVITY, allan_deviation,
};
use etendue_sensors::rig::Device;
use nalgebra::{Isometry3, Vector3};
use std::io::Read;
use std::ops::Range;
use std::path::Path;

/// Readings of a preset at rest.
fn at_rest(preset: &str, dt: f64, count: usize) -> Vec<ImuReading> {
    let Some(Device::Imu(imu)) = preset_device(preset) else {
        panic!("an inertial unit")
    };
    let rest = ImuReading::ideal(
        &MotionState::at_rest(Isometry3::identity()),
        &(Vector3::z() * -STANDARD_GRAVITY),
    );
    let mut run = ImuRun::new(&imu, 3, 0);
    (0..count).map(|_| run.read(&rest, dt)).collect()
}

/// One axis of the gyroscope (0) or accelerometer (1) in readings.
fn axis_of(readings: &[ImuReading], sensor: usize, axis: usize) -> Vec<f64> {
    let of = |reading: &ImuReading| match sensor {
        0 => reading.angular_velocity[axis],
        _ => reading.specific_force[axis],
    };
    readings.iter().map(of).collect()
}

/// Root mean square of the Allan deviations of several records.
fn curve(records: &[Vec<f64>], dt: f64, times: &[f64]) -> Vec<f64> {
    let curves: Vec<_> = records
        .iter()
        .map(|record| allan_deviation(record, dt, times))
        .collect();
    let mean = (0..times.len()).map(|i| {
        let squares = curves.iter().map(|curve| curve[i].deviation.powi(2));
        (squares.sum::<f64>() / curves.len() as f64).sqrt()
    });
    mean.collect()
}

fn assert_alike(what: &str, times: &[f64], recorded: &[f64], simulated: &[f64], bound: f64) {
    assert_eq!(recorded.len(), times.len());
    for ((time, real), own) in times.iter().zip(recorded).zip(simulated) {
        println!("{what}, {time} s: recorded {real:.3e}, simulated {own:.3e}");
        assert!(
            (own / real - 1.0).abs() < bound,
            "{what}, {time} s: {own} against {real}"
        );
    }
}

/// The first 48 s at rest of IMU-TK's Xsens set, compared with the preset fitted to it: Allan
/// deviations at 0.02 to 1 s, root mean square of the axes, agree within 15 %. At longer times, a
/// record of 48 s contains few differences.
#[test]
#[ignore = "needs recordings: see CONTRIBUTING.md"]
fn the_preset_of_the_xsens_recording_has_its_allan_curve() {
    let [gyro, acc] =
        ["xsens_gyro.mat", "xsens_acc.mat"].map(|name| recording(&format!("imu_tk_xsens/{name}")));
    let simulated = at_rest("xsens-imu-tk", 0.01, 48_000);
    let recorded = [(gyro, [2.094e-4; 3]), (acc, [2.410e-3, 2.424e-3, 2.409e-3])];
    let times = [0.02, 0.05, 0.1, 0.2, 0.5, 1.0];
    for (sensor, (path, units)) in recorded.into_iter().enumerate() {
        // The z axis of the accelerometer was disturbed: its deviations increase after 1 s.
        let axes = if sensor == 0 { 0..3 } else { 0..2 };
        let read = columns(&path, units);
        let own: Vec<_> = axes
            .clone()
            .map(|axis| axis_of(&simulated, sensor, axis))
            .collect();
        let what = ["gyroscope", "accelerometer"][sensor];
        let [real, own] = [&read[axes], &own].map(|records| curve(records, 0.01, &times));
        assert_alike(what, &times, &real, &own, 0.15);
    }
}

/// The first 48 s of the three columns after the time, scaled to units.
fn columns(path: &Path, units: [f64; 3]) -> [Vec<f64>; 3] {
    let text = std::fs::read_to_string(path).expect("a text");
    let rows: Vec<Vec<f64>> = text
        .lines()
        .take(4800)
        .map(|line| {
            line.split_ascii_whitespace()
                .map(|w| w.parse().expect("a number"))
                .collect()
        })
        .collect();
    [0, 1, 2].map(|axis| rows.iter().map(|row| row[axis + 1] * units[axis]).collect())
}

/// Sampling interval of BROAD (s), its number of rows, and the rows before and after the movement.
const BROAD_INTERVAL: f64 = 1.0 / 285.714_285_714_285_7;
const BROAD_ROWS: usize = 58_412;
const BROAD_AT_REST: [Range<usize>; 2] = [0..12_280, 47_720..BROAD_ROWS];

/// The 43 s before and the 37 s after the movement of BROAD's trial 03 (inertial unit in front of
/// eight OptiTrack cameras), compared with the preset fitted to them: Allan deviations at 0.0035 to
/// 1 s, root mean square of similar axes and of both records, agree within 15 %.
#[test]
#[ignore = "needs recordings: see CONTRIBUTING.md"]
fn the_preset_of_the_broad_recording_has_its_allan_curve() {
    let name = "broad_imu_omc/03_undisturbed_slow_rotation_C.hdf5";
    let path = recording(name);
    let read = three_columns(&std::fs::read(path).expect("a file"));
    let [gyro, acc, ..] = &read[..] else {
        panic!("{} tables of three columns", read.len())
    };
    let simulated = at_rest("myon-aktos-broad", BROAD_INTERVAL, 200_000);
    let times = [1.0, 3.0, 14.0, 29.0, 57.0, 143.0, 286.0].map(|n| n * BROAD_INTERVAL);
    // The z axis of the accelerometer is noisier than the other axes, which are similar.
    let groups = [(gyro, 0, 0..3), (acc, 1, 0..2), (acc, 1, 2..3)];
    for (table, sensor, axes) in groups {
        let records = axes.clone().flat_map(|axis| {
            BROAD_AT_REST.map(|rows| table[rows].iter().map(|row| row[axis]).collect())
        });
        let own = axes.clone().map(|axis| axis_of(&simulated, sensor, axis));
        let [real, own] = [records.collect::<Vec<_>>(), own.collect()]
            .map(|records| curve(&records, BROAD_INTERVAL, &times));
        let what = format!("{} {axes:?}", ["gyroscope", "accelerometer"][sensor]);
        assert_alike(&what, &times, &real, &own, 0.15);
    }
}

/// The tables with three columns in an HDF5 file with one deflated chunk per table, in file order:
/// streams that inflate to exactly that number of values.
fn three_columns(file: &[u8]) -> Vec<Vec<[f64; 3]>> {
    let mut tables = Vec::new();
    let mut at = 0;
    while let Some(next) = file[at..].iter().position(|byte| *byte == 0x78) {
        at += next;
        let mut decoder = flate2::bufread::ZlibDecoder::new(&file[at..]);
        let mut bytes = Vec::new();
        let is_header = file.len() > at + 1 && (0x7800 + u16::from(file[at + 1])) % 31 == 0;
        if is_header && decoder.read_to_end(&mut bytes).is_ok() {
            at += usize::try_from(decoder.total_in()).expect("within the file");
            if bytes.len() == BROAD_ROWS * 24 {
                let number = |bytes: &[u8]| f64::from_le_bytes(bytes.try_into().expect("eight"));
                let rows = bytes.chunks_exact(24);
                let rows = rows.map(|row| [0, 8, 16].map(|i| number(&row[i..i + 8])));
                tables.push(rows.collect());
            }
        } else {
            at += 1;
        }
    }
    tables
}
