//! Counter-based random numbers: each draw is a function of seed, indices and purpose, and independent of
//! the order of evaluation.

mod draws;
mod normal;
mod philox;
mod stream;

pub use draws::{Draws, NormalPairs};
pub use stream::{Purpose, Stream};
