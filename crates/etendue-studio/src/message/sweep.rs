//! The message of a sweep: one entry per return.

use super::columns::{Column, message};
use crate::session::pose::to_position_and_quaternion;
use crate::session::{Loaded, SimulatedSweep, Timing};
use etendue::sensors::lidar::{Outcome, Return, Sweep};
use serde::Serialize;
use std::f64::consts::{PI, TAU};
use std::iter::repeat;

/// Number of an object or material that a return does not have.
const NONE: u16 = u16::MAX;

/// Share of the light of other surfaces from which a point is mixed.
const MIXED_SHARE: f32 = 0.05;

/// Header of the message.
#[derive(Serialize)]
struct Header {
    revision: u64,
    points: usize,
    beams: usize,
    /// Every n-th column of the sweep is here: 1 for the whole sweep.
    every: u32,
    /// Rows and columns of the range image, the highest ring first.
    image: [usize; 2],
    /// Columns by which each row is shifted, so that pixels above each other have the same azimuth.
    shifts: Vec<i64>,
    /// Position and quaternion (x, y, z, w) of the sensor at the start of the sweep.
    pose: [f64; 7],
    /// Start since the start of the run, s.
    start: f64,
    duration: f64,
    no_returns: usize,
    too_near: usize,
    errors: usize,
    /// Number of mixed points; `None` in coarse sweeps, whose beams are single rays.
    mixed_points: Option<usize>,
    timing: Timing,
}

/// Encodes a sweep of a loaded scene with every n-th column.
pub fn encode(simulated: &SimulatedSweep, loaded: &Loaded, every: u32) -> Vec<u8> {
    let sweep = &simulated.sweep;
    let count = |is: fn(&Outcome) -> bool| sweep.outcomes.iter().filter(|one| is(one)).count();
    let header = Header {
        revision: simulated.revision,
        points: sweep.points.len(),
        beams: sweep.shots.len(),
        every,
        image: [usize::from(sweep.channels), sweep.columns as usize],
        shifts: shifts(sweep),
        pose: to_position_and_quaternion(&sweep.world_from_sensor),
        start: sweep.start,
        duration: loaded.lidar().sweep_duration(),
        no_returns: count(|one| *one == Outcome::NoReturn),
        too_near: count(|one| *one == Outcome::TooNear),
        errors: count(|one| matches!(one, Outcome::Error(_))),
        mixed_points: (every == 1).then(|| mixed(sweep).filter(|is| *is).count()),
        timing: simulated.timing,
    };
    message(header, &columns(sweep, loaded))
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "the page draws in single precision, and scenes have fewer objects"
)]
fn columns(sweep: &Sweep, loaded: &Loaded) -> Vec<Column> {
    let points = || sweep.points.iter();
    let single = |value: f64| value as f32;
    let id = |id: Option<u32>| id.map_or(NONE, |id| id.min(u32::from(NONE)) as u16);
    let classes = &loaded.scene.classes.of_object;
    let class = |object: u32| {
        classes
            .get(object as usize)
            .and_then(|class| u32::try_from(*class).ok())
    };
    vec![
        Column::f32(
            "position",
            points().flat_map(|point| point.position.coords.map(|v| v as f32).data.0[0]),
        ),
        Column::f32("range", points().map(|point| single(point.range))),
        Column::f32("intensity", points().map(|point| single(point.intensity))),
        Column::f32("error", points().map(|point| single(error(sweep, point)))),
        Column::f32(
            "incidence",
            points()
                .map(|point| single(point.source.map_or(f64::NAN, |source| source.incidence()))),
        ),
        Column::u32("pixel", points().map(|point| pixel(sweep, point))),
        Column::u16(
            "object",
            points().map(|point| id(point.source.map(|source| source.instance.0))),
        ),
        Column::u16(
            "material",
            points().map(|point| id(point.source.map(|source| source.material.0))),
        ),
        Column::u16(
            "class",
            points().map(|point| id(point.source.and_then(|source| class(source.instance.0)))),
        ),
        Column::u8("returns", points().map(|point| point.returns)),
        Column::u8("mixed", mixed(sweep).map(u8::from)),
    ]
}

/// Difference of the range and the first surface on the axis of the beam, m; NaN without one.
fn error(sweep: &Sweep, point: &Return) -> f64 {
    let truth = sweep
        .axis_truths
        .get(point.shot as usize)
        .copied()
        .flatten();
    truth.map_or(f64::NAN, |truth| point.range - truth.range)
}

/// Whether each point is mixed: at phase receivers, if more than one surface returned light to its beam; at the others, if
/// its beam has further echoes, or other surfaces sent some of its light.
fn mixed(sweep: &Sweep) -> impl Iterator<Item = bool> {
    let shares = sweep.mixing.iter().copied().chain(repeat(0.0));
    sweep.points.iter().zip(shares).map(|(point, share)| {
        let surfaces = sweep.surfaces.get(point.shot as usize);
        let is_merged = point.returns > 1 || share >= MIXED_SHARE;
        surfaces.map_or(is_merged, |surfaces| *surfaces > 1)
    })
}

/// Index in the range image.
fn pixel(sweep: &Sweep, point: &Return) -> u32 {
    let shot = sweep.shot_of(point);
    let ring = sweep.rings[usize::from(shot.channel)];
    u32::from(sweep.channels - 1 - ring) * sweep.columns + shot.column
}

/// Columns between the azimuth of each row, the highest ring first, and that of the first channel, where the sweep
/// turns about the vertical.
#[expect(clippy::cast_possible_truncation, reason = "a number of columns")]
fn shifts(sweep: &Sweep) -> Vec<i64> {
    let channels = usize::from(sweep.channels);
    let mut shifts = vec![0; channels];
    if channels < 2 || sweep.columns < 3 || sweep.shots.len() < 2 * channels {
        return shifts;
    }
    // Azimuths of the first column, in steps between columns
    let between = |from: f64, to: f64| {
        let turned = (to - from).rem_euclid(TAU);
        if turned > PI { turned - TAU } else { turned }
    };
    let first = sweep.shots.at(0);
    let next = sweep.shots.at(channels);
    let step = between(first.azimuth, next.azimuth);
    let is_turning =
        next.channel == first.channel && (step.abs() * f64::from(sweep.columns) - TAU).abs() < 0.05;
    if !is_turning {
        return shifts;
    }
    for number in 0..channels {
        let shot = sweep.shots.at(number);
        let row = channels - 1 - usize::from(sweep.rings[usize::from(shot.channel)]);
        shifts[row] = (between(first.azimuth, shot.azimuth) / step).round() as i64;
    }
    shifts
}

/// The shot at an index of the range image.
pub fn shot_at(sweep: &Sweep, pixel: u32) -> Option<usize> {
    let at = |shot: etendue::sensors::lidar::Shot| {
        let ring = sweep.rings[usize::from(shot.channel)];
        u32::from(sweep.channels - 1 - ring) * sweep.columns + shot.column
    };
    sweep.shots.iter().position(|shot| at(shot) == pixel)
}
