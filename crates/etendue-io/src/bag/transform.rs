//! `tf2_msgs/TFMessage` and `tf/tfMessage`: poses of frames, and their composition.

use super::message_reader::MessageReader;
use nalgebra::{Isometry3, Quaternion, Translation3, UnitQuaternion};
use std::collections::BTreeMap;

/// Longest interval between two transforms that is interpolated, s.
const LONGEST_GAP: f64 = 1.0;

/// Time by which a stamp may be outside of those of the transforms, s.
const TIME_TOLERANCE: f64 = 0.02;

/// Frame in which odometry places a robot (REP 105).
pub(crate) const ODOMETRY_FRAME: &str = "odom";

/// Largest number of frames between a sensor and the root of the tree.
const DEEPEST: usize = 64;

/// A stamped pose of one frame in another.
#[derive(Clone, Debug, PartialEq)]
pub struct StampedTransform {
    /// Its stamp, s.
    pub time: f64,
    /// Reference frame.
    pub parent: String,
    /// Frame that the pose describes.
    pub child: String,
    /// Transform of child coordinates to parent coordinates.
    pub parent_from_child: Isometry3<f64>,
    /// Whether it holds at all times.
    pub is_static: bool,
}

/// Decodes a message of a topic; `None` if it is damaged.
pub(super) fn decode<'a>(
    message: &mut impl MessageReader<'a>,
    topic: &str,
) -> Option<Vec<StampedTransform>> {
    let is_static = topic.ends_with("tf_static");
    let count = message.u32()?;
    (0..count).map(|_| transform(message, is_static)).collect()
}

fn transform<'a>(
    message: &mut impl MessageReader<'a>,
    is_static: bool,
) -> Option<StampedTransform> {
    let (time, parent) = message.header()?;
    let child = message.text()?;
    let mut v = [0.0; 7];
    for value in &mut v {
        *value = message.f64()?;
    }
    let rotation = Quaternion::new(v[6], v[3], v[4], v[5]);
    Some(StampedTransform {
        time,
        parent,
        child,
        parent_from_child: Isometry3::from_parts(
            Translation3::new(v[0], v[1], v[2]),
            UnitQuaternion::from_quaternion(rotation),
        ),
        is_static,
    })
}

/// The transforms of a recording by child frame, in order of time.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct TransformTree(BTreeMap<String, Vec<StampedTransform>>);

impl TransformTree {
    /// Sorts transforms.
    pub fn new(transforms: Vec<StampedTransform>) -> Self {
        let mut tree = Self::default();
        for transform in transforms {
            let child = name(&transform.child).to_owned();
            tree.0.entry(child).or_default().push(transform);
        }
        for links in tree.0.values_mut() {
            links.sort_by(|a, b| a.time.total_cmp(&b.time));
        }
        tree
    }

    /// Pose of a frame in the root of its tree at a time. `None` if all transforms above it are
    /// static, or a transform at that time is missing.
    pub fn world_from(&self, frame: &str, time: f64) -> Option<Isometry3<f64>> {
        let mut pose = Isometry3::identity();
        let mut moves = false;
        let mut frame = name(frame);
        for _ in 0..DEEPEST {
            let Some(links) = self.0.get(frame) else {
                return moves.then_some(pose);
            };
            moves |= !links[0].is_static;
            pose = at(links, time)? * pose;
            frame = name(&links[0].parent);
        }
        None
    }

    /// Whether the root above a frame is that of odometry: `odom` (REP 105), also below a namespace.
    pub fn is_odometry(&self, frame: &str) -> bool {
        let mut frame = name(frame);
        for _ in 0..DEEPEST {
            let Some(links) = self.0.get(frame) else {
                return frame.rsplit('/').next() == Some(ODOMETRY_FRAME);
            };
            frame = name(&links[0].parent);
        }
        false
    }

