//! Dual numbers: forward-mode differentiation.

mod arithmetic;
mod elementary;
mod field;

pub use arithmetic::{Dual, DualParts};
