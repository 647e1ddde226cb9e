//! Curves with intervals, several charts on a page.

use crate::{Anchor, Axis, Drawing, Legend, Marker, Plot, Point, Shape, Stroke, Symbol, palette};

/// A curve.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve {
    /// Its name in the legend: curves of one name look alike in all charts.
    pub name: &'static str,
    /// Its points.
    pub points: Vec<Point>,
    /// Lower and upper end of the interval at each x, or empty.
    pub interval: Vec<[f64; 3]>,
    /// Whether points are joined; else they are dots.
    pub joined: bool,
}

/// A chart.
#[derive(Clone, Debug, PartialEq)]
pub struct CurveChart {
    /// Its heading.
    pub title: String,
    /// What runs to the right, with its unit.
    pub x: String,
    /// What runs upwards, with its unit.
    pub y: String,
    /// Limits upwards; found from the data where not given.
    pub limits: Option<[f64; 2]>,
    /// Its curves.
    pub curves: Vec<Curve>,
}

/// Width and height of a chart's frame, page units.
const SIZE: Point = [330.0, 220.0];
const LEFT: f64 = 84.0;
const TOP: f64 = 96.0;
const GAP: Point = [92.0, 92.0];

/// Draws charts three in a row under one heading, with one legend.
pub fn draw(title: &str, charts: &[CurveChart]) -> Drawing {
    let columns = charts.len().clamp(1, 3);
    let rows = charts.len().div_ceil(columns).max(1);
    let width = LEFT + columns as f64 * (SIZE[0] + GAP[0]);
    let height = TOP + rows as f64 * (SIZE[1] + GAP[1]);
    let names = names(charts);
    let mut legend = Legend::default();
    for (index, (name, joined)) in names.iter().enumerate() {
        let stroke = palette::category(index, 2.2);
        let symbol = if *joined {
            Symbol::Line(stroke)
        } else {
            Symbol::Marker(Marker::Dot, 3.0, stroke.color)
        };
        legend.add(symbol, *name);
    }
    let mut drawing = Drawing::new(width + legend.width() + 24.0, height);
    drawing.text([LEFT, 34.0], title, 19.0, Anchor::Start);
    for (number, chart) in charts.iter().enumerate() {
        let left = LEFT + (number % columns) as f64 * (SIZE[0] + GAP[0]);
        let top = TOP + (number / columns) as f64 * (SIZE[1] + GAP[1]);
        chart.draw_at([left, top], &names, &mut drawing);
    }
    legend.draw(&mut drawing, [width - 30.0, TOP]);
    drawing
}

/// The names of all curves, in their order, and whether they are joined.
fn names(charts: &[CurveChart]) -> Vec<(&'static str, bool)> {
    let mut names: Vec<(&'static str, bool)> = Vec::new();
    for curve in charts.iter().flat_map(|chart| &chart.curves) {
        if !names.iter().any(|(name, _)| *name == curve.name) {
            names.push((curve.name, curve.joined));
        }
    }
    names
}

impl CurveChart {
    fn draw_at(&self, [left, top]: Point, names: &[(&'static str, bool)], drawing: &mut Drawing) {
        let plot = Plot {
            frame: [left, top, left + SIZE[0], top + SIZE[1]],
            x: Axis {
                limits: self.span(),
                label: self.x.clone(),
            },
            y: Axis {
                limits: self.limits.unwrap_or_else(|| self.reach()),
                label: self.y.clone(),
            },
        };
        plot.draw_grid(drawing);
        for curve in &self.curves {
            let index = names.iter().position(|(name, _)| *name == curve.name);
            let stroke = palette::category(index.unwrap_or(0), 2.2);
            curve.draw(&plot, stroke, drawing);
        }
        plot.draw_axes(drawing);
        drawing.text([left, top - 10.0], &self.title, 14.0, Anchor::Start);
    }

    fn span(&self) -> [f64; 2] {
        let xs = self
            .curves
            .iter()
            .flat_map(|curve| &curve.points)
            .map(|p| p[0]);
        limits(xs)
    }

    fn reach(&self) -> [f64; 2] {
        let ys = self
            .curves
            .iter()
            .flat_map(|curve| &curve.points)
            .map(|p| p[1]);
        let [low, high] = limits(ys.filter(|y| y.is_finite()));
        let pad = 0.06 * (high - low);
        [low - pad, high + pad]
    }
}

/// Least and greatest of some values, apart.
fn limits(values: impl Iterator<Item = f64>) -> [f64; 2] {
    let [low, high] = values.fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], v| {
        [low.min(v), high.max(v)]
    });
    if low > high {
        [0.0, 1.0]
    } else if high - low < 1e-9 {
        [low - 0.5, high + 0.5]
    } else {
        [low, high]
    }
}

impl Curve {
    fn draw(&self, plot: &Plot, stroke: Stroke, drawing: &mut Drawing) {
        self.draw_interval(plot, stroke, drawing);
        if self.joined {
            let lines = self
                .points
                .windows(2)
                .filter_map(|two| plot.clip(two[0], two[1]));
            drawing.lines(lines.map(|line| line.to_vec()).collect(), stroke);
        } else {
            let seen = self.points.iter().filter(|[x, y]| plot.contains(*x, *y));
            let at = seen.map(|[x, y]| plot.place(*x, *y)).collect();
            drawing.markers(Marker::Dot, at, 2.6, stroke.color);
        }
    }

    fn draw_interval(&self, plot: &Plot, stroke: Stroke, drawing: &mut Drawing) {
        let [low, high] = plot.y.limits;
        let within = |y: f64| y.clamp(low, high);
        if !self.joined {
            let bars = { self.interval.iter() }
                .filter(|[x, a, b]| plot.contains(*x, within(*a)) && b >= a)
                .map(|[x, a, b]| vec![plot.place(*x, within(*a)), plot.place(*x, within(*b))]);
            let thin = Stroke::new(stroke.color.fade(0.45), 1.2);
            drawing.lines(bars.collect(), thin);
            return;
        }
        if self.interval.len() < 2 {
            return;
        }
        let upper = self
            .interval
            .iter()
            .map(|[x, _, b]| plot.place(*x, within(*b)));
        let lower = self
            .interval
            .iter()
            .rev()
            .map(|[x, a, _]| plot.place(*x, within(*a)));
        drawing.shapes.push(Shape::Areas {
            outlines: vec![upper.chain(lower).collect()],
            fill: stroke.color.fade(0.18),
            stroke: None,
        });
    }
}
