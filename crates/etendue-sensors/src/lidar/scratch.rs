//! Buffers that the sweeps of one sensor reuse.

use etendue_physics::profile::NoiseCache;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Buffers that the sweeps of one sensor reuse: the random numbers of noise profiles that neighbouring
/// beams and successive sweeps share. Results do not depend on the content.
#[derive(Debug, Default)]
pub struct SweepScratch {
    noise_caches: Mutex<Vec<NoiseCache>>,
}

/// A cache of a [`SweepScratch`] in use by one worker; dropping it returns it.
pub(super) struct NoiseCacheGuard<'s> {
    scratch: &'s SweepScratch,
    cache: NoiseCache,
}

impl SweepScratch {
    /// Lends a cache to a worker.
    pub(super) fn lend(&self) -> NoiseCacheGuard<'_> {
        NoiseCacheGuard {
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

impl NoiseCacheGuard<'_> {
    /// The cache.
    pub fn get(&mut self) -> &mut NoiseCache {
        &mut self.cache
    }
}

impl Drop for NoiseCacheGuard<'_> {
    fn drop(&mut self) {
        let cache = std::mem::take(&mut self.cache);
        self.scratch.caches().push(cache);
    }
}
