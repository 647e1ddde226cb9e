//! The beams that met a panel.

use super::edges::beside_edges;
use super::recording::{Recording, azimuth, planar};
use super::{BeamSample, Panel};
use etendue_physics::profile::Aspect;
use etendue_physics::statistics::median;
use nalgebra::Vector3;

/// What became of a beam towards a panel.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum BeamOutcome {
    /// A range on the panel, m.
    Range(f64),
    /// Nothing.
    Dropped,
}

/// A beam towards a panel.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PanelBeam {
    /// Which direction, counted along the panel.
    pub cell: u32,
    /// Number of the scan.
    pub scan: u32,
    /// Incidence, rad.
    pub incidence: f64,
    /// Range of the panel's plane, m.
    pub expected: f64,
    /// What was seen.
    pub outcome: BeamOutcome,
    /// Intensity as the device gives it.
    pub intensity: f32,
    /// On which side of the normal it lies: 1 left, -1 right (see [`Aspect::side`]).
    pub side: f64,
    /// Whether it lies beside an edge of the panel, or of what returns of it: then its range is of
    /// part of the spot, and no property of the material.
    pub at_edge: bool,
}

/// All beams towards a panel.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PanelBeams {
    /// Them.
    pub beams: Vec<PanelBeam>,
    /// Ranges of something else in directions of the panel: neither returned nor dropped.
    pub strays: usize,
    /// Distance of the panel, m.
    pub distance: f64,
}

impl PanelBeam {
    /// How it meets the panel.
    pub fn aspect(&self) -> Aspect {
        Aspect {
            incidence: self.incidence,
            side: self.side,
        }
    }

    /// Whether it lies left of the normal.
    pub fn left(&self) -> bool {
        self.side > 0.0
    }

    /// Measured less expected range, m, if it returned and not beside an edge.
    pub fn error(&self) -> Option<f64> {
        match self.outcome {
            BeamOutcome::Range(range) if !self.at_edge => Some(range - self.expected),
            _ => None,
        }
    }

    /// Whether it returned, beside an edge or not.
    pub fn returned(&self) -> bool {
        self.outcome != BeamOutcome::Dropped
    }
}

impl PanelBeams {
    /// The beams of a panel's sector. A range far from the direction's median (six robust standard
    /// deviations, and 2 % of the range and 5 mm at least) is of something else.
    pub fn of(recording: &Recording, panel: &Panel) -> Self {
        let mut beams = Self {
            distance: panel.plane.distance,
            ..Self::default()
        };
        let at_edge = beside_edges(recording, &panel.plane);
        for (number, cell) in (0..).zip(&panel.sector.cells) {
            beams.add_cell(recording, panel, number, *cell);
            let of_cell = { beams.beams.iter_mut().rev() }.take_while(|beam| beam.cell == number);
            of_cell.for_each(|beam| beam.at_edge = at_edge[*cell]);
        }
        beams
    }

    fn add_cell(&mut self, recording: &Recording, panel: &Panel, number: u32, cell: usize) {
        let cell = &recording.cells[cell];
        let near = Near::of(cell, panel.plane.range(&cell.direction));
        for sample in &cell.samples {
            let direction = turned(&cell.direction, sample);
            let plane = panel.plane_in(sample.scan);
            let moved = plane.range(&direction) - panel.plane.range(&direction);
            let outcome = match sample.range {
                None => BeamOutcome::Dropped,
                Some(range) if near.holds(range - moved) => BeamOutcome::Range(range),
                Some(_) => {
                    self.strays += 1;
                    continue;
                }
            };
            self.beams.push(PanelBeam {
                cell: number,
                scan: sample.scan,
                incidence: plane.incidence(&direction),
                expected: plane.range(&direction),
                outcome,
                intensity: sample.intensity,
                side: side(plane, &direction),
                at_edge: false,
            });
        }
    }

    /// How many returned.
    pub fn returned(&self) -> usize {
        self.beams.iter().filter(|beam| beam.returned()).count()
    }

    /// How many of these lie beside an edge.
    pub fn at_edge(&self) -> usize {
        let beside = |beam: &&PanelBeam| beam.returned() && beam.at_edge;
        self.beams.iter().filter(beside).count()
    }
}

/// The cosine between a direction's part along the plane and the plane's left.
fn side(plane: &super::panel::Plane, direction: &Vector3<f64>) -> f64 {
    let left = Vector3::z().cross(&plane.normal);
    let along = direction - plane.normal * plane.normal.dot(direction);
    let all = left.norm() * along.norm();
    if all > 1e-12 {
        (left.dot(&along) / all).clamp(-1.0, 1.0)
    } else {
        0.0
    }
}

fn turned(direction: &Vector3<f64>, sample: &BeamSample) -> Vector3<f64> {
    if sample.turn == 0.0 {
        return *direction;
    }
    planar(azimuth(direction) + f64::from(sample.turn))
}

/// Ranges that belong to the panel in one direction.
struct Near {
    middle: f64,
    reach: f64,
}

impl Near {
    fn of(cell: &super::DirectionCell, expected: f64) -> Self {
        let mut ranges: Vec<f64> = { cell.samples.iter() }
            .filter_map(|sample| sample.range)
            .filter(|range| (range / expected - 1.0).abs() < 0.3)
            .collect();
        let middle = median(&mut ranges).unwrap_or(expected);
        let mut deviations: Vec<f64> = ranges.iter().map(|r| (r - middle).abs()).collect();
        let spread = 1.4826 * median(&mut deviations).unwrap_or(0.0);
        Self {
            middle,
            reach: (6.0 * spread).max(0.02 * expected + 0.005),
        }
    }

    fn holds(&self, range: f64) -> bool {
        (range - self.middle).abs() < self.reach
    }
}
