//! Motion of robots: known trajectories and dynamics that are stepped under commands.
//!
//! A [`StateTrajectory`] gives pose, velocity and acceleration at any time: [`Stationary`],
//! [`CircularTrajectory`], [`SplineTrajectory`] through recorded poses, any function of time, and
//! [`SampledTrajectory`], which interpolates the states of [`Dynamics`]. [`Dynamics`] is the interface of
//! systems that are stepped: [`Bicycle`], a physics engine, or an external simulator. With the
//! feature `rapier`, the module `rapier` steps rigid bodies, vehicles with ray-cast wheels and robots of
//! links and joints ([`jointed`]) by the physics engine rapier3d.
//!
//! ```
//! use etendue_sensors::dynamics::{Bicycle, DriveCommand, Dynamics, Steering};
//!
//! let limits = Steering { wheelbase: 2.5, angle: 0.6, rate: 0.5, acceleration: 2.0 };
//! let mut car = Bicycle::new(limits, [0.0, 0.0], 0.0);
//! for _ in 0..1000 {
//!     car.step(&DriveCommand { speed: 1.0, steering: 0.0 }, 1e-3);
//! }
//! // 0.25 m while it accelerates for 0.5 s, then 0.5 m at 1 m/s.
//! assert!((car.state().world_from_body.translation.x - 0.75).abs() < 1e-6);
//! ```

mod bicycle;
mod closed_form;
pub mod jointed;
mod model;
#[cfg(feature = "rapier")]
pub mod rapier;
mod sampled;
mod spline;
mod state_trajectory;
mod vehicle;

pub use bicycle::{Bicycle, DriveCommand, Steering};
pub use closed_form::{CircularTrajectory, Stationary};
pub use model::Dynamics;
pub use sampled::{SampledTrajectories, SampledTrajectory};
pub use spline::SplineTrajectory;
pub use state_trajectory::StateTrajectory;
pub use vehicle::Vehicle;
