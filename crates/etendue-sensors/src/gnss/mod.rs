//! GNSS receivers with occlusion of satellites by the scene. The equations are in `etendue-physics`.

mod receiver;

pub use receiver::Gnss;
pub(crate) use receiver::GnssInstrument;
