//! Errors of robots of links and joints.

use super::inertia::InertiaError;
use thiserror::Error;

/// Error of links and joints that do not form a robot.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum RobotError {
    /// There are no links.
    #[error("the robot has no links")]
    NoLink,
    /// A joint refers to a link that does not exist.
    #[error("the joint \"{name}\" refers to link {link}; there are {links} links")]
    UnknownLink {
        /// Index of the joint.
        joint: usize,
        /// Its name.
        name: String,
        /// The index that does not exist.
        link: usize,
        /// Number of links.
        links: usize,
    },
    /// Joints form a kinematic loop.
    #[error(
        "the joint \"{name}\" closes a kinematic loop: its child is an ancestor, or the child of another joint"
    )]
    Loop {
        /// Index of the joint.
        joint: usize,
        /// Its name.
        name: String,
    },
    /// No joint connects a link to the others.
    #[error("no joint connects the link \"{name}\" to the others")]
    Unconnected {
        /// Index of the link.
        link: usize,
        /// Its name.
        name: String,
    },
    /// The axis of a joint is zero or not finite.
    #[error("the joint \"{name}\" has no axis")]
    Axis {
        /// Index of the joint.
        joint: usize,
        /// Its name.
        name: String,
    },
    /// The limits or the dynamics of a joint are invalid.
    #[error("the joint \"{name}\": {problem}")]
    Limits {
        /// Index of the joint.
        joint: usize,
        /// Its name.
        name: String,
        /// Description of the parameter.
        problem: String,
    },
    /// The inertia of a link is not physical.
    #[error("the link \"{name}\": {source}")]
    Inertia {
        /// Index of the link.
        link: usize,
        /// Its name.
        name: String,
        /// The invalid inertia.
        source: InertiaError,
    },
    /// A moving body has no mass.
    #[error("the link \"{name}\" moves and has no mass, nor has any link fixed to it")]
    NoMass {
        /// Index of the link.
        link: usize,
        /// Its name.
        name: String,
    },
}
