//! Vector types of each instruction set.
#![expect(
    clippy::inline_always,
    reason = "operations must land in a function compiled for the instruction set"
)]

#[cfg(target_arch = "x86_64")]
pub(crate) mod avx2;
#[cfg(target_arch = "x86_64")]
pub(crate) mod avx512;
mod kernel;
#[cfg(target_arch = "aarch64")]
pub(crate) mod neon;
mod pair;
pub(crate) mod plain;
mod vector;

pub use kernel::{Kernel, Lanes};
pub use vector::{Float, Mask};

#[cfg(test)]
mod tests;
