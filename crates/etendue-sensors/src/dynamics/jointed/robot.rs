//! Robots of links and joints.

use super::body::{Body, bodies};
use super::error::RobotError;
use super::joint::Joint;
use super::link::Link;
use nalgebra::Isometry3;

/// A tree of links and joints.
#[derive(Clone, Debug, PartialEq)]
pub struct JointedRobot {
    links: Vec<Link>,
    joints: Vec<Joint>,
    bodies: Vec<Body>,
    base_is_fixed: bool,
}

impl JointedRobot {
    /// A robot of links and joints. With a fixed base, the root link is fixed in the world and needs
    /// no mass.
    ///
    /// # Errors
    /// If the links do not form a tree, a moving body has no mass, an inertia is not physical, or the axis
    /// or the limits of a joint are invalid.
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
        // Check links and joints.
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

        // Combine links into bodies.
        let bodies = bodies(&links, &joints)?;
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

    /// The rigid bodies: links connected by fixed joints. The base is first; every body follows its
    /// parent.
    pub fn bodies(&self) -> &[Body] {
        &self.bodies
    }

    /// Whether the base is fixed in the world.
    pub fn base_is_fixed(&self) -> bool {
        self.base_is_fixed
    }

    /// The moving joints, in the order of their child bodies.
    pub fn moving_joints(&self) -> impl Iterator<Item = &Joint> {
        let moved = self.bodies.iter().filter_map(|body| body.joint);
        moved.map(|joint| &self.joints[joint])
    }

    /// Index of a moving joint by its name.
    pub fn moving_joint(&self, name: &str) -> Option<usize> {
        self.moving_joints().position(|joint| joint.name == name)
    }

    /// Forward kinematics: pose of each body on the base for positions of the moving joints (rad or m).
    pub fn poses(&self, positions: &[f64]) -> Vec<Isometry3<f64>> {
        let mut poses: Vec<Isometry3<f64>> = vec![Isometry3::identity()];
        for (body, position) in self.bodies[1..].iter().zip(positions) {
            let joint = &self.joints[body.joint.expect("every body but the base has a joint")];
            let parent = poses[body.parent] * body.parent_from_joint;
            let joint_from_child = joint.child_from_joint.inverse();
            poses.push(parent * joint.transform(*position) * joint_from_child);
        }
        poses
    }
}
