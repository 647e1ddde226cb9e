//! Camera files and presets: what a camera is, in TOML.
//!
//! [`load`] reads a file, [`preset`] one of those that come with the library ([`presets`] lists
//! them; their text is a good start for an own file). Keys carry their units; a key that is not
//! known is refused with the nearest known one, and so are values that make no sense and lenses
//! that cannot be inverted at the image's size.

mod file;
mod lens;
mod presets;

pub use file::{
    BandTable, CameraFile, DetectorTable, EmvaTable, ExposureTable, LinearTable, MosaicName,
    OpticsTable, PictureTable, ShutterTable, ToneName, VignettingTable, load, parse,
};
pub use lens::{BrownConradyTable, FovTable, KannalaBrandtTable, LensTable, PinholeTable};
pub use presets::{preset, presets};
