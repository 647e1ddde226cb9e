//! Counter-based random numbers: each draw is a function of seed, indices and purpose, and independent of
//! the order of evaluation.

mod draws;
mod moving_average;
mod normal;
mod philox;
mod stream;

pub use draws::{Draws, NormalPairs};
pub use moving_average::MovingAverage;
pub(crate) use moving_average::REACH;
pub use stream::{Purpose, Stream};
