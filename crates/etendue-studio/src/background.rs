//! Computations in the background.

use rayon::ThreadPoolBuilder;

/// Computes with threads of its own, so that sweeps do not wait for the tasks of a long computation.
pub fn compute<T: Send>(task: impl FnOnce() -> T + Send) -> T {
    let pool = ThreadPoolBuilder::new().num_threads(rayon::current_num_threads());
    match pool.build() {
        Ok(pool) => pool.install(task),
        Err(_) => task(),
    }
}
