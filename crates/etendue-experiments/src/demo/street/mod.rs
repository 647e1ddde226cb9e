//! A vehicle in a built-up area that is made by rule.
//!
//! [`Street::generate`] makes nine blocks with houses, pavements, trees, lamps and parked cars. A
//! [`Driver`] takes a vehicle round the middle one by what its sensors say and by nothing else: it
//! hears messages ([`Heard`]), keeps an estimate of where it is ([`Whereabouts`]), and pursues the
//! way. A recording of the messages gives the same commands again.

mod driver;
mod heard;
mod route;
mod town;
mod whereabouts;

pub use driver::{Driver, sedan};
pub use heard::{Heard, What};
pub use route::Route;
pub use town::Street;
pub use whereabouts::{Antenna, Whereabouts};

/// Length and width of a block, m.
const BLOCK: [f64; 2] = [50.0, 40.0];
/// Width of a roadway and of a pavement, m.
const ROADWAY: f64 = 9.0;
const PAVEMENT: f64 = 2.5;
