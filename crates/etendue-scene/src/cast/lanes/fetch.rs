//! Memory that is wanted soon.

/// Has the processor bring what will be read or written soon into its caches, where it can be told
/// to (x86-64).
///
/// It pays where what comes next is known well before: sweeps take 0.92 to 0.99 of the time with it
/// (BENCHMARKS.md, "Scanning lidars beside Open3D").
///
/// ```
/// let mut seen = vec![0.0; 100];
/// etendue_scene::fetch(&seen[50..]);
/// seen[50] = 1.0;
/// assert_eq!(seen[50], 1.0);
/// ```
#[inline(always)]
pub fn fetch<T: ?Sized>(soon: &T) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        let start = std::ptr::from_ref(soon).cast::<i8>();
        for place in (0..size_of_val(soon)).step_by(64) {
            // SAFETY: the place is within what `soon` refers to, and fetching it changes nothing.
            unsafe { _mm_prefetch::<_MM_HINT_T0>(start.add(place)) };
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = soon;
}
