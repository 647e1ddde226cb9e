//! Joints: kind, axis, limits.

use super::Reader;
use etendue_io::{FileLocation, FormatError};
use etendue_sensors::dynamics::jointed::{Joint, JointKind};
use etendue_sensors::rig::FrameDeclaration;
use nalgebra::Vector3;
use roxmltree::Node;

/// A joint of a URDF file.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct JointEntry {
    pub place: FileLocation,
    pub joint: Joint,
    /// Description of an unsupported joint: "of type ..", "that mimics another".
    pub left_out: Option<String>,
}

impl Reader<'_> {
    /// The joint between a frame and its parent.
    pub(super) fn joint_entry(
        &self,
        node: Node,
        frame: &FrameDeclaration,
        links: &[String],
    ) -> Result<JointEntry, FormatError> {
        // Find the kind
        let number = |name: &String| links.iter().position(|link| link == name).unwrap_or(0);
        let name = node.attribute("name").unwrap_or(&frame.name);
        let find = |tag: &str| node.children().find(|child| child.has_tag_name(tag));
        let kind = node.attribute("type").unwrap_or("fixed");
        let mimics = find("mimic").map(|_| "that mimics another".to_owned());
        let (kind, left_out) = match kind {
            "fixed" => (JointKind::Fixed, None),
            "revolute" => (JointKind::Revolute, mimics),
            "continuous" => (JointKind::Continuous, mimics),
            "prismatic" => (JointKind::Prismatic, mimics),
            "floating" | "planar" => (JointKind::Fixed, Some(format!("of type \"{kind}\""))),
            other => {
                let message = format!("unknown joint type \"{other}\"");
                let remedy = "use fixed, revolute, continuous or prismatic";
                return Err(self.error(node, message, remedy));
            }
        };
        // Convert the pose and the axis
        let mut joint = Joint::new(name, kind, number(&frame.parent), number(&frame.name));
        joint.parent_from_joint = frame.parent_from_frame;
        if let Some(axis) = find("axis") {
            joint.axis = Vector3::from(self.three(axis, "xyz")?);
        }
        // Read limits and damping
        if let Some(limit) = find("limit") {
            let of = |name: &str| self.number(limit, name);
            if joint.kind != JointKind::Continuous {
                let ends = [of("lower")?, of("upper")?];
                joint.limits = Some(ends.map(Option::unwrap_or_default));
            }
            joint.effort = of("effort")?.unwrap_or(f64::INFINITY);
            joint.velocity = of("velocity")?.unwrap_or(f64::INFINITY);
        }
        if let Some(dynamics) = find("dynamics") {
            joint.damping = self.number(dynamics, "damping")?.unwrap_or_default();
        }
        Ok(JointEntry {
            place: self.place(node),
            joint,
            left_out,
        })
    }
}
