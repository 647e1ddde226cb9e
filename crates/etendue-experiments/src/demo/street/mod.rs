//! Drive of a vehicle through a procedural town.
//!
//! [`Town::generate`] builds nine blocks with houses, pavements, trees, lamps and parked cars. A
//! [`RouteDriver`] steers a vehicle around the central one by its sensors only: it receives messages
//! ([`SensorMessage`]), estimates its position ([`Localisation`]), and pursues the [`Route`]. The
//! messages of a recording give the same commands.

mod driver;
mod localisation;
mod message;
mod route;
mod town;

pub use driver::{RouteDriver, sedan};
pub use localisation::{Antenna, Localisation};
pub use message::{MessageData, SensorMessage};
pub use route::Route;
pub use town::Town;

/// Length and width of a block, m.
const BLOCK: [f64; 2] = [50.0, 40.0];
/// Width of a roadway, m.
const ROADWAY: f64 = 9.0;
/// Width of a pavement, m.
const PAVEMENT: f64 = 2.5;
