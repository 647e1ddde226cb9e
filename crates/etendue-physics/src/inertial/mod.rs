//! Inertial sensors: what a gyroscope and an accelerometer read of a moving body, with their
//! noise, drift and imperfections.
//!
//! [`MotionState`] is how a body moves, [`MotionState::mounted`] how a sensor on it does, lever arm
//! included. [`Imu`] describes a unit, [`ImuRun`] is one that was switched on. [`allan_deviation`]
//! gives back from a record what was put in: [`AllanFit`].
//!
//! Left out: acceleration sensitivity of gyroscopes, vibration rectification, and the distance
//! between the three accelerometers.

mod allan;
mod bias;
mod imu;
mod state;
mod triad;

pub use allan::{AllanFit, AllanPoint, allan_deviation, allan_times};
pub use bias::{BiasProcess, BiasRun};
pub use imu::{Imu, ImuReading, ImuRun, Warming};
pub use state::MotionState;
pub use triad::{InvalidTriad, Triad, TriadRun};

/// Standard gravity, m/s² (3rd CGPM, 1901).
pub const STANDARD_GRAVITY: f64 = 9.80665;
