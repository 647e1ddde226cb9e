//! A robot: the data of all its sensors, simulated as `etendue run` does.

mod data;
mod message;
mod run;

pub use data::picture;
pub use message::Query;
pub use run::{Output, RobotEvent, RobotRun};
