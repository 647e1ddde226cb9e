//! What may explain a bias over incidence.

use super::panel::Plane;
use super::recording::median;
use super::{Cell, Look, Panel, Recording};
use nalgebra::{DMatrix, DVector, Vector3};

/// One way to read a panel's ranges, with how well it does.
#[derive(Clone, Debug, PartialEq)]
pub struct Explanation {
    /// What is assumed.
    pub name: &'static str,
    /// Its one coefficient: an offset, m, or a weight $w$.
    pub coefficient: f64,
    /// Its standard error.
    pub error: f64,
    /// Distance of the panel that goes with it, m.
    pub distance: f64,
    /// Root mean square of what is left, m.
    pub rms: f64,
}

/// What a coefficient multiplies, m.
type Term = fn(&Plane, &Vector3<f64>) -> f64;

/// Three readings of the whole panel, plane and coefficient fitted together to the directions'
/// median ranges: a plane alone; a plane and a constant offset of all ranges; a plane and an error
/// that grows with incidence, $r = d(\theta)\,(1 + w\gamma^4)$.
///
/// Ranges of a panel that moved are those that it would have where it stands on the whole.
///
/// From one distance, offset and growth can look alike: then nothing but a second distance tells
/// which is right.
pub fn explain(recording: &Recording, panel: &Panel, widest: f64) -> Vec<Explanation> {
    let points: Vec<(Vector3<f64>, f64)> = { panel.sector.cells.iter() }
        .map(|cell| &recording.cells[*cell])
        .filter(|cell| cell.returned() > 0.5 && panel.plane.incidence(&cell.direction) < widest)
        .filter_map(|cell| Some((cell.direction, standing_median(cell, panel)?)))
        .filter(|(direction, range)| (range / panel.plane.range(direction) - 1.0).abs() < 0.25)
        .collect();
    let none: Term = |_, _| 0.0;
    let offset: Term = |_, _| 1.0;
    let growth: Term =
        |plane, direction| plane.range(direction) * plane.incidence(direction).powi(4);
    [
        ("plane alone", none),
        ("constant offset", offset),
        ("growth with incidence to the fourth", growth),
    ]
    .into_iter()
    .filter_map(|(name, term)| fit(&points, panel.plane, recording.planar, name, term))
    .collect()
}

/// Median range in a direction, less what the panel's motion makes of it.
fn standing_median(cell: &Cell, panel: &Panel) -> Option<f64> {
    let still = panel.plane.range(&cell.direction);
    let range = |look: &Look| Some(look.range? - panel.plane_in(look.scan).range(&cell.direction));
    let mut ranges: Vec<f64> = cell.looks.iter().filter_map(range).collect();
    Some(median(&mut ranges)? + still)
}

/// Gauss-Newton on (distance, turns of the normal, coefficient).
fn fit(
    points: &[(Vector3<f64>, f64)],
    start: Plane,
    planar: bool,
    name: &'static str,
    term: Term,
) -> Option<Explanation> {
    let count = 4;
    if points.len() < 6 {
        return None;
    }
    let (mut plane, mut coefficient, mut inverse) = (start, 0.0, DMatrix::zeros(count, count));
    for _ in 0..40 {
        let left = Vector3::z().cross(&plane.normal).try_normalize(1e-6)?;
        let up = plane.normal.cross(&left);
        let mut matrix = DMatrix::zeros(count, count);
        let mut vector = DVector::zeros(count);
        for (direction, range) in points {
            let cos = plane.cos_incidence(direction);
            let expected = plane.distance / cos;
            let extra = term(&plane, direction);
            let turn = |t: &Vector3<f64>| -expected / cos * t.dot(direction);
            let second = if planar { 0.0 } else { turn(&up) };
            let row = DVector::from_vec(vec![1.0 / cos, turn(&left), second, extra]);
            let residual = range - expected - coefficient * extra;
            matrix += &row * row.transpose();
            vector += residual * &row;
        }
        for i in 0..count {
            if matrix[(i, i)] == 0.0 {
                matrix[(i, i)] = 1.0;
            }
        }
        inverse = matrix.try_inverse()?;
        let step = &inverse * vector;
        plane.distance += step[0];
        plane.normal = (plane.normal + left * step[1] + up * step[2]).normalize();
        coefficient += step[3];
        if step.norm() < 1e-12 {
            break;
        }
    }
    let square: f64 = { points.iter() }
        .map(|(d, range)| (range - plane.range(d) - coefficient * term(&plane, d)).powi(2))
        .sum();
    let variance = square / (points.len() as f64 - 4.0).max(1.0);
    Some(Explanation {
        name,
        coefficient,
        error: (inverse[(3, 3)] * variance).sqrt(),
        distance: plane.distance,
        rms: (square / points.len() as f64).sqrt(),
    })
}
