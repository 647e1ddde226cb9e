//! Search for panels in a recording.

use super::cloud::largest_plane;
use super::declared::{apply_hint, motion_warning};
use super::growth;
use super::hint::{PanelHint, PanelSearch};
use super::motion::PanelMotion;
use super::panel_struct::{LargerSurface, Panel};
use super::plane::{CORE, PanelPlane, PlaneFit, RangedDirection};
use super::sector::{PanelSector, is_panel};
use super::segment::SegmentSearch;
use super::select::{describe, foreground, near_bearing, select};
use super::sight::Sight;
use super::stationary::{check_in_place, check_stationary};
use crate::noise::error::NoiseError;
use crate::noise::recording::{PanelRecording, azimuth, is_between};
use etendue_physics::angle::wrap_to_pi;

/// Greatest distance of a panel, m.
const FARTHEST: f64 = 60.0;

/// Half width of the search around a declared bearing, degrees.
const SEARCH_DEG: f64 = 80.0;

/// Largest number of flat surfaces that are extracted.
const MOST_SURFACES: u32 = 8;

/// Greatest incidence of the squarest direction of a panel that faces the sensor, degrees.
pub(super) const FACING_DEG: f64 = 10.0;

/// The same of a panel that is used if none faces the sensor, degrees.
const OBLIQUE_DEG: f64 = 30.0;

/// Greatest difference of the planes of two parts of one panel: relative to the distance.
const COPLANAR: f64 = 0.004;

