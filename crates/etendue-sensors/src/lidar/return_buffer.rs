//! Buffer for the returns of a batch of shots; its memory is reused.

use super::output::{Outcome, Return, Sweep};
use super::sweep::shot_number;
use crate::Truth;
use etendue_simd::prefetch;
use nalgebra::Point3;

/// Initial content of an element that has no return.
pub(super) const EMPTY: Return = Return {
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

/// Number of returns above which a buffer exceeds the caches, and elements are prefetched.
const LONG: usize = 1 << 16;
/// Prefetch distance, as a number of returns.
const AHEAD: usize = 48;

/// Returns and outcomes of consecutive shots; the outcomes refer to returns by their index in the buffer.
#[derive(Default)]
pub(super) struct ReturnBuffer {
    /// Outcome of each shot.
    pub outcomes: Vec<Outcome>,
    /// Values of each shot, with or without a return.
    pub per_shot: ShotColumns,
    /// [`Sweep::mixing`] of the first returns; that of the others is 0.
    mixing: Vec<f32>,
    /// Storage of the returns, of which the first `points` are in use.
    places: Vec<Return>,
    points: usize,
}

/// Columns with one value per shot; columns that the lidar or the settings do not have are empty.
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
    /// An empty buffer in the memory of a sweep, which is left empty.
    pub fn within(sweep: &mut Sweep) -> Self {
        Self {
            outcomes: std::mem::take(&mut sweep.outcomes),
            per_shot: ShotColumns {
                powers: std::mem::take(&mut sweep.powers),
                surfaces: std::mem::take(&mut sweep.surfaces),
                axis_truths: std::mem::take(&mut sweep.axis_truths),
            },
            mixing: std::mem::take(&mut sweep.mixing),
            places: std::mem::take(&mut sweep.points),
            points: 0,
        }
    }

    /// Moves the content to a sweep.
    pub fn move_into(mut self, sweep: &mut Sweep) {
        self.places.truncate(self.points);
        sweep.outcomes = self.outcomes;
        sweep.mixing = self.mixing;
        sweep.points = self.places;
        sweep.powers = self.per_shot.powers;
        sweep.surfaces = self.per_shot.surfaces;
        sweep.axis_truths = self.per_shot.axis_truths;
    }

    /// Removes all returns and outcomes; keeps the memory.
    pub fn clear(&mut self) {
        self.outcomes.clear();
        self.per_shot.powers.clear();
        self.per_shot.surfaces.clear();
        self.per_shot.axis_truths.clear();
        self.mixing.clear();
        self.points = 0;
    }

    /// Number of returns.
    pub fn count(&self) -> usize {
        self.points
    }

    /// Appends a return and gives mutable access to it; its content is unspecified.
    #[inline]
    pub fn place(&mut self) -> &mut Return {
        if self.points == self.places.len() {
            self.places.push(EMPTY);
        }
        self.points += 1;
        &mut self.places[self.points - 1]
    }

    /// Sets [`Sweep::mixing`] of the last return.
    pub fn mix(&mut self, share: f32) {
        self.mixing.resize(self.points.saturating_sub(1), 0.0);
        self.mixing.push(share);
    }

    /// Appends `count` shots with at most one return each. `outcome` takes the index of the shot among them,
    /// the index of its return in the buffer, and the return to write if there is one.
    #[inline]
    pub fn extend(
        &mut self,
        count: usize,
        mut outcome: impl FnMut(usize, usize, &mut Return) -> Outcome,
    ) {
        // Make room for a return of each shot.
        let end = self.points + count;
        if end > self.places.len() {
            self.places.resize(end, EMPTY);
        }
        // Prefetch later elements of long buffers.
        if self.places.len() > LONG
            && let Some(next) = self.places.get(self.points + AHEAD..end + AHEAD)
        {
            prefetch(next);
        }
        // Write outcomes and returns.
        let places = &mut self.places[self.points..end];
        let before = self.points;
        let points = &mut self.points;
        self.outcomes.extend((0..count).map(|shot| {
            let outcome = outcome(shot, *points, &mut places[*points - before]);
            *points += usize::from(matches!(outcome, Outcome::Points { .. }));
            outcome
        }));
    }

    /// Removes all returns after the first `points`.
    pub fn truncate(&mut self, points: usize) {
        self.points = self.points.min(points);
        self.mixing.truncate(self.points);
    }

    /// The returns from the index `first` on.
    #[inline]
    pub fn returns_from(&mut self, first: usize) -> &mut [Return] {
        &mut self.places[first..self.points]
    }

    /// Appends the content to another buffer.
    pub fn append_to(&self, others: &mut Self) {
        // Outcomes, with the indices of their returns in the other buffer.
        let before = shot_number(others.points);
        let moved = |outcome: &Outcome| match *outcome {
            Outcome::Points { first, count } => Outcome::Points {
                first: first + before,
                count,
            },
            other => other,
        };
        others.outcomes.extend(self.outcomes.iter().map(moved));
        // Columns per shot.
        let own = &self.per_shot;
        let all = &mut others.per_shot;
        all.powers.extend_from_slice(&own.powers);
        all.surfaces.extend_from_slice(&own.surfaces);
        all.axis_truths.extend_from_slice(&own.axis_truths);
        // Mixing of returns.
        if !self.mixing.is_empty() {
            others.mixing.resize(others.points, 0.0);
            others.mixing.extend_from_slice(&self.mixing);
        }
        // Returns: overwrite unused elements, then extend the storage.
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
