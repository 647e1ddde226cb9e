//! Lines over a common axis; values that span decades on a logarithmic one.

use crate::{Anchor, Axis, Drawing, Legend, Marker, Plot, Point, Symbol, palette};

/// A chart of lines.
#[derive(Clone, Debug)]
pub struct LineChart<'a> {
    /// The heading.
    pub title: &'a str,
    /// What runs to the right, with its unit.
    pub x: &'a str,
    /// What runs upwards, with its unit.
    pub y: &'a str,
    /// Whether y is drawn by its logarithm: values that are not above [`FLOOR`] stand there.
    pub logarithmic: bool,
    /// The lines: names and points.
    pub lines: Vec<(String, Vec<Point>)>,
    /// Whether points are joined.
    pub joined: bool,
}

/// The least value that a logarithmic chart shows.
pub const FLOOR: f64 = 1e-16;

const FRAME: [f64; 4] = [84.0, 64.0, 784.0, 464.0];

impl LineChart<'_> {
    /// Draws the chart.
    pub fn draw(&self) -> Drawing {
        let plot = self.plot();
        let mut legend = Legend::default();
        let mut drawing = Drawing::new(0.0, FRAME[3] + 60.0);
        plot.draw_grid(&mut drawing);
        for (index, (name, points)) in self.lines.iter().enumerate() {
            let stroke = palette::category(index, 2.4);
            let places: Vec<Point> = points
                .iter()
                .filter(|[_, y]| y.is_finite())
                .map(|[x, y]| plot.place(*x, self.height(*y)))
                .collect();
            if self.joined {
                drawing.lines(vec![places.clone()], stroke);
                drawing.markers(Marker::Dot, places, 3.6, stroke.color);
                legend.add(Symbol::Line(stroke), name);
            } else {
                drawing.markers(Marker::Dot, places, 2.2, stroke.color.fade(0.8));
                legend.add(Symbol::Marker(Marker::Dot, 3.0, stroke.color), name);
            }
        }
        plot.draw_axes(&mut drawing);
        drawing.text([FRAME[0], 34.0], self.title, 19.0, Anchor::Start);
        legend.draw(&mut drawing, [FRAME[2] + 24.0, FRAME[1]]);
        let heading = FRAME[0] + crate::font::width(self.title, 19.0);
        drawing.width = (FRAME[2] + legend.width()).max(heading) + 44.0;
        drawing
    }

    fn height(&self, y: f64) -> f64 {
        if self.logarithmic {
            y.max(FLOOR).log10()
        } else {
            y
        }
    }

    fn plot(&self) -> Plot {
        let points = || self.lines.iter().flat_map(|(_, points)| points);
        let finite = || points().filter(|[_, y]| y.is_finite());
        let limits = |values: &mut dyn Iterator<Item = f64>| {
            let [low, high] = values.fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], v| {
                [low.min(v), high.max(v)]
            });
            if low > high {
                return [0.0, 1.0];
            }
            let span = high - low;
            // All alike: an axis of one unit about them.
            let pad = if span > 1e-9 * high.abs() {
                0.04 * span
            } else {
                0.5
            };
            [low - pad, high + pad]
        };
        let mut label = self.y.to_owned();
        if self.logarithmic {
            label = format!("log10 of {label}");
        }
        Plot {
            frame: FRAME,
            x: Axis {
                limits: limits(&mut finite().map(|[x, _]| *x)),
                label: self.x.into(),
            },
            y: Axis {
                limits: limits(&mut finite().map(|[_, y]| self.height(*y))),
                label,
            },
        }
    }
}
