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
mod batches;
mod beam;
mod channel;
mod check;
mod column_times;
mod description;
mod fast;
mod frame;
mod intensity;
mod mean;
mod output;
mod pattern;
mod range_limits;
mod receive;
mod receiver;
mod return_buffer;
mod sections;
mod settings;
mod shot;
mod shots;
mod sweep;
mod turn;
mod waveform;

pub use air::Air;
pub(crate) use beam::BeamRays;
pub use beam::{Beam, BeamProfile};
pub use channel::{Channel, number_rings};
pub use check::{LidarError, LidarPart};
pub use description::Lidar;
pub use fast::phase::{LitSurface, PhaseHooks, PhaseShot, predict_phase};
pub use frame::Frame;
pub use intensity::Intensity;
pub use mean::{ExtraRay, MeanAir, MeanScanner, MeanShot};
pub use output::{Outcome, Return, Source, Sweep};
pub use pattern::{
    ColumnStart, Columns, Encoder, Nod, Oscillating, Oscillation, Polygon, Prism, Raster, Risley,
    ScanPattern, Spinning,
};
pub use range_limits::RangeLimits;
pub use receiver::{
    EchoModel, InvalidPhaseReceiver, PhaseDetection, PhaseMethod, PhaseReceiver, PulsedReceiver,
    Receiver, Sensitivity, Triangulation,
};
pub use settings::{LightModel, SweepSettings};
pub use shot::{Aim, Shot};
pub(crate) use shot::{Column, Firing, Laser};
pub use shots::Shots;
pub use sweep::{simulate, simulate_into};
pub(crate) use turn::{LaserLanes, Level, SinCosLanes, TurnedShots};
pub use waveform::waveform;
