//! Threads of a call, Ctrl-C and progress.
//!
//! Calls of a few milliseconds run on the calling thread. Every other call has its own pool, which ends with it: a process
//! that forks after a call has no lost threads. The calling thread waits, handles signals and reports progress.

use crate::errors::{Failure, Outcome};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use rayon::ThreadPoolBuilder;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread::{Result as Ended, available_parallelism};
use std::time::Duration;

/// Largest number of threads of a call.
const MOST: i64 = 1024;

/// Number of rays for which one more thread is started by default.
pub const RAYS_PER_THREAD: usize = 16_384;

/// Time between two checks of signals and progress.
const PERIOD: Duration = Duration::from_millis(50);

/// Signals between a computation and the thread that waits for it.
#[derive(Default)]
pub struct Control {
    stopped: AtomicBool,
    done: AtomicUsize,
}

/// The payload of an unwinding that [`Control::check`] starts.
struct Stopped;

impl Control {
    /// Ends the computation, by unwinding without a message, if Ctrl-C was pressed or a callback failed.
    pub fn check(&self) {
        if self.stopped.load(Ordering::Relaxed) {
            resume_unwind(Box::new(Stopped));
        }
    }

    /// Counts finished parts, and [checks](Self::check).
    pub fn advance(&self, parts: usize) {
        self.done.fetch_add(parts, Ordering::Relaxed);
        self.check();
    }
}

/// The argument `progress`: a function of the finished and of all parts.
pub struct Progress {
    callback: Py<PyAny>,
    parts: usize,
}

impl Progress {
    /// Progress of `parts` parts, if `callback` is given; `True` stands for a bar of tqdm where it is present.
    pub fn of(callback: Option<&Bound<'_, PyAny>>, parts: usize) -> PyResult<Option<Self>> {
        let Some(callback) = callback else {
            return Ok(None);
        };
        let mut callback = callback.clone();
        if let Ok(shown) = callback.extract::<bool>() {
            if !shown {
                return Ok(None);
            }
            let py = callback.py();
            callback = py.import("etendue._progress")?.call_method0("bar")?;
            if callback.is_none() {
                return Ok(None);
            }
        }
        if !callback.is_callable() {
            let found = callback.get_type().name()?;
            let text = format!("progress: expected a function of two numbers or True, got {found}");
            return Err(PyTypeError::new_err(text));
        }
        let callback = callback.unbind();
        Ok(Some(Self { callback, parts }))
    }

    /// Calls the function.
    fn report(&self, py: Python<'_>, done: usize) -> PyResult<()> {
        self.callback.call1(py, (done, self.parts)).map(drop)
    }
}

/// Runs a computation of about `rays` rays without the interpreter lock.
///
/// `threads` is the argument of the call; by default there is one per processor, and fewer for few rays. After
/// Ctrl-C the computation ends, and then its result is discarded.
pub fn run<R: Send>(
    py: Python<'_>,
    threads: Option<i64>,
    rays: usize,
    computation: impl FnOnce() -> R + Send,
) -> Outcome<R> {
    run_controlled(py, threads, rays, None, |_| computation())
}

/// [`run`] for a computation that checks a [`Control`], at which Ctrl-C ends it, and counts its finished parts.
pub fn run_controlled<R: Send>(
    py: Python<'_>,
    threads: Option<i64>,
    rays: usize,
    progress: Option<&Progress>,
    computation: impl FnOnce(&Control) -> R + Send,
) -> Outcome<R> {
    let count = count(threads, rays)?;
    let control = Control::default();
    py.detach(|| {
        let pool = ThreadPoolBuilder::new().num_threads(count).build();
        let (send, receive) = channel();
        pool.map_err(Failure::from)?.in_place_scope(|scope| {
            let control = &control;
            scope.spawn(move |_| {
                let result = catch_unwind(AssertUnwindSafe(|| computation(control)));
                // The receiver lives until the scope ends.
                _ = send.send(result);
            });
            wait(&receive, control, progress)
        })
    })
}

/// Checks the argument `threads` of a call that runs on the calling thread.
pub fn check(threads: Option<i64>) -> Outcome<()> {
    count(threads, 0).map(drop)
}

/// Number of threads of a call.
fn count(threads: Option<i64>, rays: usize) -> Outcome<usize> {
    match threads {
        Some(given) if (1..=MOST).contains(&given) => Ok(usize::try_from(given).unwrap_or(1)),
        Some(given) => {
            let text = format!("threads: expected 1 to {MOST}, got {given}");
            Err(PyValueError::new_err(text).into())
        }
        None => {
            let most = rays.div_ceil(RAYS_PER_THREAD).max(1);
            if most == 1 {
                // The number of processors is read from files, which takes 40 µs.
                return Ok(1);
            }
            let processors = available_parallelism().map_or(1, usize::from);
            Ok(processors.min(most))
        }
    }
}

/// Waits for the result of a computation, and meanwhile reports progress and handles signals.
fn wait<R>(
    result: &Receiver<Ended<R>>,
    control: &Control,
    progress: Option<&Progress>,
) -> Outcome<R> {
    let mut failed = None;
    let mut reported = 0;
    let mut check = |control: &Control| {
        let done = control.done.load(Ordering::Relaxed);
        Python::attach(|py| {
            py.check_signals()?;
            if let Some(progress) = progress.filter(|_| done > reported) {
                reported = done;
                progress.report(py, done)?;
            }
            PyResult::Ok(())
        })
    };
    loop {
        let ended = match result.recv_timeout(PERIOD) {
            Err(RecvTimeoutError::Timeout) => {
                if failed.is_none()
                    && let Err(error) = check(control)
                {
                    control.stopped.store(true, Ordering::Relaxed);
                    failed = Some(error);
                }
                continue;
            }
            Ok(ended) => ended,
            Err(RecvTimeoutError::Disconnected) => unreachable!("the computation sends a result"),
        };
        return match (failed, ended) {
            (Some(error), _) => Err(error.into()),
            (None, Ok(result)) => {
                if progress.is_some() {
                    check(control)?;
                }
                Ok(result)
            }
            (None, Err(panic)) => resume_unwind(panic),
        };
    }
}
