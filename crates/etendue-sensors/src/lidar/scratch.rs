//! Buffers that the sweeps of one sensor reuse.

use etendue_physics::profile::NoiseCache;
use etendue_scene::CastScratch;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Buffers that the sweeps of one sensor reuse: memory of ray casts, and the random numbers of noise
/// profiles that neighbouring beams and successive sweeps share. Results do not depend on the content.
#[derive(Debug, Default)]
pub struct SweepScratch {
    /// Buffers that no worker uses.
    idle: Mutex<Vec<WorkerScratch>>,
}

/// Buffers of one worker.
#[derive(Debug)]
pub(super) struct WorkerScratch {
    pub noise_cache: NoiseCache,
    pub casts: Box<CastScratch>,
}

impl Default for WorkerScratch {
    fn default() -> Self {
        Self {
            noise_cache: NoiseCache::default(),
            casts: CastScratch::for_worker(),
        }
    }
}

/// Buffers of a [`SweepScratch`] in use by one worker; dropping it returns them.
pub(super) struct WorkerScratchGuard<'s> {
    scratch: &'s SweepScratch,
    own: Option<WorkerScratch>,
}

impl SweepScratch {
    /// Lends buffers to a worker.
    pub(super) fn lend(&self) -> WorkerScratchGuard<'_> {
        WorkerScratchGuard {
            own: self.idle().pop(),
            scratch: self,
        }
    }

    fn idle(&self) -> MutexGuard<'_, Vec<WorkerScratch>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl WorkerScratchGuard<'_> {
    /// The buffers.
    pub fn get(&mut self) -> &mut WorkerScratch {
        self.own.get_or_insert_default()
    }
}

impl Drop for WorkerScratchGuard<'_> {
    fn drop(&mut self) {
        self.scratch.idle().extend(self.own.take());
    }
}
