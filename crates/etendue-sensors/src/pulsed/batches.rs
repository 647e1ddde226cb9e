//! The batches of a sweep, on one thread or on all, and their way into the sweep.

use super::PointSweep;
use super::received::Received;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// Shots that one task handles at least: their rays are cast in one batch. More no longer fit a
/// core's own cache.
const BATCH: usize = 512;

/// Whole columns of a sweep's shots, by number.
pub(super) struct Batches {
    shots: usize,
    /// Shots of columns whose rays are cast together.
    pub together: usize,
    /// How many times as many shots a batch has.
    pub times: usize,
}

impl Batches {
    pub fn new(shots: usize, channels: usize, deforms: bool) -> Self {
        // Enough columns for whole tiles of neighbouring rays.
        let (least, columns) = match deforms {
            true => (1, 4),
            false if channels.is_multiple_of(2) => (BATCH, 8),
            false => (BATCH, 16),
        };
        let together = columns * channels;
        Self {
            shots,
            together,
            times: least.div_ceil(together),
        }
    }

    /// All of them. What is left over of columns that are cast together is a batch of its own.
    fn iter(&self) -> impl Iterator<Item = Range<usize>> {
        let size = self.times * self.together;
        let over = self.shots % self.together;
        let whole = self.shots - over;
        let batches = (0..whole).step_by(size);
        let batches = batches.map(move |first| first..whole.min(first + size));
        batches.chain((over > 0).then_some(whole..self.shots))
    }
}

/// Simulates batches one after the other, their points straight into the sweep.
pub(super) fn one_by_one<M: Default>(
    batches: &Batches,
    sweep: &mut PointSweep,
    simulate: impl Fn(&mut M, Range<usize>, &mut Received),
) {
    let mut memory = M::default();
    let mut received = Received::within(sweep);
    for own in batches.iter() {
        simulate(&mut memory, own, &mut received);
    }
    received.become_of(sweep);
}

/// Simulates batches on all threads. Each puts the points of its own batches into the sweep, while
/// they are in its core's cache, in the order of the batches.
pub(super) fn on_all_threads<M: Default>(
    batches: &Batches,
    sweep: &mut PointSweep,
    simulate: impl Fn(&mut M, Range<usize>, &mut Received) + Sync,
) {
    sweep.points.clear();
    let batches: Vec<_> = batches.iter().collect();
    let begun = AtomicUsize::new(0);
    let line = Mutex::new(Line::new(sweep));
    let work = || {
        let mut memory = M::default();
        let mut received = Received::default();
        loop {
            let number = begun.fetch_add(1, Ordering::Relaxed);
            let Some(own) = batches.get(number) else {
                return;
            };
            received.clear();
            simulate(&mut memory, own.clone(), &mut received);
            let mut line = line.lock().unwrap_or_else(PoisonError::into_inner);
            received = line.put(number, received);
        }
    };
    rayon::scope(|scope| {
        for _ in 0..rayon::current_num_threads().min(batches.len()) {
            scope.spawn(|_| work());
        }
    });
}

/// Batches on their way into a sweep.
struct Line<'a> {
    sweep: &'a mut PointSweep,
    /// The number of the one that is to go in next.
    next: usize,
    /// Those that wait for it.
    early: BTreeMap<usize, Received>,
    /// Memory to be used again.
    idle: Vec<Received>,
}

impl<'a> Line<'a> {
    fn new(sweep: &'a mut PointSweep) -> Self {
        Self {
            sweep,
            next: 0,
            early: BTreeMap::new(),
            idle: vec![],
        }
    }

    /// Puts a batch in its place, or has it wait, and gives memory for another.
    fn put(&mut self, number: usize, received: Received) -> Received {
        if number != self.next {
            self.early.insert(number, received);
            return self.idle.pop().unwrap_or_default();
        }
        received.append_to(self.sweep);
        self.next += 1;
        while let Some(waiting) = self.early.remove(&self.next) {
            waiting.append_to(self.sweep);
            self.next += 1;
            self.idle.push(waiting);
        }
        received
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shot_is_in_one_batch_of_whole_columns() {
        for (columns, channels) in [
            (1809, 16),
            (1808, 16),
            (1024, 128),
            (4000, 1),
            (360, 5),
            (3, 64),
        ] {
            for deforms in [false, true] {
                let batches = Batches::new(columns * channels, channels, deforms);
                let all: Vec<_> = batches.iter().collect();
                let mut next = 0;
                for own in &all {
                    assert_eq!(own.start, next);
                    assert!(!own.is_empty() && own.len().is_multiple_of(channels));
                    next = own.end;
                }
                assert_eq!(next, columns * channels);
                // All but the last are cast in the order that is known.
                let known = |own: &Range<usize>| own.len().is_multiple_of(batches.together);
                assert!(all[..all.len() - 1].iter().all(known));
            }
        }
    }
}
