//! Selection of one panel among the flat surfaces of a recording.

use super::hint::{PanelHint, PanelSearch};
use super::panel_struct::Panel;
use etendue_physics::angle::wrap_to_pi;

/// Relative difference of declared and fitted distance that gives a warning.
pub(super) const DISCREPANCY: f64 = 0.05;

/// Greatest difference between the bearing of a panel's normal and the declared bearing, rad.
const BEARING_GATE: f64 = 45.0 * std::f64::consts::PI / 180.0;

/// Accuracy of a declared bearing, rad.
pub(super) const BEARING_ACCURACY: f64 = 10.0 * std::f64::consts::PI / 180.0;

/// Least difference between the bearing errors of the nearest and any other panel for an unambiguous
/// selection, rad.
const BEARING_MARGIN: f64 = 10.0 * std::f64::consts::PI / 180.0;

/// Least number of directions of a panel relative to the largest.
const SMALL: f64 = 1.0 / 3.0;

/// Greatest number of directions of the other panels, relative to the largest, for a selection by size.
const CLEARLY_SMALLER: f64 = 0.5;

/// Panels near a declared bearing, if there are any; otherwise all.
pub(super) fn near_bearing(panels: Vec<Panel>, hint: &PanelHint) -> Vec<Panel> {
    let Some(bearing) = hint.bearing else {
        return panels;
    };
    let is_near = |panel: &Panel| wrap_to_pi(panel.bearing() - bearing).abs() < BEARING_GATE;
    if panels.iter().any(is_near) {
        panels.into_iter().filter(is_near).collect()
    } else {
        panels
    }
}

/// Panels that can be meant: not smaller than a third of the largest (a part of the robot, for example),
/// and nearer than `background` times the nearest of these. `panels` are ordered by distance.
pub(super) fn foreground(panels: &[Panel], search: &PanelSearch) -> Vec<Panel> {
    let largest = panels.iter().map(size).fold(0.0, f64::max);
    let large = || panels.iter().filter(|panel| size(panel) >= SMALL * largest);
    let nearest = large()
        .map(|panel| panel.plane.distance)
        .next()
        .unwrap_or(0.0);
    let is_near = |panel: &&Panel| panel.plane.distance < search.background * nearest;
    large().filter(is_near).cloned().collect()
}

/// The panel that the declared distance or bearing selects unambiguously; otherwise the largest, if all
/// others are smaller than half of it.
pub(super) fn select(panels: &[Panel], hint: &PanelHint) -> Option<Panel> {
    if panels.len() < 2 {
        return panels.first().cloned();
    }
    let distance_error = |panel: &Panel| Some((panel.plane.distance / hint.distance?).ln().abs());
    let bearing_error = |panel: &Panel| Some(wrap_to_pi(panel.bearing() - hint.bearing?).abs());
    unambiguous(panels, distance_error, DISCREPANCY, DISCREPANCY)
        .or_else(|| unambiguous(panels, bearing_error, BEARING_ACCURACY, BEARING_MARGIN))
        .or_else(|| clearly_largest(panels))
}

/// The panel with the least error, if that is below `limit` and all others are greater by more than
/// `margin`.
fn unambiguous(
    panels: &[Panel],
    error: impl Fn(&Panel) -> Option<f64>,
    limit: f64,
    margin: f64,
) -> Option<Panel> {
    let mut errors: Vec<(f64, &Panel)> = panels
        .iter()
        .map(|panel| Some((error(panel)?, panel)))
        .collect::<Option<_>>()?;
    errors.sort_by(|a, b| a.0.total_cmp(&b.0));
    let first = errors.first()?;
    let second = errors.get(1)?;
    (first.0 < limit && second.0 > first.0 + margin).then(|| first.1.clone())
}

/// The panel with the most directions, if all others have less than half as many.
fn clearly_largest(panels: &[Panel]) -> Option<Panel> {
    let largest = panels.iter().max_by(|a, b| size(a).total_cmp(&size(b)))?;
    let others = panels.iter().filter(|panel| panel.plane != largest.plane);
    let second = others.map(size).fold(0.0, f64::max);
    (second < CLEARLY_SMALLER * size(largest)).then(|| largest.clone())
}

/// Number of directions of a panel.
fn size(panel: &Panel) -> f64 {
    panel.sector.cells.len() as f64
}

/// Distances and bearings of panels as text.
pub(super) fn describe(panels: &[Panel]) -> String {
    let one = |panel: &Panel| {
        format!(
            "one {:.3} m away at a bearing of {:.1} degrees, {} directions",
            panel.plane.distance,
            panel.bearing().to_degrees(),
            panel.sector.cells.len()
        )
    };
    panels.iter().map(one).collect::<Vec<_>>().join("; ")
}
