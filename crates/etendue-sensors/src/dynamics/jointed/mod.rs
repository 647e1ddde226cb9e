//! Robots of links and joints, as described by URDF files: masses, shapes and joints.
//!
//! A [`JointedRobot`] is checked on construction: links form one tree, moving bodies have mass and
//! inertia, limits are not empty. Links that are connected by fixed joints are one rigid body
//! ([`JointedRobot::bodies`]). This module has descriptions and kinematics; a physics engine simulates
//! the motion.
//!
//! Left out: kinematic loops, mimic joints, springs, friction in joints.

mod body;
mod error;
mod inertia;
mod joint;
mod link;
mod robot;
mod shape;

pub use body::Body;
pub use error::RobotError;
pub use inertia::{Inertia, InertiaError};
pub use joint::{Joint, JointCommand, JointKind};
pub use link::Link;
pub use robot::JointedRobot;
pub use shape::{PlacedShape, Shape};
