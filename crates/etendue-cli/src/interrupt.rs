//! Ctrl-C: a run stops at once, but never in the middle of writing.

use crate::failure::Failure;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// What a process exits with that Ctrl-C stopped: 128 and the number of SIGINT.
pub const EXIT_CODE: u8 = 130;

static REQUESTED: AtomicBool = AtomicBool::new(false);
static WRITING: Mutex<()> = Mutex::new(());

/// From now on Ctrl-C waits for whoever holds [`writing`], and then ends the process.
pub fn install() {
    // Without a handler Ctrl-C ends the process at once, which is what the user asks for anyway.
    let _ = ctrlc::set_handler(|| {
        REQUESTED.store(true, Ordering::SeqCst);
        let _nobody_writes = writing();
        std::process::exit(EXIT_CODE.into());
    });
}

/// While this is held, Ctrl-C does not end the process.
pub fn writing() -> MutexGuard<'static, ()> {
    WRITING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether Ctrl-C was pressed: who writes should undo it and return.
pub fn requested() -> bool {
    REQUESTED.load(Ordering::SeqCst)
}

/// An error if Ctrl-C was pressed.
pub fn check() -> Result<(), Failure> {
    if requested() {
        return Err(Failure::Interrupted);
    }
    Ok(())
}
