//! Memory of ray casts.

use etendue_raycast::CastScratch;
use std::cell::RefCell;

thread_local! {
    static SCRATCH: RefCell<CastScratch> = const { RefCell::new(CastScratch::new()) };
}

/// Calls a function with this thread's memory for ray casts.
pub(crate) fn with_scratch<T>(cast: impl FnOnce(&mut CastScratch) -> T) -> T {
    SCRATCH.with_borrow_mut(cast)
}
