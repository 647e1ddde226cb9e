//! Where returns end: the edge of a panel, or of what the sensor sees of it.

use super::panel::Plane;
use super::recording::azimuth;
use super::{DirectionCell, Recording};
use etendue_physics::angle::wrap_to_pi;

/// A spot and what it sweeps while it is measured reach this far, rad: four half-degree bins of an
/// RPLIDAR A1, which are two of its samples.
const REACH: f64 = 2.0 * std::f64::consts::PI / 180.0;

/// By how much the share of returned beams changes at an edge.
const FALL: f64 = 0.5;

/// A range that lies by less than this share off the plane's is of the panel.
const NEAR: f64 = 0.25;

/// Which directions of a planar recording lie beside an edge: where the share of beams that the
/// panel returns, over three directions, falls by more than half within two degrees. Of others, none.
///
/// Part of the spot comes back from there. A triangulating sensor takes the middle of that part for
/// the middle of the spot, and its range goes off by centimetres at the end of the panel that it
/// samples along. That is no property of the material at this incidence.
pub(super) fn beside_edges(recording: &Recording, plane: &Plane) -> Vec<bool> {
    let cells = &recording.cells;
    if !recording.planar {
        return vec![false; cells.len()];
    }
    let azimuths: Vec<f64> = cells.iter().map(|cell| azimuth(&cell.direction)).collect();
    let apart = |a: usize, b: usize| wrap_to_pi(azimuths[a] - azimuths[b]).abs();
    let shares: Vec<f64> = cells.iter().map(|cell| share(cell, plane)).collect();
    let smooth: Vec<f64> = (0..cells.len())
        .map(|at| {
            let three = beside(at, cells.len(), 1).filter(|other| apart(at, *other) <= REACH);
            mean(three.map(|other| shares[other]))
        })
        .collect();
    (0..cells.len())
        .map(|at| {
            let within = |other: &usize| apart(at, *other) <= REACH * (1.0 + 1e-9);
            let (mut least, mut most) = (smooth[at], smooth[at]);
            for side in [1, cells.len() - 1] {
                let places = (1..cells.len()).map(|steps| (at + side * steps) % cells.len());
                for other in places.take_while(within) {
                    least = least.min(smooth[other]);
                    most = most.max(smooth[other]);
                }
            }
            most - least > FALL
        })
        .collect()
}

/// A place and its neighbours to either side, around the turn.
fn beside(at: usize, count: usize, reach: usize) -> impl Iterator<Item = usize> {
    (count + at - reach..=count + at + reach).map(move |place| place % count)
}

/// Share of beams that the panel returns.
fn share(cell: &DirectionCell, plane: &Plane) -> f64 {
    let expected = plane.range(&cell.direction);
    let is_on = |range: &f64| (range / expected - 1.0).abs() < NEAR;
    let on = { cell.samples.iter() }.filter(|sample| sample.range.as_ref().is_some_and(is_on));
    on.count() as f64 / cell.samples.len().max(1) as f64
}

fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = values.fold((0.0, 0.0), |(sum, count), value| (sum + value, count + 1.0));
    sum / f64::max(count, 1.0)
}
