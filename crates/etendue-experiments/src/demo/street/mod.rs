//! A vehicle in a procedural town.
//!
//! [`Street::generate`] builds nine blocks with houses, pavements, trees, lamps and parked cars. A
//! [`Driver`] steers a vehicle around the middle block by sensor messages only: it receives messages
//! ([`SensorMessage`]), estimates its pose ([`PoseFilter`]) and follows a route. A recording of the
//! messages gives the same commands.

mod driver;
mod layout;
mod message;
mod pose_filter;
mod route;
mod town;

pub use driver::{Driver, sedan};
pub use message::{MessageContent, SensorMessage};
pub use pose_filter::{Antenna, PoseFilter};
pub use route::Route;
pub use town::Street;
