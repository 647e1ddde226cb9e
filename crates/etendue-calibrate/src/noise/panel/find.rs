//! Finding panels without being told, and choosing among them.

use super::plane::{CORE, Fit, RangedDirection};
use super::{Motion, Panel, Plane, Sector};
use crate::noise::NoiseError;
use crate::noise::recording::{Recording, is_between};
use etendue_physics::angle::wrap_to_pi;
use etendue_physics::{Purpose, Stream};
use nalgebra::Vector3;
use std::collections::BTreeSet;

/// What is declared about a panel: a hint, not the truth.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PanelHint {
    /// Distance, m.
    pub distance: Option<f64>,
    /// Width, m: tells dropped beams on the panel from beams past its edge.
    pub width: Option<f64>,
    /// Bearing of the panel's middle, anticlockwise from x, rad.
    pub bearing: Option<f64>,
    /// Azimuths between which the panel stands, anticlockwise from the first to the second, rad:
    /// beams beyond are not counted.
    pub sector: Option<[f64; 2]>,
}

/// What a panel has to be like.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PanelSearch {
    /// Directions at least.
    pub directions: usize,
    /// Angle that it fills at least, rad.
    pub span: f64,
    /// Ratio of distances beyond which other points are background.
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

/// A panel whose normal's bearing lies this far from the declared one is another, rad.
const BESIDE: f64 = 45.0 * std::f64::consts::PI / 180.0;

/// A bearing is typed this well, rad ...
const AT_BEARING: f64 = 10.0 * std::f64::consts::PI / 180.0;

/// ... and says which panel where every other lies so much farther off, rad.
const CLEARLY: f64 = 10.0 * std::f64::consts::PI / 180.0;

/// Ranges beyond this are no panel's, m.
const FARTHEST: f64 = 60.0;

/// The panel of a recording.
///
/// Every flat piece is a candidate; a panel is one that the sensor samples at squarely somewhere
/// (the foot of its normal lies on it). The nearest is taken; flat pieces twice as far are
/// background. Declared numbers only choose between candidates and set width and sector; where they
/// disagree with the recording, a warning says so.
///
/// # Errors
/// Where too little returned, there is no panel, or several and no hint says which.
pub fn find_panel(
    recording: &Recording,
    hint: &PanelHint,
    search: &PanelSearch,
) -> Result<Panel, NoiseError> {
    let mut panels = find_panels(recording, hint, search)?;
    if let Some(bearing) = hint.bearing {
        let is_there = |panel: &Panel| wrap_to_pi(panel.bearing() - bearing).abs() < BESIDE;
        if panels.iter().any(is_there) {
            panels.retain(is_there);
        }
    }
    let Some(mut panel) = chosen(&panels, hint, search) else {
        return Err(NoiseError::SeveralPanels {
            recording: recording.name.clone(),
            count: rivals(&panels, search).len(),
            declared: 1,
            found: described(&rivals(&panels, search)),
        });
    };
    if panel.plane.distance > FARTHEST {
        return Err(NoiseError::Millimetres {
            recording: recording.name.clone(),
            distance: panel.plane.distance,
        });
    }
    warning(&mut panel, hint, recording);
    panel.motion = Motion::of(recording, &panel);
    panel.warnings.extend(moved(&panel));
    Ok(panel)
}

/// Every panel that faces the sensor, the nearest first.
///
/// # Errors
/// Where too little returned, or nothing flat faces the sensor.
pub fn find_panels(
    recording: &Recording,
    hint: &PanelHint,
    search: &PanelSearch,
) -> Result<Vec<Panel>, NoiseError> {
    recording.check()?;
    let mut cells = solid_cells(recording, hint);
    if cells.len() < search.directions {
        return Err(NoiseError::TooFewBeams {
            recording: recording.name.clone(),
            directions: cells.len(),
            needed: search.directions,
        });
    }
    let (mut panels, mut oblique) = (Vec::new(), Vec::new());
    for round in 0..8 {
        let Some((panel, faces)) = next_panel(recording, &cells, hint, search, round) else {
            break;
        };
        let before = cells.len();
        // A bent panel is one panel: all of its sector goes, near the plane or not.
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
            format!("nothing flat in {} directions", recording.cells.len())
        } else {
            format!("only seen from the side: {}", described(&oblique))
        };
        return Err(NoiseError::NoPanel {
            recording: recording.name.clone(),
            found,
        });
    }
    Ok(panels)
}

