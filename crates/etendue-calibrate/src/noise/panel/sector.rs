//! Observed sector of a panel.

use super::plane::PanelPlane;
use crate::noise::recording::{DirectionCell, PanelRecording, azimuth, is_between};
use etendue_physics::angle::wrap_to_pi;

/// The directions that a panel covers.
#[derive(Clone, Debug, PartialEq)]
pub struct PanelSector {
    /// Indices of the directions in the recording, from right to left for planar sensors.
    pub cells: Vec<usize>,
    /// Azimuths of its edges relative to the normal, rad; zero for sensors that are not planar.
    pub edges: [f64; 2],
    /// Number of directions with other objects.
    pub others: usize,
}

/// Widest gap of dropped directions within a panel, rad.
const WIDEST_GAP: f64 = 4.0 * std::f64::consts::PI / 180.0;

/// Greatest incidence on a panel, rad.
const GRAZING: f64 = 85.0 * std::f64::consts::PI / 180.0;

/// Greatest relative difference between the distance of a direction and that of its neighbours.
const TOLERANCE: f64 = 0.04;

/// Greatest relative difference between the distance of a direction and that of the plane.
const DRIFT: f64 = 0.25;

/// Number of preceding directions whose distances are averaged.
const NEIGHBOURS: usize = 5;

impl PanelSector {
    /// Grows the sector from the foot of the normal outwards as long as the surface continues: a direction
    /// belongs to the panel if its median range agrees with that of its inner neighbours. This tolerates a
    /// range error that grows slowly with incidence; a jump ends the panel.
    pub(super) fn grown(recording: &PanelRecording, plane: &PanelPlane) -> Self {
        if recording.planar {
            Self::grown_planar(recording, plane)
        } else {
            Self::near(recording, plane)
        }
    }

    fn grown_planar(recording: &PanelRecording, plane: &PanelPlane) -> Self {
        let directions = directions_by_angle(recording, plane);
        let middle = directions.partition_point(|direction| direction.angle < 0.0);
        let (on_right, on_left) = directions.split_at(middle);

        // Grow to the left and to the right
        let left = middle + SectorGrowth::new(plane).count(recording, on_left.iter());
        let right = middle - SectorGrowth::new(plane).count(recording, on_right.iter().rev());
        let edge = |at: usize| directions.get(at).map_or(0.0, |direction| direction.angle);
        Self {
            edges: [edge(right), edge(left.saturating_sub(1))],
            cells: directions[right..left]
                .iter()
                .map(|direction| direction.cell)
                .collect(),
            others: 0,
        }
    }

    /// Every direction whose median range is near the plane.
    fn near(recording: &PanelRecording, plane: &PanelPlane) -> Self {
        let is_on = |cell: &usize| {
            let cell = &recording.cells[*cell];
            plane.incidence(&cell.direction) < GRAZING
                && relative_difference(cell, plane).is_some_and(|off| off < TOLERANCE)
        };
        Self {
            cells: (0..recording.cells.len()).filter(is_on).collect(),
            edges: [0.0; 2],
            others: 0,
        }
    }

    /// Sector limited to the directions between two declared azimuths, anticlockwise from the first, rad.
    pub(super) fn within(
        mut self,
        recording: &PanelRecording,
        plane: &PanelPlane,
        declared: Option<[f64; 2]>,
    ) -> Self {
        let Some(declared) = declared else {
            return self;
        };
        let angle = |cell: &usize| azimuth(&recording.cells[*cell].direction);
        let before = self.cells.len();
        self.cells.retain(|cell| is_between(angle(cell), declared));
        let is_limited = self.cells.len() < before && recording.planar;
        if let (true, Some(first), Some(last)) = (is_limited, self.cells.first(), self.cells.last())
        {
            let bearing = azimuth(&plane.normal);
            self.edges = [first, last].map(|cell| wrap_to_pi(angle(cell) - bearing));
        }
        self
    }

