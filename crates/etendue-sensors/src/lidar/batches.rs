//! Batches of a sweep: parallel simulation with results in a fixed order.

use super::description::Lidar;
use super::output::Sweep;
use super::receiver::Receiver;
use super::return_buffer::{ReturnBuffer, ShotColumns};
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Minimum number of shots in a batch, whose rays are cast together. The buffers of many more shots exceed
/// the private cache of a core.
const BATCH: usize = 512;

/// Minimum number of shots in a batch of phase receivers: their sweeps are small, and one sweep should
/// occupy several threads.
const PHASE_BATCH: usize = 64;

/// Division of a sweep's shots into batches of whole columns.
pub(super) struct Batches {
    /// Number of shots of the sweep.
    shots: usize,
    /// Number of shots in a group of columns whose rays share one cast order.
    pub together: usize,
    /// Number of groups in a batch.
    pub times: usize,
}

impl Batches {
    /// The batches of a number of shots of a lidar. They have few columns if meshes deform, because a batch
    /// uses the meshes at one time.
    pub fn new(shots: usize, lidar: &Lidar, deforms: bool) -> Self {
        let least = match lidar.receiver {
            Receiver::Phase(_) => PHASE_BATCH,
            _ => BATCH,
        };
        Self::of_columns(shots, lidar.channels.len(), least, deforms)
    }

    fn of_columns(shots: usize, channels: usize, least: usize, deforms: bool) -> Self {
        // Enough columns for whole tiles of neighbouring rays.
        let (least, columns) = match deforms {
            true => (1, 4),
            false if channels.is_multiple_of(2) => (least, 8),
            false => (least, 16),
        };
        let together = columns * channels;
        Self {
            shots,
            together,
            times: least.div_ceil(together),
        }
    }

    /// Ranges of the shots of each batch, in order. An incomplete last group of columns is a batch of its
    /// own.
    fn iter(&self) -> impl Iterator<Item = Range<usize>> {
        let size = self.times * self.together;
        let over = self.shots % self.together;
        let whole = self.shots - over;
        let batches = (0..whole).step_by(size);
        let batches = batches.map(move |first| first..whole.min(first + size));
        batches.chain((over > 0).then_some(whole..self.shots))
    }

    /// Simulates all batches in parallel and writes their returns to a sweep in the order of the batches.
    ///
    /// The next batch in order writes to the sweep directly; returns of batches that finish early are
    /// buffered and copied. The result does not depend on the schedule of the threads.
    pub fn run<M: Send>(
        &self,
        sweep: &mut Sweep,
        memory: impl Fn() -> M + Sync,
        simulate: impl Fn(&mut M, Range<usize>, &mut Destination) + Sync,
    ) {
        let batches: Vec<_> = self.iter().collect();
        let next = AtomicUsize::new(0);
        let queue = Mutex::new(Queue::new(ReturnBuffer::within(sweep)));
        // Boxed: a batch moves the buffers of its worker.
        let idle: Mutex<Vec<Box<M>>> = Mutex::new(Vec::new());
        (0..batches.len()).into_par_iter().for_each(|_| {
            // Take the next batch and the buffers of a finished one.
            let number = next.fetch_add(1, Ordering::Relaxed);
            let own = locked(&idle).pop();
            let mut own = own.unwrap_or_else(|| Box::new(memory()));
            let mut to = Destination {
                buffer: locked(&queue).memory(),
                queue: &queue,
                number,
            };
            // Simulate it and queue its returns.
            simulate(&mut own, batches[number].clone(), &mut to);
            locked(&queue).put(number, to.buffer);
            locked(&idle).push(own);
        });
        let queue = queue.into_inner().unwrap_or_else(PoisonError::into_inner);
        queue.whole.move_into(sweep);
    }
}

/// Destination of the returns of a batch: the sweep or a buffer.
pub(super) struct Destination<'q> {
    buffer: ReturnBuffer,
    queue: &'q Mutex<Queue>,
    /// Index of the batch.
    number: usize,
}

impl Destination<'_> {
    /// The returns of the sweep if the batch is the next in order, otherwise a separate buffer. Call it once,
    /// when the returns are ready to be written.
    pub fn open(&mut self) -> &mut ReturnBuffer {
        locked(self.queue).lend(self.number, &mut self.buffer);
        &mut self.buffer
    }
}

