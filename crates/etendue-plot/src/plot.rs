//! Plots: axes, series and a legend.

use crate::axis::Axis;
use crate::drawing::{Drawing, Marker, Point};
use crate::extent::Extent;
use crate::frame::Frame;
use crate::legend::{Legend, Symbol};
use crate::palette;
use crate::series::Series;
use crate::style::Stroke;

/// Default size of a frame, page units.
const SIZE: Point = [700.0, 400.0];

/// Smallest size of a frame whose axes have one scale, page units.
const SMALLEST_TO_SCALE: Point = [380.0, 300.0];

/// Margin of limits from the data, as a fraction of their span.
const MARGIN: f64 = 0.04;

/// Frame with two axes, series of data, and the entries of a legend.
///
/// ```
/// use etendue_plot::{Axis, Plot, palette};
///
/// let mut plot = Plot::new(Axis::new("iteration"), Axis::new("error, m").logarithmic(1e-9));
/// plot.add_curve("Gauss-Newton", vec![[0.0, 1.0], [1.0, 1e-4]], palette::category(0, 2.2));
/// assert!(plot.contains([0.5, 1e-2]) && !plot.contains([5.0, 1e-2]));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Plot {
    /// Heading above the frame; empty for none.
    pub title: String,
    /// Axis to the right.
    pub x: Axis,
    /// Axis upwards.
    pub y: Axis,
    /// Width and height of the frame, page units.
    pub size: Point,
    /// Series in the order of drawing: later ones cover earlier ones.
    pub series: Vec<Series>,
    /// Entries of the legend.
    pub legend: Legend,
    /// Unit of a scale bar below the legend; `None` for no scale bar.
    pub scale_bar: Option<&'static str>,
}

impl Plot {
    /// Plot without data, its frame 700 by 400 page units.
    pub fn new(x: Axis, y: Axis) -> Self {
        Self {
            title: String::new(),
            x,
            y,
            size: SIZE,
            series: Vec::new(),
            legend: Legend::default(),
            scale_bar: None,
        }
    }

    /// Plot of `extent` with one scale for both axes, its frame no larger than `largest` (page
    /// units); `x` and `y` are the labels. Narrow extents are widened to a frame of 380 by 300.
    ///
    /// ```
    /// use etendue_plot::{Extent, Plot};
    /// let plot = Plot::to_scale(Extent::of([[0.0, 0.0], [20.0, 10.0]]), ["x, m", "y, m"], [800.0, 600.0]);
    /// assert_eq!(plot.size, [800.0, 400.0]);
    /// ```
    pub fn to_scale(extent: Extent, [x, y]: [&str; 2], largest: Point) -> Self {
        let [width, height] = extent.size();
        let scale = (largest[0] / width).min(largest[1] / height);
        let size = [
            (width * scale).max(SMALLEST_TO_SCALE[0].min(largest[0])),
            (height * scale).max(SMALLEST_TO_SCALE[1].min(largest[1])),
        ];
        let limits = [0, 1].map(|axis| {
            let middle = f64::midpoint(extent.min[axis], extent.max[axis]);
            let half = size[axis] / scale / 2.0;
            [middle - half, middle + half]
        });
        let x = Axis::new(x).with_limits(limits[0]);
        let y = Axis::new(y).with_limits(limits[1]);
        Self::new(x, y).with_size(size)
    }

    /// The same plot with a heading above its frame.
    #[must_use]
    pub fn with_title(self, title: impl Into<String>) -> Self {
        Self {
            title: title.into(),
            ..self
        }
    }

    /// The same plot with another size of the frame, page units.
    #[must_use]
    pub fn with_size(self, size: Point) -> Self {
        Self { size, ..self }
    }

    /// The same plot with a bar of a round length in `unit`, the unit of both axes.
    #[must_use]
    pub fn with_scale_bar(self, unit: &'static str) -> Self {
        Self {
            scale_bar: Some(unit),
            ..self
        }
    }

    /// Adds a series without an entry in the legend.
    pub fn add(&mut self, series: Series) {
        self.series.push(series);
    }

    /// Adds a line with an entry in the legend.
    pub fn add_curve(&mut self, name: impl Into<String>, points: Vec<Point>, stroke: Stroke) {
        self.series.push(Series::Line { points, stroke });
        self.legend.add(Symbol::Line(stroke), name);
    }

