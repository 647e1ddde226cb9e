//! Answers to questions of the page about the current sweep.

mod beam;
mod panel;
mod paths;
mod picture;
mod profile;
mod reflectance;

pub use beam::beam;
pub use panel::panel;
pub use picture::{PictureRequest, PictureTask};
pub use profile::profile;
pub use reflectance::reflectance;
