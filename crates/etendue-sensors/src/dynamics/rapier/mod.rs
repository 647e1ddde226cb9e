//! Rigid bodies, vehicles and robots of joints, by the engine rapier3d in double precision.
//!
//! An [`Engine`] is a world of rigid bodies under gravity. A [`RayCastVehicle`] drives in it
//! on four sprung wheels; a [`RobotInEngine`] moves the links and joints of a
//! [`JointedRobot`](super::jointed::JointedRobot) in reduced coordinates, so that joints neither
//! drift nor stretch. Both are [`Dynamics`](super::Dynamics): a rig's sensors ride on them.
//!
//! The engine is built with `enhanced-determinism`: the same steps give the same numbers on every
//! machine. It integrates by semi-implicit Euler in four parts of each step. Accelerations are
//! changes of velocity over a step, as an accelerometer feels them.
//!
//! Left out: collisions among a robot's own links, objects of the scene that move or are moved,
//! tyres beyond Coulomb's friction.

mod convert;
mod engine;
mod robot;
mod vehicle;

pub use engine::{BodyNumber, Engine, EngineError};
pub use robot::RobotInEngine;
pub use vehicle::RayCastVehicle;
