//! Search for panels in a recording, and selection of one.

use super::motion::PanelMotion;
use super::panel_struct::Panel;
use super::plane::{CORE, PanelPlane, PlaneFit, RangedDirection};
use super::sector::PanelSector;
use crate::noise::error::NoiseError;
use crate::noise::recording::{DirectionCell, PanelRecording, azimuth, is_between};
use etendue_physics::angle::wrap_to_pi;
use etendue_physics::{Purpose, Stream};
use nalgebra::Vector3;
use std::collections::BTreeSet;

/// Declared properties of a panel: hints for the search.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PanelHint {
    /// Distance, m.
    pub distance: Option<f64>,
    /// Width, m: separates dropped beams on the panel from beams beyond its edge.
    pub width: Option<f64>,
    /// Bearing of the middle of the panel, anticlockwise from x, rad.
    pub bearing: Option<f64>,
    /// Azimuths between which the panel is, anticlockwise from the first to the second, rad: beams
    /// outside are ignored.
    pub sector: Option<[f64; 2]>,
}

/// Criteria of a panel.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PanelSearch {
    /// Least number of directions.
    pub directions: usize,
    /// Least angular extent, rad.
    pub span: f64,
    /// Distance relative to the nearest panel beyond which other panels are background.
    pub background: f64,
}

impl Default for PanelSearch {
    fn default() -> Self {
        Self {
            directions: 8,
            span: 8.0_f64.to_radians(),
            background: 2.0,
        }
    }
}

/// Relative difference of declared and fitted distance that gives a warning.
const DISCREPANCY: f64 = 0.05;

/// Greatest difference between the bearing of a panel's normal and the declared bearing, rad.
const BEARING_GATE: f64 = 45.0 * std::f64::consts::PI / 180.0;

/// Accuracy of a declared bearing, rad.
const BEARING_ACCURACY: f64 = 10.0 * std::f64::consts::PI / 180.0;

/// Least difference between the bearing errors of the nearest and any other panel for an unambiguous
/// selection, rad.
const BEARING_MARGIN: f64 = 10.0 * std::f64::consts::PI / 180.0;

/// Greatest distance of a panel, m.
const FARTHEST: f64 = 60.0;

/// Half width of the search around a declared bearing, degrees.
const SEARCH_DEG: f64 = 80.0;

/// Largest number of flat surfaces that are extracted.
const MOST_SURFACES: u32 = 8;

/// Number of random planes per surface.
const DRAWS: u32 = 600;

/// Greatest incidence of the squarest direction of a panel that faces the sensor, degrees.
const FACING_DEG: f64 = 10.0;

/// The panel of a recording.
///
/// Every flat surface is a candidate. A panel contains the foot of its normal, so that one beam is
/// perpendicular to it. The nearest panel is selected; flat surfaces at twice its distance are background.
/// Declared values only select between candidates and set width and sector; if they disagree with the
/// recording, a warning reports it.
///
/// # Errors
/// If too few directions return, there is no panel, or several panels and no hint that selects one.
pub fn find_panel(
    recording: &PanelRecording,
    hint: &PanelHint,
    search: &PanelSearch,
) -> Result<Panel, NoiseError> {
    // Find all panels near the declared bearing
    let mut panels = find_panels(recording, hint, search)?;
    if let Some(bearing) = hint.bearing {
        let is_near = |panel: &Panel| wrap_to_pi(panel.bearing() - bearing).abs() < BEARING_GATE;
        if panels.iter().any(is_near) {
            panels.retain(is_near);
        }
    }

    // Select one
    let candidates = foreground_panels(&panels, search);
    let Some(mut panel) = select(&candidates, hint) else {
        return Err(NoiseError::SeveralPanels {
            recording: recording.name.clone(),
            count: candidates.len(),
            declared: 1,
            found: describe(&candidates),
        });
    };
    if panel.plane.distance > FARTHEST {
        return Err(NoiseError::Millimetres {
            recording: recording.name.clone(),
            distance: panel.plane.distance,
        });
    }

    // Apply the declared values, and detect motion
    apply_hint(&mut panel, hint, recording);
    panel.motion = PanelMotion::of(recording, &panel.plane, &panel.sector);
    panel.warnings.extend(motion_warning(&panel));
    Ok(panel)
}

