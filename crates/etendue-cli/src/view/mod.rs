//! Pictures of scenes, sweeps, drives and fits.

pub mod drive_view;
pub mod fit_view;
mod floor_plan;
pub mod layers;
pub mod range_image;
pub mod scene_view;
mod section;
pub mod top_view;
pub mod waveform_plot;
