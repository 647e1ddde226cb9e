//! The batches of a sweep, on one thread or on all, and their way into the sweep.

use super::Sweep;
use super::return_buffer::Received;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

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
    sweep: &mut Sweep,
    simulate: impl Fn(&mut M, Range<usize>, &mut Destination),
) {
    let mut memory = M::default();
    let mut to = Destination {
        received: Received::within(sweep),
        line: None,
    };
    for own in batches.iter() {
        simulate(&mut memory, own, &mut to);
    }
    to.received.become_of(sweep);
}

/// Simulates batches on all threads. A batch whose turn it is when its rays are cast puts its points
/// straight into the sweep; the others' are copied there in the order of the batches.
pub(super) fn on_all_threads<M: Default>(
    batches: &Batches,
    sweep: &mut Sweep,
    simulate: impl Fn(&mut M, Range<usize>, &mut Destination) + Sync,
) {
    let batches: Vec<_> = batches.iter().collect();
    let begun = AtomicUsize::new(0);
    let line = Mutex::new(Line::new(Received::within(sweep)));
    let work = || {
        let mut memory = M::default();
        let mut received = Received::default();
        loop {
            let number = begun.fetch_add(1, Ordering::Relaxed);
            let Some(own) = batches.get(number) else {
                return;
            };
            received.clear();
            let mut to = Destination {
                received,
                line: Some((&line, number)),
            };
            simulate(&mut memory, own.clone(), &mut to);
            received = locked(&line).put(number, to.received);
        }
    };
    rayon::scope(|scope| {
        for _ in 0..rayon::current_num_threads().min(batches.len()) {
            scope.spawn(|_| work());
        }
    });
    let line = line.into_inner().unwrap_or_else(PoisonError::into_inner);
    line.whole.become_of(sweep);
}

/// Where the points of a batch go.
pub(super) struct Destination<'l> {
    received: Received,
    /// The line that the batch stands in, and its number there.
    line: Option<(&'l Mutex<Line>, usize)>,
}

impl Destination<'_> {
    /// The sweep itself if it is the batch's turn, else memory of its own: to be asked once, when
    /// there are points.
    pub fn open(&mut self) -> &mut Received {
        if let Some((line, number)) = self.line {
            locked(line).lend(number, &mut self.received);
        }
        &mut self.received
    }
}

fn locked(line: &Mutex<Line>) -> MutexGuard<'_, Line> {
    line.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Batches on their way into a sweep.
struct Line {
    /// The points of all batches before the next; lent to it if it asked in time.
    whole: Received,
    lent: bool,
    /// The number of the one that is to go in next.
    next: usize,
    /// Those that wait for it.
    early: BTreeMap<usize, Received>,
    /// Memory to be used again.
    idle: Vec<Received>,
}

impl Line {
    fn new(whole: Received) -> Self {
        Self {
            whole,
            lent: false,
            next: 0,
            early: BTreeMap::new(),
            idle: vec![],
        }
    }

    /// Lends the whole to the batch of that number if it is its turn, for its own memory.
    fn lend(&mut self, number: usize, own: &mut Received) {
        if number == self.next {
            self.idle
                .push(std::mem::replace(own, std::mem::take(&mut self.whole)));
            self.lent = true;
        }
    }

    /// Puts a batch in its place, or has it wait, and gives memory for another.
    fn put(&mut self, number: usize, received: Received) -> Received {
        if number != self.next {
            self.early.insert(number, received);
            return self.memory();
        }
        if std::mem::take(&mut self.lent) {
            self.whole = received;
        } else {
            received.append_to(&mut self.whole);
            self.idle.push(received);
        }
        self.next += 1;
        while let Some(waiting) = self.early.remove(&self.next) {
            waiting.append_to(&mut self.whole);
            self.next += 1;
            self.idle.push(waiting);
        }
        self.memory()
    }

    fn memory(&mut self) -> Received {
        self.idle.pop().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::super::Outcome;
    use super::super::sweep::shot_number;
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

    /// A batch of one point that says which batch it is of.
    fn mark(received: &mut Received, number: usize) {
        let outcome = Outcome::Points {
            first: shot_number(received.count()),
            count: 1,
        };
        received.outcomes.push(outcome);
        received.place().shot = shot_number(number);
    }

    #[test]
    fn batches_stand_in_their_order_lent_or_copied_whichever_comes_first() {
        // Who asks where its points go (o) and who is done (p), in turn.
        for story in [
            "o0 p0 o1 p1 o2 p2 o3 p3",
            "o3 p3 o2 p2 o1 p1 o0 p0",
            "o0 o1 o2 o3 p1 p3 p0 p2",
            "o1 p1 o0 o3 p0 p3 o2 p2",
        ] {
            // Old points, of which there were fewer and more, are written over.
            for old in [0, 2, 9] {
                let mut sweep = Sweep::default();
                let mut before = Received::default();
                (0..old).for_each(|_| before.place().shot = 99);
                before.become_of(&mut sweep);
                let mut line = Line::new(Received::within(&mut sweep));
                let mut batches: Vec<_> = (0..4).map(|_| Received::default()).collect();
                for step in story.split(' ') {
                    let number = usize::from(step.as_bytes()[1] - b'0');
                    if step.starts_with('o') {
                        line.lend(number, &mut batches[number]);
                        mark(&mut batches[number], number);
                    } else {
                        let done = std::mem::take(&mut batches[number]);
                        line.put(number, done);
                    }
                }
                line.whole.become_of(&mut sweep);
                let shots: Vec<u32> = sweep.points.iter().map(|point| point.shot).collect();
                assert_eq!(shots, [0, 1, 2, 3], "{story}, {old} old points");
                for shot in 0..4 {
                    assert_eq!(sweep.points_of(shot).len(), 1);
                    assert_eq!(sweep.points_of(shot)[0].shot, shot_number(shot));
                }
            }
        }
    }
}
