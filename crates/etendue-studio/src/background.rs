//! Computations in the background.

use crate::refusal::Refusal;
use rayon::ThreadPoolBuilder;

/// Computes with threads of its own, so that sweeps do not wait for the tasks of a long computation.
pub fn compute<T: Send>(task: impl FnOnce() -> T + Send) -> T {
    let pool = ThreadPoolBuilder::new().num_threads(rayon::current_num_threads());
    match pool.build() {
        Ok(pool) => pool.install(task),
        Err(_) => task(),
    }
}

/// Starts a task on a thread of its own.
///
/// # Errors
/// If no thread can be started.
pub fn start(name: &str, task: impl FnOnce() + Send + 'static) -> Result<(), Refusal> {
    let thread = std::thread::Builder::new().name(name.into()).spawn(task);
    thread.map_err(|error| Refusal::no_thread(&error))?;
    Ok(())
}