    /// First and last time at which all transforms above a frame are known, s. `None` if all are
    /// static.
    pub fn span(&self, frame: &str) -> Option<[f64; 2]> {
        let mut span: Option<[f64; 2]> = None;
        let mut frame = name(frame);
        for _ in 0..DEEPEST {
            let Some(links) = self.0.get(frame) else {
                return span;
            };
            let [first, last] = [&links[0], &links[links.len() - 1]];
            if !last.is_static {
                let [from, to] = span.unwrap_or([f64::NEG_INFINITY, f64::INFINITY]);
                span = Some([from.max(first.time), to.min(last.time)]);
            }
            frame = name(&first.parent);
        }
        None
    }
}

/// A frame without the leading slash of ROS 1.
fn name(frame: &str) -> &str {
    frame.trim_start_matches('/')
}

/// A link at a time: the static transform, or the interpolation between two.
fn at(links: &[StampedTransform], time: f64) -> Option<Isometry3<f64>> {
    if let [.., last] = links
        && last.is_static
    {
        return Some(last.parent_from_child);
    }
    let after = links.partition_point(|link| link.time < time);
    let near = |link: &StampedTransform| (link.time - time).abs() <= TIME_TOLERANCE;
    let (Some(before), Some(next)) = (after.checked_sub(1), links.get(after)) else {
        // Before the first or after the last transform
        let end = if after == 0 {
            links.first()
        } else {
            links.last()
        };
        return end.filter(|end| near(end)).map(|end| end.parent_from_child);
    };
    let before = &links[before];
    let interval = next.time - before.time;
    let nearest = if time - before.time < next.time - time {
        before
    } else {
        next
    };
    if interval > LONGEST_GAP {
        return near(nearest).then_some(nearest.parent_from_child);
    }
    let share = (time - before.time) / interval.max(f64::MIN_POSITIVE);
    let (a, b) = (&before.parent_from_child, &next.parent_from_child);
    Some(
        a.try_lerp_slerp(b, share, 1e-9)
            .unwrap_or(nearest.parent_from_child),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn link(time: f64, parent: &str, child: &str, x: f64) -> StampedTransform {
        StampedTransform {
            time,
            parent: parent.into(),
            child: child.into(),
            parent_from_child: Isometry3::translation(x, 0.0, 0.0),
            is_static: time == 0.0,
        }
    }

    #[test]
    fn links_are_composed_and_interpolated() {
        let tree = TransformTree::new(vec![
            link(1.0, "odom", "base", 1.0),
            link(1.5, "odom", "base", 2.0),
            link(0.0, "base", "/lidar", 0.25),
            link(0.0, "map", "odom", 10.0),
        ]);
        let x = |time| Some(tree.world_from("lidar", time)?.translation.x);
        assert_eq!(x(1.25), Some(11.75));
        assert_eq!(x(1.51), Some(12.25));
        assert_eq!(x(2.0), None, "half a second after the last transform");
        assert_eq!(tree.span("lidar"), Some([1.0, 1.5]));
        assert_eq!(tree.span("odom"), None, "its only transform is static");
        assert!(!tree.is_odometry("lidar"), "the root is the map");
    }

    #[test]
    fn poses_below_odom_are_odometry() {
        for (root, expected) in [("odom", true), ("/robot/odom", true), ("odometer", false)] {
            let tree = TransformTree::new(vec![
                link(1.0, root, "base", 1.0),
                link(0.0, "base", "lidar", 0.25),
            ]);
            assert_eq!(tree.is_odometry("/lidar"), expected, "{root}");
        }
    }

    #[test]
    fn frames_that_do_not_move_have_no_pose() {
        let tree = TransformTree::new(vec![link(0.0, "base", "lidar", 0.25)]);
        assert_eq!(tree.world_from("lidar", 0.0), None);
        let circle = TransformTree::new(vec![link(0.0, "a", "b", 1.0), link(0.0, "b", "a", 1.0)]);
        assert_eq!(circle.world_from("a", 0.0), None);
    }
}
