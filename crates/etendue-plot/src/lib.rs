//! Pictures: a list of shapes, drawn once and written as SVG or PNG.
//!
//! [`Drawing`] holds shapes in page units; [`svg::write`] and [`png::render`] turn the same list
//! into a file, so the two always agree. [`Plot`], [`Legend`] and [`palette`] are the pieces that
//! charts are made of; [`clouds_view`], [`line_chart`] and [`spread_chart`] are the charts.
#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "lengths on a page fit every type, and pixels need no more than f32"
)]

pub mod bias_curve;
pub mod clouds_view;
pub mod colored_view;
pub mod curve_chart;
pub mod distribution_chart;
mod drawing;
mod extent;
pub mod font;
mod legend;
pub mod line_chart;
pub mod palette;
pub mod panel_view;
mod plot;
pub mod png;
pub mod shade_scale;
pub mod spread_chart;
pub mod svg;
pub mod ticks;

pub use drawing::{Anchor, Color, Drawing, Marker, Point, Shape, Stroke, Text};
pub use extent::Extent;
pub use legend::{Legend, Symbol};
pub use plot::{Axis, Plot};