/// All panels that face the sensor, the nearest first.
///
/// # Errors
/// If too few directions return, or no flat surface faces the sensor.
pub fn find_panels(
    recording: &PanelRecording,
    hint: &PanelHint,
    search: &PanelSearch,
) -> Result<Vec<Panel>, NoiseError> {
    // Collect the directions that mostly return
    recording.check()?;
    let mut cells = returning_cells(recording, hint);
    if cells.len() < search.directions {
        return Err(NoiseError::TooFewBeams {
            recording: recording.name.clone(),
            directions: cells.len(),
            needed: search.directions,
        });
    }

    // Extract flat surfaces one after the other, with all directions of their sectors
    let mut panels = Vec::new();
    let mut oblique = Vec::new();
    for round in 0..MOST_SURFACES {
        let Some((panel, faces)) = next_surface(recording, &cells, hint, search, round) else {
            break;
        };
        let before = cells.len();
        let taken: BTreeSet<usize> = panel.sector.cells.iter().copied().collect();
        cells.retain(|cell| {
            !taken.contains(cell) && !is_on(&recording.cells[*cell], &panel.plane, 0.03)
        });
        if cells.len() == before {
            break;
        }
        if faces {
            panels.push(panel);
        } else {
            oblique.push(panel);
        }
    }
    panels.sort_by(|a, b| a.plane.distance.total_cmp(&b.plane.distance));
    if panels.is_empty() {
        oblique.retain(|panel| panel.sector.cells.len() >= search.directions);
        let found = if oblique.is_empty() {
            format!("no flat surface in {} directions", recording.cells.len())
        } else {
            format!("only surfaces at oblique incidence: {}", describe(&oblique))
        };
        return Err(NoiseError::NoPanel {
            recording: recording.name.clone(),
            found,
        });
    }
    Ok(panels)
}

/// Directions within the declared sector in which most beams return.
fn returning_cells(recording: &PanelRecording, hint: &PanelHint) -> Vec<usize> {
    let inside = |azimuth: f64| match (hint.sector, hint.bearing) {
        (Some(sector), _) => is_between(azimuth, sector),
        (None, Some(bearing)) => wrap_to_pi(azimuth - bearing).abs() < SEARCH_DEG.to_radians(),
        (None, None) => true,
    };
    let cells = recording.cells.iter().enumerate();
    cells
        .filter(|(_, cell)| inside(azimuth(&cell.direction)) && cell.returned() > 0.5)
        .map(|(number, _)| number)
        .collect()
}

/// Whether the median range of a direction agrees with a plane within a fraction of its range.
fn is_on(cell: &DirectionCell, plane: &PanelPlane, fraction: f64) -> bool {
    cell.median()
        .is_some_and(|r| (r / plane.range(&cell.direction) - 1.0).abs() < fraction)
}

/// The flat surface with the most directions, and whether it is a panel that faces the sensor: by random
/// samples of neighbouring directions (RANSAC; Fischler and Bolles 1981, doi:10.1145/358669.358692),
/// refined.
fn next_surface(
    recording: &PanelRecording,
    cells: &[usize],
    hint: &PanelHint,
    search: &PanelSearch,
    round: u32,
) -> Option<(Panel, bool)> {
    // Draw random planes and keep the one with the most points
    let points: Vec<Vector3<f64>> = cells
        .iter()
        .filter_map(|cell| {
            let cell = &recording.cells[*cell];
            cell.median().map(|range| cell.direction * range)
        })
        .collect();
    let (count, rough) = best_plane(&points, recording.planar, round)?;
    if count < search.directions {
        return None;
    }

    // Fit the plane to the directions near it, and again to those of its sector
    let near = ranged_directions(recording, cells.iter().copied(), &rough, 0.9);
    let fit = rough.refined(&near, recording.planar);
    let limited =
        |sector: PanelSector, plane: &PanelPlane| sector.within(recording, plane, hint.sector);
    let sector = limited(PanelSector::grown(recording, &fit.plane), &fit.plane);
    let fit = refit(recording, &sector, fit);

    // Test size and orientation; the foot of the normal may be outside the declared sector
    let whole = PanelSector::grown(recording, &fit.plane);
    let is_facing = faces_sensor(recording, &fit.plane, &whole);
    let sector = limited(whole, &fit.plane);
    let is_wide = sector.edges[1] - sector.edges[0] >= search.span || !recording.planar;
    let is_large = is_wide && sector.cells.len() >= search.directions;
    Some((panel(&fit, sector), is_large && is_facing))
}

/// The random plane with the most points, and their number; `None` for fewer than three points.
fn best_plane(points: &[Vector3<f64>], planar: bool, round: u32) -> Option<(usize, PanelPlane)> {
    if points.len() < 3 {
        return None;
    }
    let mut stream = Stream::new(0, 0, 0, round, Purpose::Search);
    let draws = (0..DRAWS).filter_map(|_| {
        let plane = random_plane(points, planar, &mut stream)?;
        let tolerance = 0.012 * plane.distance + 0.002;
        let is_on =
            |point: &&Vector3<f64>| (plane.normal.dot(point) - plane.distance).abs() < tolerance;
        Some((points.iter().filter(is_on).count(), plane))
    });
    draws.max_by_key(|(count, _)| *count)
}

/// A panel from its fitted plane.
fn panel(fit: &PlaneFit, sector: PanelSector) -> Panel {
    Panel {
        plane: fit.plane,
        sector,
        rms: fit.rms,
        distance_error: fit.distance_error,
        bearing_error: fit.bearing_error,
        directions: fit.points,
        motion: None,
        warnings: Vec::new(),
    }
}

/// The plane fitted to the directions of the sector.
fn refit(recording: &PanelRecording, sector: &PanelSector, before: PlaneFit) -> PlaneFit {
    let points = |least| {
        let cells = sector.cells.iter().copied();
        ranged_directions(recording, cells, &before.plane, least)
    };
    let returning = points(0.9);
    let points = if returning.len() < 8 {
        points(0.0)
    } else {
        returning
    };
    if points.len() < 3 {
        return before;
    }
    before.plane.refined(&points, recording.planar)
}

