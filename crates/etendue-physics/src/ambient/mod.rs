//! What surrounds a robot and can be sensed without light: the Earth's magnetic field and the
//! pressure of the air.

mod magnetic;
mod pressure;

pub use magnetic::dipole_field;
pub use pressure::{Barometer, BarometerRun, StandardAir};
