//! Readers of recorded clouds.

use crate::recorded_files::recording;
use nalgebra::{Isometry3, Matrix4, Point3};

/// Points of a binary little-endian PLY file with four floats per vertex, m, without those at the
/// origin.
pub fn ply(name: &str) -> Vec<Point3<f64>> {
    let bytes = std::fs::read(recording(name)).expect("readable");
    let end = b"end_header\n";
    let start = bytes
        .windows(end.len())
        .position(|w| w == end)
        .expect("a header")
        + end.len();
    let float = |b: &[u8]| f64::from(f32::from_le_bytes(b.try_into().expect("four bytes")));
    let points = bytes[start..].chunks_exact(16);
    let points = points.map(|v| Point3::new(float(&v[..4]), float(&v[4..8]), float(&v[8..12])));
    points.filter(|p| p.coords.norm() > 0.5).collect()
}

/// Points of an ASCII VTK file, m.
pub fn vtk(name: &str) -> Vec<Point3<f64>> {
    let text = std::fs::read_to_string(recording(name)).expect("readable");
    let (_, rest) = text.split_once("POINTS ").expect("points");
    let mut words = rest.split_ascii_whitespace();
    let count: usize = words.next().and_then(|w| w.parse().ok()).expect("a count");
    let numbers: Vec<f64> = words
        .skip(1)
        .take(3 * count)
        .map(|w| w.parse().expect("a number"))
        .collect();
    numbers
        .chunks_exact(3)
        .map(|p| Point3::new(p[0], p[1], p[2]))
        .collect()
}

/// Rigid motion of a text file with a 4x4 matrix.
pub fn transform(name: &str) -> Isometry3<f64> {
    let text = std::fs::read_to_string(recording(name)).expect("readable");
    let numbers = text
        .split_ascii_whitespace()
        .map(|w| w.parse::<f64>().expect("a number"));
    let matrix = Matrix4::from_row_iterator(numbers);
    let rotation = nalgebra::Rotation3::from_matrix(&matrix.fixed_view::<3, 3>(0, 0).into_owned());
    let shift = matrix.fixed_view::<3, 1>(0, 3).into_owned();
    Isometry3::from_parts(shift.into(), rotation.into())
}

/// Scans of a tinySLAM log as points in the plane of the sensor, m: beams with a range that the body
/// of the robot does not occlude.
pub fn tinyslam(name: &str) -> Vec<Vec<nalgebra::Point2<f64>>> {
    let text = std::fs::read_to_string(recording(name)).expect("readable");
    let scan = |line: &str| {
        let fields = line.split_ascii_whitespace().skip(24);
        let ranges: Vec<f64> = fields.map(|w| w.parse().expect("a number")).collect();
        let beam = |(i, mm): (usize, &f64)| {
            let azimuth = (i as f64 - 340.0) * std::f64::consts::TAU / 1024.0;
            let range = mm * 1e-3;
            nalgebra::Point2::new(range * azimuth.cos(), range * azimuth.sin())
        };
        let is_valid = |(i, mm): &(usize, &f64)| **mm >= 20.0 && (70..612).contains(i);
        ranges
            .iter()
            .enumerate()
            .filter(is_valid)
            .map(beam)
            .collect()
    };
    text.lines()
        .filter(|line| !line.trim().is_empty())
        .map(scan)
        .collect()
}