/// The directions that mostly return, within the declared sector.
fn solid_cells(recording: &Recording, hint: &PanelHint) -> Vec<usize> {
    let inside = |azimuth: f64| match (hint.sector, hint.bearing) {
        (Some(sector), _) => is_between(azimuth, sector),
        (None, Some(bearing)) => wrap_to_pi(azimuth - bearing).abs() < 80.0_f64.to_radians(),
        (None, None) => true,
    };
    { recording.cells.iter().enumerate() }
        .filter(|(_, cell)| inside(crate::noise::recording::azimuth(&cell.direction)))
        .filter(|(_, cell)| cell.returned() > 0.5)
        .map(|(number, _)| number)
        .collect()
}

fn is_on(cell: &crate::noise::DirectionCell, plane: &Plane, share: f64) -> bool {
    cell.median()
        .is_some_and(|r| (r / plane.range(&cell.direction) - 1.0).abs() < share)
}

/// The flat piece that fills the widest angle, by random samples of near directions (Fischler and
/// Bolles 1981, doi:10.1145/358669.358692), refined; and whether it faces the sensor.
fn next_panel(
    recording: &Recording,
    cells: &[usize],
    hint: &PanelHint,
    search: &PanelSearch,
    round: u32,
) -> Option<(Panel, bool)> {
    let points: Vec<Vector3<f64>> = { cells.iter() }
        .filter_map(|cell| {
            let cell = &recording.cells[*cell];
            cell.median().map(|range| cell.direction * range)
        })
        .collect();
    if points.len() < search.directions {
        return None;
    }
    let mut stream = Stream::new(0, 0, 0, round, Purpose::Search);
    let best = (0..600)
        .filter_map(|_| {
            let plane = sampled(&points, recording.planar, &mut stream)?;
            let tolerance = 0.012 * plane.distance + 0.002;
            let on = |point: &&Vector3<f64>| {
                (plane.normal.dot(point) - plane.distance).abs() < tolerance
            };
            let score: usize = points.iter().filter(on).count();
            Some((score, plane))
        })
        .max_by_key(|(score, _)| *score)?;
    if best.0 < search.directions {
        return None;
    }
    let rough = best.1;
    let near = seen(recording, cells.iter().copied(), &rough, 0.9);
    let fit = rough.refined(&near, recording.planar);
    let limit = |sector: Sector, plane: Plane| sector.within(recording, &plane, hint.sector);
    let sector = limit(Sector::grown(recording, &fit.plane), fit.plane);
    let fit = refit(recording, &sector, fit);
    let whole = Sector::grown(recording, &fit.plane);
    // The foot of the normal may lie beyond the declared sector, on the panel all the same.
    let is_faced = faces(recording, &fit.plane, &whole);
    let sector = limit(whole, fit.plane);
    let wide = sector.edges[1] - sector.edges[0] >= search.span || !recording.planar;
    let enough = wide && sector.cells.len() >= search.directions;
    // A piece that is too small is kept as an oblique one, to be taken out of the way.
    Some((panel(&fit, sector), enough && is_faced))
}

