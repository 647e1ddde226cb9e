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
    /// Where it sits.
    pub parent_from_frame: Isometry3<f64>,
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

/// The frames of a robot, all fixed to its base.
#[derive(Clone, Debug, PartialEq)]
pub struct FrameTree {
    /// Name and place of each frame on the base, the base first.
    frames: Vec<(String, Isometry3<f64>)>,
}

impl FrameTree {
    /// A base alone.
    pub fn of_base(name: impl Into<String>) -> Self {
        Self {
            frames: vec![(name.into(), Isometry3::identity())],
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
        check_names(&tree.frames[0].0, declarations)?;
        while !open.is_empty() {
            let before = open.len();
            open.retain(|number| {
                let frame = &declarations[*number];
                let Some(base_from_parent) = tree.base_from(&frame.parent) else {
                    return true;
                };
                let place = base_from_parent * frame.parent_from_frame;
                tree.frames.push((frame.name.clone(), place));
                false
            });
            if open.len() == before {
                return Err(circle(declarations, open[0]));
            }
        }
        Ok(tree)
    }

    /// Name of the base.
    pub fn base(&self) -> &str {
        &self.frames[0].0
    }

    /// Where a frame sits on the base, if it is there.
    pub fn base_from(&self, name: &str) -> Option<Isometry3<f64>> {
        let found = self.frames.iter().find(|(known, _)| known == name);
        found.map(|(_, place)| *place)
    }

    /// Every frame: its name and where it sits on the base.
    pub fn frames(&self) -> impl Iterator<Item = (&str, &Isometry3<f64>)> {
        self.frames
            .iter()
            .map(|(name, place)| (name.as_str(), place))
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
