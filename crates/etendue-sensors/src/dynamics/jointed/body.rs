//! Rigid bodies of links joined by fixed joints.

use super::error::RobotError;
use super::inertia::Inertia;
use super::joint::{Joint, JointKind};
use super::link::Link;
use nalgebra::Isometry3;

/// A rigid body: links connected by fixed joints. Its frame is that of its first link.
#[derive(Clone, Debug, PartialEq)]
pub struct Body {
    /// Indices of its links, and their poses on the body.
    pub links: Vec<(usize, Isometry3<f64>)>,
    /// Total inertia in the body's frame; `None` if no link has mass.
    pub inertia: Option<Inertia>,
    /// Index of the parent body; that of the base for the base itself.
    pub parent: usize,
    /// Index of the joint between the parent and this body; `None` for the base.
    pub joint: Option<usize>,
    /// Pose of that joint on the parent.
    pub parent_from_joint: Isometry3<f64>,
}

impl Body {
    /// A body of one link.
    fn new(
        link: usize,
        parent: usize,
        joint: Option<usize>,
        parent_from_joint: Isometry3<f64>,
    ) -> Self {
        Self {
            links: vec![(link, Isometry3::identity())],
            inertia: None,
            parent,
            joint,
            parent_from_joint,
        }
    }
}

/// Rigid bodies of a tree of links, from its root.
pub(super) fn bodies(links: &[Link], joints: &[Joint]) -> Result<Vec<Body>, RobotError> {
    // Start with the root.
    let root = root(links, joints)?;
    let mut bodies = vec![Body::new(root, 0, None, Isometry3::identity())];
    // Body of each reached link, and its pose on the body.
    let mut reached: Vec<Option<(usize, Isometry3<f64>)>> = vec![None; links.len()];
    reached[root] = Some((0, Isometry3::identity()));

    // Add the child of every joint whose parent is reached, until all joints are used.
    let mut open: Vec<usize> = (0..joints.len()).collect();
    while !open.is_empty() {
        let before = open.len();
        let mut in_loop = None;
        open.retain(|number| {
            let joint = &joints[*number];
            let Some((body, body_from_parent)) = reached[joint.parent] else {
                return true;
            };
            if reached[joint.child].is_some() {
                in_loop = Some(*number);
                return true;
            }
            let body_from_joint = body_from_parent * joint.parent_from_joint;
            reached[joint.child] = Some(if joint.kind == JointKind::Fixed {
                let body_from_child = body_from_joint * joint.child_from_joint.inverse();
                bodies[body].links.push((joint.child, body_from_child));
                (body, body_from_child)
            } else {
                bodies.push(Body::new(joint.child, body, Some(*number), body_from_joint));
                (bodies.len() - 1, Isometry3::identity())
            });
            false
        });
        if in_loop.is_some() || open.len() == before {
            let joint = in_loop.unwrap_or(open[0]);
            let name = joints[joint].name.clone();
            return Err(RobotError::Loop { joint, name });
        }
    }

    // Check that every link is reached.
    if let Some(link) = reached.iter().position(Option::is_none) {
        let name = links[link].name.clone();
        return Err(RobotError::Unconnected { link, name });
    }

    // Sum the inertias.
    for body in &mut bodies {
        body.inertia = inertia(body, links);
    }
    Ok(bodies)
}

/// Root of the tree: the link that is not the child of a joint.
fn root(links: &[Link], joints: &[Joint]) -> Result<usize, RobotError> {
    let is_root = |link: &usize| !joints.iter().any(|joint| joint.child == *link);
    match (0..links.len()).find(is_root) {
        Some(root) => Ok(root),
        None if links.is_empty() => Err(RobotError::NoLink),
        None => Err(RobotError::Loop {
            joint: 0,
            name: joints[0].name.clone(),
        }),
    }
}

/// Total inertia of a body.
fn inertia(body: &Body, links: &[Link]) -> Option<Inertia> {
    let parts = body.links.iter().filter_map(|(link, body_from_link)| {
        let own = links[*link].inertia.as_ref()?;
        Some(own.transformed(body_from_link))
    });
    parts.reduce(|sum, part| sum.combined(&part))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn link(name: &str) -> Link {
        Link {
            name: name.into(),
            inertia: Some(Inertia::of_cuboid(1.0, [1.0; 3])),
            shapes: vec![],
        }
    }

    #[test]
    fn fixed_links_form_one_body_and_loops_are_refused() {
        // A fixed joint merges its links.
        let links = || ["a", "b", "c"].map(link).to_vec();
        let up = Joint {
            parent_from_joint: Isometry3::translation(0.0, 0.0, 2.0),
            ..Joint::new("up", JointKind::Fixed, 0, 1)
        };
        let hinge = Joint::new("hinge", JointKind::Continuous, 1, 2);
        let bodies = bodies(&links(), &[hinge, up]).expect("a tree");
        assert_eq!(bodies.len(), 2);
        assert_eq!(bodies[0].links.len(), 2);
        assert_eq!(bodies[0].inertia.expect("a mass").centre.z, 1.0);
        assert_eq!(bodies[1].parent_from_joint.translation.z, 2.0);
        // Loops and links without a joint are errors.
        let error = |joints: &[Joint]| super::bodies(&links(), joints).expect_err("no tree");
        let hinge = |from, to| Joint::new("hinge", JointKind::Continuous, from, to);
        assert!(matches!(
            error(&[hinge(0, 1), hinge(1, 2), hinge(2, 0)]),
            RobotError::Loop { .. }
        ));
        assert!(matches!(
            error(&[hinge(0, 1), hinge(1, 2), hinge(0, 2)]),
            RobotError::Loop { .. }
        ));
        assert!(matches!(
            error(&[hinge(0, 1)]),
            RobotError::Unconnected { link: 2, .. }
        ));
    }
}
