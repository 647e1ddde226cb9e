//! Pictures of scenes, sweeps, drives and fits.

pub mod drive_view;
pub mod fit_view;
pub mod range_image;
mod slice;
pub mod top_view;
mod walls;
pub mod waveform_plot;
