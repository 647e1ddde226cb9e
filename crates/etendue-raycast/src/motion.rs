//! Motion of rigid objects.

use crate::bounding_box::BoundingBox;
use nalgebra::Isometry3;
use std::fmt::Debug;

/// The pose of a rigid object over time.
///
/// ```
/// use etendue_raycast::{BoundingBox, RigidMotion};
/// use nalgebra::{Isometry3, Vector3};
///
/// /// A motion along a straight line at a constant velocity, m/s.
/// #[derive(Debug)]
/// struct Straight(Vector3<f64>);
///
/// impl RigidMotion for Straight {
///     fn world_from_object(&self, time: f64) -> Isometry3<f64> {
///         Isometry3::from(self.0 * time)
///     }
///
///     fn bounds(&self, local: &BoundingBox, span: [f64; 2]) -> BoundingBox {
///         let [start, end] = span.map(|time| local.transformed(&self.world_from_object(time)));
///         start.union(&end)
///     }
/// }
/// assert_eq!(Straight(Vector3::x()).world_from_object(2.0), Isometry3::translation(2.0, 0.0, 0.0));
/// ```
pub trait RigidMotion: Debug + Send + Sync {
    /// The pose at a time, s.
    fn world_from_object(&self, time: f64) -> Isometry3<f64>;

    /// A box in the world that contains the moving box `local` (of the object's frame) during a span
    /// of time, s.
    fn bounds(&self, local: &BoundingBox, span: [f64; 2]) -> BoundingBox;
}
