//! Scanners as data: where and when each laser fires, and what its receiver does.
//!
//! A [`Lidar`] holds a table of [`Channel`]s and a [`ScanPattern`] that moves them. A sweep is
//! one period of the pattern, made of columns: in each, every channel fires once, at its own
//! time. [`Lidar::shots`] lists them. Angles are the project's: azimuth anticlockwise from x
//! seen from above, elevation above the x-y plane, in the sensor's frame (x forward, y left,
//! z up).

mod air;
mod ambient;
mod backscatter;
mod batch_shots;
mod batches;
mod beam;
mod channel;
mod check;
mod column_times;
mod description;
mod fast;
mod frame;
mod hooks;
mod intensity;
mod light;
mod output;
mod pattern;
mod phase_air;
mod predict;
mod range_limits;
mod receiver;
mod return_buffer;
mod returns;
mod scratch;
mod sections;
mod sensor_poses;
mod settings;
mod shot;
mod shots;
mod simulate;
mod sweep;
mod trace;
mod truth;
mod turn;
mod waveform;

pub use air::Air;
pub(crate) use beam::BeamRays;
pub use beam::{Beam, BeamProfile};
pub use channel::{Channel, number_rings};
pub use check::{LidarError, LidarPart};
pub use description::Lidar;
pub use frame::Frame;
pub use hooks::{ExtraRay, ExtraRays, Hooks};
pub use intensity::Intensity;
pub use output::{Outcome, Return, Source, Sweep};
pub use pattern::{
    ColumnStart, Columns, Encoder, Nod, Oscillating, Oscillation, Polygon, Prism, Raster, Risley,
    ScanPattern, Spinning,
};
pub use predict::{ExpectedReturn, predict};
pub use range_limits::RangeLimits;
pub use receiver::{
    EchoModel, InvalidPhaseReceiver, PhaseDetection, PhaseMethod, PhaseReceiver, PulsedReceiver,
    Receiver, Sensitivity, Triangulation,
};
pub use scratch::SweepScratch;
pub use settings::{LightModel, Pipeline, SweepSettings, UnknownPipeline};
pub use shot::{Aim, Shot};
pub(crate) use shot::{Column, Firing, Laser};
pub use shots::Shots;
pub use simulate::{simulate, simulate_into, waveform};
pub(crate) use turn::{LaserLanes, Level, SinCosLanes};
