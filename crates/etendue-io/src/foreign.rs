//! Boundary to the readers of other crates: their panics become errors, and sizes that a file
//! states are compared with the size of the file before memory is allocated.
//!
//! Readers of other crates are called within [`guarded`]. A stated size is checked with
//! `is_plausible`, and compressed content ends at `most_content`.

#[cfg(any(feature = "feather", feature = "parquet"))]
use crate::{FileLocation, FormatError, table::PointSweeps};
use std::cell::Cell;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
#[cfg(any(feature = "feather", feature = "parquet"))]
use std::path::Path;
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

/// Reads points with the reader of another crate. They have the columns x, y and z.
#[cfg(any(feature = "feather", feature = "parquet"))]
pub(crate) fn guarded_points<E: fmt::Display>(
    path: &Path,
    remedy: &'static str,
    read: impl FnOnce() -> Result<PointSweeps, E>,
) -> Result<PointSweeps, FormatError> {
    let damaged =
        |message: String| FormatError::malformed(path, FileLocation::File, message, remedy);
    let inconsistent =
        |error: &dyn fmt::Display| damaged(format!("the file is truncated or damaged: {error}"));
    let points = guarded(read)
        .map_err(|panic| inconsistent(&panic))?
        .map_err(|error| inconsistent(&error))?;
    for axis in ["x", "y", "z"] {
        if points.sweeps[0].column(axis).is_none() {
            return Err(damaged(format!("there is no column {axis}")));
        }
    }
    Ok(points)
}

/// Bytes of memory that every file may need, besides a multiple of its size.
const ALLOWANCE: u64 = 64 << 20;

/// Largest ratio of content in memory and file.
const EXPANSION: u64 = 64;

/// Maximum size of the content of a file of `bytes` bytes, in bytes: 64 times its size and 64 MiB.
/// Larger content is an error: a damaged file or one made to exhaust memory.
pub(crate) fn most_content(bytes: u64) -> u64 {
    bytes.saturating_mul(EXPANSION).saturating_add(ALLOWANCE)
}

/// Whether a file of `bytes` bytes may contain `count` items of `size` bytes in memory.
pub(crate) fn is_plausible(count: u64, size: usize, bytes: usize) -> bool {
    count
        .checked_mul(size as u64)
        .is_some_and(|content| content <= most_content(bytes as u64))
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
