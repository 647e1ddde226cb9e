//! The shots of a sweep, listed or computed on access.

use super::description::Lidar;
use super::firing::Firing;
use super::rotor_shots::RotorShots;
use super::shot::Shot;
use etendue_simd::{Isa, Vectorized};
use rayon::prelude::*;
use std::fmt;
use std::ops::Range;

/// All shots of a sweep, column by column, each in the order of the channels.
///
/// The shots of a spinning lidar without nod are not stored. They are computed on access from the
/// orientation of the rotor at each column and the channels, which is faster than to read them from memory.
///
/// ```
/// # use etendue_sensors::lidar::Shots;
/// let none = Shots::default();
/// assert!(none.is_empty() && none.get(0).is_none());
/// ```
#[derive(Clone, PartialEq)]
pub struct Shots(Storage);

#[derive(Clone, PartialEq)]
enum Storage {
    Listed(Vec<Shot>),
    Rotor(Box<RotorShots>),
}

impl Default for Shots {
    fn default() -> Self {
        Self(Storage::Listed(vec![]))
    }
}

impl fmt::Debug for Shots {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.debug_list().entries(self.iter()).finish()
    }
}

impl Shots {
    /// Number of shots.
    pub fn len(&self) -> usize {
        match &self.0 {
            Storage::Listed(shots) => shots.len(),
            Storage::Rotor(shots) => shots.len(),
        }
    }

    /// Whether the sweep has no shots.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The shot with an index.
    ///
    /// # Panics
    ///
    /// If the index is not less than [`len`](Self::len).
    #[inline]
    pub fn at(&self, number: usize) -> Shot {
        match &self.0 {
            Storage::Listed(shots) => shots[number],
            Storage::Rotor(shots) => shots.at(number),
        }
    }

    /// Indices of column and channel of the shot with an index, without its direction.
    #[inline]
    pub(super) fn place(&self, number: usize) -> [usize; 2] {
        match &self.0 {
            Storage::Listed(shots) => {
                let shot = &shots[number];
                [shot.column as usize, usize::from(shot.channel)]
            }
            Storage::Rotor(shots) => shots.place(number),
        }
    }

    /// First and last time of a range of shots that is whole columns, s.
    pub(super) fn span(&self, own: Range<usize>) -> [f64; 2] {
        let mut span = [f64::INFINITY, f64::NEG_INFINITY];
        let mut add = |time: f64| span = [span[0].min(time), span[1].max(time)];
        match &self.0 {
            Storage::Listed(shots) => shots[own].iter().for_each(|shot| add(shot.time)),
            Storage::Rotor(shots) => shots.for_each_time(&own, add),
        }
        span
    }

    /// The shot with an index; `None` if there is none.
    pub fn get(&self, number: usize) -> Option<Shot> {
        (number < self.len()).then(|| self.at(number))
    }

    /// Iterates over the shots in firing order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Shot> {
        (0..self.len()).map(|number| self.at(number))
    }

    /// Replaces these shots by those of a sweep and reuses the memory.
    pub(crate) fn replace_by(&mut self, firing: &Firing) {
        if let Some(spinning) = firing.rotor() {
            self.0 = Storage::Rotor(Box::new(RotorShots::new(firing, spinning)));
            return;
        }
        let mut shots = match std::mem::take(self).0 {
            Storage::Listed(shots) => shots,
            Storage::Rotor(_) => vec![],
        };
        shots.resize(firing.count(), Shot::UNAIMED);
        in_parts(&mut shots, firing.lasers.len(), |first, shots| {
            firing.aim(first, shots);
        });
        self.0 = Storage::Listed(shots);
    }

    /// Converts to a list, computing shots that are not stored.
    pub(super) fn into_list(self) -> Vec<Shot> {
        let shots = match self.0 {
            Storage::Listed(shots) => return shots,
            Storage::Rotor(shots) => shots,
        };
        let mut list = vec![Shot::UNAIMED; shots.len()];
        in_parts(&mut list, shots.channels(), |first, list| {
            shots.aiming(first, list).run();
        });
        list
    }

    /// The shots of whole columns; those that are not stored are computed into `memory` with an instruction
    /// set.
    pub(crate) fn part<'a>(
        &'a self,
        isa: Isa,
        own: Range<usize>,
        memory: &'a mut Vec<Shot>,
    ) -> &'a [Shot] {
        match &self.0 {
            Storage::Listed(shots) => &shots[own],
            Storage::Rotor(shots) => {
                memory.resize(own.len(), Shot::UNAIMED);
                isa.run(shots.aiming(own.start, memory));
                memory
            }
        }
    }

    /// The shots in computed form, if they are not stored.
    pub(crate) fn rotor_shots(&self) -> Option<&RotorShots> {
        match &self.0 {
            Storage::Listed(_) => None,
            Storage::Rotor(shots) => Some(shots),
        }
    }
}

impl Lidar {
    /// The shots of the sweep with the index `sweep`, column by column, each in the order of the channels.
    pub fn shots(&self, sweep: u32) -> Vec<Shot> {
        let mut shots = Shots::default();
        shots.replace_by(&self.firing(sweep, None));
        shots.into_list()
    }
}

/// Aims whole columns of shots on all threads.
fn in_parts(shots: &mut [Shot], channels: usize, aim: impl Fn(usize, &mut [Shot]) + Sync) {
    let part = 64 * channels;
    let parts = shots.par_chunks_mut(part).enumerate();
    parts.for_each(|(number, shots)| aim(number * part, shots));
}
