//! Charts and drawings written as SVG and PNG.
//!
//! A [`Plot`] is a frame with two axes, its series and the entries of its legend, all in the units
//! of the data. A [`Figure`] arranges plots on a page under one heading. Both are converted to a
//! [`Drawing`], a list of shapes in page units (96 per inch). [`svg::write`] and [`png::render`]
//! write the same list to a file, so that the two formats agree. [`ShadedImage`] draws an array of
//! numbers in shades of grey. The font is embedded, so that pictures do not depend on installed
//! fonts.
//!
//! ```
//! use etendue_plot::{Axis, Figure, Plot, palette, svg};
//!
//! let mut plot = Plot::new(Axis::new("range, m"), Axis::new("standard deviation, mm"));
//! plot.add_curve("recorded", vec![[1.0, 4.0], [2.0, 5.5], [3.0, 9.0]], palette::category(0, 2.2));
//! let drawing = Figure::new("Range noise").with_plot(plot).draw();
//! let text = svg::write(&drawing);
//! assert!(text.contains("Range noise") && text.contains("recorded"));
//! ```
//!
//! Not included: interaction, dates on axes, colour maps, and text in scripts other than Latin and
//! Greek.
#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "lengths on a page fit every type, and pixels need no more than f32"
)]

mod axis;
mod drawing;
mod extent;
mod figure;
mod font;
mod frame;
mod legend;
pub mod palette;
mod plot;
pub mod png;
mod series;
mod shaded_image;
mod style;
pub mod svg;
mod ticks;

pub use axis::{Axis, AxisScale};
pub use drawing::{Anchor, Drawing, Marker, Point, Shape, TextLabel};
pub use extent::Extent;
pub use figure::Figure;
pub use legend::{Legend, Symbol};
pub use plot::Plot;
pub use series::Series;
pub use shaded_image::{ShadedImage, Shading};
pub use style::{Color, Stroke};
