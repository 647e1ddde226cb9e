//! Buffers of the pipelines.

use super::fast::{FastMemory, PhaseMemory};
use super::scratch::SweepScratch;
use super::shot::Shot;
use super::shots::Shots;
use super::sweep::Memory;
use std::ops::Range;

/// Buffers of the pipelines, reused from batch to batch.
pub(super) struct BatchMemory<'s> {
    pub plain: Memory<'s, f64>,
    pub fast: FastMemory,
    pub phase: PhaseMemory<f64>,
    pub shots: Vec<Shot>,
}

impl<'s> BatchMemory<'s> {
    /// Empty buffers.
    pub fn new(scratch: &'s SweepScratch) -> Self {
        Self {
            plain: Memory::new(scratch),
            fast: FastMemory::default(),
            phase: PhaseMemory::default(),
            shots: Vec::new(),
        }
    }

    /// Lists the shots of a batch.
    pub fn list(&mut self, all: &Shots, own: Range<usize>) {
        self.shots.clear();
        self.shots.extend(own.map(|number| all.at(number)));
    }
}
