//! Ctrl-C handling: a run ends at once, except while files are written.

use crate::failure::{Failure, INTERRUPTED_EXIT_CODE};
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

/// [`Failure::Interrupted`] if Ctrl-C was pressed.
pub fn check() -> Result<(), Failure> {
    if requested() {
        return Err(Failure::Interrupted);
    }
    Ok(())
}
