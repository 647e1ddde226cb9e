//! The panel of a recording: search, fit of its plane, extent and motion.

mod find;
mod motion;
mod panel_struct;
mod plane;
mod sector;

pub use find::{PanelHint, PanelSearch, find_panel, find_panels};
pub use motion::PanelMotion;
pub use panel_struct::Panel;
pub use plane::PanelPlane;
pub use sector::PanelSector;