/// The panel of a recording.
///
/// Every flat surface is a candidate. A panel contains the foot of its normal, so that one beam is
/// perpendicular to it; if no surface does, those up to 30 degrees are candidates. Surfaces with less than a
/// third of the directions of the largest are ignored; of the others, the nearest and those nearer than
/// twice its distance can be meant. Declared values select between them and set width and sector; without
/// them, the largest is selected if all others have less than half of its directions. If declared values
/// disagree with the recording, a warning reports it.
///
/// # Errors
/// If the sensor or the panel moves, too few directions return, there is no panel, or several panels and no hint that
/// selects one.
pub fn find_panel(
    recording: &PanelRecording,
    hint: &PanelHint,
    search: &PanelSearch,
) -> Result<Panel, NoiseError> {
    // Reject a moving sensor, and find all panels near the declared bearing
    recording.check()?;
    check_stationary(recording)?;
    let sights = Sight::all(recording);
    let panels = near_bearing(panels_of(recording, &sights, hint, search)?, hint);

    // Select one
    let candidates = foreground(&panels, search);
    let Some(mut panel) = select(&candidates, hint) else {
        for candidate in &candidates {
            check_in_place(recording, candidate)?;
        }
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
    if [hint.distance, hint.bearing].iter().all(Option::is_none) && hint.sector.is_none() {
        panel.larger = larger_surface(&panels, &panel);
    }
    apply_hint(&mut panel, hint, recording, &sights);
    panel.motion = PanelMotion::of(recording, &panel.plane, &panel.sector);
    check_in_place(recording, &panel)?;
    panel.warnings.extend(motion_warning(&panel));
    Ok(panel)
}

/// The surface with the most directions, if it has more than the panel.
fn larger_surface(panels: &[Panel], panel: &Panel) -> Option<LargerSurface> {
    let largest = panels.iter().max_by_key(|other| other.sector.cells.len())?;
    let directions = largest.sector.cells.len();
    (directions > panel.sector.cells.len()).then(|| LargerSurface {
        distance: largest.plane.distance,
        bearing: largest.bearing(),
        directions,
    })
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
    recording.check()?;
    panels_of(recording, &Sight::all(recording), hint, search)
}

fn panels_of(
    recording: &PanelRecording,
    sights: &[Sight],
    hint: &PanelHint,
    search: &PanelSearch,
) -> Result<Vec<Panel>, NoiseError> {
    // Select the directions that mostly return
    let mut free: Vec<bool> = sights.iter().map(|s| is_searched(s, hint)).collect();
    let directions = free.iter().filter(|free| **free).count();
    if directions < search.directions {
        return Err(NoiseError::TooFewBeams {
            recording: recording.name.clone(),
            directions,
            needed: search.directions,
            bearing_deg: searched_bearing(hint).map(f64::to_degrees),
        });
    }

    // Extract flat surfaces one after the other, with all directions of their sectors
    let mut surfaces: Vec<Surface> = Vec::new();
    for round in 0..MOST_SURFACES {
        let Some(surface) = next_surface(recording, sights, &free, hint, search, round) else {
            break;
        };
        for cell in surface.whole.cells.iter().chain(&surface.support) {
            free[*cell] = false;
        }
        match surfaces
            .iter_mut()
            .find(|other| is_same_plane(other, &surface))
        {
            Some(other) => other.join(&surface, recording, sights, hint),
            None => surfaces.push(surface),
        }
    }

    // Keep those that are large enough and face the sensor
    surfaces.retain(|surface| surface.is_large(recording, search));
    panels_facing(&surfaces, recording)
}

/// The surfaces that contain the foot of their normal, or the squarest of the others, nearest first.
fn panels_facing(
    surfaces: &[Surface],
    recording: &PanelRecording,
) -> Result<Vec<Panel>, NoiseError> {
    let within = |limit: f64| -> Vec<Panel> {
        let facing = surfaces
            .iter()
            .filter(|surface| surface.squarest < limit.to_radians());
        facing.map(|surface| surface.panel.clone()).collect()
    };
    let mut panels = within(FACING_DEG);
    if panels.is_empty() {
        panels = within(OBLIQUE_DEG);
    }
    if panels.is_empty() {
        let all: Vec<Panel> = surfaces.iter().map(|s| s.panel.clone()).collect();
        let found = if all.is_empty() {
            format!("no flat surface in {} directions", recording.cells.len())
        } else {
            format!("only surfaces at oblique incidence: {}", describe(&all))
        };
        return Err(NoiseError::NoPanel {
            recording: recording.name.clone(),
            found,
        });
    }
    panels.sort_by(|a, b| a.plane.distance.total_cmp(&b.plane.distance));
    Ok(panels)
}

/// The declared bearing, if it limits the search, rad.
fn searched_bearing(hint: &PanelHint) -> Option<f64> {
    hint.bearing.filter(|_| hint.sector.is_none())
}

/// Whether a direction is within the declared sector and mostly returns.
fn is_searched(sight: &Sight, hint: &PanelHint) -> bool {
    let inside = match (hint.sector, hint.bearing) {
        (Some(sector), _) => is_between(sight.azimuth, sector),
        (None, Some(bearing)) => {
            wrap_to_pi(sight.azimuth - bearing).abs() < SEARCH_DEG.to_radians()
        }
        (None, None) => true,
    };
    inside && sight.returned() > 0.5
}

/// A flat surface.
struct Surface {
    panel: Panel,
    /// Its directions, whether they are in the declared sector or not.
    whole: PanelSector,
    /// Directions that the plane was found with.
    support: Vec<usize>,
    /// Least incidence of its directions, rad.
    squarest: f64,
}

impl Surface {
    fn new(
        fit: &PlaneFit,
        whole: PanelSector,
        support: Vec<usize>,
        recording: &PanelRecording,
        hint: &PanelHint,
    ) -> Self {
        let cells = whole.cells.iter().map(|cell| &recording.cells[*cell]);
        let squarest = cells
            .map(|cell| fit.plane.incidence(&cell.direction))
            .fold(f64::INFINITY, f64::min);
        let sector = whole.clone().within(recording, &fit.plane, hint.sector);
        Self {
            panel: panel(fit, sector),
            whole,
            support,
            squarest,
        }
    }

    /// Whether the surface has enough directions over a large enough angle.
    fn is_large(&self, recording: &PanelRecording, search: &PanelSearch) -> bool {
        let sector = &self.panel.sector;
        let is_wide = sector.edges[1] - sector.edges[0] >= search.span || !recording.planar;
        is_wide && sector.cells.len() >= search.directions
    }

    /// Joins another part of the same panel.
    fn join(
        &mut self,
        other: &Self,
        recording: &PanelRecording,
        sights: &[Sight],
        hint: &PanelHint,
    ) {
        let plane = &self.panel.plane;
        let whole = if recording.planar {
            let bearing = azimuth(&plane.normal);
            let angles = self.whole.cells.iter().chain(&other.whole.cells);
            let angles = angles.map(|cell| wrap_to_pi(sights[*cell].azimuth - bearing));
            let ends = angles.fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], angle| {
                [low.min(angle), high.max(angle)]
            });
            PanelSector::between(sights, plane, ends)
        } else {
            PanelSector::near(sights, plane)
        };
        let fit = refit(sights, &whole, plane, recording.planar);
        let support = [&self.support[..], &other.support].concat();
        *self = Self::new(&fit, whole, support, recording, hint);
    }
}

