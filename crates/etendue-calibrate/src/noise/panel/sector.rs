//! Observed sector of a panel.

use super::plane::PanelPlane;
use super::segment::{GRAZING, SPOT, WIDEST_GAP};
use super::sight::{SEEING, Sight, View, allowance};
use crate::noise::recording::{PanelRecording, azimuth, is_between};
use etendue_physics::angle::wrap_to_pi;

/// The directions that a panel covers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PanelSector {
    /// Indices of the directions in the recording, from right to left for planar sensors.
    pub cells: Vec<usize>,
    /// Azimuths of its edges relative to the normal, rad; zero for sensors that are not planar.
    pub edges: [f64; 2],
    /// Azimuths of the edges that were detected, before declared values move them, relative to the normal, rad.
    pub detected: [f64; 2],
    /// Directions between the edges with other objects, and those next to such objects.
    pub rejected: Vec<usize>,
    /// Angle by which a declared width runs past the edges that were found, rad.
    pub trimmed: f64,
}

/// Distance from an object that hides the panel within which directions are not used, rad.
const NEXT_TO_OBJECT: f64 = 1.0 * std::f64::consts::PI / 180.0;

/// Greatest relative difference of the range of the panel at its edge, where a part of the spot returns.
const EDGE_DEVIATION: f64 = 0.25;

/// Incidence from which the range error of a panel can jump, rad.
const OBLIQUE: f64 = 55.0 * std::f64::consts::PI / 180.0;

/// Greatest deviation from the panel that is attributed to noise, relative to its distance: a direction with
/// more sees several surfaces.
pub(in crate::noise) const LARGEST_NOISE: f64 = 0.05;

impl PanelSector {
    /// Every direction of a cloud in which a surface is near the plane.
    pub(super) fn near(sights: &[Sight], plane: &PanelPlane) -> Self {
        let is_on = |sight: &&Sight| {
            let incidence = plane.incidence(&sight.direction);
            incidence < GRAZING && is_panel(sight, plane)
        };
        let cells = sights.iter().filter(is_on).map(|sight| sight.cell);
        Self {
            cells: cells.collect(),
            ..Self::default()
        }
    }

    /// The directions between two angles from the normal (rad). Directions with other objects are rejected,
    /// and those next to them.
    pub(super) fn between(sights: &[Sight], plane: &PanelPlane, edges: [f64; 2]) -> Self {
        let inside = sights_by_angle(sights, plane);
        let inside: Vec<AngledSight> = inside
            .into_iter()
            .filter(|(angle, _)| (edges[0]..=edges[1]).contains(angle))
            .collect();
        let is_edge = |angle: f64| (angle - edges[0]).min(edges[1] - angle) < SPOT;
        let objects: Vec<f64> = inside
            .iter()
            .filter(|(angle, sight)| !is_edge(*angle) && is_other(sight, plane))
            .map(|(angle, _)| *angle)
            .collect();
        let near_object = |angle: f64| {
            let next = objects.partition_point(|object| *object < angle);
            let around = objects[next.saturating_sub(1)..].iter().take(2);
            around
                .into_iter()
                .any(|object| (object - angle).abs() <= NEXT_TO_OBJECT)
        };
        let is_used = |(angle, sight): &AngledSight| {
            let is_partial = is_edge(*angle) && !is_far_off(sight, plane);
            is_partial || !(near_object(*angle) || is_other(sight, plane))
        };
        let (used, rejected): (Vec<AngledSight>, Vec<AngledSight>) =
            inside.into_iter().partition(is_used);
        let cells = |list: Vec<AngledSight>| list.iter().map(|(_, sight)| sight.cell).collect();
        Self {
            edges,
            detected: edges,
            cells: cells(used),
            rejected: cells(rejected),
            trimmed: 0.0,
        }
    }

