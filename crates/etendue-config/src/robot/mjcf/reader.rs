//! Reader of MJCF files with the parser of the crate `mjcf-rs`.

use super::Mjcf;
use etendue_io::mesh::read_mesh;
use etendue_io::{FileLocation, FormatError};
use etendue_sensors::dynamics::jointed::{
    Inertia, Joint, JointKind, JointedRobot, Link, PlacedShape, Shape,
};
use etendue_sensors::rig::FrameDeclaration;
use mjcf_rs::Model;
use mjcf_rs::body::{Body, Geom, GeomType, InertiaSpec, JointType};
use nalgebra::{Isometry3, Matrix3, Point3, UnitQuaternion, Vector3};
use std::f64::consts::PI;
use std::path::{Path, PathBuf};

/// The robot of an MJCF file.
pub(super) fn load(path: &Path) -> Result<Mjcf, FormatError> {
    let text = etendue_io::input::read_text(path)?;
    let folder = path.parent().unwrap_or(Path::new(""));
    let model = Model::from_str(&text, folder).map_err(|error| {
        FormatError::malformed(
            path,
            FileLocation::File,
            error.to_string(),
            "correct the MJCF file",
        )
    })?;
    let reader = Reader {
        path,
        model: &model,
    };
    reader.robot()
}

struct Reader<'a> {
    path: &'a Path,
    model: &'a Model,
}

