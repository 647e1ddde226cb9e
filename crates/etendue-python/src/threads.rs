//! Threads of a call.
//!
//! Every call has its own pool, which ends with it: a process that forks after a call has no lost threads.

use crate::errors::{Failure, Outcome};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use rayon::ThreadPoolBuilder;
use std::thread::available_parallelism;

/// Largest number of threads of a call.
const MOST: i64 = 1024;

/// Number of rays for which one more thread is started by default.
const RAYS_PER_THREAD: usize = 16_384;

/// Runs a computation of about `rays` rays without the interpreter lock.
///
/// `threads` is the argument of the call; by default there is one per processor, and fewer for few rays.
pub fn run<R: Send>(
    py: Python<'_>,
    threads: Option<i64>,
    rays: usize,
    computation: impl FnOnce() -> R + Send,
) -> Outcome<R> {
    let count = match threads {
        Some(given) if (1..=MOST).contains(&given) => usize::try_from(given).unwrap_or(1),
        Some(given) => {
            let text = format!("threads: expected 1 to {MOST}, got {given}");
            return Err(PyValueError::new_err(text).into());
        }
        None => {
            let processors = available_parallelism().map_or(1, usize::from);
            processors.min(rays.div_ceil(RAYS_PER_THREAD)).max(1)
        }
    };
    py.detach(|| {
        let pool = ThreadPoolBuilder::new().num_threads(count).build();
        Ok(pool.map_err(Failure::from)?.install(computation))
    })
}
