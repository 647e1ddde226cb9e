//! The points of a batch of shots, in memory that is used again.

use super::sweep::shot_number;
use super::{Outcome, Return, Sweep};
use etendue_simd::prefetch;
use nalgebra::Point3;

/// What stands in a place before a point does.
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

/// The places of more points than this are in no cache when their turn comes: they are fetched so
/// many points ahead.
const LONG: usize = 1 << 16;
const AHEAD: usize = 48;

/// The points of some shots; their outcomes count points from the first of them.
#[derive(Default)]
pub(super) struct Received {
    pub outcomes: Vec<Outcome>,
    places: Vec<Return>,
    points: usize,
}

impl Received {
    /// None yet, in the memory of a sweep.
    pub fn within(sweep: &mut Sweep) -> Self {
        Self {
            outcomes: std::mem::take(&mut sweep.outcomes),
            places: std::mem::take(&mut sweep.points),
            points: 0,
        }
    }

    /// Gives them to the sweep.
    pub fn become_of(mut self, sweep: &mut Sweep) {
        self.places.truncate(self.points);
        (sweep.outcomes, sweep.points) = (self.outcomes, self.places);
    }

    /// Forgets all.
    pub fn clear(&mut self) {
        self.outcomes.clear();
        self.points = 0;
    }

    /// How many points there are.
    pub fn count(&self) -> usize {
        self.points
    }

    /// The place of the next point, to be filled.
    #[inline]
    pub fn place(&mut self) -> &mut Return {
        if self.points == self.places.len() {
            self.places.push(EMPTY);
        }
        self.points += 1;
        &mut self.places[self.points - 1]
    }

    /// Adds so many shots of one point or none. `seen` is told which of them, the number of its point
    /// and the place to fill if there is one, and says what became of it.
    #[inline]
    pub fn extend(
        &mut self,
        count: usize,
        mut seen: impl FnMut(usize, usize, &mut Return) -> Outcome,
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
            let outcome = seen(shot, *points, &mut places[*points - before]);
            *points += usize::from(matches!(outcome, Outcome::Points { .. }));
            outcome
        }));
    }

    /// Drops all points but so many.
    pub fn truncate(&mut self, points: usize) {
        self.points = self.points.min(points);
    }

    /// The points from a number on.
    #[inline]
    pub fn points_from(&mut self, first: usize) -> &mut [Return] {
        &mut self.places[first..self.points]
    }

    /// Adds them behind others.
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
