//! Lidars: description, scan patterns, receivers and the simulation of sweeps.
//!
//! # Description
//!
//! A [`Lidar`] is an immutable value. Its [`ScanPattern`] moves a table of [`Channel`]s; its [`Beam`] is
//! sampled by rays; its [`Receiver`] turns the light of a shot into ranges; [`RangeLimits`] and
//! [`Intensity`] describe the reported numbers. A sweep is one period of the pattern. It consists of
//! columns, in each of which every channel fires once, at its own time. [`Lidar::shots`] lists the shots.
//!
//! Angles: azimuth anticlockwise from x seen from above, elevation above the x-y plane, in the sensor's
//! frame (x forward, y left, z up).
//!
//! # Simulation
//!
//! [`simulate`] gives a [`Sweep`]: an [`Outcome`] for every [`Shot`] and a [`Return`] for every range.
//! [`SweepSettings`] hold the seed, the [`Air`], the [`LightModel`] and the [`Pipeline`]. [`waveform`]
//! gives the waveform of one shot. [`predict`] gives the expected return of every shot in a scalar that
//! may carry derivatives, with the changes of [`Hooks`].
//!
//! # Where things are
//!
//! | step | file |
//! |---|---|
//! | shots of a sweep | `shots.rs`, `firing.rs`, `rotor_shots.rs`, `pattern/` |
//! | the pipeline from shots to detections | `sweep.rs` |
//! | rays of a beam | `beam.rs` |
//! | light that surfaces return | `trace.rs`, `light.rs`; [`transport`](crate::transport) |
//! | light of the air, ambient light | `prepared_air.rs`, `backscatter.rs`, `phase_air.rs`; `ambient.rs` |
//! | detections | `receiver/`, one file each |
//! | returns | `returns.rs`, `mixing.rs`, `output.rs` |
//! | noise that is not independent from shot to shot | `correlated_noise.rs` |
//! | variance of a measurement | `measurement_noise.rs`; `range_sd` of each receiver |
//! | whole sweeps in batches on all threads | `simulate.rs`, `batches.rs` |
//! | the same in lanes of sixteen | `fast/` |
//! | sweeps prepared for other processors | `direct_sweep.rs` |

mod air;
mod ambient;
mod backscatter;
mod batch_memory;
mod batch_shots;
mod batches;
mod beam;
mod channel;
mod check;
mod column_times;
mod correlated_noise;
mod description;
mod direct_pulses;
mod direct_receiver;
mod direct_shot;
mod direct_sweep;
mod direction;
mod domain;
mod fast;
mod firing;
mod frame;
mod hooks;
mod intensity;
mod light;
mod light_model;
mod measurement_noise;
mod mixing;
mod output;
mod pattern;
mod phase_air;
mod predict;
mod prepared_air;
mod range_limits;
mod receiver;
mod return_buffer;
mod returns;
mod rotor_shots;
mod scratch;
mod sensor_poses;
mod settings;
mod shot;
mod shot_list;
mod shots;
mod simulate;
mod sweep;
mod trace;
mod truth;

pub use air::Air;
pub use ambient::DirectAmbient;
pub use backscatter::DirectBackscatter;
pub use beam::{Beam, BeamProfile};
pub use channel::{Channel, number_rings};
pub use check::{LidarError, LidarPart};
pub use correlated_noise::CorrelatedNoise;
pub use description::Lidar;
pub use direct_pulses::{DirectDrops, DirectPulsedAir, DirectSampled};
pub use direct_receiver::{DirectReceiver, NotDirect};
pub use direct_shot::{
    DirectEcho, DirectLight, DirectLightReturn, DirectReturn, DirectShot, DirectSurface,
};
pub use direct_sweep::{AveragedNormals, CorrelatedDraws, DirectRay, DirectSweep};
pub use direction::Aim;
pub use fast::{MotionGradients, MotionSlopes, ReturnTile};
pub use frame::Frame;
pub use hooks::{ExtraRay, ExtraRays, Hooks};
pub use intensity::Intensity;
pub use light_model::LightModel;
pub use measurement_noise::{MeasurementNoise, PointingMargin, head_on_noise, measurement_noise};
pub use output::{Outcome, Return, Source, Sweep};
pub use pattern::{
    ColumnStart, Columns, Encoder, Nod, Oscillating, Oscillation, Polygon, Prism, Raster, Risley,
    ScanPattern, Spinning,
};
pub use phase_air::DirectPhaseAir;
pub use predict::{ExpectedReturn, WriteReturns, predict, predict_at_rest};
pub use range_limits::RangeLimits;
pub use receiver::*;
pub use scratch::SweepScratch;
pub use settings::{Pipeline, SweepSettings, UnknownPipeline};
pub use shot::Shot;
pub use shot_list::ShotList;
pub use shots::Shots;
pub use simulate::{simulate, simulate_into, simulate_until, waveform};
