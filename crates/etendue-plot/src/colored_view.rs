//! Points and lines in the plane, in one or several panels one above the other, by categories.

use crate::{Anchor, Axis, Color, Drawing, Legend, Marker, Plot, Point, Stroke, Symbol};

/// Points of one kind, m.
#[derive(Clone, Debug)]
pub struct Layer {
    /// What they are.
    pub name: String,
    /// Their colour.
    pub color: Color,
    /// Where they are.
    pub points: Vec<Point>,
    /// Whether they are joined.
    pub joined: bool,
}

/// Panels of layers with common axes.
#[derive(Clone, Debug)]
pub struct ColoredView<'a> {
    /// The heading.
    pub title: &'a str,
    /// A line below it.
    pub subtitle: &'a str,
    /// What runs to the right and upwards, with units.
    pub axes: [&'a str; 2],
    /// Whether both axes have one scale.
    pub to_scale: bool,
    /// Panels: headings and layers.
    pub panels: Vec<(String, Vec<Layer>)>,
}

const LEFT: f64 = 84.0;
const TOP: f64 = 92.0;
const WIDTH: f64 = 760.0;
const HIGHEST: f64 = 420.0;
const BETWEEN: f64 = 84.0;
/// No more points of a layer than this are drawn.
const POINTS_SHOWN: usize = 15_000;

impl ColoredView<'_> {
    /// Draws the picture.
    pub fn draw(&self) -> Drawing {
        let [x, y] = self.limits();
        let height = if self.to_scale {
            (WIDTH * (y[1] - y[0]) / (x[1] - x[0])).clamp(120.0, HIGHEST)
        } else {
            240.0
        };
        let mut drawing = Drawing::new(0.0, 0.0);
        drawing.text([LEFT, 32.0], self.title, 19.0, Anchor::Start);
        drawing.text([LEFT, 56.0], self.subtitle, 13.0, Anchor::Start);
        let mut widest = 0.0_f64;
        for (number, (heading, layers)) in self.panels.iter().enumerate() {
            let top = TOP + number as f64 * (height + BETWEEN);
            let plot = self.panel([LEFT, top, LEFT + WIDTH, top + height], x, y);
            drawing.text([LEFT, top - 10.0], heading, 14.0, Anchor::Start);
            plot.draw_grid(&mut drawing);
            let mut legend = Legend::default();
            for layer in layers {
                draw_layer(&plot, layer, &mut drawing, &mut legend);
            }
            plot.draw_axes(&mut drawing);
            legend.draw(&mut drawing, [LEFT + WIDTH + 24.0, top]);
            widest = widest.max(legend.width());
            drawing.height = top + height + 60.0;
        }
        let heading = LEFT + crate::font::width(self.subtitle, 13.0);
        drawing.width = (LEFT + WIDTH + 24.0 + widest).max(heading) + 30.0;
        drawing
    }

    fn panel(&self, frame: [f64; 4], x: [f64; 2], y: [f64; 2]) -> Plot {
        let mut y = y;
        if self.to_scale {
            let half = 0.5 * (frame[3] - frame[1]) * (x[1] - x[0]) / (frame[2] - frame[0]);
            let middle = f64::midpoint(y[0], y[1]);
            y = [middle - half, middle + half];
        }
        let axis = |limits, label: &str| Axis {
            limits,
            label: label.into(),
        };
        Plot {
            frame,
            x: axis(x, self.axes[0]),
            y: axis(y, self.axes[1]),
        }
    }

    /// What holds all but the outermost half per cent of the points, and all lines.
    fn limits(&self) -> [[f64; 2]; 2] {
        let layers = || self.panels.iter().flat_map(|(_, layers)| layers);
        [0, 1].map(|axis| {
            let mut values: Vec<f64> = layers()
                .flat_map(|l| l.points.iter().map(|p| p[axis]))
                .filter(|v| v.is_finite())
                .collect();
            values.sort_by(f64::total_cmp);
            let outside = values.len() / 200;
            let joined = layers().filter(|l| l.joined);
            let ends = joined.flat_map(|l| l.points.iter().map(|p| p[axis]));
            let low = values.get(outside).copied().unwrap_or(0.0);
            let high = values
                .get(values.len().saturating_sub(1 + outside))
                .copied();
            let [low, high] =
                ends.fold([low, high.unwrap_or(1.0)], |[l, h], v| [l.min(v), h.max(v)]);
            let pad = 0.05 * (high - low).max(1e-3);
            [low - pad, high + pad]
        })
    }
}

fn draw_layer(plot: &Plot, layer: &Layer, drawing: &mut Drawing, legend: &mut Legend) {
    if layer.joined {
        let stroke = Stroke::new(layer.color, 2.2);
        let pieces = layer
            .points
            .windows(2)
            .filter_map(|w| plot.clip(w[0], w[1]));
        drawing.lines(pieces.map(|p| p.to_vec()).collect(), stroke);
        legend.add(Symbol::Line(stroke), &layer.name);
        return;
    }
    let every = layer.points.len().div_ceil(POINTS_SHOWN).max(1);
    let seen = layer.points.iter().filter(|[x, y]| plot.contains(*x, *y));
    let at: Vec<Point> = seen
        .step_by(every)
        .map(|[x, y]| plot.place(*x, *y))
        .collect();
    drawing.markers(Marker::Dot, at, 1.0, layer.color.fade(0.6));
    let entry = format!("{} ({})", layer.name, layer.points.len());
    legend.add(Symbol::Marker(Marker::Dot, 3.0, layer.color), entry);
}
