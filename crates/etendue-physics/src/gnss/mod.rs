//! Satellite navigation: the Earth's ellipsoid, the satellites over a place, and what a receiver
//! makes of them.
//!
//! Latitude comes before longitude, both in rad, everywhere. [`Geodetic`] and ECEF positions turn
//! into each other, [`LocalFrame`] is the tangent frame (east, north, up) that worlds stand in.
//! [`GnssReceiver`] describes a receiver, [`GnssReceiverRun`] is one that was switched on;
//! [`satellites`] and [`SkyView`] tell what it sees.
//!
//! Left out: pseudoranges and multipath one by one, the ellipsoid's difference from the geoid,
//! and the motion of plates. Errors are those of the solved position.

mod ellipsoid;
mod local;
mod receiver;
mod sky;

pub use ellipsoid::{Geodetic, normal_gravity};
pub use local::LocalFrame;
pub use receiver::{AxisError, GnssFix, GnssFixKind, GnssReceiver, GnssReceiverRun, GnssSolution};
pub use sky::{SkyView, satellites};