/// Whether two surfaces are parts of one plane: most of the directions of the second are on the plane of the
/// first.
fn is_same_plane(first: &Surface, second: &Surface) -> bool {
    let a = &first.panel.plane;
    let b = &second.panel.plane;
    let tolerance = 4.0 * (first.panel.rms + second.panel.rms) + 0.002 + COPLANAR * a.distance;
    let ends = second.panel.sector.edges.map(|edge| {
        // The end of the second surface, as a point
        let bearing = azimuth(&b.normal) + edge;
        let direction = nalgebra::Vector3::new(bearing.cos(), bearing.sin(), 0.0);
        direction * b.range(&direction)
    });
    a.normal.dot(&b.normal) > 0.9
        && ends
            .iter()
            .all(|end| (a.normal.dot(end) - a.distance).abs() < tolerance)
}

/// The flat surface with the most directions.
fn next_surface(
    recording: &PanelRecording,
    sights: &[Sight],
    free: &[bool],
    hint: &PanelHint,
    search: &PanelSearch,
    round: u32,
) -> Option<Surface> {
    if !recording.planar {
        let fit = largest_plane(sights, free, search.directions, round)?;
        let whole = PanelSector::near(sights, &fit.plane);
        let fit = refit(sights, &whole, &fit.plane, false);
        let whole = PanelSector::near(sights, &fit.plane);
        let support: Vec<usize> = whole
            .cells
            .iter()
            .copied()
            .filter(|cell| free[*cell])
            .collect();
        return (support.len() >= search.directions)
            .then(|| Surface::new(&fit, whole, support, recording, hint));
    }

    // Find the largest run, and grow it to its edges
    let runs = SegmentSearch::new(sights, free.to_vec());
    let (fit, segment) = runs.largest()?;
    if segment.members.len() < search.directions {
        return None;
    }
    let support = segment.members.iter().map(|member| member.sight).collect();
    let edges = growth::edges(sights, &fit.plane, &segment);
    let whole = PanelSector::between(sights, &fit.plane, edges);

    // Fit the plane to the directions of its declared sector, and grow it again
    let limited = whole.clone().within(recording, &fit.plane, hint.sector);
    let fit = refit(sights, &limited, &fit.plane, true);
    let edges = growth::edges(sights, &fit.plane, &segment);
    let whole = PanelSector::between(sights, &fit.plane, edges);
    Some(Surface::new(&fit, whole, support, recording, hint))
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
        declared: PanelHint::default(),
        larger: None,
        warnings: Vec::new(),
    }
}

/// Fraction of the beams of a direction on the panel for the fit of the plane.
const MOSTLY: f64 = 0.9;

/// The plane fitted to the directions of the sector: to those that return nine beams of ten, if they are
/// enough.
fn refit(sights: &[Sight], sector: &PanelSector, plane: &PanelPlane, planar: bool) -> PlaneFit {
    let points = |least: f64| -> Vec<RangedDirection> {
        let near = sector.cells.iter().map(|cell| &sights[*cell]);
        let core = CORE.to_radians().cos() * 0.9;
        near.filter(|sight| sight.returned() > least && is_panel(sight, plane))
            .filter(|sight| plane.cos_incidence(&sight.direction) > core)
            .filter_map(|sight| {
                Some(RangedDirection {
                    direction: sight.direction,
                    range: sight.mode_near(plane.range(&sight.direction))?.median,
                })
            })
            .collect()
    };
    let mostly = points(MOSTLY);
    let points = if mostly.len() < 8 {
        points(0.0)
    } else {
        mostly
    };
    plane.refined(&points, planar)
}
