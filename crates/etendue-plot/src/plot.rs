//! Axes: from data to the page, with ticks, grid and labels.

use crate::ticks::ticks;
use crate::{Anchor, Drawing, Point, Shape, Stroke, Text, palette};

/// One axis of a plot.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    /// Smallest and largest value shown.
    pub limits: [f64; 2],
    /// What is shown, with its unit.
    pub label: String,
}

/// A frame with two axes.
#[derive(Clone, Debug, PartialEq)]
pub struct Plot {
    /// Left, top, right and bottom of the frame on the page.
    pub frame: [f64; 4],
    /// The axis to the right.
    pub x: Axis,
    /// The axis upwards.
    pub y: Axis,
}

const TICK_SPACING: f64 = 70.0;
const LABEL_SIZE: f64 = 13.0;

impl Plot {
    /// Where a point of data stands on the page.
    pub fn place(&self, x: f64, y: f64) -> Point {
        let [left, top, right, bottom] = self.frame;
        [
            left + fraction(x, self.x.limits) * (right - left),
            bottom - fraction(y, self.y.limits) * (bottom - top),
        ]
    }

    /// Whether a point of data lies within the axes.
    pub fn contains(&self, x: f64, y: f64) -> bool {
        let within = |v: f64, [min, max]: [f64; 2]| v >= min && v <= max;
        within(x, self.x.limits) && within(y, self.y.limits)
    }

    /// The part of a line between two points of data that lies within the axes, on the page
    /// (Liang and Barsky 1984, doi:10.1145/357332.357333).
    pub fn clip(&self, from: Point, to: Point) -> Option<[Point; 2]> {
        let (mut enter, mut leave) = (0.0_f64, 1.0_f64);
        for (axis, [min, max]) in [self.x.limits, self.y.limits].into_iter().enumerate() {
            let step = to[axis] - from[axis];
            let (to_min, to_max) = (min - from[axis], max - from[axis]);
            if step == 0.0 {
                if to_min > 0.0 || to_max < 0.0 {
                    return None;
                }
                continue;
            }
            let (first, second) = (to_min / step, to_max / step);
            enter = enter.max(first.min(second));
            leave = leave.min(first.max(second));
        }
        let at = |t: f64| {
            self.place(
                from[0] + t * (to[0] - from[0]),
                from[1] + t * (to[1] - from[1]),
            )
        };
        (enter <= leave).then(|| [at(enter), at(leave)])
    }

    /// Draws the grid: what stands behind the data.
    pub fn draw_grid(&self, drawing: &mut Drawing) {
        let [left, top, right, bottom] = self.frame;
        let (xs, ys) = self.ticks();
        let upright = xs.0.iter().map(|x| self.place(*x, self.y.limits[0])[0]);
        let level = ys.0.iter().map(|y| self.place(self.x.limits[0], *y)[1]);
        let lines = upright
            .map(|x| vec![[x, top], [x, bottom]])
            .chain(level.map(|y| vec![[left, y], [right, y]]));
        drawing.lines(lines.collect(), Stroke::new(palette::GRID, 1.0));
    }

    /// Draws frame, ticks and labels: what stands before the data.
    pub fn draw_axes(&self, drawing: &mut Drawing) {
        let [left, top, right, bottom] = self.frame;
        let corners = [[left, top], [right, top], [right, bottom], [left, bottom]];
        let outline = [corners.as_slice(), &corners[..1]].concat();
        drawing.lines(vec![outline], Stroke::new(palette::INK, 1.0));
        self.draw_tick_labels(drawing);
        let middle = f64::midpoint(left, right);
        drawing.text(
            [middle, bottom + 40.0],
            &self.x.label,
            LABEL_SIZE,
            Anchor::Middle,
        );
        drawing.shapes.push(Shape::Text(Text {
            at: [left - 44.0, f64::midpoint(top, bottom)],
            words: self.y.label.clone(),
            size: LABEL_SIZE,
            color: palette::INK,
            anchor: Anchor::Middle,
            upwards: true,
        }));
    }

    fn draw_tick_labels(&self, drawing: &mut Drawing) {
        let [left, _, _, bottom] = self.frame;
        let ((xs, x_decimals), (ys, y_decimals)) = self.ticks();
        for value in xs {
            let [x, _] = self.place(value, self.y.limits[0]);
            drawing.text(
                [x, bottom + 19.0],
                number(value, x_decimals),
                12.0,
                Anchor::Middle,
            );
        }
        for value in ys {
            let [_, y] = self.place(self.x.limits[0], value);
            drawing.text(
                [left - 8.0, y + 4.2],
                number(value, y_decimals),
                12.0,
                Anchor::End,
            );
        }
    }

    fn ticks(&self) -> ((Vec<f64>, usize), (Vec<f64>, usize)) {
        let [left, top, right, bottom] = self.frame;
        let count = |length: f64| ((length / TICK_SPACING) as usize).max(2);
        let [x_min, x_max] = self.x.limits;
        let [y_min, y_max] = self.y.limits;
        (
            ticks(x_min, x_max, count(right - left)),
            ticks(y_min, y_max, count(bottom - top)),
        )
    }
}

fn fraction(value: f64, [min, max]: [f64; 2]) -> f64 {
    (value - min) / (max - min)
}

/// A number with a true minus sign.
fn number(value: f64, decimals: usize) -> String {
    format!("{value:.decimals$}").replace('-', "\u{2212}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plot() -> Plot {
        let axis = |label: &str, limits| Axis {
            limits,
            label: label.into(),
        };
        Plot {
            frame: [10.0, 20.0, 110.0, 220.0],
            x: axis("x, m", [0.0, 1.0]),
            y: axis("y, m", [0.0, 2.0]),
        }
    }

    #[test]
    fn y_points_upwards() {
        assert_eq!(plot().place(0.0, 0.0), [10.0, 220.0]);
        assert_eq!(plot().place(1.0, 2.0), [110.0, 20.0]);
    }

    #[test]
    fn a_line_is_cut_at_the_frame() {
        let [from, to] = plot().clip([-1.0, 1.0], [2.0, 1.0]).expect("it crosses");
        assert_eq!((from, to), ([10.0, 120.0], [110.0, 120.0]));
        assert_eq!(plot().clip([-1.0, 3.0], [2.0, 3.0]), None);
        assert_eq!(plot().clip([-2.0, 0.0], [-1.0, 1.0]), None);
    }
}