/// Median ranges of the directions near a plane in which at least a fraction of the beams returned.
fn ranged_directions(
    recording: &PanelRecording,
    cells: impl Iterator<Item = usize>,
    plane: &PanelPlane,
    least: f64,
) -> Vec<RangedDirection> {
    let core = CORE.to_radians().cos();
    cells
        .map(|cell| &recording.cells[cell])
        .filter(|cell| cell.returned() > least && is_on(cell, plane, 0.08))
        .filter(|cell| plane.cos_incidence(&cell.direction) > core * 0.9)
        .filter_map(|cell| {
            Some(RangedDirection {
                direction: cell.direction,
                range: cell.median()?,
            })
        })
        .collect()
}

/// The plane through random points.
fn random_plane(points: &[Vector3<f64>], planar: bool, stream: &mut Stream) -> Option<PanelPlane> {
    let mut pick = |limit: usize| {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a draw below 1 of a number of points"
        )]
        let drawn = (stream.uniform() * limit as f64) as usize;
        drawn.min(limit - 1)
    };
    let first = pick(points.len());
    if planar {
        // Directions are sorted by azimuth: the second point is within a quarter of them
        let reach = (points.len() / 4).max(4);
        let second = (first + 2 + pick(reach)) % points.len();
        return PanelPlane::through(&[points[first], points[second]], true);
    }
    let others = [pick(points.len()), pick(points.len())];
    PanelPlane::through(
        &[points[first], points[others[0]], points[others[1]]],
        false,
    )
}

/// Whether the panel contains the foot of its normal (within 10 degrees).
fn faces_sensor(recording: &PanelRecording, plane: &PanelPlane, sector: &PanelSector) -> bool {
    let cells = sector.cells.iter().map(|cell| &recording.cells[*cell]);
    let least = cells
        .map(|cell| plane.incidence(&cell.direction))
        .fold(f64::INFINITY, f64::min);
    least < FACING_DEG.to_radians()
}

/// Panels that are not background. `panels` are ordered by distance.
fn foreground_panels(panels: &[Panel], search: &PanelSearch) -> Vec<Panel> {
    let nearest = panels.first().map_or(0.0, |panel| panel.plane.distance);
    let is_near = |panel: &&Panel| panel.plane.distance < search.background * nearest;
    panels.iter().filter(is_near).cloned().collect()
}

/// The only panel, or the one that the declared distance or bearing selects unambiguously.
fn select(panels: &[Panel], hint: &PanelHint) -> Option<Panel> {
    if panels.len() < 2 {
        return panels.first().cloned();
    }
    let distance_error = |panel: &Panel| Some((panel.plane.distance / hint.distance?).ln().abs());
    let bearing_error = |panel: &Panel| Some(wrap_to_pi(panel.bearing() - hint.bearing?).abs());
    unambiguous(panels, distance_error, DISCREPANCY, DISCREPANCY)
        .or_else(|| unambiguous(panels, bearing_error, BEARING_ACCURACY, BEARING_MARGIN))
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

/// Distances and bearings of panels as text.
fn describe(panels: &[Panel]) -> String {
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

/// Warning about a panel that moved.
fn motion_warning(panel: &Panel) -> Option<String> {
    let [turn, distance] = panel.motion.as_ref()?.extent(&panel.plane);
    Some(format!(
        "the panel or the sensor moved during the recording (turned by {:.2} degrees, {:.1} mm \
         between the nearest and the farthest scan): its plane is fitted to each scan, so that the \
         motion does not count as noise",
        (turn[1] - turn[0]).to_degrees(),
        1e3 * (distance[1] - distance[0])
    ))
}

/// Applies the declared width, and adds warnings where declared values and recording disagree.
fn apply_hint(panel: &mut Panel, hint: &PanelHint, recording: &PanelRecording) {
    // Compare the declared distance with the fitted one.
    if let Some(declared) = hint.distance {
        let found = panel.plane.distance;
        if (found / declared - 1.0).abs() > DISCREPANCY {
            panel.warnings.push(format!(
                "declared distance {declared} m, found {found:.4} m: {:.0} mm {}; the fitted distance is used",
                1e3 * (found - declared).abs(),
                if found < declared { "nearer" } else { "farther" }
            ));
        }
    }
    // Limit the sector of a planar scan to the declared width.
    if !recording.planar {
        return;
    }
    let grown = panel.sector.clone();
    if let Some(width) = hint.width {
        let sector = PanelSector::of_width(recording, &panel.plane, width);
        panel.sector = sector.within(recording, &panel.plane, hint.sector);
        if panel.sector.others > 0 {
            panel.warnings.push(format!(
                "declared width {width} m: {} directions within it contain other objects and are ignored",
                panel.sector.others
            ));
        }
    } else {
        panel.warnings.push(format!(
            "detected from {:.1} to {:.1} degrees about its normal; drop-outs beyond are not counted: \
             declare the width to include those on the panel",
            grown.edges[0].to_degrees(),
            grown.edges[1].to_degrees()
        ));
    }
}
