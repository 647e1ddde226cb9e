//! Robots in MuJoCo's MJCF format.

#[cfg(feature = "rapier")]
mod reader;

use etendue_io::FormatError;
use etendue_sensors::dynamics::jointed::JointedRobot;
use etendue_sensors::rig::FrameDeclaration;
use std::path::Path;

/// A robot from an MJCF file. It needs the feature `rapier`; the parser is the crate `mjcf-rs`.
///
/// Supported subset: one tree of bodies, with a free or a fixed root; hinge and slide joints, one
/// per body, with range, damping and anchor; given inertia, or that of the geoms by mass or
/// density; spheres, capsules, cylinders, boxes, ellipsoids for mass only, and convex hulls of
/// meshes of bodies with a given inertia. Ball joints, several joints per body, and height fields
/// are errors. Springs, dry friction, armatures, tendons, equalities, actuators and the geoms of
/// the world are ignored with a warning.
#[derive(Clone, Debug, PartialEq)]
pub struct Mjcf {
    /// The bodies and joints.
    pub robot: JointedRobot,
    /// Name of the root body.
    pub root: String,
    /// Frames of all bodies except the root, relative to their parents.
    pub frames: Vec<FrameDeclaration>,
    /// Ignored elements.
    pub warnings: Vec<String>,
}

impl Mjcf {
    /// Reads an MJCF file and its meshes.
    ///
    /// # Errors
    /// If it cannot be read, exceeds the subset, or the program was built without the feature
    /// `rapier`.
    pub fn load(path: &Path) -> Result<Self, FormatError> {
        #[cfg(feature = "rapier")]
        return reader::load(path);
        #[cfg(not(feature = "rapier"))]
        Err(FormatError::Unsupported {
            path: path.to_owned(),
            message: "this program was built without support for MJCF".into(),
            remedy: "build it with `cargo build --release -p etendue-cli --features rapier`".into(),
        })
    }
}
