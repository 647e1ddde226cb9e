//! Ctrl-C handling: a run ends at once, except while files are written. It states what it has written, and leaves no files that are
//! not complete.

use crate::failure::{Failure, INTERRUPTED_EXIT_CODE};
use crate::report;
use etendue::io::output::abandon_outputs;
use std::io::{IsTerminal, stderr};
use std::mem::forget;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, Once, PoisonError};

static REQUESTED: AtomicBool = AtomicBool::new(false);
static WRITTEN: AtomicBool = AtomicBool::new(false);
static WRITING: Mutex<()> = Mutex::new(());
static PRINTED: Once = Once::new();

/// Installs a handler that ends the process, with a message, as soon as no thread holds the guard of [`writing`].
pub fn install() {
    // Without a handler Ctrl-C ends the process at once, which is acceptable
    let _ = ctrlc::set_handler(|| {
        REQUESTED.store(true, Ordering::SeqCst);
        let _guard = writing();
        abandon_outputs();
        print(&stopped());
        std::process::exit(INTERRUPTED_EXIT_CODE.into());
    });
}

/// Guard that defers the end of the process while it is held.
pub fn writing() -> MutexGuard<'static, ()> {
    WRITING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Notes that a file is in its place: the message of a stopped run then does not state that nothing was written.
pub fn note_written() {
    WRITTEN.store(true, Ordering::SeqCst);
}

/// Whether Ctrl-C was pressed: a writer should remove its files and return.
pub fn requested() -> bool {
    REQUESTED.load(Ordering::SeqCst)
}

/// Result of a finished recording with all data up to a time, s: [`Failure::StoppedRecording`] if Ctrl-C was pressed. Its guard
/// is then never released, so that the process does not end before the error is printed.
pub fn ended(guard: MutexGuard<'static, ()>, recording: &Path, until: f64) -> Result<(), Failure> {
    note_written();
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
        return Err(stopped());
    }
    Ok(())
}

/// The error of a run that Ctrl-C stopped, with what it has written so far.
pub fn stopped() -> Failure {
    Failure::Interrupted {
        has_written: WRITTEN.load(Ordering::SeqCst),
    }
}

/// Prints the error of a stopped run, once: the handler and the stopped run itself may both end the process.
pub fn print(failure: &Failure) {
    PRINTED.call_once(|| {
        // A terminal shows ^C, or a progress bar, in this line
        if stderr().is_terminal() {
            eprintln!();
        }
        report::print(failure);
    });
}
