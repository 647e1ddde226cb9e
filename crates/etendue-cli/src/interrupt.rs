//! Ctrl-C handling: a run ends at once, except while files are written.

use crate::failure::{Failure, INTERRUPTED_EXIT_CODE};
use std::mem::forget;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

static REQUESTED: AtomicBool = AtomicBool::new(false);
static WRITING: Mutex<()> = Mutex::new(());

/// Installs a handler that ends the process as soon as no thread holds the guard of [`writing`].
pub fn install() {
    // Without a handler Ctrl-C ends the process at once, which is acceptable
    let _ = ctrlc::set_handler(|| {
        REQUESTED.store(true, Ordering::SeqCst);
        let _guard = writing();
        std::process::exit(INTERRUPTED_EXIT_CODE.into());
    });
}

/// Guard that defers the end of the process while it is held.
pub fn writing() -> MutexGuard<'static, ()> {
    WRITING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether Ctrl-C was pressed: a writer should remove its files and return.
pub fn requested() -> bool {
    REQUESTED.load(Ordering::SeqCst)
}

/// Result of a finished recording with all data up to a time, s: [`Failure::StoppedRecording`] if Ctrl-C was pressed. Its guard
/// is then never released, so that the process does not end before the error is printed.
pub fn ended(guard: MutexGuard<'static, ()>, recording: &Path, until: f64) -> Result<(), Failure> {
    if !requested() {
        return Ok(());
    }
    forget(guard);
    Err(Failure::StoppedRecording {
        path: recording.into(),
        until,
    })
}

/// [`Failure::Interrupted`] if Ctrl-C was pressed.
pub fn check() -> Result<(), Failure> {
    if requested() {
        return Err(Failure::Interrupted);
    }
    Ok(())
}
