//! GNSS receivers on a robot, with satellites that the scene occludes. Their equations are in
//! `etendue-physics`.

mod receiver;

pub use receiver::Gnss;
pub(crate) use receiver::GnssInstrument;
