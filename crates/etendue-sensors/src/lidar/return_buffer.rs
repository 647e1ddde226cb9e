//! The returns of a batch of shots, in memory that is reused.

use super::output::{Outcome, Return, Sweep};
use super::sweep::shot_number;
use crate::Truth;
use etendue_simd::prefetch;
use nalgebra::Point3;

/// The content of an unused place.
const EMPTY: Return = Return {
    position: Point3::new(0.0, 0.0, 0.0),
    range: 0.0,
    intensity: 0.0,
    power: 0.0,
    width: 0.0,
    velocity: None,
    ambient: 0.0,
    shot: 0,
    return_number: 0,
    returns: 0,
    source: None,
};

/// More returns than this do not fit the caches: their places are prefetched.
const LONG: usize = 1 << 16;
/// Returns between a place that is filled and the one that is prefetched.
const AHEAD: usize = 48;

/// The returns of some shots; their outcomes number returns from the first of them.
#[derive(Default)]
pub(super) struct ReturnBuffer {
    pub outcomes: Vec<Outcome>,
    /// Numbers of each shot, with or without a return.
    pub per_shot: ShotColumns,
    places: Vec<Return>,
    points: usize,
}

/// Columns with one number per shot; those that the lidar and the settings do not have are empty.
#[derive(Default)]
pub(super) struct ShotColumns {
    /// [`Sweep::powers`].
    pub powers: Vec<f64>,
    /// [`Sweep::surfaces`].
    pub surfaces: Vec<u16>,
    /// [`Sweep::axis_truths`].
    pub axis_truths: Vec<Option<Truth>>,
}

impl ReturnBuffer {
    /// An empty buffer in the memory of a sweep.
    pub fn within(sweep: &mut Sweep) -> Self {
        Self {
            outcomes: std::mem::take(&mut sweep.outcomes),
            per_shot: ShotColumns {
                powers: std::mem::take(&mut sweep.powers),
                surfaces: std::mem::take(&mut sweep.surfaces),
                axis_truths: std::mem::take(&mut sweep.axis_truths),
            },
            places: std::mem::take(&mut sweep.points),
            points: 0,
        }
    }

    /// Moves the returns into the sweep.
    pub fn move_into(mut self, sweep: &mut Sweep) {
        self.places.truncate(self.points);
        sweep.outcomes = self.outcomes;
        sweep.points = self.places;
        sweep.powers = self.per_shot.powers;
        sweep.surfaces = self.per_shot.surfaces;
        sweep.axis_truths = self.per_shot.axis_truths;
    }

    /// Removes all returns.
    pub fn clear(&mut self) {
        self.outcomes.clear();
        self.per_shot.powers.clear();
        self.per_shot.surfaces.clear();
        self.per_shot.axis_truths.clear();
        self.points = 0;
    }

    /// Number of returns.
    pub fn count(&self) -> usize {
        self.points
    }

    /// The place of the next return, to be filled.
    #[inline]
    pub fn place(&mut self) -> &mut Return {
        if self.points == self.places.len() {
            self.places.push(EMPTY);
        }
        self.points += 1;
        &mut self.places[self.points - 1]
    }

    /// Adds `count` shots of one return or none. `outcome` gets the place of the shot among them, the
    /// number of its return and the place to fill if there is one.
    #[inline]
    pub fn extend(
        &mut self,
        count: usize,
        mut outcome: impl FnMut(usize, usize, &mut Return) -> Outcome,
    ) {
        let end = self.points + count;
        if end > self.places.len() {
            self.places.resize(end, EMPTY);
        }
        if self.places.len() > LONG
            && let Some(next) = self.places.get(self.points + AHEAD..end + AHEAD)
        {
            prefetch(next);
        }
        let places = &mut self.places[self.points..end];
        let before = self.points;
        let points = &mut self.points;
        self.outcomes.extend((0..count).map(|shot| {
            let outcome = outcome(shot, *points, &mut places[*points - before]);
            *points += usize::from(matches!(outcome, Outcome::Points { .. }));
            outcome
        }));
    }

    /// Keeps the first `points` returns.
    pub fn truncate(&mut self, points: usize) {
        self.points = self.points.min(points);
    }

    /// The returns from a number on.
    #[inline]
    pub fn returns_from(&mut self, first: usize) -> &mut [Return] {
        &mut self.places[first..self.points]
    }

    /// Appends them to others.
    pub fn append_to(&self, others: &mut Self) {
        let before = shot_number(others.points);
        let moved = |outcome: &Outcome| match *outcome {
            Outcome::Points { first, count } => Outcome::Points {
                first: first + before,
                count,
            },
            other => other,
        };
        others.outcomes.extend(self.outcomes.iter().map(moved));
        let (own, all) = (&self.per_shot, &mut others.per_shot);
        all.powers.extend_from_slice(&own.powers);
        all.surfaces.extend_from_slice(&own.surfaces);
        all.axis_truths.extend_from_slice(&own.axis_truths);
        let own = &self.places[..self.points];
        let kept = others
            .places
            .len()
            .saturating_sub(others.points)
            .min(own.len());
        let (there, new) = own.split_at(kept);
        others.places[others.points..][..kept].copy_from_slice(there);
        others.places.extend_from_slice(new);
        others.points += own.len();
    }
}
