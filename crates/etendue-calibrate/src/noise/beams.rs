//! The beams that met a panel.

use super::recording::{Recording, azimuth, median, planar};
use super::{Look, Panel};
use nalgebra::Vector3;

/// What became of a beam towards a panel.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Seen {
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
    pub seen: Seen,
    /// Intensity as the device gives it.
    pub intensity: f32,
    /// Whether it lies left of the normal.
    pub left: bool,
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
    /// Measured less expected range, m, if it returned.
    pub fn error(&self) -> Option<f64> {
        match self.seen {
            Seen::Range(range) => Some(range - self.expected),
            Seen::Dropped => None,
        }
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
        for (number, cell) in (0..).zip(&panel.sector.cells) {
            beams.add_cell(recording, panel, number, *cell);
        }
        beams
    }

    fn add_cell(&mut self, recording: &Recording, panel: &Panel, number: u32, cell: usize) {
        let cell = &recording.cells[cell];
        let near = Near::of(cell, panel.plane.range(&cell.direction));
        let up = Vector3::z();
        let left = up.cross(&panel.plane.normal).dot(&cell.direction) > 0.0;
        for look in &cell.looks {
            let direction = turned(&cell.direction, look);
            let plane = panel.plane_in(look.scan);
            let moved = plane.range(&direction) - panel.plane.range(&direction);
            let seen = match look.range {
                None => Seen::Dropped,
                Some(range) if near.holds(range - moved) => Seen::Range(range),
                Some(_) => {
                    self.strays += 1;
                    continue;
                }
            };
            self.beams.push(PanelBeam {
                cell: number,
                scan: look.scan,
                incidence: plane.incidence(&direction),
                expected: plane.range(&direction),
                seen,
                intensity: look.intensity,
                left,
            });
        }
    }

    /// How many returned.
    pub fn returned(&self) -> usize {
        self.beams
            .iter()
            .filter(|beam| beam.error().is_some())
            .count()
    }
}

fn turned(direction: &Vector3<f64>, look: &Look) -> Vector3<f64> {
    if look.turn == 0.0 {
        return *direction;
    }
    planar(azimuth(direction) + f64::from(look.turn))
}

/// Ranges that belong to the panel in one direction.
struct Near {
    middle: f64,
    reach: f64,
}

impl Near {
    fn of(cell: &super::Cell, expected: f64) -> Self {
        let mut ranges: Vec<f64> = { cell.looks.iter() }
            .filter_map(|look| look.range)
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
