//! Sensor files and presets: lidars in TOML.
//!
//! [`load`] reads a file, [`preset`] an embedded preset ([`presets`] lists them; their text is a
//! template for new files). Keys contain their units. Unknown keys are errors with the nearest
//! known key; values outside their domain are errors.
//!
//! One set of tables describes every lidar: `pattern`, `channels`, `beam`, `range`, `receiver` (one of
//! `pulsed`, `phase`, `fmcw` and `triangulation`), `noise` and `intensity`.

mod beam;
mod channels;
mod file;
mod noise;
mod packets;
mod pattern;
mod phase;
mod presets;
mod receiver;
mod version_1;

pub use beam::{BeamTable, ConeTable, EllipticalTable, MeasuredAt, RaysTable, ShapeName};
pub use channels::{ChannelsTable, OneOrMany};
pub use file::{Sensor, SensorFile, load, parse};
pub use noise::CorrelatedNoiseTable;
pub use packets::{channel_table, packet_source};
pub use pattern::{
    EncoderTable, OscillatingTable, OscillationName, PatternTable, PolygonTable, PrismTable,
    RasterTable, RisleyTable, SpinningTable,
};
pub use phase::{
    BiasTable, CombinationName, GainTable, MethodName, ModulationTable, NoiseTable, PhaseTable,
    PhaseWindowTable,
};
pub use presets::{preset, presets};
pub use receiver::{
    AnalogueTable, DiscriminatorName, DualName, FmcwTable, FoundTable, IntensityTable,
    PhotonCountingTable, PipelineName, PulsedTable, PulsedWindowTable, RangeTable, ReceiverTable,
    ReflectivityName, ResponseTable, ReturnsTable, ShapeOfPulse, TriangulationTable,
};
