//! Boundary to the readers of other crates: their panics become errors, and sizes that a file
//! states are compared with the size of the file before memory is allocated.
//!
//! Readers of other crates are called within [`guarded`]. A stated size is checked with
//! `is_plausible`, and compressed content ends at `most_content`.

use std::cell::Cell;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::Once;

/// A panic of the reader of another crate, with its message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReaderPanic(String);

impl fmt::Display for ReaderPanic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "its content is inconsistent ({})", self.0)
    }
}

impl std::error::Error for ReaderPanic {}

thread_local! {
    /// Whether this thread is within [`guarded`].
    static IS_GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// Calls the reader of another crate. A panic on this thread becomes an error and prints nothing;
/// panics outside of the reader, and those of other threads, are reported as before.
///
/// # Errors
/// If `read` panics.
///
/// ```
/// use etendue_io::foreign::guarded;
/// assert_eq!(guarded(|| 7), Ok(7));
/// let empty: [u8; 0] = [];
/// let error = guarded(|| *empty.iter().next().expect("no header")).unwrap_err();
/// assert_eq!(error.to_string(), "its content is inconsistent (no header)");
/// ```
pub fn guarded<T>(read: impl FnOnce() -> T) -> Result<T, ReaderPanic> {
    static INSTALL: Once = Once::new();
    INSTALL.call_once(|| {
        let report = take_hook();
        set_hook(Box::new(move |panic| {
            if !IS_GUARDED.get() {
                report(panic);
            }
        }));
    });
    let was_guarded = IS_GUARDED.replace(true);
    // The reader and its content are dropped after a panic
    let result = catch_unwind(AssertUnwindSafe(read));
    IS_GUARDED.set(was_guarded);
    result.map_err(|payload| {
        let text = payload
            .downcast_ref::<&str>()
            .map(|text| (*text).to_owned());
        let text = text.or_else(|| payload.downcast_ref::<String>().cloned());
        let text = text.unwrap_or_else(|| "no message".into());
        ReaderPanic(text.lines().next().unwrap_or_default().to_owned())
    })
}

/// Bytes of memory that every file may need, besides a multiple of its size.
const ALLOWANCE: u64 = 64 << 20;

/// Largest ratio of content in memory and file.
const EXPANSION: u64 = 64;

/// Maximum size of the content of a file of `bytes` bytes, in bytes: 64 times its size and 64 MiB.
/// Larger content is an error: a damaged file or one made to exhaust memory.
pub(crate) fn most_content(bytes: usize) -> u64 {
    (bytes as u64)
        .saturating_mul(EXPANSION)
        .saturating_add(ALLOWANCE)
}

/// Whether a file of `bytes` bytes may contain `count` items of `size` bytes in memory.
pub(crate) fn is_plausible(count: u64, size: usize, bytes: usize) -> bool {
    count
        .checked_mul(size as u64)
        .is_some_and(|content| content <= most_content(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reader_within_a_reader_keeps_the_outer_guard() {
        let outer = guarded(|| {
            let inner = guarded(|| panic!("inner"));
            assert!(inner.is_err_and(|error| error.to_string().contains("inner")));
            assert!(IS_GUARDED.get());
            7
        });
        assert_eq!(outer, Ok(7));
        assert!(!IS_GUARDED.get());
    }

    #[test]
    fn stated_sizes_that_overflow_are_not_plausible() {
        assert!(is_plausible(1000, 8, 10));
        assert!(!is_plausible(u64::MAX, 8, 10));
        assert!(!is_plausible(1 << 32, 8, 1000));
    }
}