    /// Adds dots in the colour of `stroke`, 1.3 times as wide as the line, with an entry in the
    /// legend.
    pub fn add_dots(&mut self, name: impl Into<String>, points: Vec<Point>, stroke: Stroke) {
        let radius = 1.3 * stroke.width;
        self.series.push(Series::Markers {
            points,
            marker: Marker::Dot,
            radius,
            color: stroke.color,
        });
        let symbol = Symbol::Marker(Marker::Dot, radius.max(3.0), stroke.color);
        self.legend.add(symbol, name);
    }

    /// Adds lines in the colours of the palette with a dot at every point, each with an entry in the
    /// legend.
    ///
    /// ```
    /// use etendue_plot::{Axis, Plot};
    /// let mut plot = Plot::new(Axis::new("range, m"), Axis::new("error, mm"));
    /// plot.add_marked_curves([("mean", vec![[1.0, 2.0], [2.0, 3.0]]), ("median", vec![[1.0, 1.0]])]);
    /// assert_eq!(plot.series.len(), 4);
    /// ```
    pub fn add_marked_curves<Name: Into<String>>(
        &mut self,
        curves: impl IntoIterator<Item = (Name, Vec<Point>)>,
    ) {
        for (index, (name, points)) in curves.into_iter().enumerate() {
            let stroke = palette::category(index, 2.4);
            self.add_curve(name, points.clone(), stroke);
            self.add(Series::Markers {
                points,
                marker: Marker::Dot,
                radius: 3.6,
                color: stroke.color,
            });
        }
    }

    /// Whether a point is within the axes.
    pub fn contains(&self, point: Point) -> bool {
        self.frame([0.0; 2]).contains(point)
    }

    /// Whether a segment intersects the area of the axes.
    pub fn intersects(&self, [from, to]: [Point; 2]) -> bool {
        self.frame([0.0; 2]).clip(from, to).is_some()
    }

    /// Page units per unit of the x axis.
    pub(crate) fn page_units_per_x(&self) -> f64 {
        let [min, max] = self.transformed_limits(0);
        self.size[0] / (max - min)
    }

    /// Draws frame and series, the left upper corner of the frame at a point of the page.
    pub(crate) fn draw_at(&self, corner: Point, drawing: &mut Drawing) {
        let frame = self.frame(corner);
        frame.draw_grid(drawing);
        for series in &self.series {
            series.draw(&frame, drawing);
        }
        frame.draw_axes(drawing);
    }

    fn frame(&self, [left, top]: Point) -> Frame<'_> {
        Frame {
            rectangle: [left, top, left + self.size[0], top + self.size[1]],
            x: (&self.x, self.transformed_limits(0)),
            y: (&self.y, self.transformed_limits(1)),
        }
    }

    /// Limits of an axis after the transform of its scale.
    fn transformed_limits(&self, axis: usize) -> [f64; 2] {
        let scale = [&self.x, &self.y][axis].scale;
        if let Some(limits) = [&self.x, &self.y][axis].limits {
            return limits.map(|v| scale.transform(v));
        }
        let extents = self.series.iter().map(Series::extent);
        let extent = extents.fold(Extent::EMPTY, |all, one| all.union(&one));
        if extent.min[axis] > extent.max[axis] {
            return [0.0, 1.0];
        }
        let low = scale.transform(extent.min[axis]);
        let high = scale.transform(extent.max[axis]);
        let span = high - low;
        // Equal values: an axis of one unit around them
        let margin = if span > 1e-9 * high.abs() {
            MARGIN * span
        } else {
            0.5
        };
        [low - margin, high + margin]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_come_from_the_finite_values_with_a_margin() {
        let mut plot = Plot::new(Axis::new("x"), Axis::new("y"));
        let points = vec![[0.0, 1.0], [10.0, 2.0], [20.0, f64::NAN]];
        plot.add_curve("line", points, palette::category(0, 2.0));
        assert_eq!(plot.transformed_limits(0), [-0.4, 10.4]);
        assert_eq!(plot.transformed_limits(1), [0.96, 2.04]);
    }

    #[test]
    fn a_plot_without_data_or_with_one_value_has_axes() {
        let mut plot = Plot::new(Axis::new("x"), Axis::new("y"));
        assert_eq!(plot.transformed_limits(0), [0.0, 1.0]);
        plot.add_dots("point", vec![[3.0, 3.0]], palette::category(0, 2.0));
        assert_eq!(plot.transformed_limits(0), [2.5, 3.5]);
    }
}