    /// The sector of a panel between two declared ends (angles from its normal, rad). It includes directions
    /// that drop. It ends where the recording shows a surface other than the panel over more than
    /// the extent of the spot, beyond the edges `detected` (rad).
    pub(super) fn between_ends(
        sights: &[Sight],
        plane: &PanelPlane,
        ends: [f64; 2],
        detected: [f64; 2],
    ) -> Self {
        let angled = sights_by_angle(sights, plane);
        let inside = angled
            .iter()
            .filter(|(angle, _)| (ends[0]..=ends[1]).contains(angle));
        let beyond_left = inside.clone().filter(|(angle, _)| *angle > detected[1]);
        let beyond_right = inside.rev().filter(|(angle, _)| *angle < detected[0]);
        let edges = [
            -end_of_panel(beyond_right, plane, -1.0, -detected[0], -ends[0]),
            end_of_panel(beyond_left, plane, 1.0, detected[1], ends[1]),
        ];
        Self {
            trimmed: (edges[0] - ends[0]).max(ends[1] - edges[1]),
            detected,
            ..Self::between(sights, plane, edges)
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
        self.rejected
            .retain(|cell| is_between(angle(cell), declared));
        let is_limited = self.cells.len() < before && recording.planar;
        if let (true, Some(first), Some(last)) = (is_limited, self.cells.first(), self.cells.last())
        {
            let bearing = azimuth(&plane.normal);
            self.edges = [first, last].map(|cell| wrap_to_pi(angle(cell) - bearing));
        }
        self
    }
}

/// A direction with its azimuth relative to the normal of a plane, rad.
pub(super) type AngledSight<'a> = (f64, &'a Sight);

/// All directions, ordered by their angle from the normal of a plane.
pub(super) fn sights_by_angle<'a>(sights: &'a [Sight], plane: &PanelPlane) -> Vec<AngledSight<'a>> {
    let bearing = azimuth(&plane.normal);
    let mut angled: Vec<AngledSight> = sights
        .iter()
        .map(|sight| (wrap_to_pi(sight.azimuth - bearing), sight))
        .collect();
    angled.sort_by(|a, b| a.0.total_cmp(&b.0));
    angled
}

/// Angle from the normal at which a panel ends, towards one `side` (1 for anticlockwise, -1 for clockwise), rad:
/// before a run of other surfaces that is wider than the spot, at most `limit`. Angles are positive towards that side.
/// Surfaces next to the edge `found` (rad), where the range jumps, are others; those after a gap without returns, or
/// beyond 55 degrees, are others if they are not on the plane.
fn end_of_panel<'a>(
    outward: impl Iterator<Item = &'a AngledSight<'a>>,
    plane: &PanelPlane,
    side: f64,
    found: f64,
    limit: f64,
) -> f64 {
    let mut other_from: Option<f64> = None;
    let mut last = found;
    let mut after_gap = false;
    for (angle, sight) in outward {
        if sight.returned() <= SEEING {
            continue;
        }
        let angle = side * angle;
        after_gap |= angle - last > WIDEST_GAP;
        last = angle;
        if (after_gap || angle > OBLIQUE) && is_panel(sight, plane) {
            other_from = None;
            continue;
        }
        let from = *other_from.get_or_insert(angle);
        if angle - from > SPOT {
            return from - 1e-9;
        }
    }
    limit
}

/// What a direction sees relative to a panel with its greatest systematic deviation.
fn view(sight: &Sight, plane: &PanelPlane) -> View {
    let incidence = plane.incidence(&sight.direction);
    let cos = incidence.cos();
    sight.view(plane, plane.distance, |mode| {
        let noise = (4.0 * mode.spread * cos).min(LARGEST_NOISE * plane.distance);
        noise + allowance(incidence, plane.distance)
    })
}

/// Whether a direction sees the panel at least for a part of the time.
pub(super) fn is_panel(sight: &Sight, plane: &PanelPlane) -> bool {
    matches!(view(sight, plane), View::Plane(_))
}

/// Whether a direction sees a surface other than the panel.
fn is_other(sight: &Sight, plane: &PanelPlane) -> bool {
    matches!(view(sight, plane), View::Nearer | View::Farther)
}

/// Whether the surface of a direction is too far from the panel for a part of the spot at its edge.
fn is_far_off(sight: &Sight, plane: &PanelPlane) -> bool {
    let expected = plane.range(&sight.direction);
    let off = |range: f64| (range / expected - 1.0).abs() > EDGE_DEVIATION;
    sight.returned() > 0.5
        && sight
            .mode_near(expected)
            .is_some_and(|mode| off(mode.median))
}