impl Destination<'_> {
    /// The per-shot columns of the batch, after its returns are written.
    pub fn per_shot(&mut self) -> &mut ShotColumns {
        &mut self.buffer.per_shot
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Finished batches, merged in order.
struct Queue {
    /// Returns of all batches before the next one.
    whole: ReturnBuffer,
    /// Whether the next batch holds `whole` to write to it directly.
    whole_in_use: bool,
    /// Index of the next batch in order.
    next: usize,
    /// Later batches that are already finished, by index.
    early: BTreeMap<usize, ReturnBuffer>,
    /// Unused buffers.
    idle: Vec<ReturnBuffer>,
}

impl Queue {
    fn new(whole: ReturnBuffer) -> Self {
        Self {
            whole,
            whole_in_use: false,
            next: 0,
            early: BTreeMap::new(),
            idle: vec![],
        }
    }

    /// Exchanges the buffer of a batch for that of the sweep, if the batch is the next one.
    fn lend(&mut self, number: usize, own: &mut ReturnBuffer) {
        if number == self.next {
            let whole = std::mem::take(&mut self.whole);
            self.idle.push(std::mem::replace(own, whole));
            self.whole_in_use = true;
        }
    }

    /// Appends a finished batch and the batches that follow it, or stores it until it is the next one.
    fn put(&mut self, number: usize, returns: ReturnBuffer) {
        // Store a batch that is early.
        if number != self.next {
            self.early.insert(number, returns);
            return;
        }
        // Append the next batch, unless it was written to the sweep.
        if std::mem::take(&mut self.whole_in_use) {
            self.whole = returns;
        } else {
            returns.append_to(&mut self.whole);
            self.idle.push(returns);
        }
        // Append the stored batches that follow it.
        self.next += 1;
        while let Some(waiting) = self.early.remove(&self.next) {
            waiting.append_to(&mut self.whole);
            self.next += 1;
            self.idle.push(waiting);
        }
    }

    /// An empty buffer.
    fn memory(&mut self) -> ReturnBuffer {
        let mut buffer = self.idle.pop().unwrap_or_default();
        buffer.clear();
        buffer
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
                let batches = Batches::of_columns(columns * channels, channels, BATCH, deforms);
                let all: Vec<_> = batches.iter().collect();
                let mut next = 0;
                for own in &all {
                    assert_eq!(own.start, next);
                    assert!(!own.is_empty() && own.len().is_multiple_of(channels));
                    next = own.end;
                }
                assert_eq!(next, columns * channels);
                // All batches but the last consist of whole groups, whose cast order is precomputed.
                let known = |own: &Range<usize>| own.len().is_multiple_of(batches.together);
                assert!(all[..all.len() - 1].iter().all(known));
            }
        }
    }

    /// Adds one return that is marked with the number of its batch.
    fn mark(buffer: &mut ReturnBuffer, number: usize) {
        let outcome = Outcome::Points {
            first: shot_number(buffer.count()),
            count: 1,
        };
        buffer.outcomes.push(outcome);
        buffer.place().shot = shot_number(number);
    }

    #[test]
    fn batches_are_in_their_order_lent_or_copied_whichever_comes_first() {
        // The order in which batches open their destination (o) and are put (p).
        for story in [
            "o0 p0 o1 p1 o2 p2 o3 p3",
            "o3 p3 o2 p2 o1 p1 o0 p0",
            "o0 o1 o2 o3 p1 p3 p0 p2",
            "o1 p1 o0 o3 p0 p3 o2 p2",
        ] {
            // Fewer or more old returns in the reused memory are overwritten.
            for old in [0, 2, 9] {
                let mut sweep = Sweep::default();
                let mut before = ReturnBuffer::default();
                (0..old).for_each(|_| before.place().shot = 99);
                before.move_into(&mut sweep);
                let mut queue = Queue::new(ReturnBuffer::within(&mut sweep));
                let mut batches: Vec<_> = (0..4).map(|_| ReturnBuffer::default()).collect();
                for step in story.split(' ') {
                    let number = usize::from(step.as_bytes()[1] - b'0');
                    if step.starts_with('o') {
                        queue.lend(number, &mut batches[number]);
                        mark(&mut batches[number], number);
                    } else {
                        let done = std::mem::take(&mut batches[number]);
                        queue.put(number, done);
                    }
                }
                queue.whole.move_into(&mut sweep);
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
