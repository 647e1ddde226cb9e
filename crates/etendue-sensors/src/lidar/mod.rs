//! Scanners as data: where and when each laser fires, and what its receiver does.
//!
//! A [`Lidar`] holds a table of [`Channel`]s and a [`ScanPattern`] that moves them. A sweep is
//! one period of the pattern, made of columns: in each, every channel fires once, at its own
//! time. [`Lidar::shots`] lists them. Angles are the project's: azimuth anticlockwise from x
//! seen from above, elevation above the x-y plane, in the sensor's frame (x forward, y left,
//! z up).

mod beam;
mod channel;
mod check;
mod check_light;
mod column_times;
mod description;
mod fast;
mod pattern;
mod pulsed;
mod receiver;
mod settings;
mod shot;
mod shots;
mod turn;

pub use beam::Beam;
pub use channel::{Channel, number_rings};
pub use check::{LidarError, LidarPart};
pub use description::Lidar;
pub use fast::phase::{LitSurface, PhaseHooks, PhaseShot, predict_phase};
pub use pattern::{
    ColumnStart, Columns, Encoder, Nod, Oscillating, Oscillation, Polygon, Prism, Raster, Risley,
    ScanPattern, Spinning,
};
pub use pulsed::{
    Air, ExtraRay, Frame, MeanAir, MeanReceiver, MeanScanner, MeanShot, Outcome, Return, Source,
    Sweep, simulate, simulate_into, waveform,
};
pub(in crate::lidar) use receiver::reading;
pub use receiver::{
    Intensity, InvalidPhaseReceiver, PhaseDetection, PhaseMethod, PhaseReceiver, Pipeline,
    PulsedReceiver, RangeLimits, Receiver, Sensitivity, Triangulation,
};
pub use settings::{LightModel, SweepSettings};
pub use shot::{Aim, Shot};
pub(crate) use shot::{Column, Firing, Laser};
pub use shots::Shots;
pub(crate) use turn::{LaserLanes, Level, SinCosLanes, TurnedShots};
