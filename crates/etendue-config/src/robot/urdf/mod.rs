//! Robots in URDF.

mod joint;
mod link;
mod robot;

use etendue_io::{FileLocation, FormatError};
use etendue_sensors::dynamics::jointed::JointKind;
use etendue_sensors::rig::{FrameDeclaration, FrameError, FrameTree};
use joint::JointEntry;
use link::LinkEntry;
use nalgebra::{Isometry3, Translation3, UnitQuaternion};
use roxmltree::{Document, Node};
use std::path::{Path, PathBuf};

/// A robot from a URDF file: its frames ([`Urdf::frames_on`], with movable joints at zero) and its
/// masses, shapes and joints ([`Urdf::robot`]). Mesh files must exist.
#[derive(Clone, Debug, PartialEq)]
pub struct Urdf {
    path: PathBuf,
    root: String,
    links: Vec<String>,
    frames: Vec<FrameDeclaration>,
    link_entries: Vec<LinkEntry>,
    joint_entries: Vec<JointEntry>,
}

impl Urdf {
    /// Reads a URDF file.
    ///
    /// # Errors
    /// If it cannot be read, is not XML, refers to missing links or meshes, or its links have a
    /// cycle or several roots; the error names the line.
    pub fn load(path: &Path) -> Result<Self, FormatError> {
        Self::parse(path, &etendue_io::input::read_text(path)?)
    }

    /// Parses a URDF file. Mesh paths are relative to the folder of `path`; those of
    /// `package://NAME/..` are in a folder `NAME` next to it or above it.
    ///
    /// # Errors
    /// As [`Urdf::load`], except errors of reading the file.
    pub fn parse(path: &Path, text: &str) -> Result<Self, FormatError> {
        let document = Document::parse(text).map_err(|error| {
            let place =
                FileLocation::LineColumn(error.pos().row as usize, error.pos().col as usize);
            FormatError::malformed(
                path,
                place,
                error.to_string(),
                "correct the XML at this position",
            )
        })?;
        let reader = Reader {
            path,
            document: &document,
        };
        reader.urdf()
    }

    /// The root link.
    pub fn root(&self) -> &str {
        &self.root
    }

    /// Names of the links.
    pub fn links(&self) -> impl Iterator<Item = &str> {
        self.links.iter().map(String::as_str)
    }

    /// Frames of all links except `base`, relative to it; `None` if there is no such link.
    pub fn frames_on(&self, base: &str) -> Option<Vec<FrameDeclaration>> {
        let tree = FrameTree::new(self.root.as_str(), &self.frames).ok()?;
        let base_from_root = tree.base_from(base)?.inverse();
        let frames = tree.frames().filter(|(name, _)| *name != base);
        let on_base = frames.map(|(name, root_from_frame)| FrameDeclaration {
            name: name.into(),
            parent: base.into(),
            parent_from_frame: base_from_root * root_from_frame,
            moves: false,
        });
        Some(on_base.collect())
    }

    /// Frames of all links except the root, relative to their parents. Links with a movable joint
    /// are bodies.
    pub fn moving_frames(&self) -> Vec<FrameDeclaration> {
        let frames = self.frames.iter().zip(&self.joint_entries);
        let moving = frames.map(|(frame, entry)| FrameDeclaration {
            moves: entry.joint.kind != JointKind::Fixed,
            ..frame.clone()
        });
        moving.collect()
    }
}

struct Reader<'a> {
    path: &'a Path,
    document: &'a Document<'a>,
}

