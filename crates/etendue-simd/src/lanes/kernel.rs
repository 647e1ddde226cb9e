//! Code that is generic in the instruction set.

use super::vector::Float;

/// The vector types of one instruction set.
pub trait Lanes: Sized + 'static {
    /// A vector of eight numbers.
    type F8: Float<8>;
    /// A vector of sixteen numbers.
    type F16: Float<16>;

    /// Whether finishing a computation on sixteen lanes costs less than an occasional mispredicted
    /// branch around it. Not measured for NEON.
    const BRANCHLESS: bool;

    /// Runs a kernel with these vectors as a function of its own, which is not inlined into the
    /// caller.
    ///
    /// A kernel calls its large parts in this way: each is then compiled once per instruction set, not
    /// once per place that uses it.
    fn call<K: Kernel>(kernel: K) -> K::Output;
}

/// Code written with explicit vectors, once for all instruction sets, run by
/// [`Isa::run_kernel`](crate::Isa::run_kernel) or, from other kernels, by [`Lanes::call`].
///
/// `run` and the functions that it calls with lanes must be `#[inline(always)]`.
pub trait Kernel {
    /// The result.
    type Output;

    /// Runs the code with the vectors of an instruction set.
    fn run<L: Lanes>(self) -> Self::Output;
}
