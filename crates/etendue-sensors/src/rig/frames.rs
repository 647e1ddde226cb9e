//! Coordinate frames of a robot.

use nalgebra::Isometry3;
use thiserror::Error;

/// Declaration of a frame: its pose relative to a parent frame.
#[derive(Clone, Debug, PartialEq)]
pub struct FrameDeclaration {
    /// Name.
    pub name: String,
    /// Name of the parent frame.
    pub parent: String,
    /// Pose relative to the parent; of a jointed frame, with its joints at zero.
    pub parent_from_frame: Isometry3<f64>,
    /// Whether the frame moves relative to its parent: it is then a separate body with a motion of
    /// its own ([`crate::dynamics::StateTrajectory::state_of`]).
    pub moves: bool,
}

/// Error of frames that do not form a tree. `frame` is the index of a declaration.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum FrameError {
    /// Two frames have one name.
    #[error("two frames are named \"{name}\"")]
    Duplicate {
        /// The later declaration.
        frame: usize,
        /// The name.
        name: String,
    },
    /// The parent of a frame does not exist.
    #[error("the parent \"{parent}\" of the frame \"{name}\" does not exist")]
    UnknownParent {
        /// The declaration.
        frame: usize,
        /// The frame's name.
        name: String,
        /// Name of the parent.
        parent: String,
    },
    /// Frames form a cycle.
    #[error("the frame \"{name}\" is its own ancestor, through {}", through.join(" and "))]
    Cycle {
        /// A declaration of the cycle.
        frame: usize,
        /// Name of the frame.
        name: String,
        /// The other frames of the cycle, from parent to parent.
        through: Vec<String>,
    },
}

/// Frames of a robot. Each is fixed to the base, or to another body that joints move.
#[derive(Clone, Debug, PartialEq)]
pub struct FrameTree {
    /// All frames, the base first.
    frames: Vec<Frame>,
    /// Indices of the frames of the bodies, the base first.
    bodies: Vec<usize>,
}

/// A frame with its poses.
#[derive(Clone, Debug, PartialEq)]
#[expect(
    clippy::struct_field_names,
    reason = "frames are in the names of poses"
)]
struct Frame {
    name: String,
    base_from_frame: Isometry3<f64>,
    body: usize,
    body_from_frame: Isometry3<f64>,
}

impl FrameTree {
    /// A tree of the base frame only.
    pub fn base_only(name: impl Into<String>) -> Self {
        Self {
            frames: vec![Frame {
                name: name.into(),
                base_from_frame: Isometry3::identity(),
                body: 0,
                body_from_frame: Isometry3::identity(),
            }],
            bodies: vec![0],
        }
    }

    /// The base with other frames, declared in any order.
    ///
    /// # Errors
    /// If two frames have one name, a parent does not exist, or frames form a cycle.
    pub fn new(
        base: impl Into<String>,
        declarations: &[FrameDeclaration],
    ) -> Result<Self, FrameError> {
        let mut tree = Self::base_only(base);
        let mut open: Vec<usize> = (0..declarations.len()).collect();
        check_names(tree.base(), declarations)?;
        while !open.is_empty() {
            let before = open.len();
            open.retain(|number| {
                let frame = &declarations[*number];
                let parent = tree.frames.iter().find(|other| other.name == frame.parent);
                let Some(parent) = parent.cloned() else {
                    return true;
                };
                tree.add(frame, &parent);
                false
            });
            if open.len() == before {
                return Err(cycle(declarations, open[0]));
            }
        }
        Ok(tree)
    }

    /// Adds a frame whose parent is in the tree.
    fn add(&mut self, frame: &FrameDeclaration, parent: &Frame) {
        let (body, body_from_frame) = if frame.moves {
            self.bodies.push(self.frames.len());
            (self.bodies.len() - 1, Isometry3::identity())
        } else {
            (
                parent.body,
                parent.body_from_frame * frame.parent_from_frame,
            )
        };
        self.frames.push(Frame {
            name: frame.name.clone(),
            base_from_frame: parent.base_from_frame * frame.parent_from_frame,
            body,
            body_from_frame,
        });
    }

    /// Name of the base.
    pub fn base(&self) -> &str {
        &self.frames[0].name
    }

    /// Pose of a frame relative to the base with all joints at zero; `None` for an unknown name.
    pub fn base_from(&self, name: &str) -> Option<Isometry3<f64>> {
        self.find(name).map(|frame| frame.base_from_frame)
    }

    /// Index of the body that a frame is fixed to, and the frame's pose on it; `None` for an unknown name.
    pub fn pose_on_body(&self, name: &str) -> Option<(usize, Isometry3<f64>)> {
        let found = self.find(name);
        found.map(|frame| (frame.body, frame.body_from_frame))
    }

