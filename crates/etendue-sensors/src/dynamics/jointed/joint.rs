//! Joints.

use super::error::RobotError;
use nalgebra::{Isometry3, Translation3, Unit, UnitQuaternion, Vector3};

/// Motion that a joint allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JointKind {
    /// No motion.
    Fixed,
    /// Rotation about the axis between limits.
    Revolute,
    /// Unlimited rotation about the axis.
    Continuous,
    /// Translation along the axis between limits.
    Prismatic,
}

/// A joint between two links.
#[derive(Clone, Debug, PartialEq)]
pub struct Joint {
    /// Name.
    pub name: String,
    /// Allowed motion.
    pub kind: JointKind,
    /// Index of the parent link.
    pub parent: usize,
    /// Index of the child link.
    pub child: usize,
    /// Pose of the joint on its parent.
    pub parent_from_joint: Isometry3<f64>,
    /// Pose of the joint on its child: at the origin, in URDF.
    pub child_from_joint: Isometry3<f64>,
    /// Axis of rotation or translation, in the joint's frame; of any length.
    pub axis: Vector3<f64>,
    /// Smallest and largest position, rad or m; `None` for a continuous joint.
    pub limits: Option<[f64; 2]>,
    /// Largest torque or force of the motor, N m or N.
    pub effort: f64,
    /// Largest commanded speed of the motor, rad/s or m/s.
    pub velocity: f64,
    /// Viscous damping, N m s/rad or N s/m.
    pub damping: f64,
}

/// Command to a joint's motor.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum JointCommand {
    /// No actuation: the joint moves freely.
    #[default]
    Free,
    /// Set point of the position, rad or m.
    Position(f64),
    /// Set point of the speed, rad/s or m/s.
    Velocity(f64),
    /// Torque or force, N m or N.
    Effort(f64),
}

impl Joint {
    /// A joint about or along the x axis at the origin of its parent, without limits, damping or motor
    /// limits.
    pub fn new(name: &str, kind: JointKind, parent: usize, child: usize) -> Self {
        Self {
            name: name.into(),
            kind,
            parent,
            child,
            parent_from_joint: Isometry3::identity(),
            child_from_joint: Isometry3::identity(),
            axis: Vector3::x(),
            limits: None,
            effort: f64::INFINITY,
            velocity: f64::INFINITY,
            damping: 0.0,
        }
    }

    /// Whether the joint is rotational.
    pub fn is_rotational(&self) -> bool {
        matches!(self.kind, JointKind::Revolute | JointKind::Continuous)
    }

    /// Pose of the joint's child frame in its parent frame at a position, rad or m.
    pub fn transform(&self, position: f64) -> Isometry3<f64> {
        let axis = Unit::new_normalize(self.axis);
        match self.kind {
            JointKind::Fixed => Isometry3::identity(),
            JointKind::Revolute | JointKind::Continuous => Isometry3::from_parts(
                Translation3::identity(),
                UnitQuaternion::from_axis_angle(&axis, position),
            ),
            JointKind::Prismatic => Translation3::from(axis.scale(position)).into(),
        }
    }

    /// Checks the joint with the index `number` among `links` links.
    pub(super) fn check(&self, number: usize, links: usize) -> Result<(), RobotError> {
        // Check that its links exist.
        let name = || self.name.clone();
        for link in [self.parent, self.child] {
            if link >= links {
                return Err(RobotError::UnknownLink {
                    joint: number,
                    name: name(),
                    link,
                    links,
                });
            }
        }
        // Check the axis and the limits of a joint that moves.
        if self.kind == JointKind::Fixed {
            return Ok(());
        }
        let length = self.axis.norm();
        if !(length > 1e-9 && length.is_finite()) {
            return Err(RobotError::Axis {
                joint: number,
                name: name(),
            });
        }
        self.limit_problem().map_or(Ok(()), |problem| {
            Err(RobotError::Limits {
                joint: number,
                name: name(),
                problem,
            })
        })
    }

    /// Description of an invalid limit, if there is one.
    fn limit_problem(&self) -> Option<String> {
        let bounded = matches!(self.kind, JointKind::Revolute | JointKind::Prismatic);
        match self.limits {
            None if bounded => Some("it has no limits".into()),
            Some([low, high]) if low.is_nan() || high.is_nan() || low > high => {
                Some(format!("its limits {low} to {high} are not ascending"))
            }
            _ if !(self.damping >= 0.0 && self.damping.is_finite()) => Some(format!(
                "its damping is {}, it must not be negative",
                self.damping
            )),
            _ if !(self.effort >= 0.0 && self.velocity >= 0.0) => {
                Some("its effort or velocity is negative".into())
            }
            _ => None,
        }
    }
}
