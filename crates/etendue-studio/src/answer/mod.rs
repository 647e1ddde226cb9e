//! Answers to questions of the page about the current sweep.

mod beam;
mod paths;
mod profile;
mod reflectance;

pub use beam::beam;
pub use profile::profile;
pub use reflectance::reflectance;
