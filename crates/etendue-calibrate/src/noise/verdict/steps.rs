//! Steps of the surface within the panel.

use super::Check;
use crate::noise::panel_report::PanelReport;
use etendue_physics::statistics::median;
use std::collections::BTreeMap;

/// Number of directions of the windows on both sides of a step.
const WINDOW: usize = 5;

/// Number of directions between the windows: a spot can see both surfaces there.
const BETWEEN: usize = 2;

/// Greatest incidence of the compared directions, rad: the range error of a material can jump beyond.
const WIDEST: f64 = 55.0 * std::f64::consts::PI / 180.0;

/// Step that a sensor can have on a flat panel, m: the glare of a plate makes 5 mm.
const PLAUSIBLE: f64 = 0.01;

/// The same in standard errors.
const OVER_ERROR: f64 = 4.0;

/// Steps over the limit: doubtful, refused.
const OVER_LIMIT: [f64; 2] = [1.0, 8.0];

/// A direction of a panel.
struct Direction {
    /// Angle from the normal, rad, positive on its left.
    angle: f64,
    /// Mean error along the normal, m.
    deviation: f64,
}

/// Check of the largest step of the surface: the medians of five directions on both sides of two others differ by more
/// than 10 mm and four standard errors where two surfaces were taken as one panel. The standard error is that of the
/// differences of successive directions, which one step does not change. `None` with too few directions.
pub(super) fn step_check(report: &PanelReport) -> Option<Check> {
    let directions = directions(report);
    let reach = 2 * WINDOW + BETWEEN;
    if directions.len() < reach {
        return None;
    }

    // Standard error of the difference of two windows
    let successive = directions.windows(2);
    let mut differences: Vec<f64> = successive
        .map(|two| (two[1].deviation - two[0].deviation).abs())
        .collect();
    let of_direction = 1.4826 * median(&mut differences)? / 2.0_f64.sqrt();
    let error = of_direction * (2.0 / WINDOW as f64).sqrt();
    let limit = PLAUSIBLE + OVER_ERROR * error;

    // Largest step
    let middle = |part: &[Direction]| {
        let mut deviations: Vec<f64> = part.iter().map(|one| one.deviation).collect();
        median(&mut deviations)
    };
    let steps = directions.windows(reach).filter_map(|all| {
        let step = middle(&all[WINDOW + BETWEEN..])? - middle(&all[..WINDOW])?;
        Some([step, all[reach / 2].angle])
    });
    let [step, angle] = steps.max_by(|a, b| a[0].abs().total_cmp(&b[0].abs()))?;
    Some(Check {
        name: "largest step of the surface over that of a flat panel",
        value: step.abs() / limit,
        limits: OVER_LIMIT,
        finding: format!(
            "{}: the surface has a step of {:+.0} mm at {:.0} degrees {} of the normal: these are two surfaces",
            report.recording,
            1e3 * step,
            angle.abs().to_degrees(),
            if angle > 0.0 { "left" } else { "right" }
        ),
    })
}

/// Directions of the panel below 55 degrees of incidence, from right to left.
fn directions(report: &PanelReport) -> Vec<Direction> {
    let mut sums: BTreeMap<u32, [f64; 3]> = BTreeMap::new();
    let beams = report.beams.beams.iter();
    for beam in beams.filter(|beam| beam.incidence < WIDEST) {
        if let Some(error) = beam.error() {
            let sum = sums.entry(beam.cell).or_default();
            sum[0] += beam.incidence * beam.side;
            sum[1] += error * beam.incidence.cos();
            sum[2] += 1.0;
        }
    }
    let mut directions: Vec<Direction> = sums
        .into_values()
        .map(|[angle, deviation, count]| Direction {
            angle: angle / count,
            deviation: deviation / count,
        })
        .collect();
    directions.sort_by(|a, b| a.angle.total_cmp(&b.angle));
    directions
}
