//! The frames of a robot.

use nalgebra::Isometry3;
use thiserror::Error;

/// A frame as it is declared: where it sits on another.
#[derive(Clone, Debug, PartialEq)]
pub struct FrameDeclaration {
    /// Its name.
    pub name: String,
    /// Name of the frame that it sits on.
    pub parent: String,
    /// Pose on the parent; for a jointed frame, with its joints in their zero position.
    pub parent_from_frame: Isometry3<f64>,
    /// Whether the frame moves relative to its parent: it is then a separate body with a motion of
    /// its own ([`crate::dynamics::StateTrajectory::state_of`]).
    pub moves: bool,
}

/// Why frames are no tree. `frame` counts declarations.
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
    /// A frame sits on one that is not there.
    #[error("the frame \"{name}\" sits on \"{parent}\", which is not there")]
    UnknownParent {
        /// The declaration.
        frame: usize,
        /// The frame's name.
        name: String,
        /// The name of what it sits on.
        parent: String,
    },
    /// Frames sit on each other in a circle.
    #[error("the frame \"{name}\" sits on itself, by way of {}", through.join(" on "))]
    Cycle {
        /// A declaration of the circle.
        frame: usize,
        /// Its name.
        name: String,
        /// The frames between.
        through: Vec<String>,
    },
}

/// The frames of a robot. Each is fixed to the base, or to another body that joints move.
#[derive(Clone, Debug, PartialEq)]
pub struct FrameTree {
    /// The base first.
    frames: Vec<Frame>,
    /// Places of the bodies among the frames, the base first.
    bodies: Vec<usize>,
}

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
    /// A base alone.
    pub fn of_base(name: impl Into<String>) -> Self {
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

    /// The base with frames on it, declared in any order.
    ///
    /// # Errors
    /// Where two have one name, one sits on none, or some sit on each other in a circle.
    pub fn new(
        base: impl Into<String>,
        declarations: &[FrameDeclaration],
    ) -> Result<Self, FrameError> {
        let mut tree = Self::of_base(base);
        let mut open: Vec<usize> = (0..declarations.len()).collect();
        check_names(tree.base(), declarations)?;
        while !open.is_empty() {
            let before = open.len();
            open.retain(|number| {
                let frame = &declarations[*number];
                let parent = tree.frames.iter().find(|known| known.name == frame.parent);
                let Some(parent) = parent.cloned() else {
                    return true;
                };
                tree.add(frame, &parent);
                false
            });
            if open.len() == before {
                return Err(circle(declarations, open[0]));
            }
        }
        Ok(tree)
    }

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

    /// Where a frame sits on the base with all joints in their zero position, if it is there.
    pub fn base_from(&self, name: &str) -> Option<Isometry3<f64>> {
        self.find(name).map(|frame| frame.base_from_frame)
    }

    /// The number of the body that a frame is fixed to and where it sits there, if it is there.
    pub fn on_body(&self, name: &str) -> Option<(usize, Isometry3<f64>)> {
        let found = self.find(name);
        found.map(|frame| (frame.body, frame.body_from_frame))
    }

    fn find(&self, name: &str) -> Option<&Frame> {
        self.frames.iter().find(|frame| frame.name == name)
    }

    /// Every frame: its name and where it sits on the base with joints in their zero position.
    pub fn frames(&self) -> impl Iterator<Item = (&str, &Isometry3<f64>)> {
        let frames = self.frames.iter();
        frames.map(|frame| (frame.name.as_str(), &frame.base_from_frame))
    }

    /// Names of the bodies that move against each other, by number: the base first.
    pub fn bodies(&self) -> impl Iterator<Item = &str> {
        let bodies = self.bodies.iter();
        bodies.map(|place| self.frames[*place].name.as_str())
    }
}

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
        let there = |other: &FrameDeclaration| other.name == frame.parent;
        if frame.parent != base && !declarations.iter().any(there) {
            return Err(FrameError::UnknownParent {
                frame: number,
                name: name.clone(),
                parent: frame.parent.clone(),
            });
        }
    }
    Ok(())
}

/// The circle that is reached from a frame.
fn circle(declarations: &[FrameDeclaration], start: usize) -> FrameError {
    let parent = |number: usize| {
        let wanted = &declarations[number].parent;
        declarations.iter().position(|frame| frame.name == *wanted)
    };
    let mut seen = vec![start];
    while let Some(next) = parent(seen[seen.len() - 1]) {
        if let Some(first) = seen.iter().position(|number| *number == next) {
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
        assert_eq!(tree.base_from("b").expect("there").translation.x, 3.0);
        assert_eq!(tree.base_from("c"), None);
    }

    #[test]
    fn frames_on_what_moves_are_fixed_to_it() {
        let arm = FrameDeclaration {
            moves: true,
            ..frame("arm", "base", 1.0)
        };
        let tree = FrameTree::new("base", &[frame("hand", "arm", 2.0), arm]).expect("a tree");
        assert_eq!(tree.bodies().collect::<Vec<_>>(), ["base", "arm"]);
        let (body, place) = tree.on_body("hand").expect("there");
        assert_eq!((body, place.translation.x), (1, 2.0));
        assert_eq!(tree.base_from("hand").expect("there").translation.x, 3.0);
    }

    #[test]
    fn what_is_no_tree_is_told_by_name() {
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
            "the frame \"a\" sits on itself, by way of b on c"
        );
        assert_eq!(
            error(&[frame("base", "base", 0.0)]),
            "two frames are named \"base\""
        );
        assert!(error(&[frame("a", "bse", 0.0)]).contains("\"bse\", which is not there"));
        assert!(error(&[frame("a", "a", 0.0)]).contains("by way of a"));
    }
}
