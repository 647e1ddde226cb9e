//! The panel of a recording: search, fit of its plane, extent and motion.
//!
//! A direction can see several surfaces ([`DirectionCell::modes`](crate::noise::DirectionCell::modes)). Flat
//! surfaces of a planar recording are the largest runs of neighbouring directions on one line, with objects
//! before them; those of a cloud are random planes. Each is continued outwards to its edges, where the range
//! jumps. The number of candidates is bounded.

mod cloud;
mod declared;
mod find;
mod growth;
mod hint;
mod motion;
mod panel_struct;
mod placement;
mod plane;
mod region;
mod sector;
mod segment;
mod select;
mod sight;
mod stationary;

pub use find::{find_panel, find_panels};
pub use hint::{PanelHint, PanelSearch};
pub use motion::PanelMotion;
pub use panel_struct::{LargerSurface, Panel};
pub use plane::PanelPlane;
pub(in crate::noise) use sector::LARGEST_NOISE;
pub use sector::PanelSector;
pub(in crate::noise) use sight::allowance;
pub use stationary::RangeChange;
