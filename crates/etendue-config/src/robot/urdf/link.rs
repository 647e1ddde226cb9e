//! Links: mass and shapes.

use super::Reader;
use etendue_io::{FileLocation, FormatError};
use etendue_sensors::dynamics::jointed::{Inertia, Shape};
use nalgebra::{Isometry3, Matrix3, Point3, Vector3};
use roxmltree::Node;
use std::path::PathBuf;

/// A link of a URDF file.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct LinkEntry {
    pub place: FileLocation,
    pub inertia: Option<Inertia>,
    /// Collision shapes and their poses.
    pub collisions: Vec<(Isometry3<f64>, Geometry)>,
}

/// A shape, or the path of its mesh file.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Geometry {
    Ready(Shape),
    Mesh { file: PathBuf, scale: [f64; 3] },
}

impl Reader<'_> {
    pub(super) fn link_entry(&self, link: Node) -> Result<LinkEntry, FormatError> {
        let inertial = link.children().find(|node| node.has_tag_name("inertial"));
        let collisions = link
            .children()
            .filter(|node| node.has_tag_name("collision"))
            .map(|node| Ok((self.origin(node)?, self.geometry(node)?)));
        Ok(LinkEntry {
            place: self.place(link),
            inertia: inertial.map(|node| self.inertia(node)).transpose()?,
            collisions: collisions.collect::<Result<_, FormatError>>()?,
        })
    }

    fn inertia(&self, inertial: Node) -> Result<Inertia, FormatError> {
        let mass = self.needed(self.child(inertial, "mass")?, "value")?;
        let tensor = self.child(inertial, "inertia")?;
        let [xx, yy, zz] = ["ixx", "iyy", "izz"].map(|name| self.needed(tensor, name));
        let [xy, xz, yz] = ["ixy", "ixz", "iyz"].map(|name| self.number(tensor, name));
        let xx = xx?;
        let yy = yy?;
        let zz = zz?;
        let [xy, xz, yz] = [xy?, xz?, yz?].map(Option::unwrap_or_default);
        let about_centre = Inertia {
            mass,
            centre: Point3::origin(),
            tensor: Matrix3::new(xx, xy, xz, xy, yy, yz, xz, yz, zz),
        };
        Ok(about_centre.transformed(&self.origin(inertial)?))
    }

    fn needed(&self, node: Node, name: &str) -> Result<f64, FormatError> {
        self.attribute(node, name)?;
        Ok(self.number(node, name)?.unwrap_or_default())
    }

    fn geometry(&self, collision: Node) -> Result<Geometry, FormatError> {
        // Find the shape
        let geometry = self.child(collision, "geometry")?;
        let Some(shape) = geometry.children().find(Node::is_element) else {
            return Err(self.error(geometry, "<geometry> is empty", "add a shape"));
        };
        // Read its dimensions
        let length = |name: &str| self.length(shape, name);
        Ok(Geometry::Ready(match shape.tag_name().name() {
            "box" => {
                self.attribute(shape, "size")?;
                let size = self.three(shape, "size")?;
                if size.iter().any(|side| *side <= 0.0) {
                    return Err(self.error(
                        shape,
                        "a side of the box is not above zero",
                        "give it",
                    ));
                }
                Shape::Cuboid(size)
            }
            "sphere" => Shape::Sphere {
                radius: length("radius")?,
            },
            "cylinder" => Shape::Cylinder {
                radius: length("radius")?,
                length: length("length")?,
            },
            "mesh" => return self.mesh(shape),
            other => {
                let message = format!("unknown shape <{other}>");
                let remedy = "use box, sphere, cylinder or mesh";
                return Err(self.error(shape, message, remedy));
            }
        }))
    }

    fn length(&self, node: Node, name: &str) -> Result<f64, FormatError> {
        let value = self.needed(node, name)?;
        if value > 0.0 {
            return Ok(value);
        }
        let message = format!("the {name} {value} m is not above zero");
        Err(self.error(node, message, "give a length above zero"))
    }

    fn mesh(&self, mesh: Node) -> Result<Geometry, FormatError> {
        let name = self.attribute(mesh, "filename")?;
        let scale = match mesh.attribute("scale") {
            Some(_) => self.three(mesh, "scale")?,
            None => Vector3::repeat(1.0).into(),
        };
        let file = self.mesh_file(&name).unwrap_or_default();
        Ok(Geometry::Mesh { file, scale })
    }
}
