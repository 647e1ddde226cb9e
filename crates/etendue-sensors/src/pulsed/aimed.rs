//! The shots of a batch, as far as they need be known.

use crate::scanner::{Shot, TurnedShots};

/// The shots of a batch.
#[derive(Clone, Copy)]
pub(super) enum Aimed<'a> {
    Listed(&'a [Shot]),
    /// Whole columns of a rotor that only turns: most of these shots are never asked for.
    Turned {
        by: &'a TurnedShots,
        first: usize,
        count: usize,
    },
}

impl Aimed<'_> {
    pub fn count(&self) -> usize {
        match *self {
            Self::Listed(shots) => shots.len(),
            Self::Turned { count, .. } => count,
        }
    }

    /// The shot of that number in the batch.
    pub fn at(&self, shot: usize) -> Shot {
        match *self {
            Self::Listed(shots) => shots[shot],
            Self::Turned { by, first, .. } => by.at(first + shot),
        }
    }

    /// Whether something holds at the times of all.
    #[inline]
    pub fn at_all_times(&self, holds: impl Fn(f64) -> bool) -> bool {
        match *self {
            Self::Listed(shots) => {
                let mut last = f64::NAN;
                shots.iter().all(|shot| {
                    let known = shot.time == last;
                    last = shot.time;
                    known || holds(last)
                })
            }
            Self::Turned { by, first, count } => by.at_all_times(first..first + count, holds),
        }
    }
}