fn panel(fit: &Fit, sector: Sector) -> Panel {
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

/// The plane fitted to the sector's own directions.
fn refit(recording: &Recording, sector: &Sector, before: Fit) -> Fit {
    let points = |least| {
        seen(
            recording,
            sector.cells.iter().copied(),
            &before.plane,
            least,
        )
    };
    let solid = points(0.9);
    let points = if solid.len() < 8 { points(0.0) } else { solid };
    if points.len() < 3 {
        return before;
    }
    before.plane.refined(&points, recording.planar)
}

/// The medians of directions near a plane of which at least a share returned.
fn seen(
    recording: &Recording,
    cells: impl Iterator<Item = usize>,
    plane: &Plane,
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

fn sampled(points: &[Vector3<f64>], planar: bool, stream: &mut Stream) -> Option<Plane> {
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
        // Directions are sorted: the second within an eighth of them.
        let reach = (points.len() / 4).max(4);
        let second = (first + 2 + pick(reach)) % points.len();
        return Plane::through(&[points[first], points[second]], true);
    }
    let others = [pick(points.len()), pick(points.len())];
    Plane::through(
        &[points[first], points[others[0]], points[others[1]]],
        false,
    )
}

/// Whether the foot of the normal lies on the panel (to 10 degrees).
fn faces(recording: &Recording, plane: &Plane, sector: &Sector) -> bool {
    let least = { sector.cells.iter() }
        .map(|cell| plane.incidence(&recording.cells[*cell].direction))
        .fold(f64::INFINITY, f64::min);
    least < 10.0_f64.to_radians()
}

/// Panels that are not background.
fn rivals(panels: &[Panel], search: &PanelSearch) -> Vec<Panel> {
    let nearest = panels.first().map_or(0.0, |panel| panel.plane.distance);
    { panels.iter() }
        .filter(|panel| panel.plane.distance < search.background * nearest)
        .cloned()
        .collect()
}

fn chosen(panels: &[Panel], hint: &PanelHint, search: &PanelSearch) -> Option<Panel> {
    let rivals = rivals(panels, search);
    if rivals.len() < 2 {
        return rivals.into_iter().next();
    }
    // A declared distance chooses only where it fits one and no other, so does a bearing.
    let misfit = |panel: &Panel| Some((panel.plane.distance / hint.distance?).ln().abs());
    let off = |panel: &Panel| Some(wrap_to_pi(panel.bearing() - hint.bearing?).abs());
    let by_distance = the_one(&rivals, misfit, [DISCREPANCY, DISCREPANCY]);
    by_distance.or_else(|| the_one(&rivals, off, [AT_BEARING, CLEARLY]))
}

/// The panel with the least measure, if that is below the first limit and every other's lies by the
/// second one higher.
fn the_one(
    panels: &[Panel],
    measure: impl Fn(&Panel) -> Option<f64>,
    [near, apart]: [f64; 2],
) -> Option<Panel> {
    let mut measured: Vec<(f64, &Panel)> = { panels.iter() }
        .map(|panel| Some((measure(panel)?, panel)))
        .collect::<Option<_>>()?;
    measured.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (first, second) = (measured.first()?, measured.get(1)?);
    (first.0 < near && second.0 > first.0 + apart).then(|| first.1.clone())
}

/// Where panels stand, in words.
fn described(panels: &[Panel]) -> String {
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

/// Whether the panel moved, in words.
fn moved(panel: &Panel) -> Option<String> {
    let [turn, distance] = panel.motion.as_ref()?.extent(&panel.plane);
    Some(format!(
        "the panel, or the sensor, moved while it was recorded (turned by {:.2} degrees, {:.1} mm \
         between the nearest and the farthest scan): it is followed scan by scan, so that its motion \
         is not taken for noise",
        (turn[1] - turn[0]).to_degrees(),
        1e3 * (distance[1] - distance[0])
    ))
}

/// Applies the declared width and says where declared numbers and recording disagree.
fn warning(panel: &mut Panel, hint: &PanelHint, recording: &Recording) {
    if let Some(declared) = hint.distance {
        let found = panel.plane.distance;
        if (found / declared - 1.0).abs() > DISCREPANCY {
            panel.warnings.push(format!(
                "declared distance {declared} m, found {found:.4} m: {:.0} mm {}; the recording is believed",
                1e3 * (found - declared).abs(),
                if found < declared { "nearer" } else { "farther" }
            ));
        }
    }
    if !recording.planar {
        return;
    }
    let grown = panel.sector.clone();
    if let Some(width) = hint.width {
        let sector = Sector::of_width(recording, &panel.plane, width);
        panel.sector = sector.within(recording, &panel.plane, hint.sector);
        if panel.sector.others > 0 {
            panel.warnings.push(format!(
                "declared width {width} m: in {} directions within it something else is seen; they are left out",
                panel.sector.others
            ));
        }
    } else {
        panel.warnings.push(format!(
            "seen from {:.1} to {:.1} degrees about its normal; beams that drop beyond are not counted: \
             a declared width would tell whether they met the panel",
            grown.edges[0].to_degrees(),
            grown.edges[1].to_degrees()
        ));
    }
}
