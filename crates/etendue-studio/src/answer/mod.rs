//! Answers to questions of the page about the current sweep.

mod beam;
mod paths;
mod reflectance;

pub use beam::beam;
pub use reflectance::reflectance;
