//! Edges of a panel, or of its returning region.

use super::panel::{Panel, PanelPlane, allowance};
use super::recording::{DirectionCell, PanelRecording, azimuth};
use etendue_physics::angle::wrap_to_pi;

/// Angular extent of the spot and its motion during a measurement, rad: four half-degree bins of an
/// RPLIDAR A1, which are two of its samples.
const EXTENT: f64 = 2.0 * std::f64::consts::PI / 180.0;

/// Change of the fraction of returned beams at an edge.
const FALL: f64 = 0.5;

/// Whether each direction of a planar recording is next to an edge: the fraction of beams that the panel
/// returns, averaged over three directions, changes by more than half within two degrees. `false` for
/// other recordings.
///
/// Near an edge, only a fraction of the spot returns. A triangulating sensor measures the centroid
/// of that fraction, which shifts its range by centimetres at the far end of an inclined panel.
/// This shift is not a property of the material at that incidence.
pub(super) fn near_edges(recording: &PanelRecording, panel: &Panel) -> Vec<bool> {
    let cells = &recording.cells;
    if !recording.planar {
        return vec![false; cells.len()];
    }

    // Average the fraction of returned beams over three directions
    let azimuths: Vec<f64> = cells.iter().map(|cell| azimuth(&cell.direction)).collect();
    let distance = |a: usize, b: usize| wrap_to_pi(azimuths[a] - azimuths[b]).abs();
    let mut fractions: Vec<f64> = cells
        .iter()
        .map(|cell| returned_fraction(cell, &panel.plane))
        .collect();
    for cell in &panel.sector.rejected {
        fractions[*cell] = 0.0;
    }
    let smooth: Vec<f64> = (0..cells.len())
        .map(|at| {
            let three =
                neighbours(at, cells.len(), 1).filter(|other| distance(at, *other) <= EXTENT);
            mean(three.map(|other| fractions[other]))
        })
        .collect();

    // Compare the smallest and the largest fraction within the extent of the spot
    (0..cells.len())
        .map(|at| {
            let within = |other: &usize| distance(at, *other) <= EXTENT * (1.0 + 1e-9);
            let mut least = smooth[at];
            let mut most = smooth[at];
            for side in [1, cells.len() - 1] {
                let indices = (1..cells.len()).map(|steps| (at + side * steps) % cells.len());
                for other in indices.take_while(within) {
                    least = least.min(smooth[other]);
                    most = most.max(smooth[other]);
                }
            }
            most - least > FALL
        })
        .collect()
}

/// An index and up to `reach` neighbours on either side, modulo `count`.
fn neighbours(at: usize, count: usize, reach: usize) -> impl Iterator<Item = usize> {
    (count + at - reach..=count + at + reach).map(move |index| index % count)
}

/// Fraction of the beams of a direction that the panel returns.
fn returned_fraction(cell: &DirectionCell, plane: &PanelPlane) -> f64 {
    let expected = plane.range(&cell.direction);
    let near = allowance(plane.incidence(&cell.direction), plane.distance);
    let is_on = |range: &f64| (range / expected - 1.0).abs() * plane.distance < near;
    let samples = cell.samples.iter();
    let on = samples.filter(|sample| sample.range.as_ref().is_some_and(is_on));
    on.count() as f64 / cell.samples.len().max(1) as f64
}

/// Arithmetic mean; zero without values.
fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = values.fold((0.0, 0.0), |(sum, count), value| (sum + value, count + 1.0));
    sum / f64::max(count, 1.0)
}
