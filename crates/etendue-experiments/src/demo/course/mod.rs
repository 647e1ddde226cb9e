//! A scaled car with a lidar on a closed course between barriers.
//!
//! [`Course::generate`] generates a course, and [`race`] drives it: the [`Driver`] groups the returns
//! of the lidar into left and right barrier, aims at the middle between them, and steers by a PID
//! controller. It has no map of the course.

mod driver;
mod race;
mod track;

pub use driver::{Driver, Sides};
pub use race::{Race, car, race};
pub use track::{Course, NoCourse};
