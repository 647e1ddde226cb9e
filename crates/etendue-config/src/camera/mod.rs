//! Camera files and presets, in TOML.
//!
//! [`load`] reads a file, [`preset`] an embedded preset ([`presets`] lists them; their text is a
//! template for new files). Keys contain their units. Unknown keys are errors with the nearest
//! known key; invalid values and lenses that are not invertible within the image are errors.

mod file;
mod lens;
mod presets;

pub use file::{
    BandTable, CameraFile, DetectorTable, EmvaTable, ExposureTable, LinearTable, MosaicName,
    OpticsTable, PictureTable, ShutterTable, ToneName, VignettingTable, load, parse,
};
pub use lens::{BrownConradyTable, FovTable, KannalaBrandtTable, LensTable, PinholeTable};
pub use presets::{preset, presets};
