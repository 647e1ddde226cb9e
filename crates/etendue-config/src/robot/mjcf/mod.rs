//! Robots described in MuJoCo's MJCF.

#[cfg(feature = "rapier")]
mod reader;

use etendue_io::FormatError;
use etendue_sensors::dynamics::jointed::JointedRobot;
use etendue_sensors::rig::FrameDeclaration;
use std::path::Path;

/// A robot from an MJCF file. It is read with the feature `rapier`, by the parser of the crate
/// `mjcf-rs`.
///
/// The subset: one tree of bodies in the world, on a free joint or fixed; hinges and slides, one a
/// body, with range, damping and anchor; inertia given, or that of the geoms by mass or density;
/// spheres, capsules, cylinders, boxes, ellipsoids that weigh, convex hulls of meshes with a given
/// inertia. Balls, several joints a body, and height fields are refused. Springs, dry friction,
/// armatures, tendons, equalities, actuators and the world's own geoms are passed over, with a
/// warning.
#[derive(Clone, Debug, PartialEq)]
pub struct Mjcf {
    /// The bodies and joints.
    pub robot: JointedRobot,
    /// Name of the root body.
    pub root: String,
    /// All bodies but the root as frames on their parents.
    pub frames: Vec<FrameDeclaration>,
    /// What was passed over.
    pub warnings: Vec<String>,
}

impl Mjcf {
    /// Reads an MJCF file and the meshes that it names.
    ///
    /// # Errors
    /// If it cannot be read, holds what is beyond the subset, or the program was built without
    /// the feature `rapier`.
    pub fn load(path: &Path) -> Result<Self, FormatError> {
        #[cfg(feature = "rapier")]
        return reader::load(path);
        #[cfg(not(feature = "rapier"))]
        Err(FormatError::Unsupported {
            path: path.to_owned(),
            message: "this program was built without the reader of MJCF".into(),
            remedy: "build it with `cargo build --release -p etendue-cli --features rapier`".into(),
        })
    }
}
