//! The beams of a recording towards a panel.

use super::edges::near_edges;
use super::modes::RangeMode;
use super::panel::{LARGEST_NOISE, Panel, PanelPlane, allowance};
use super::recording::{DirectionCell, PanelRecording};
use etendue_physics::profile::Aspect;
use nalgebra::Vector3;

/// Outcome of a beam towards a panel.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum BeamOutcome {
    /// Range on the panel, m.
    Range(f64),
    /// No return.
    Dropped,
}

/// A beam towards a panel.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PanelBeam {
    /// Index of the direction along the panel.
    pub cell: u32,
    /// Index of the scan.
    pub scan: u32,
    /// Incidence, rad.
    pub incidence: f64,
    /// Range of the panel's plane, m.
    pub expected: f64,
    /// Range or drop-out.
    pub outcome: BeamOutcome,
    /// Reported intensity.
    pub intensity: f32,
    /// Side of the normal: 1 left, -1 right (see [`Aspect::side`]).
    pub side: f64,
    /// Whether the beam is next to an edge of the panel or of its returning region. Its range is
    /// then that of a fraction of the spot, not a property of the material.
    pub at_edge: bool,
}

/// All beams towards a panel.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PanelBeams {
    /// The beams.
    pub beams: Vec<PanelBeam>,
    /// Number of ranges of other objects in directions of the panel: neither returned nor dropped.
    pub strays: usize,
    /// Distance of the panel, m.
    pub distance: f64,
}

impl PanelBeam {
    /// Direction of incidence on the panel.
    pub fn aspect(&self) -> Aspect {
        Aspect {
            incidence: self.incidence,
            side: self.side,
        }
    }

    /// Whether the beam is left of the normal.
    pub fn left(&self) -> bool {
        self.side > 0.0
    }

    /// Measured less expected range, m, of a returned beam that is not next to an edge.
    pub fn error(&self) -> Option<f64> {
        match self.outcome {
            BeamOutcome::Range(range) if !self.at_edge => Some(range - self.expected),
            _ => None,
        }
    }

    /// Whether the beam returned, next to an edge or not.
    pub fn returned(&self) -> bool {
        self.outcome != BeamOutcome::Dropped
    }
}

impl PanelBeams {
    /// The beams of the sector of a panel. A range belongs to another object if it is in another
    /// [cluster](DirectionCell::modes) than that of the panel, or differs from its median by more than six
    /// robust standard deviations (at least 2 % of the range plus 5 mm).
    pub fn of(recording: &PanelRecording, panel: &Panel) -> Self {
        let mut beams = Self {
            distance: panel.plane.distance,
            ..Self::default()
        };
        let at_edge = near_edges(recording, panel);
        for (number, cell) in (0..).zip(&panel.sector.cells) {
            beams.add_direction(&recording.cells[*cell], panel, number, at_edge[*cell]);
        }
        beams
    }

    /// Adds the beams of one direction.
    fn add_direction(&mut self, cell: &DirectionCell, panel: &Panel, number: u32, at_edge: bool) {
        // Gate about the panel.
        let gate = RangeGate::of(cell, &panel.plane);
        for sample in &cell.samples {
            // Direction of the sample, and the panel at its scan.
            let direction = cell.direction_of(sample);
            let plane = panel.plane_in(sample.scan);
            let shift = plane.range(&direction) - panel.plane.range(&direction);
            // Drop-out, range on the panel, or stray.
            let outcome = match sample.range {
                None => BeamOutcome::Dropped,
                Some(range) if gate.contains(range - shift) => BeamOutcome::Range(range),
                Some(_) => {
                    self.strays += 1;
                    continue;
                }
            };
            // Add the beam.
            self.beams.push(PanelBeam {
                cell: number,
                scan: sample.scan,
                incidence: plane.incidence(&direction),
                expected: plane.range(&direction),
                outcome,
                intensity: sample.intensity,
                side: side(plane, &direction),
                at_edge,
            });
        }
    }

    /// Points of the ranges in directions of a panel that belong to other objects, in the sensor frame, m.
    pub fn stray_points(recording: &PanelRecording, panel: &Panel) -> Vec<Vector3<f64>> {
        let cells = panel
            .sector
            .cells
            .iter()
            .map(|cell| &recording.cells[*cell]);
        let strays = cells.flat_map(|cell| {
            let gate = RangeGate::of(cell, &panel.plane);
            cell.samples.iter().filter_map(move |sample| {
                let direction = cell.direction_of(sample);
                let shift =
                    panel.plane_in(sample.scan).range(&direction) - panel.plane.range(&direction);
                let range = sample.range.filter(|range| !gate.contains(range - shift))?;
                Some(direction * range)
            })
        });
        strays.collect()
    }

    /// Number of returned beams.
    pub fn returned(&self) -> usize {
        self.beams.iter().filter(|beam| beam.returned()).count()
    }

    /// Number of returned beams next to an edge.
    pub fn at_edge(&self) -> usize {
        let at_edge = |beam: &&PanelBeam| beam.returned() && beam.at_edge;
        self.beams.iter().filter(at_edge).count()
    }
}

/// Cosine of the angle between the component of a direction along the plane and the plane's left.
fn side(plane: &PanelPlane, direction: &Vector3<f64>) -> f64 {
    let left = Vector3::z().cross(&plane.normal);
    let along = direction - plane.normal * plane.normal.dot(direction);
    let all = left.norm() * along.norm();
    if all > 1e-12 {
        (left.dot(&along) / all).clamp(-1.0, 1.0)
    } else {
        0.0
    }
}

/// Interval of ranges that belong to the panel in one direction, m.
struct RangeGate([f64; 2]);

impl RangeGate {
    /// Ranges within six robust standard deviations of the cluster of the panel (at least 2 % of the range plus
    /// 5 mm), which end half-way to the next clusters. All are within the greatest deviation of a panel, also where
    /// the nearest cluster is another object.
    fn of(cell: &DirectionCell, plane: &PanelPlane) -> Self {
        let direction = &cell.direction;
        let expected = plane.range(direction);
        let deviation =
            LARGEST_NOISE * plane.distance + allowance(plane.incidence(direction), plane.distance);
        let deviation = deviation / plane.cos_incidence(direction).max(1e-6);
        let is_panel = |mode: &RangeMode| (mode.median - expected).abs() < deviation;
        let [least, most] = [expected - deviation, expected + deviation];
        let Some(mode) = cell.mode_near(expected).filter(is_panel) else {
            return Self([least, most]);
        };
        let half_width = (6.0 * mode.spread).max(0.02 * expected + 0.005);
        Self([
            mode.limits[0].max(mode.median - half_width).max(least),
            mode.limits[1].min(mode.median + half_width).min(most),
        ])
    }

    fn contains(&self, range: f64) -> bool {
        let Self([low, high]) = self;
        low < &range && &range < high
    }
}
