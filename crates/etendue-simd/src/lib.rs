//! Vectors of eight and sixteen floats, and run-time choice of the instruction set.
//!
//! An [`Isa`] is an instruction set that the running processor supports. It runs code in two forms:
//!
//! - [`Vectorized`]: plain loops over arrays. [`Isa::run`] compiles them once per instruction set,
//!   so that the compiler's auto-vectorisation uses its registers.
//! - [`Kernel`]: code written with explicit vectors, generic in [`Lanes`]. [`Isa::run_kernel`]
//!   supplies the vector types.
//!
//! ```
//! use etendue_simd::{Isa, Vectorized};
//!
//! /// The sums of the lanes of two arrays.
//! struct Sum<'a>(&'a [f64; 16], &'a [f64; 16]);
//!
//! impl Vectorized for Sum<'_> {
//!     type Output = [f64; 16];
//!
//!     #[inline(always)]
//!     fn run(self) -> [f64; 16] {
//!         std::array::from_fn(|lane| self.0[lane] + self.1[lane])
//!     }
//! }
//! assert_eq!(Isa::detect().run(Sum(&[1.0; 16], &[2.0; 16])), [3.0; 16]);
//! ```
//!
//! This is the only crate of etendue with `unsafe` code: vector intrinsics, calls of functions that
//! are compiled for an instruction set, and prefetching. It pays: one core traces 3 to 6 times as
//! many rays with intrinsics as with plain arrays (BENCHMARKS.md).

mod isa;
mod lanes;
mod prefetch;

pub use isa::{Isa, IsaError, Vectorized};
pub use lanes::{Float, Kernel, Lanes, Mask};
pub use prefetch::prefetch;
