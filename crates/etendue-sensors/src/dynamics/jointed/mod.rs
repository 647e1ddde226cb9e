//! Robots of links and joints, as described by URDF files: masses, shapes and joints.
//!
//! A [`JointedRobot`] is checked when it is made: links form one tree, what moves has mass and
//! inertia, limits hold something. Links that fixed joints hold together are one rigid body
//! ([`JointedRobot::bodies`]). A physics engine moves it; nothing here does.
//!
//! Left out: loops of joints, mimic joints, springs, friction in joints.

mod body;
mod inertia;
mod joint;
mod shape;

pub use body::Body;
pub use inertia::{Inertia, InertiaError};
pub use joint::{Joint, JointCommand, JointKind};
pub use shape::{PlacedShape, Shape};

use nalgebra::Isometry3;
use thiserror::Error;

/// A rigid part of a robot.
#[derive(Clone, Debug, PartialEq)]
pub struct Link {
    /// Unique name.
    pub name: String,
    /// Inertia; `None` for a frame without mass.
    pub inertia: Option<Inertia>,
    /// Collision shapes.
    pub shapes: Vec<PlacedShape>,
}

/// Links and the joints between them: one tree.
#[derive(Clone, Debug, PartialEq)]
pub struct JointedRobot {
    links: Vec<Link>,
    joints: Vec<Joint>,
    bodies: Vec<Body>,
    base_is_fixed: bool,
}

/// Reason why links and joints do not form a robot.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum RobotError {
    /// There is no link.
    #[error("the robot has no link")]
    NoLink,
    /// A joint refers to a missing link.
    #[error("the joint \"{name}\" joins link number {link}, of {links}")]
    UnknownLink {
        /// The joint's number.
        joint: usize,
        /// Its name.
        name: String,
        /// The number that it names.
        link: usize,
        /// How many links there are.
        links: usize,
    },
    /// Joints do not make the links one tree.
    #[error("the joint \"{name}\" closes a circle, or holds a link that another joint holds")]
    Circle {
        /// The joint's number.
        joint: usize,
        /// Its name.
        name: String,
    },
    /// A link is held by no joint, and is not the first such.
    #[error("no joint holds the link \"{name}\" to the rest")]
    Loose {
        /// The link's number.
        link: usize,
        /// Its name.
        name: String,
    },
    /// A joint's axis has no direction.
    #[error("the joint \"{name}\" has no axis")]
    Axis {
        /// The joint's number.
        joint: usize,
        /// Its name.
        name: String,
    },
    /// A joint's limits hold nothing, or it has none where it needs them.
    #[error("the joint \"{name}\": {problem}")]
    Limits {
        /// The joint's number.
        joint: usize,
        /// Its name.
        name: String,
        /// What is wrong.
        problem: String,
    },
    /// A link's inertia is not physical.
    #[error("the link \"{name}\": {source}")]
    Inertia {
        /// The link's number.
        link: usize,
        /// Its name.
        name: String,
        /// What is wrong.
        source: InertiaError,
    },
    /// A moving body has no mass.
    #[error("the link \"{name}\" moves and has no mass, nor has any link that is fixed to it")]
    NoMass {
        /// The link's number.
        link: usize,
        /// Its name.
        name: String,
    },
}

impl JointedRobot {
    /// A robot of links and joints. With a fixed base, the root link is fixed in the world and needs
    /// no mass.
    ///
    /// # Errors
    /// Where the links are no tree, something that moves has no mass or an inertia that cannot be,
    /// or a joint has no axis or limits that hold nothing.
    ///
    /// ```
    /// use etendue_sensors::dynamics::jointed::{Inertia, Joint, JointKind, JointedRobot, Link};
    /// use nalgebra::{Isometry3, Vector3};
    /// let link = |name: &str, mass| Link {
    ///     name: name.into(),
    ///     inertia: Some(Inertia::of_cuboid(mass, [0.1, 0.1, 0.5])),
    ///     shapes: vec![],
    /// };
    /// let hinge = Joint {
    ///     axis: Vector3::y(),
    ///     ..Joint::new("hinge", JointKind::Continuous, 0, 1)
    /// };
    /// let robot = JointedRobot::new(vec![link("post", 1.0), link("arm", 2.0)], vec![hinge], true)?;
    /// assert_eq!(robot.bodies().len(), 2);
    /// // Without mass the arm does not move.
    /// let arm = Link { inertia: None, ..link("arm", 1.0) };
    /// let hinge = robot.joints()[0].clone();
    /// let error = JointedRobot::new(vec![link("post", 1.0), arm], vec![hinge], true).unwrap_err();
    /// assert!(error.to_string().starts_with("the link \"arm\" moves and has no mass"));
    /// # Ok::<(), etendue_sensors::dynamics::jointed::RobotError>(())
    /// ```
    pub fn new(
        links: Vec<Link>,
        joints: Vec<Joint>,
        base_is_fixed: bool,
    ) -> Result<Self, RobotError> {
        for (number, link) in links.iter().enumerate() {
            if let Some(inertia) = &link.inertia {
                inertia.check().map_err(|source| RobotError::Inertia {
                    link: number,
                    name: link.name.clone(),
                    source,
                })?;
            }
        }
        for (number, joint) in joints.iter().enumerate() {
            joint.check(number, links.len())?;
        }
        let bodies = body::bodies(&links, &joints)?;
        if let Some(body) = bodies
            .iter()
            .find(|body| body.inertia.is_none() && !(body.joint.is_none() && base_is_fixed))
        {
            let link = body.links[0].0;
            let name = links[link].name.clone();
            return Err(RobotError::NoMass { link, name });
        }
        Ok(Self {
            links,
            joints,
            bodies,
            base_is_fixed,
        })
    }

    /// The links.
    pub fn links(&self) -> &[Link] {
        &self.links
    }

    /// The joints.
    pub fn joints(&self) -> &[Joint] {
        &self.joints
    }

    /// The rigid bodies: links that fixed joints hold together. The base is the first; each other
    /// comes after the one that it hangs on.
    pub fn bodies(&self) -> &[Body] {
        &self.bodies
    }

    /// Whether the base is fixed in the world.
    pub fn base_is_fixed(&self) -> bool {
        self.base_is_fixed
    }

    /// The joints that move, in the order of the bodies that they move: of every body but the base.
    pub fn moving_joints(&self) -> impl Iterator<Item = &Joint> {
        let moved = self.bodies.iter().filter_map(|body| body.joint);
        moved.map(|joint| &self.joints[joint])
    }

    /// The number of a moving joint by its name.
    pub fn moving_joint(&self, name: &str) -> Option<usize> {
        self.moving_joints().position(|joint| joint.name == name)
    }

    /// Pose of each body on the base for positions of the moving joints (rad or m).
    pub fn poses(&self, positions: &[f64]) -> Vec<Isometry3<f64>> {
        let mut poses: Vec<Isometry3<f64>> = vec![Isometry3::identity()];
        for (body, position) in self.bodies[1..].iter().zip(positions) {
            let joint = &self.joints[body.joint.expect("all but the base")];
            let parent = poses[body.parent] * body.parent_from_joint;
            let joint_from_child = joint.child_from_joint.inverse();
            poses.push(parent * joint.moved(*position) * joint_from_child);
        }
        poses
    }
}
