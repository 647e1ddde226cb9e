//! Answers to questions of the page about the current sweep.

mod beam;
mod panel;
mod paths;
mod profile;
mod reflectance;

pub use beam::beam;
pub use panel::panel;
pub use profile::profile;
pub use reflectance::reflectance;
