//! Motion of robots: known trajectories, and dynamics that are stepped under commands.
//!
//! A [`StateTrajectory`] gives pose, velocity and acceleration at any time: [`Stationary`],
//! [`CircularTrajectory`], [`SplineTrajectory`] through recorded poses, any function of time, and
//! [`SampledTrajectory`], which records the states of [`Dynamics`]. [`Dynamics`] is the interface of
//! systems that are stepped: [`Bicycle`] here, a physics engine, or an external simulator. With the
//! feature `rapier`, the engine rapier3d steps rigid bodies, vehicles on ray-cast wheels and robots
//! of links and joints ([`jointed`]), in the module `rapier`.

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