impl Reader<'_> {
    fn error(&self, message: impl Into<String>, remedy: &str) -> FormatError {
        FormatError::malformed(self.path, FileLocation::File, message, remedy)
    }

    fn robot(&self) -> Result<Mjcf, FormatError> {
        // Check that the bodies form one tree
        let bodies = &self.model.bodies[1..];
        let roots = bodies
            .iter()
            .filter(|entry| entry.parent == Some(0))
            .count();
        if roots != 1 {
            let message = format!("the world has {roots} bodies");
            return Err(self.error(message, "use one root body with the others as children"));
        }
        // Read each body's link, and the joint to its parent
        let names: Vec<String> = (1..)
            .zip(bodies)
            .map(|(number, entry)| name(number, &entry.body))
            .collect();
        let mut links = Vec::new();
        let mut joints = Vec::new();
        let mut frames = Vec::new();
        let mut is_free = false;
        for (number, entry) in bodies.iter().enumerate() {
            let body = &entry.body;
            links.push(self.link(&names[number], body)?);
            let parent = entry.parent.unwrap_or(0);
            let Some(parent) = parent.checked_sub(1) else {
                is_free = self.is_free(&names[number], body)?;
                continue;
            };
            let joint = self.joint(&names[number], body, parent, number)?;
            frames.push(FrameDeclaration {
                name: names[number].clone(),
                parent: names[parent].clone(),
                parent_from_frame: pose(&body.pose),
                moves: joint.kind != JointKind::Fixed,
            });
            joints.push(joint);
        }
        // Assemble the robot
        let robot = JointedRobot::new(links, joints, !is_free);
        Ok(Mjcf {
            robot: robot.map_err(|error| self.error(error.to_string(), "correct that body"))?,
            root: names[0].clone(),
            frames,
            warnings: self.warnings(),
        })
    }

    /// Whether the root has a free joint.
    fn is_free(&self, name: &str, body: &Body) -> Result<bool, FormatError> {
        match &body.joints[..] {
            [] => Ok(false),
            [joint] if joint.type_ == JointType::Free => Ok(true),
            _ => {
                let message = format!("the root body \"{name}\" is neither free nor fixed");
                Err(self.error(message, "add a body with the joints"))
            }
        }
    }

    fn joint(
        &self,
        name: &str,
        body: &Body,
        parent: usize,
        child: usize,
    ) -> Result<Joint, FormatError> {
        // A body without a joint is fixed to its parent
        let parent_from_child = pose(&body.pose);
        let fixed = Joint {
            parent_from_joint: parent_from_child,
            ..Joint::new(name, JointKind::Fixed, parent, child)
        };
        let joint = match &body.joints[..] {
            [] => return Ok(fixed),
            [joint] => joint,
            _ => {
                let message = format!("the body \"{name}\" has several joints");
                return Err(self.error(message, "add an intermediate body for each"));
            }
        };
        // Find kind and limits
        let autolimits = self.model.compiler.autolimits;
        let is_limited = joint.limited.resolve(autolimits, joint.range.is_some());
        let limits = joint.range.filter(|_| is_limited);
        let kind = match joint.type_ {
            JointType::Hinge if limits.is_some() => JointKind::Revolute,
            JointType::Hinge => JointKind::Continuous,
            JointType::Slide => JointKind::Prismatic,
            JointType::Ball | JointType::Free => {
                let message = format!(
                    "the body \"{name}\" has a ball joint, or a free joint within the tree"
                );
                return Err(self.error(message, "use hinges"));
            }
        };
        // Place the axis
        let endless = [-1e6, 1e6];
        let [x, y, z] = joint.pos;
        let child_from_joint = Isometry3::translation(x, y, z);
        Ok(Joint {
            name: joint.name.clone().unwrap_or_else(|| name.into()),
            kind,
            axis: Vector3::from(joint.axis),
            limits: match kind {
                JointKind::Prismatic => Some(limits.unwrap_or(endless)),
                _ => limits,
            },
            damping: joint.damping,
            parent_from_joint: parent_from_child * child_from_joint,
            child_from_joint,
            ..fixed
        })
    }

    fn link(&self, name: &str, body: &Body) -> Result<Link, FormatError> {
        // Collect the shapes that collide, and the inertia of all geoms
        let mut shapes = Vec::new();
        let mut sum: Option<Inertia> = None;
        for geom in &body.geoms {
            let collides = geom.contype != 0 || geom.conaffinity != 0;
            if !collides && body.inertial.is_some() {
                continue;
            }
            let (place, shape, solid) = self.geom(name, geom, body.inertial.is_some())?;
            if let Some(solid) = solid {
                let own = solid.transformed(&place);
                sum = Some(sum.map_or(own, |sum| sum.combined(&own)));
            }
            if let Some(shape) = shape.filter(|_| collides) {
                shapes.push(PlacedShape {
                    link_from_shape: place,
                    shape,
                });
            }
        }
        // Use the inertia of the body if it is given
        let given = body.inertial.as_ref().map(|inertial| {
            let tensor = match inertial.inertia {
                InertiaSpec::Diagonal(moments) => Matrix3::from_diagonal(&moments.into()),
                InertiaSpec::Full([xx, yy, zz, xy, xz, yz]) => {
                    Matrix3::new(xx, xy, xz, xy, yy, yz, xz, yz, zz)
                }
            };
            let about_centre = Inertia {
                mass: inertial.mass,
                centre: Point3::origin(),
                tensor,
            };
            about_centre.transformed(&pose(&inertial.pose))
        });
        Ok(Link {
            name: name.into(),
            inertia: given.or(sum),
            shapes,
        })
    }

    /// Pose, shape and inertia of a geom. There is no shape if the geom only has mass, and no
    /// inertia if `is_weighed`, because the body has a given inertia.
    fn geom(
        &self,
        body: &str,
        geom: &Geom,
        is_weighed: bool,
    ) -> Result<(Isometry3<f64>, Option<Shape>, Option<Inertia>), FormatError> {
        // Compute pose and length
        let [a, b, c] = geom.size;
        let (place, half_length) = match geom.fromto {
            Some(ends) => between(ends),
            None => (pose(&geom.pose), b),
        };
        let length = 2.0 * half_length;
        // Compute shape and inertia, with a default density of 1000 kg/m³
        let mass = |volume: f64| geom.mass.unwrap_or(geom.density.unwrap_or(1000.0) * volume);
        let disc = PI * a * a;
        let ball = 4.0 / 3.0 * PI * a * a * a;
        let (shape, inertia) = match geom.type_ {
            GeomType::Sphere => (
                Shape::Sphere { radius: a },
                Inertia::of_ellipsoid(mass(ball), [a; 3]),
            ),
            GeomType::Capsule => (
                Shape::Capsule { radius: a, length },
                Inertia::of_capsule(mass(disc * length + ball), a, length),
            ),
            GeomType::Cylinder => (
                Shape::Cylinder { radius: a, length },
                Inertia::of_cylinder(mass(disc * length), a, length),
            ),
            GeomType::Box => (
                Shape::Cuboid([a, b, c].map(|half| 2.0 * half)),
                Inertia::of_cuboid(mass(8.0 * a * b * c), [a, b, c].map(|half| 2.0 * half)),
            ),
            GeomType::Mesh if is_weighed => {
                return Ok((place, Some(self.hull(body, geom)?), None));
            }
            GeomType::Ellipsoid if geom.contype == 0 && geom.conaffinity == 0 => {
                let mass = mass(4.0 / 3.0 * PI * a * b * c);
                return Ok((place, None, Some(Inertia::of_ellipsoid(mass, geom.size))));
            }
            other => {
                let message = format!("the body \"{body}\" has a geom of type {other:?}");
                let remedy = "take boxes, spheres, capsules, cylinders, or meshes of bodies with \
                              <inertial>";
                return Err(self.error(message, remedy));
            }
        };
        Ok((place, Some(shape), (!is_weighed).then_some(inertia)))
    }

    fn hull(&self, body: &str, geom: &Geom) -> Result<Shape, FormatError> {
        let name = geom.mesh.as_deref().unwrap_or_default();
        let asset = self.model.assets.mesh(name);
        let found = asset.and_then(|asset| Some((asset, asset.file.as_ref()?)));
        let Some((asset, file)) = found else {
            let message =
                format!("the body \"{body}\" uses the mesh \"{name}\", which does not exist");
            return Err(self.error(message, "add <mesh name=\"..\" file=\"..\"/> to <asset>"));
        };
        let mut mesh = read_mesh(&self.mesh_file(file))?.mesh;
        for vertex in &mut mesh.vertices {
            vertex
                .coords
                .component_mul_assign(&Vector3::from(asset.scale));
        }
        Ok(Shape::Hull(mesh.into()))
    }

    fn mesh_file(&self, file: &str) -> PathBuf {
        let compiler = &self.model.compiler;
        let folder = compiler.mesh_dir.as_ref().or(compiler.asset_dir.as_ref());
        let beside = self.path.parent().unwrap_or(Path::new(""));
        beside.join(folder.map_or("", String::as_str)).join(file)
    }

    fn warnings(&self) -> Vec<String> {
        let model = self.model;
        let joints = || model.bodies.iter().flat_map(|entry| &entry.body.joints);
        // Elements without a counterpart in the dynamics
        let passed_over = [
            ("geoms of the world", !model.bodies[0].body.geoms.is_empty()),
            ("equalities", !model.equality.is_empty()),
            ("tendons", !model.tendons.is_empty()),
            ("actuators", !model.actuators.is_empty()),
            (
                "springs of joints",
                joints().any(|joint| joint.stiffness != 0.0),
            ),
            ("armatures", joints().any(|joint| joint.armature != 0.0)),
            (
                "dry friction of joints",
                joints().any(|joint| joint.frictionloss != 0.0),
            ),
        ];
        let file = self.path.display();
        let found = passed_over.into_iter().filter(|(_, is_there)| *is_there);
        found
            .map(|(what, _)| format!("{file}: {what} are ignored"))
            .collect()
    }
}

fn name(number: usize, body: &Body) -> String {
    body.name
        .clone()
        .unwrap_or_else(|| format!("body {number}"))
}

fn pose(theirs: &mjcf_rs::Pose) -> Isometry3<f64> {
    let at = theirs.translation;
    let turn = theirs.rotation;
    let turn = nalgebra::Quaternion::new(turn.w, turn.x, turn.y, turn.z);
    Isometry3::from_parts(
        [at.x, at.y, at.z].into(),
        UnitQuaternion::new_normalize(turn),
    )
}

/// Pose of a line segment (at its centre, z along the line) and half its length.
fn between([ax, ay, az, bx, by, bz]: [f64; 6]) -> (Isometry3<f64>, f64) {
    let from = Vector3::new(ax, ay, az);
    let to = Vector3::new(bx, by, bz);
    let along = to - from;
    let turn = UnitQuaternion::rotation_between(&Vector3::z(), &along)
        .unwrap_or_else(|| UnitQuaternion::from_axis_angle(&Vector3::x_axis(), PI));
    let middle = (from + to) * 0.5;
    (
        Isometry3::from_parts(middle.into(), turn),
        0.5 * along.norm(),
    )
}