    /// The sector of a panel of a declared width (m), centred on the foot of its normal. It includes
    /// directions that drop, and excludes directions with other objects.
    pub(super) fn of_width(recording: &PanelRecording, plane: &PanelPlane, width: f64) -> Self {
        let half = (0.5 * width / plane.distance).atan().min(GRAZING);
        let directions = directions_by_angle(recording, plane).into_iter();
        let inside = directions.filter(|direction| direction.angle.abs() <= half);
        let is_other = |cell: &usize| {
            let cell = &recording.cells[*cell];
            cell.returned() > 0.5 && relative_difference(cell, plane).is_some_and(|off| off > DRIFT)
        };
        let (others, cells): (Vec<usize>, Vec<usize>) =
            inside.map(|direction| direction.cell).partition(is_other);
        Self {
            edges: [-half, half],
            cells,
            others: others.len(),
        }
    }
}

/// Relative difference of the median range of a direction from the plane.
fn relative_difference(cell: &DirectionCell, plane: &PanelPlane) -> Option<f64> {
    let expected = plane.range(&cell.direction);
    cell.median().map(|range| (range / expected - 1.0).abs())
}

/// A direction of a recording with its angle from the normal of a plane.
struct AngledDirection {
    /// Azimuth relative to the normal, rad.
    angle: f64,
    /// Index in the recording.
    cell: usize,
}

/// All directions, ordered by their angle from the normal of a plane.
fn directions_by_angle(recording: &PanelRecording, plane: &PanelPlane) -> Vec<AngledDirection> {
    let bearing = azimuth(&plane.normal);
    let mut directions: Vec<AngledDirection> = recording
        .cells
        .iter()
        .enumerate()
        .map(|(cell, direction)| AngledDirection {
            angle: wrap_to_pi(azimuth(&direction.direction) - bearing),
            cell,
        })
        .collect();
    directions.sort_by(|a, b| a.angle.total_cmp(&b.angle));
    directions
}

/// Growth of a sector in one direction along a panel.
struct SectorGrowth<'a> {
    plane: &'a PanelPlane,
    /// Distances of the plane according to the accepted directions, m.
    distances: Vec<f64>,
    /// Angle of the last accepted direction from the normal, rad.
    last_angle: f64,
}

impl<'a> SectorGrowth<'a> {
    fn new(plane: &'a PanelPlane) -> Self {
        Self {
            plane,
            distances: vec![plane.distance; 3],
            last_angle: 0.0,
        }
    }

    /// Number of directions up to the last one that belongs to the panel.
    fn count<'d>(
        mut self,
        recording: &PanelRecording,
        directions: impl Iterator<Item = &'d AngledDirection>,
    ) -> usize {
        let mut count = 0;
        for (number, direction) in (1..).zip(directions) {
            let angle = direction.angle.abs();
            if angle > GRAZING || angle - self.last_angle > WIDEST_GAP {
                break;
            }
            if self.accept(&recording.cells[direction.cell]) {
                self.last_angle = angle;
                count = number;
            }
        }
        count
    }

    /// Whether a direction belongs to the panel: its distance agrees with that of the preceding
    /// directions, and roughly with that of the plane.
    fn accept(&mut self, cell: &DirectionCell) -> bool {
        let Some(median) = cell.median() else {
            return false;
        };
        let distance = median * self.plane.cos_incidence(&cell.direction);
        let recent = &self.distances[self.distances.len().saturating_sub(NEIGHBOURS)..];
        let expected = recent.iter().sum::<f64>() / recent.len() as f64;
        let tolerance = TOLERANCE + 0.02 * self.plane.incidence(&cell.direction).tan();
        let agrees = (distance / expected - 1.0).abs() < tolerance
            && (distance / self.plane.distance - 1.0).abs() <= DRIFT;
        if agrees {
            self.distances.push(distance);
        }
        agrees
    }
}
