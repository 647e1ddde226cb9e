//! Two point clouds from above, before and after one was moved onto the other.

use crate::{Anchor, Color, Drawing, Extent, Legend, Marker, Plot, Point, Symbol};

/// Two clouds, before and after.
#[derive(Clone, Debug)]
pub struct CloudsView<'a> {
    /// The heading.
    pub title: &'a str,
    /// A line below it.
    pub subtitle: &'a str,
    /// What stays: its name and its points from above, m.
    pub target: (&'a str, &'a [Point]),
    /// What is moved: its name and its points at the start and at the end.
    pub source: (&'a str, [&'a [Point]; 2]),
}

const LARGEST_PLOT: Point = [560.0, 560.0];
const LEFT: f64 = 74.0;
const TOP: f64 = 92.0;
const BETWEEN: f64 = 76.0;
const TARGET: Color = Color::hex(0x0072B2);
const SOURCE: Color = Color::hex(0xD55E00);
/// No more points of a cloud than this are drawn.
const POINTS_SHOWN: usize = 12_000;

impl CloudsView<'_> {
    /// Draws the picture.
    pub fn draw(&self) -> Drawing {
        let first = self.extent().plot([LEFT, TOP], LARGEST_PLOT);
        let [_, _, right, bottom] = first.frame;
        let width = right - LEFT;
        let second = Plot {
            frame: [right + BETWEEN, TOP, right + BETWEEN + width, bottom],
            ..first.clone()
        };
        let legend = self.legend();
        let legend_left = second.frame[2] + 24.0;
        let mut drawing = Drawing::new(legend_left + legend.width() + 20.0, bottom + 60.0);
        drawing.text([LEFT, 30.0], self.title, 19.0, Anchor::Start);
        drawing.text([LEFT, 52.0], self.subtitle, 13.0, Anchor::Start);
        let panels = [
            (first, "at the start", self.source.1[0]),
            (second, "registered", self.source.1[1]),
        ];
        for (plot, name, source) in panels {
            let [left, top, ..] = plot.frame;
            drawing.text([left, top - 10.0], name, 15.0, Anchor::Start);
            plot.draw_grid(&mut drawing);
            draw_points(&plot, self.target.1, TARGET, &mut drawing);
            draw_points(&plot, source, SOURCE, &mut drawing);
            plot.draw_axes(&mut drawing);
        }
        legend.draw(&mut drawing, [legend_left, TOP]);
        drawing
    }

    /// What holds nearly all points: single far ones would make everything else small.
    fn extent(&self) -> Extent {
        let all = || {
            let sources = self.source.1.iter().copied().flatten();
            self.target.1.iter().chain(sources)
        };
        let [x, y] = [0, 1].map(|axis| {
            let mut values: Vec<f64> = all().map(|point| point[axis]).collect();
            values.sort_by(f64::total_cmp);
            let outside = values.len() / 200;
            [outside, values.len() - 1 - outside].map(|index| values[index])
        });
        Extent {
            min: [x[0], y[0]],
            max: [x[1], y[1]],
        }
        .padded()
    }

    fn legend(&self) -> Legend {
        let mut legend = Legend::default();
        legend.add(Symbol::Heading, "Points from above");
        let entry = |name: &str, count: usize| format!("{name} ({count})");
        let target = Symbol::Marker(Marker::Dot, 3.0, TARGET);
        legend.add(target, entry(self.target.0, self.target.1.len()));
        let source = Symbol::Marker(Marker::Dot, 3.0, SOURCE);
        legend.add(source, entry(self.source.0, self.source.1[0].len()));
        legend
    }
}

fn draw_points(plot: &Plot, points: &[Point], color: Color, drawing: &mut Drawing) {
    let every = points.len().div_ceil(POINTS_SHOWN).max(1);
    let seen = points.iter().filter(|[x, y]| plot.contains(*x, *y));
    let at: Vec<Point> = seen
        .step_by(every)
        .map(|[x, y]| plot.place(*x, *y))
        .collect();
    let radius = if at.len() > 2000 { 0.9 } else { 1.8 };
    drawing.markers(Marker::Dot, at, radius, color.fade(0.6));
}
