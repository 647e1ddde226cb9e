//! Rigid bodies, vehicles and robots with joints, simulated by the physics engine rapier3d in double
//! precision.
//!
//! An [`Engine`] is a world of rigid bodies under gravity. A [`RayCastVehicle`] is a car in it with four
//! sprung wheels; a [`RobotInEngine`] simulates the links and joints of a
//! [`JointedRobot`](super::jointed::JointedRobot) in reduced coordinates, without drift of the joints.
//! Both implement [`Dynamics`](super::Dynamics) and can carry the sensors of a rig.
//!
//! The same steps give the same numbers on machines of one kind. The engine is built without
//! `enhanced-determinism`, which would replace the elementary functions of all crates by those of `libm`, and so change
//! the last digits of sweeps with the features of a build. It integrates by semi-implicit Euler with four substeps per step. Accelerations are changes
//! of velocity over a step, as an accelerometer measures them.
//!
//! Left out: collisions between the links of a robot, moving objects of the scene, tyre models beyond
//! Coulomb friction.

mod convert;
mod engine;
mod robot;
mod vehicle;

pub use engine::{BodyNumber, Engine, EngineError};
pub use robot::RobotInEngine;
pub use vehicle::RayCastVehicle;
