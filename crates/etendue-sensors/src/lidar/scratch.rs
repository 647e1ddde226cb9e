//! Memory that the sweeps of one sensor reuse.

use etendue_physics::profile::NoiseCache;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Memory that the sweeps of one sensor reuse: random numbers of noise profiles that neighbouring beams
/// and the next sweep share. Its content changes no result.
#[derive(Debug, Default)]
pub struct SweepScratch {
    noise_caches: Mutex<Vec<NoiseCache>>,
}

/// A cache of a [`SweepScratch`] that one worker uses; it goes back when it is dropped.
pub(super) struct LentNoiseCache<'s> {
    scratch: &'s SweepScratch,
    cache: NoiseCache,
}

impl SweepScratch {
    /// Lends a cache to a worker.
    pub(super) fn lend(&self) -> LentNoiseCache<'_> {
        LentNoiseCache {
            cache: self.caches().pop().unwrap_or_default(),
            scratch: self,
        }
    }

    fn caches(&self) -> MutexGuard<'_, Vec<NoiseCache>> {
        self.noise_caches
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

impl LentNoiseCache<'_> {
    /// The cache.
    pub fn get(&mut self) -> &mut NoiseCache {
        &mut self.cache
    }
}

impl Drop for LentNoiseCache<'_> {
    fn drop(&mut self) {
        let cache = std::mem::take(&mut self.cache);
        self.scratch.caches().push(cache);
    }
}
