//! Quantities of the environment other than light: the Earth's magnetic field and the air pressure.

mod magnetic;
mod pressure;

pub use magnetic::dipole_field;
pub use pressure::{Barometer, BarometerRun, StandardAir};
