//! Which part of a panel was seen.

use super::Plane;
use crate::noise::recording::{Recording, azimuth, is_between};
use etendue_physics::angle::wrap_to_pi;

/// The directions that a panel fills.
#[derive(Clone, Debug, PartialEq)]
pub struct Sector {
    /// Numbers of the recording's cells, from right to left for planar sensors.
    pub cells: Vec<usize>,
    /// Of planar sensors, the azimuths of its edges from the panel's normal, rad.
    pub edges: [f64; 2],
    /// Directions in which something else is seen.
    pub others: usize,
}

/// Gaps of dropped directions up to this wide do not end a panel, rad.
const WIDEST_GAP: f64 = 4.0 * std::f64::consts::PI / 180.0;

/// Beyond this incidence nothing is taken for a panel, rad.
const GRAZING: f64 = 85.0 * std::f64::consts::PI / 180.0;

/// How far a direction's median may lie from its neighbours' plane, as a share of its distance.
const TOLERANCE: f64 = 0.04;

/// The farthest that a panel's range may drift from its plane over incidence, as a share.
const DRIFT: f64 = 0.25;

impl Sector {
    /// Grows a panel from its normal outwards, as long as the surface goes on: a direction belongs
    /// to it if its median lies where its inner neighbours' do. A range error that grows slowly with
    /// incidence is followed, a jump ends the panel.
    pub(super) fn grown(recording: &Recording, plane: &Plane) -> Self {
        if recording.planar {
            Self::grown_planar(recording, plane)
        } else {
            Self::near(recording, plane)
        }
    }

    fn grown_planar(recording: &Recording, plane: &Plane) -> Self {
        let offsets = Offsets::new(recording, plane);
        let middle = offsets.by_angle.partition_point(|(angle, _)| *angle < 0.0);
        let left = offsets.walk(recording, plane, middle..offsets.by_angle.len());
        let right = offsets.walk_back(recording, plane, middle);
        let cells: Vec<usize> = offsets.by_angle[right..left]
            .iter()
            .map(|(_, cell)| *cell)
            .collect();
        let edge = |at: usize| offsets.by_angle.get(at).map_or(0.0, |(angle, _)| *angle);
        Self {
            edges: [edge(right), edge(left.saturating_sub(1))],
            cells,
            others: 0,
        }
    }

    /// Every direction whose median lies near the plane.
    fn near(recording: &Recording, plane: &Plane) -> Self {
        let is_on = |cell: &usize| {
            let cell = &recording.cells[*cell];
            let expected = plane.range(&cell.direction);
            plane.incidence(&cell.direction) < GRAZING
                && cell
                    .median()
                    .is_some_and(|r| (r / expected - 1.0).abs() < TOLERANCE)
        };
        Self {
            cells: (0..recording.cells.len()).filter(is_on).collect(),
            edges: [0.0; 2],
            others: 0,
        }
    }

    /// The part of it between two declared azimuths, anticlockwise from the first, rad.
    pub(super) fn within(
        mut self,
        recording: &Recording,
        plane: &Plane,
        declared: Option<[f64; 2]>,
    ) -> Self {
        let Some(declared) = declared else {
            return self;
        };
        let angle = |cell: &usize| azimuth(&recording.cells[*cell].direction);
        let before = self.cells.len();
        self.cells.retain(|cell| is_between(angle(cell), declared));
        let is_cut = self.cells.len() < before && recording.planar;
        if let (true, Some(first), Some(last)) = (is_cut, self.cells.first(), self.cells.last()) {
            let bearing = azimuth(&plane.normal);
            self.edges = [first, last].map(|cell| wrap_to_pi(angle(cell) - bearing));
        }
        self
    }

    /// The sector of a panel of a declared width (m), centred on its normal's foot: dropped
    /// directions up to there count, directions where something else stands do not.
    pub(super) fn of_width(recording: &Recording, plane: &Plane, width: f64) -> Self {
        let half = (0.5 * width / plane.distance).atan().min(GRAZING);
        let offsets = Offsets::new(recording, plane);
        let inside = { offsets.by_angle.iter() }.filter(|(angle, _)| angle.abs() <= half);
        let is_other = |cell: usize| {
            let cell = &recording.cells[cell];
            let expected = plane.range(&cell.direction);
            cell.returned() > 0.5
                && cell
                    .median()
                    .is_some_and(|r| (r / expected - 1.0).abs() > DRIFT)
        };
        let (others, cells): (Vec<usize>, Vec<usize>) = inside
            .map(|(_, cell)| *cell)
            .partition(|cell| is_other(*cell));
        Self {
            edges: [-half, half],
            cells,
            others: others.len(),
        }
    }
}

/// Directions by their angle from a plane's normal.
struct Offsets {
    by_angle: Vec<(f64, usize)>,
}

impl Offsets {
    fn new(recording: &Recording, plane: &Plane) -> Self {
        let bearing = azimuth(&plane.normal);
        let angle = |(number, cell): (usize, &crate::noise::DirectionCell)| {
            (wrap_to_pi(azimuth(&cell.direction) - bearing), number)
        };
        let mut by_angle: Vec<_> = recording.cells.iter().enumerate().map(angle).collect();
        by_angle.sort_by(|a, b| a.0.total_cmp(&b.0));
        Self { by_angle }
    }

    /// The first place that no longer belongs to the panel, going left.
    fn walk(&self, recording: &Recording, plane: &Plane, places: std::ops::Range<usize>) -> usize {
        let mut walk = Walk::new(plane);
        let mut end = places.start;
        for place in places {
            let (angle, cell) = self.by_angle[place];
            match walk.go(recording, angle.abs(), cell) {
                Some(true) => end = place + 1,
                Some(false) => {}
                None => break,
            }
        }
        end
    }

    /// The last place that still belongs to it, going right.
    fn walk_back(&self, recording: &Recording, plane: &Plane, from: usize) -> usize {
        let mut walk = Walk::new(plane);
        let mut end = from;
        for place in (0..from).rev() {
            let (angle, cell) = self.by_angle[place];
            match walk.go(recording, angle.abs(), cell) {
                Some(true) => end = place,
                Some(false) => {}
                None => break,
            }
        }
        end
    }
}

/// A walk along a panel.
struct Walk<'a> {
    plane: &'a Plane,
    /// Distances of the plane as the last directions see it.
    last: Vec<f64>,
    seen_at: f64,
}

impl<'a> Walk<'a> {
    fn new(plane: &'a Plane) -> Self {
        Self {
            plane,
            last: vec![plane.distance; 3],
            seen_at: 0.0,
        }
    }

    /// Whether a direction belongs to the panel; none where the panel has ended.
    fn go(&mut self, recording: &Recording, angle: f64, cell: usize) -> Option<bool> {
        if angle > GRAZING || angle - self.seen_at > WIDEST_GAP {
            return None;
        }
        let cell = &recording.cells[cell];
        let cos = self.plane.cos_incidence(&cell.direction);
        let Some(median) = cell.median() else {
            return Some(false);
        };
        let distance = median * cos;
        let recent = &self.last[self.last.len().saturating_sub(5)..];
        let expected = recent.iter().sum::<f64>() / recent.len() as f64;
        let near = (distance / expected - 1.0).abs()
            < TOLERANCE + 0.02 * self.plane.incidence(&cell.direction).tan();
        let drifted = (distance / self.plane.distance - 1.0).abs() > DRIFT;
        if near && !drifted {
            self.last.push(distance);
            self.seen_at = angle;
        }
        Some(near && !drifted)
    }
}
