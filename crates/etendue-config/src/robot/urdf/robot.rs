//! Conversion of URDF robots to articulated bodies.

use super::Urdf;
use super::link::Geometry;
use etendue_io::mesh::read_mesh;
use etendue_io::{FileLocation, FormatError};
use etendue_sensors::dynamics::jointed::{JointedRobot, Link, PlacedShape, RobotError, Shape};
use nalgebra::Vector3;

impl Urdf {
    /// Masses, collision shapes and joints, with the content of the meshes.
    ///
    /// # Errors
    /// If a moving link has no mass or an invalid inertia, a joint has no required limits or an
    /// unsupported kind (floating, planar, mimic), or a mesh cannot be read; the error names the
    /// line.
    pub fn robot(&self, base_is_fixed: bool) -> Result<JointedRobot, FormatError> {
        // Check that all joints are supported
        for entry in &self.joint_entries {
            if let Some(what) = &entry.left_out {
                let message = format!("a joint {what} is not supported: \"{}\"", entry.joint.name);
                let remedy = "make it fixed, revolute, continuous or prismatic";
                return Err(FormatError::malformed(
                    &self.path,
                    entry.place,
                    message,
                    remedy,
                ));
            }
        }
        // Read the collision shapes of the links
        let mut links = Vec::with_capacity(self.links.len());
        for (name, entry) in self.links.iter().zip(&self.link_entries) {
            let shapes = entry.collisions.iter().map(|(place, geometry)| {
                Ok(PlacedShape {
                    link_from_shape: *place,
                    shape: shape(geometry)?,
                })
            });
            links.push(Link {
                name: name.clone(),
                inertia: entry.inertia,
                shapes: shapes.collect::<Result<_, FormatError>>()?,
            });
        }
        // Assemble the robot
        let joints = self.joint_entries.iter().map(|entry| entry.joint.clone());
        JointedRobot::new(links, joints.collect(), base_is_fixed)
            .map_err(|error| self.robot_error(&error))
    }

    fn robot_error(&self, error: &RobotError) -> FormatError {
        let place = match error {
            RobotError::Inertia { link, .. }
            | RobotError::NoMass { link, .. }
            | RobotError::Unconnected { link, .. } => self.link_entries[*link].place,
            RobotError::Axis { joint, .. }
            | RobotError::Limits { joint, .. }
            | RobotError::Loop { joint, .. } => self.joint_entries[*joint].place,
            _ => FileLocation::File,
        };
        let remedy = match error {
            RobotError::Inertia { .. } => "measure it, or use that of a box of its size",
            RobotError::NoMass { .. } => "give it an <inertial>, or make its joint fixed",
            RobotError::Axis { .. } => "give <axis xyz=\"0 0 1\"/> or another direction",
            RobotError::Limits { .. } => {
                "give <limit lower=\"..\" upper=\"..\" effort=\"..\" velocity=\"..\"/>"
            }
            _ => "make the links a tree",
        };
        FormatError::malformed(&self.path, place, error.to_string(), remedy)
    }
}

fn shape(geometry: &Geometry) -> Result<Shape, FormatError> {
    match geometry {
        Geometry::Ready(shape) => Ok(shape.clone()),
        Geometry::Mesh { file, scale } => {
            let mut mesh = read_mesh(file)?.mesh;
            for vertex in &mut mesh.vertices {
                vertex.coords.component_mul_assign(&Vector3::from(*scale));
            }
            Ok(Shape::Hull(mesh.into()))
        }
    }
}