impl Reader<'_> {
    fn urdf(&self) -> Result<Urdf, FormatError> {
        let robot = self.document.root_element();
        if !robot.has_tag_name("robot") {
            return Err(self.error(robot, "the root is not <robot>", "give a URDF file"));
        }
        // Read the links
        let mut links = Vec::new();
        let mut link_entries = Vec::new();
        for link in robot.children().filter(|node| node.has_tag_name("link")) {
            let name = self.attribute(link, "name")?;
            if links.contains(&name) {
                let message = format!("two links are named \"{name}\"");
                return Err(self.error(link, message, "give each link its own name"));
            }
            links.push(name);
            self.check_meshes(link)?;
            link_entries.push(self.link_entry(link)?);
        }

        // Read the joints
        let mut frames = Vec::new();
        let mut joint_entries = Vec::new();
        let mut joints = Vec::new();
        for joint in robot.children().filter(|node| node.has_tag_name("joint")) {
            let frame = self.joint(joint, &links)?;
            joint_entries.push(self.joint_entry(joint, &frame, &links)?);
            frames.push(frame);
            joints.push(joint);
        }
        // Check that they form a tree
        let root = self.root(robot, &links, &frames)?;
        FrameTree::new(root.as_str(), &frames).map_err(|error| {
            let number = match &error {
                FrameError::Duplicate { frame, .. }
                | FrameError::UnknownParent { frame, .. }
                | FrameError::Cycle { frame, .. } => *frame,
                _ => 0,
            };
            self.error(joints[number], error.to_string(), "make the links a tree")
        })?;
        Ok(Urdf {
            path: self.path.to_owned(),
            root,
            links,
            frames,
            link_entries,
            joint_entries,
        })
    }

    fn place(&self, node: Node) -> FileLocation {
        let at = self.document.text_pos_at(node.range().start);
        FileLocation::LineColumn(at.row as usize, at.col as usize)
    }

    fn error(
        &self,
        node: Node,
        message: impl Into<String>,
        remedy: impl Into<String>,
    ) -> FormatError {
        FormatError::malformed(self.path, self.place(node), message, remedy)
    }

    fn attribute(&self, node: Node, name: &str) -> Result<String, FormatError> {
        node.attribute(name).map(Into::into).ok_or_else(|| {
            let tag = node.tag_name().name();
            let message = format!("<{tag}> has no {name}");
            self.error(node, message, format!("add {name}=\"...\""))
        })
    }

    fn child<'n>(&self, node: Node<'n, 'n>, tag: &str) -> Result<Node<'n, 'n>, FormatError> {
        node.children()
            .find(|child| child.has_tag_name(tag))
            .ok_or_else(|| {
                let message = format!("<{}> has no <{tag}>", node.tag_name().name());
                self.error(node, message, format!("add <{tag} ... />"))
            })
    }

    fn joint<'n>(
        &self,
        joint: Node<'n, 'n>,
        links: &[String],
    ) -> Result<FrameDeclaration, FormatError> {
        let link = |tag: &str| {
            let node = self.child(joint, tag)?;
            let name = self.attribute(node, "link")?;
            if links.contains(&name) {
                return Ok(name);
            }
            let message = format!("there is no link \"{name}\"");
            Err(self.error(node, message, format!("links: {}", links.join(", "))))
        };
        Ok(FrameDeclaration {
            name: link("child")?,
            parent: link("parent")?,
            parent_from_frame: self.origin(joint)?,
            moves: false,
        })
    }

    /// The `<origin>` of a node. Default: the identity.
    fn origin(&self, node: Node) -> Result<Isometry3<f64>, FormatError> {
        let Some(origin) = node.children().find(|child| child.has_tag_name("origin")) else {
            return Ok(Isometry3::identity());
        };
        let [x, y, z] = self.three(origin, "xyz")?;
        let [roll, pitch, yaw] = self.three(origin, "rpy")?;
        Ok(Isometry3::from_parts(
            Translation3::new(x, y, z),
            UnitQuaternion::from_euler_angles(roll, pitch, yaw),
        ))
    }

    /// A number of an attribute; `None` if the attribute is missing.
    fn number(&self, node: Node, name: &str) -> Result<Option<f64>, FormatError> {
        let Some(text) = node.attribute(name) else {
            return Ok(None);
        };
        let number = text.trim().parse().ok().filter(|n: &f64| n.is_finite());
        number.map(Some).ok_or_else(|| {
            let message = format!("{name}=\"{text}\" is not a number");
            self.error(node, message, "write a finite number")
        })
    }

    /// Three numbers of an attribute. Default: zeros.
    fn three(&self, node: Node, name: &str) -> Result<[f64; 3], FormatError> {
        let Some(text) = node.attribute(name) else {
            return Ok([0.0; 3]);
        };
        let numbers: Option<Vec<f64>> = text
            .split_ascii_whitespace()
            .map(|word| word.parse().ok().filter(|number: &f64| number.is_finite()))
            .collect();
        let numbers = numbers.and_then(|numbers| <[f64; 3]>::try_from(numbers).ok());
        numbers.ok_or_else(|| {
            let message = format!("{name}=\"{text}\" is not three numbers");
            self.error(
                node,
                message,
                "write three finite numbers, separated by spaces",
            )
        })
    }

    fn root(
        &self,
        robot: Node,
        links: &[String],
        frames: &[FrameDeclaration],
    ) -> Result<String, FormatError> {
        let is_child = |link: &&String| frames.iter().any(|frame| frame.name == **link);
        let roots: Vec<&String> = links.iter().filter(|link| !is_child(link)).collect();
        match roots[..] {
            [root] => Ok(root.clone()),
            [] => {
                let message = "every link is the child of a joint: the links form a cycle";
                Err(self.error(robot, message, "remove one joint"))
            }
            _ => {
                let names: Vec<&str> = roots.iter().map(|name| name.as_str()).collect();
                let message = format!("these links have no joint: {}", names.join(", "));
                Err(self.error(robot, message, "add joints for all links except one"))
            }
        }
    }

    fn check_meshes(&self, link: Node) -> Result<(), FormatError> {
        for mesh in link.descendants().filter(|node| node.has_tag_name("mesh")) {
            let name = self.attribute(mesh, "filename")?;
            if self.mesh_file(&name).is_none() {
                let message = format!("the mesh {name} does not exist");
                let remedy = "copy it there; package://NAME/.. is looked for in a folder NAME \
                              beside the URDF file or above it";
                return Err(self.error(mesh, message, remedy));
            }
        }
        Ok(())
    }

    /// The file of a mesh, if it exists.
    fn mesh_file(&self, name: &str) -> Option<PathBuf> {
        self.places(name).into_iter().find(|path| path.is_file())
    }

    /// Possible paths of a mesh.
    fn places(&self, name: &str) -> Vec<PathBuf> {
        let folder = self.path.parent().unwrap_or(Path::new(""));
        if let Some(in_package) = name.strip_prefix("package://") {
            let absolute = std::path::absolute(folder).unwrap_or_else(|_| folder.into());
            return absolute
                .ancestors()
                .map(|above| above.join(in_package))
                .collect();
        }
        let plain = name.strip_prefix("file://").unwrap_or(name);
        vec![folder.join(plain)]
    }
}
