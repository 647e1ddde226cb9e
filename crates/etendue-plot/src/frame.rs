//! Mapping from data to the page, with ticks, grid and labels.

use crate::axis::Axis;
use crate::drawing::{Anchor, Drawing, Point, Shape, TextLabel};
use crate::style::Stroke;
use crate::ticks::ticks;
use crate::{font, palette};

/// Least distances of ticks along x, whose labels are side by side, and along y.
const TICK_SPACING: [f64; 2] = [70.0, 45.0];
/// Distance of the label of the y axis from the frame, unless tick labels need more.
const Y_LABEL_DISTANCE: f64 = 44.0;
/// Space between the frame, the tick labels and the label of the y axis.
const Y_LABEL_GAP: f64 = 8.0;
const LABEL_SIZE: f64 = 13.0;
const TICK_LABEL_SIZE: f64 = 12.0;

/// Axes at their position on the page.
pub struct Frame<'a> {
    /// Left, top, right and bottom of the frame on the page.
    pub rectangle: [f64; 4],
    /// Axis to the right, and its limits after the transform of its scale.
    pub x: (&'a Axis, [f64; 2]),
    /// Axis upwards, likewise.
    pub y: (&'a Axis, [f64; 2]),
}

impl Frame<'_> {
    /// Point of the data after the transforms of both scales.
    fn transform(&self, [x, y]: Point) -> Point {
        [self.x.0.scale.transform(x), self.y.0.scale.transform(y)]
    }

    /// Page position of a transformed point.
    fn page_position_of_transformed(&self, [x, y]: Point) -> Point {
        let [left, top, right, bottom] = self.rectangle;
        [
            left + fraction(x, self.x.1) * (right - left),
            bottom - fraction(y, self.y.1) * (bottom - top),
        ]
    }

    /// Page position of a point of the data.
    pub fn page_position(&self, point: Point) -> Point {
        self.page_position_of_transformed(self.transform(point))
    }

    /// Page position of a point of the data, clamped to the frame.
    pub fn clamped_page_position(&self, point: Point) -> Point {
        let [x, y] = self.transform(point);
        let x_limits = self.x.1;
        let y_limits = self.y.1;
        self.page_position_of_transformed([
            x.clamp(x_limits[0], x_limits[1]),
            y.clamp(y_limits[0], y_limits[1]),
        ])
    }

    /// Whether a point of the data is within the axes.
    pub fn contains(&self, [x, y]: Point) -> bool {
        self.contains_x(x) && is_within(self.y.0.scale.transform(y), self.y.1)
    }

    /// Whether a value of the data is within the x axis.
    pub fn contains_x(&self, x: f64) -> bool {
        is_within(self.x.0.scale.transform(x), self.x.1)
    }

    /// Segment clipped to the axes, on the page
    /// (Liang and Barsky 1984, doi:10.1145/357332.357333).
    pub fn clip(&self, from: Point, to: Point) -> Option<[Point; 2]> {
        let from = self.transform(from);
        let to = self.transform(to);
        let mut enter = 0.0_f64;
        let mut leave = 1.0_f64;
        for (axis, [min, max]) in [self.x.1, self.y.1].into_iter().enumerate() {
            let step = to[axis] - from[axis];
            let to_min = min - from[axis];
            let to_max = max - from[axis];
            if step == 0.0 {
                if to_min > 0.0 || to_max < 0.0 {
                    return None;
                }
                continue;
            }
            let first = to_min / step;
            let second = to_max / step;
            enter = enter.max(first.min(second));
            leave = leave.min(first.max(second));
        }
        let at = |t: f64| [0, 1].map(|axis| from[axis] + t * (to[axis] - from[axis]));
        (enter <= leave).then(|| [enter, leave].map(|t| self.page_position_of_transformed(at(t))))
    }

    /// Polyline clipped to the axes, as pieces on the page.
    pub fn clip_polyline(&self, points: &[Point]) -> Vec<Vec<Point>> {
        let mut pieces: Vec<Vec<Point>> = Vec::new();
        for pair in points.windows(2) {
            let Some([from, to]) = self.clip(pair[0], pair[1]) else {
                continue;
            };
            match pieces.last_mut() {
                Some(piece) if piece.last() == Some(&from) => piece.push(to),
                _ => pieces.push(vec![from, to]),
            }
        }
        pieces
    }

    /// Draws the grid, below the series.
    pub fn draw_grid(&self, drawing: &mut Drawing) {
        let [left, top, right, bottom] = self.rectangle;
        let x_ticks = self.x_ticks().0.into_iter();
        let y_ticks = self.y_ticks().0.into_iter();
        let vertical = x_ticks.map(|x| self.page_position_of_transformed([x, self.y.1[0]])[0]);
        let horizontal = y_ticks.map(|y| self.page_position_of_transformed([self.x.1[0], y])[1]);
        let lines = vertical
            .map(|x| vec![[x, top], [x, bottom]])
            .chain(horizontal.map(|y| vec![[left, y], [right, y]]));
        drawing.lines(lines.collect(), Stroke::new(palette::GRID, 1.0));
    }

    /// Draws frame, tick labels and axis labels, above the series.
    pub fn draw_axes(&self, drawing: &mut Drawing) {
        // Frame
        let [left, top, right, bottom] = self.rectangle;
        let corners = [[left, top], [right, top], [right, bottom], [left, bottom]];
        let outline = [corners.as_slice(), &corners[..1]].concat();
        drawing.lines(vec![outline], Stroke::new(palette::INK, 1.0));

        // Ticks
        self.draw_tick_labels(drawing);

        // Labels
        let below = [f64::midpoint(left, right), bottom + 40.0];
        let label = self.x.0.printed_label();
        drawing.text(below, label, LABEL_SIZE, Anchor::Middle);
        let distance = Y_LABEL_DISTANCE.max(self.widest_y_tick() + 2.0 * Y_LABEL_GAP);
        drawing.shapes.push(Shape::Text(TextLabel {
            at: [left - distance, f64::midpoint(top, bottom)],
            content: self.y.0.printed_label(),
            size: LABEL_SIZE,
            color: palette::INK,
            anchor: Anchor::Middle,
            vertical: true,
        }));
    }

    fn draw_tick_labels(&self, drawing: &mut Drawing) {
        let [left, _, _, bottom] = self.rectangle;
        let (values, decimals) = self.x_ticks();
        for value in values {
            let [x, _] = self.page_position_of_transformed([value, self.y.1[0]]);
            let label = signed(value, decimals);
            drawing.text([x, bottom + 19.0], label, TICK_LABEL_SIZE, Anchor::Middle);
        }
        let (values, decimals) = self.y_ticks();
        for value in values {
            let [_, y] = self.page_position_of_transformed([self.x.1[0], value]);
            let label = signed(value, decimals);
            drawing.text(
                [left - Y_LABEL_GAP, y + 4.2],
                label,
                TICK_LABEL_SIZE,
                Anchor::End,
            );
        }
    }

    /// Width of the widest tick label of the y axis.
    fn widest_y_tick(&self) -> f64 {
        let (values, decimals) = self.y_ticks();
        let labels = values.into_iter().map(|value| signed(value, decimals));
        let widths = labels.map(|label| font::width(&label, TICK_LABEL_SIZE));
        widths.fold(0.0, f64::max)
    }

    fn x_ticks(&self) -> (Vec<f64>, usize) {
        let [left, _, right, _] = self.rectangle;
        axis_ticks(self.x, tick_count(right - left, TICK_SPACING[0]))
    }

    fn y_ticks(&self) -> (Vec<f64>, usize) {
        let [_, top, _, bottom] = self.rectangle;
        axis_ticks(self.y, tick_count(bottom - top, TICK_SPACING[1]))
    }
}

