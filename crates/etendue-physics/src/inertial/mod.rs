//! Inertial sensors: gyroscope and accelerometer readings on a moving body, with noise, bias drift
//! and imperfections.
//!
//! [`MotionState`] is the motion of a body, [`MotionState::mounted`] that of a sensor mounted on
//! it, including the lever arm. [`Imu`] describes a unit, [`ImuRun`] is a running one. [`AllanFit`]
//! estimates the noise coefficients of a record from its [`allan_deviation`].
//!
//! Not modelled: acceleration sensitivity of gyroscopes, vibration rectification, and the distance
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
