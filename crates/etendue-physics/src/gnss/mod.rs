//! Satellite navigation: the Earth's ellipsoid, the GPS constellation and the errors of a receiver.
//!
//! Latitude comes before longitude, both in rad. [`Geodetic`] and ECEF positions convert into each
//! other; [`LocalFrame`] is the tangent frame (east, north, up) of world coordinates.
//! [`GnssReceiver`] describes a receiver, [`GnssReceiverRun`] is a running one; [`satellites`] and
//! [`SkyView`] give the visible satellites and their geometry.
//!
//! Not modelled: pseudoranges and multipath of individual satellites, the geoid, and plate motion.
//! Errors are those of the solved position.

mod ellipsoid;
mod local;
mod receiver;
mod sky;

pub use ellipsoid::{Geodetic, normal_gravity};
pub use local::LocalFrame;
pub use receiver::{AxisError, GnssFix, GnssFixKind, GnssReceiver, GnssReceiverRun, GnssSolution};
pub use sky::{SkyView, satellites};
