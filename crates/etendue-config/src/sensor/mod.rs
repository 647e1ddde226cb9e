//! Sensor files and presets: what a lidar is, in TOML.
//!
//! [`load`] reads a file, [`preset`] one of those that come with the library ([`presets`] lists
//! them; their text is a good start for an own file). Keys carry their units; a key that is not
//! known is refused with the nearest known one, and so are values that make no sense.

mod continuous_wave;
mod file;
mod packets;
mod presets;
pub mod scanner;

pub use continuous_wave::{
    BeamsTable, BiasTable, CombinationName, ContinuousWaveTable, GainTable, MethodName,
    ModulationTable, NoiseTable, PatternTable, ReceiverTable,
};
pub use file::{Sensor, SensorFile, SensorModel, load, parse};
pub use packets::{channel_table, packet_source};
pub use presets::{preset, presets};
