//! Manifolds of unknowns: numbers, planar and spatial poses, and their products.

mod bounded_number;
mod pose;
pub mod se2;
pub mod se3;
mod space;
mod variable;

pub use bounded_number::{BoundedNumber, OutOfBounds};
pub use space::Manifold;
pub use variable::{Variable, VariableValue};
pub(crate) use variable::{dimension, lift3};
