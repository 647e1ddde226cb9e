//! The shots of a batch, listed or computed when they are used.

use super::firing::Column;
use super::rotor_shots::RotorShots;
use super::shot::Shot;
use std::ops::Range;

/// The shots of a batch.
#[derive(Clone, Copy)]
pub(super) enum BatchShots<'a> {
    Listed(&'a [Shot]),
    /// Whole columns, with indices `own`, of a spinning lidar without nod. Most of these shots are never
    /// computed: the pipeline uses `columns` instead.
    Rotor {
        rotor: &'a RotorShots,
        own: &'a Range<usize>,
        columns: &'a [Column],
    },
}

impl BatchShots<'_> {
    /// Number of shots.
    pub fn count(&self) -> usize {
        match *self {
            Self::Listed(shots) => shots.len(),
            Self::Rotor { own, .. } => own.len(),
        }
    }

    /// The shot with an index in the batch.
    pub fn at(&self, shot: usize) -> Shot {
        match *self {
            Self::Listed(shots) => shots[shot],
            Self::Rotor { rotor, own, .. } => rotor.at(own.start + shot),
        }
    }

    /// Whether a condition holds at the times of all shots.
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
            Self::Rotor { rotor, own, .. } => rotor.at_all_times(own, holds),
        }
    }
}