    fn find(&self, name: &str) -> Option<&Frame> {
        self.frames.iter().find(|frame| frame.name == name)
    }

    /// Name of every frame and its pose relative to the base with all joints at zero.
    pub fn frames(&self) -> impl Iterator<Item = (&str, &Isometry3<f64>)> {
        let frames = self.frames.iter();
        frames.map(|frame| (frame.name.as_str(), &frame.base_from_frame))
    }

    /// Names of the bodies by index: the base first.
    pub fn bodies(&self) -> impl Iterator<Item = &str> {
        let bodies = self.bodies.iter();
        bodies.map(|frame| self.frames[*frame].name.as_str())
    }
}

/// Checks that names are unique and parents exist.
fn check_names(base: &str, declarations: &[FrameDeclaration]) -> Result<(), FrameError> {
    for (number, frame) in declarations.iter().enumerate() {
        let name = &frame.name;
        let taken = declarations[..number]
            .iter()
            .any(|other| other.name == *name);
        if taken || name == base {
            return Err(FrameError::Duplicate {
                frame: number,
                name: name.clone(),
            });
        }
        let is_parent = |other: &FrameDeclaration| other.name == frame.parent;
        if frame.parent != base && !declarations.iter().any(is_parent) {
            return Err(FrameError::UnknownParent {
                frame: number,
                name: name.clone(),
                parent: frame.parent.clone(),
            });
        }
    }
    Ok(())
}

/// The cycle that is reached from a frame.
fn cycle(declarations: &[FrameDeclaration], start: usize) -> FrameError {
    // Follow the parents until a frame repeats.
    let parent = |number: usize| {
        let parent = &declarations[number].parent;
        declarations.iter().position(|frame| frame.name == *parent)
    };
    let mut seen = vec![start];
    while let Some(next) = parent(seen[seen.len() - 1]) {
        if let Some(first) = seen.iter().position(|number| *number == next) {
            // Name the frames of the cycle.
            let names = seen[first..].iter().map(|n| declarations[*n].name.clone());
            let names: Vec<String> = names.collect();
            return FrameError::Cycle {
                frame: seen[first],
                name: names[0].clone(),
                through: if names.len() > 1 {
                    names[1..].to_vec()
                } else {
                    names
                },
            };
        }
        seen.push(next);
    }
    FrameError::Cycle {
        frame: start,
        name: declarations[start].name.clone(),
        through: vec![declarations[start].parent.clone()],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nalgebra::Vector3;

    fn frame(name: &str, parent: &str, x: f64) -> FrameDeclaration {
        FrameDeclaration {
            name: name.into(),
            parent: parent.into(),
            parent_from_frame: Isometry3::new(Vector3::x() * x, Vector3::zeros()),
            moves: false,
        }
    }

    #[test]
    fn frames_may_be_declared_in_any_order() {
        let tree = FrameTree::new("base", &[frame("b", "a", 2.0), frame("a", "base", 1.0)]);
        let tree = tree.expect("a tree");
        assert_eq!(tree.base_from("b").expect("a frame").translation.x, 3.0);
        assert_eq!(tree.base_from("c"), None);
    }

    #[test]
    fn frames_of_a_moving_parent_are_fixed_to_its_body() {
        let arm = FrameDeclaration {
            moves: true,
            ..frame("arm", "base", 1.0)
        };
        let tree = FrameTree::new("base", &[frame("hand", "arm", 2.0), arm]).expect("a tree");
        assert_eq!(tree.bodies().collect::<Vec<_>>(), ["base", "arm"]);
        let (body, pose) = tree.pose_on_body("hand").expect("a frame");
        assert_eq!((body, pose.translation.x), (1, 2.0));
        assert_eq!(tree.base_from("hand").expect("a frame").translation.x, 3.0);
    }

    #[test]
    fn errors_name_the_frame() {
        let error = |frames: &[FrameDeclaration]| {
            FrameTree::new("base", frames)
                .expect_err("no tree")
                .to_string()
        };
        assert_eq!(
            error(&[
                frame("a", "b", 0.0),
                frame("b", "c", 0.0),
                frame("c", "a", 0.0)
            ]),
            "the frame \"a\" is its own ancestor, through b and c"
        );
        assert_eq!(
            error(&[frame("base", "base", 0.0)]),
            "two frames are named \"base\""
        );
        assert!(
            error(&[frame("a", "bse", 0.0)])
                .contains("the parent \"bse\" of the frame \"a\" does not exist")
        );
        assert!(error(&[frame("a", "a", 0.0)]).contains("through a"));
    }
}
