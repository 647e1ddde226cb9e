//! Comparison of a recorded scan with the simulated sweep.

use super::RecordedScan;
use crate::message::columns::{Column, message};
use etendue::estimate::compare::{
    BeamReturn, ErrorStatistics, compare_beams, compare_clouds, compare_distributions,
};
use nalgebra::{Isometry3, Point3};
use serde::Serialize;
use std::collections::BTreeMap;

/// Width of the cell of a beam in azimuth, degrees: the default of `etendue compare`.
const CELL_DEG: f64 = 1.0;

/// Largest distance of matching points, m: the default of `etendue compare`.
const TOLERANCE: f64 = 0.1;

/// What is compared.
#[derive(Clone, Copy, Debug)]
pub struct Comparison {
    /// Pose of the sensor.
    pub world_from_sensor: Isometry3<f64>,
    /// Whether the recorded points are in the frame of the world.
    pub is_in_world: bool,
    /// Whether to compute the numbers of `etendue compare`, which takes longer.
    pub with_numbers: bool,
}

/// Header of the message.
#[derive(Serialize)]
struct Header {
    points: usize,
    /// Numbers of `etendue compare`, by name.
    numbers: Vec<(&'static str, String)>,
}

/// The message of a comparison: the recorded points in the world, each with the difference of its range and the
/// simulated range of its cell, m.
#[expect(
    clippy::cast_possible_truncation,
    reason = "the page draws in single precision"
)]
pub fn compare(
    recorded: &RecordedScan,
    simulated: &RecordedScan,
    comparison: Comparison,
) -> Vec<u8> {
    // Points in the frame of the sensor
    let pose = comparison.world_from_sensor;
    let in_sensor = |point: &Point3<f64>| {
        if comparison.is_in_world {
            pose.inverse_transform_point(point)
        } else {
            *point
        }
    };
    let by_ring = !recorded.rings.is_empty() && !simulated.rings.is_empty();
    let real = RecordedScan {
        points: recorded.points.iter().map(in_sensor).collect(),
        ..recorded.clone()
    };
    let returns = [returns(&real, by_ring), returns(simulated, by_ring)];

    // Difference of each point and the mean of its cell
    let mut cells: BTreeMap<(i64, i64), (f64, f64)> = BTreeMap::new();
    for one in &returns[1] {
        let (sum, count) = cells.entry(cell(one)).or_default();
        *sum += one.range;
        *count += 1.0;
    }
    let difference = |one: &BeamReturn| {
        cells
            .get(&cell(one))
            .map_or(f64::NAN, |(sum, count)| one.range - sum / count)
    };
    let differences: Vec<f32> = returns[0]
        .iter()
        .map(|one| difference(one) as f32)
        .collect();

    // Encode
    let numbers = if comparison.with_numbers {
        numbers(&real, simulated, &returns)
    } else {
        Vec::new()
    };
    let world = real
        .points
        .iter()
        .flat_map(|point| (pose * point).coords.data.0[0]);
    let columns = [
        Column::f32("position", world.map(|value| value as f32)),
        Column::f32("difference", differences.into_iter()),
    ];
    message(
        Header {
            points: real.points.len(),
            numbers,
        },
        &columns,
    )
}

/// Returns of the points; a point at the origin has no direction and the range zero.
fn returns(scan: &RecordedScan, by_ring: bool) -> Vec<BeamReturn> {
    let one = |(number, point): (usize, &Point3<f64>)| {
        let elevation = point.z.atan2(point.x.hypot(point.y)).to_degrees();
        #[expect(clippy::cast_possible_truncation, reason = "an angle in degrees")]
        let row = (elevation / CELL_DEG).floor() as i64;
        BeamReturn {
            ring: if by_ring {
                i64::from(scan.rings[number])
            } else {
                row
            },
            azimuth: point.y.atan2(point.x),
            range: point.coords.norm(),
            intensity: scan.intensities.get(number).copied(),
            incidence: None,
        }
    };
    scan.points.iter().enumerate().map(one).collect()
}

#[expect(clippy::cast_possible_truncation, reason = "an angle in degrees")]
fn cell(one: &BeamReturn) -> (i64, i64) {
    (
        one.ring,
        (one.azimuth.to_degrees() / CELL_DEG).floor() as i64,
    )
}

/// The numbers of `etendue compare`.
fn numbers(
    real: &RecordedScan,
    simulated: &RecordedScan,
    returns: &[Vec<BeamReturn>; 2],
) -> Vec<(&'static str, String)> {
    let mut rows = vec![
        ("recorded points", real.points.len().to_string()),
        ("simulated points", simulated.points.len().to_string()),
    ];
    // Distances between the clouds
    if let Some(found) = compare_clouds(&real.points, &simulated.points, TOLERANCE) {
        rows.extend([
            ("Chamfer distance", format!("{:.4} m", found.chamfer)),
            ("median distance", format!("{:.4} m", found.median)),
            (
                "precision within 0.1 m",
                format!("{:.2} %", 100.0 * found.precision),
            ),
            (
                "recall within 0.1 m",
                format!("{:.2} %", 100.0 * found.recall),
            ),
            ("F-score", format!("{:.2} %", 100.0 * found.f_score)),
        ]);
    }
    // Differences of the distributions and of the beams
    let ranges = |scan: &RecordedScan| -> Vec<f64> {
        scan.points
            .iter()
            .map(|point| point.coords.norm())
            .collect()
    };
    if let Some(found) = compare_distributions(&ranges(real), &ranges(simulated)) {
        rows.push((
            "ranges, Kolmogorov-Smirnov",
            format!("{:.4}", found.kolmogorov_smirnov),
        ));
    }
    let ahead = |returns: &[BeamReturn]| -> Vec<BeamReturn> {
        returns
            .iter()
            .filter(|one| one.range > 0.0)
            .copied()
            .collect()
    };
    if let Some(found) = compare_beams(
        &ahead(&returns[0]),
        &ahead(&returns[1]),
        CELL_DEG.to_radians(),
    ) {
        let text = |errors: ErrorStatistics, unit: &str| {
            format!(
                "RMSE {:.4}{unit}, median {:.4}{unit}",
                errors.root_mean_square, errors.median_absolute
            )
        };
        rows.extend(
            found
                .range
                .map(|errors| ("range per cell", text(errors, " m"))),
        );
        rows.extend(
            found
                .intensity
                .map(|errors| ("intensity per cell", text(errors, ""))),
        );
        rows.push((
            "drop-outs, F1",
            found
                .drop_outs
                .f1
                .map_or("none".into(), |f1| format!("{:.2} %", 100.0 * f1)),
        ));
    }
    rows
}