/// Values of the ticks of an axis with limits, and their number of decimals.
fn axis_ticks((axis, limits): (&Axis, [f64; 2]), most: usize) -> (Vec<f64>, usize) {
    let (mut values, decimals) = ticks(limits, most);
    if axis.is_whole {
        values.retain(|value| (value - value.round()).abs() < 1e-9);
        return (values, 0);
    }
    (values, decimals)
}

fn is_within(value: f64, [min, max]: [f64; 2]) -> bool {
    value >= min && value <= max
}

fn tick_count(length: f64, spacing: f64) -> usize {
    ((length / spacing) as usize).max(2)
}

fn fraction(value: f64, [min, max]: [f64; 2]) -> f64 {
    (value - min) / (max - min)
}

/// Number with a typographic minus sign.
fn signed(value: f64, decimals: usize) -> String {
    format!("{value:.decimals$}").replace('-', "\u{2212}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame<'a>(x: &'a Axis, y: &'a Axis) -> Frame<'a> {
        Frame {
            rectangle: [10.0, 20.0, 110.0, 220.0],
            x: (x, [0.0, 1.0]),
            y: (y, [0.0, 2.0]),
        }
    }

    #[test]
    fn y_points_upwards() {
        let x = Axis::new("x, m");
        let y = Axis::new("y, m");
        assert_eq!(frame(&x, &y).page_position([0.0, 0.0]), [10.0, 220.0]);
        assert_eq!(frame(&x, &y).page_position([1.0, 2.0]), [110.0, 20.0]);
    }

    #[test]
    fn a_line_is_clipped_at_the_frame() {
        let x = Axis::new("x, m");
        let y = Axis::new("y, m");
        let frame = frame(&x, &y);
        let [from, to] = frame.clip([-1.0, 1.0], [2.0, 1.0]).expect("it crosses");
        assert_eq!((from, to), ([10.0, 120.0], [110.0, 120.0]));
        assert_eq!(frame.clip([-1.0, 3.0], [2.0, 3.0]), None);
        assert_eq!(frame.clip([-2.0, 0.0], [-1.0, 1.0]), None);
    }

    #[test]
    fn a_polyline_that_leaves_the_frame_becomes_two_pieces() {
        let x = Axis::new("x, m");
        let y = Axis::new("y, m");
        let points = [[0.0, 1.0], [0.25, 1.0], [0.4, 5.0], [0.6, 5.0], [0.8, 1.0]];
        let pieces = frame(&x, &y).clip_polyline(&points);
        let lengths: Vec<usize> = pieces.iter().map(Vec::len).collect();
        assert_eq!(lengths, [3, 2]);
    }

    #[test]
    fn a_decade_has_one_length_on_a_logarithmic_axis() {
        let x = Axis::new("x, m");
        let y = Axis::new("power").logarithmic(1e-3);
        let frame = frame(&x, &y);
        let heights = [1.0, 10.0, 100.0].map(|power| frame.page_position([0.0, power])[1]);
        assert_eq!(heights[0] - heights[1], heights[1] - heights[2]);
        assert_eq!(
            frame.page_position([0.0, 1e-3]),
            frame.page_position([0.0, -5.0])
        );
    }
}
