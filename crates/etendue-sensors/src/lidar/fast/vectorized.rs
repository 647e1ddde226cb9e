//! Choice of the vectorised pipeline by receiver.

use super::phase::PhaseLanes;
use super::simulator::FastSimulator;
use crate::lidar::batch_memory::BatchMemory;
use crate::lidar::batches::{Batches, Destination};
use crate::lidar::firing::Firing;
use crate::lidar::returns::Reporter;
use crate::lidar::shots::Shots;
use crate::lidar::sweep::{Simulator, shot_number};
use etendue_simd::Isa;
use std::ops::Range;

/// The pipeline of a sweep in lanes of sixteen.
pub(in crate::lidar) enum VectorizedSimulator<'p, 'a> {
    Pulsed(FastSimulator<'p, 'a>),
    Phase(PhaseLanes<'p, 'a, f64>, Reporter<'p>),
}

impl<'p, 'a> VectorizedSimulator<'p, 'a> {
    /// The vectorised pipeline of a sweep; `None` if the lidar or the conditions have only a plain one.
    pub fn new(
        isa: Isa,
        plain: &'p Simulator<'a, f64>,
        reporter: Reporter<'p>,
        firing: &Firing,
        shots: &Shots,
        batches: &Batches,
    ) -> Option<Self> {
        if let Some(lanes) = PhaseLanes::new(isa, plain) {
            return Some(Self::Phase(lanes, reporter));
        }
        let pulsed = FastSimulator::new(isa, plain, reporter, firing, shots, batches)?;
        Some(Self::Pulsed(pulsed))
    }

    /// The same in a world that differs only in its deforming meshes.
    pub fn with_plain<'q, 'b>(
        &self,
        plain: &'q Simulator<'b, f64>,
        reporter: Reporter<'q>,
    ) -> VectorizedSimulator<'q, 'b> {
        match self {
            Self::Pulsed(pulsed) => VectorizedSimulator::Pulsed(pulsed.with_plain(plain, reporter)),
            Self::Phase(lanes, _) => VectorizedSimulator::Phase(lanes.with_plain(plain), reporter),
        }
    }

    /// Simulates a batch, the shots `own` of a sweep, and writes its returns.
    pub fn batch(
        &self,
        memory: &mut BatchMemory,
        all: &Shots,
        own: Range<usize>,
        to: &mut Destination,
    ) {
        let (lanes, reporter) = match self {
            Self::Pulsed(pulsed) => return pulsed.batch(memory, all, own, to),
            Self::Phase(lanes, reporter) => (lanes, reporter),
        };
        memory.list(all, own.clone());
        let first = shot_number(own.start);
        let buffer = to.open();
        let BatchMemory {
            shots,
            phase,
            plain,
            ..
        } = memory;
        lanes.measure(shots, first, phase, plain, |shot| {
            let outcome = reporter.add_phase(shot, buffer);
            buffer.outcomes.push(outcome);
        });
    }
}
