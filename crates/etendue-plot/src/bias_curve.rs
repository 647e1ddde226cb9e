//! A bias over incidence with its interval, above the data that it was learnt from.

use crate::{Anchor, Axis, Color, Drawing, Legend, Plot, Point, Shape, Stroke, Symbol, palette};

/// A curve with its interval.
#[derive(Clone, Debug)]
pub struct BiasChart<'a> {
    /// The heading.
    pub title: &'a str,
    /// A line below it.
    pub subtitle: &'a str,
    /// Incidence (degrees), bias and standard deviation (mm).
    pub curve: Vec<[f64; 3]>,
    /// Other curves: names, incidences (degrees) and biases (mm).
    pub others: Vec<(String, Vec<Point>)>,
    /// Incidences that were seen, degrees.
    pub seen: Option<[f64; 2]>,
    /// Counts of measurements in equal bins from 0 to 90 degrees.
    pub counts: &'a [u64],
}

const CURVE: [f64; 4] = [84.0, 84.0, 724.0, 404.0];
const COUNTS: [f64; 4] = [84.0, 446.0, 724.0, 546.0];
const LINE: Color = Color::hex(0x0072B2);
const BARS: Color = Color::hex(0x56B4E9);

impl BiasChart<'_> {
    /// Draws the chart.
    pub fn draw(&self) -> Drawing {
        let plot = self.plot();
        let mut drawing = Drawing::new(CURVE[2] + 290.0, COUNTS[3] + 60.0);
        let mut legend = Legend::default();
        plot.draw_grid(&mut drawing);
        self.draw_unseen(&plot, &mut drawing);
        self.draw_interval(&plot, &mut drawing);
        let of_curve = self
            .curve
            .iter()
            .map(|[x, y, _]| [*x, *y])
            .collect::<Vec<_>>();
        let stroke = Stroke::new(LINE, 2.6);
        draw_line(&plot, &of_curve, stroke, &mut drawing);
        legend.add(Symbol::Line(stroke), "learnt");
        let wide = Stroke::new(LINE.fade(0.25), 9.0);
        legend.add(Symbol::Line(wide), "two standard deviations");
        for (index, (name, points)) in self.others.iter().enumerate() {
            let stroke = palette::category(index + 1, 2.2);
            draw_line(&plot, points, stroke, &mut drawing);
            legend.add(Symbol::Line(stroke), name);
        }
        if self.seen.is_some() {
            let grey = Stroke::new(palette::FAINT.fade(0.5), 9.0);
            legend.add(Symbol::Line(grey), "outside of the data");
        }
        plot.draw_axes(&mut drawing);
        self.draw_counts(&mut drawing);
        drawing.text([CURVE[0], 34.0], self.title, 19.0, Anchor::Start);
        drawing.text([CURVE[0], 58.0], self.subtitle, 13.0, Anchor::Start);
        legend.draw(&mut drawing, [CURVE[2] + 24.0, CURVE[1]]);
        let heading = crate::font::width(self.subtitle, 13.0);
        let heading = heading.max(crate::font::width(self.title, 19.0)) + CURVE[0];
        drawing.width = (CURVE[2] + 24.0 + legend.width()).max(heading) + 30.0;
        drawing
    }

    /// The axes hold the curve and two standard deviations where there are data.
    fn plot(&self) -> Plot {
        let [from, to] = self.seen.unwrap_or([0.0, 85.0]);
        let within = self.curve.iter().filter(|c| from <= c[0] && c[0] <= to);
        let ends = within.flat_map(|[_, y, sd]| [y - 2.0 * sd, y + 2.0 * sd]);
        let others = self.others.iter().flat_map(|(_, points)| points);
        let others = others.filter(|p| from <= p[0] && p[0] <= to).map(|p| p[1]);
        let finite = ends.chain(others).filter(|y| y.is_finite());
        let [low, high] = finite.fold([0.0_f64, 0.0_f64], |[l, h], y| [l.min(y), h.max(y)]);
        let pad = 0.15 * (high - low).max(1.0);
        Plot {
            frame: CURVE,
            x: axis("", [0.0, 90.0]),
            y: axis("bias, mm", [low - pad, high + pad]),
        }
    }

    fn draw_unseen(&self, plot: &Plot, drawing: &mut Drawing) {
        let Some([from, to]) = self.seen else { return };
        let [low, high] = plot.y.limits;
        let area = |a: f64, b: f64| {
            let corners = [[a, low], [b, low], [b, high], [a, high]];
            corners.map(|[x, y]| plot.place(x, y)).to_vec()
        };
        drawing.shapes.push(Shape::Areas {
            outlines: vec![area(0.0, from), area(to, 90.0)],
            fill: palette::FAINT.fade(0.35),
            stroke: None,
        });
    }

    fn draw_interval(&self, plot: &Plot, drawing: &mut Drawing) {
        let [low, high] = plot.y.limits;
        let side = |sign: f64| {
            let points = self.curve.iter().filter(|c| c[2].is_finite());
            points.map(move |[x, y, sd]| plot.place(*x, (y + sign * 2.0 * sd).clamp(low, high)))
        };
        let outline: Vec<Point> = side(1.0)
            .chain(side(-1.0).collect::<Vec<_>>().into_iter().rev())
            .collect();
        if outline.len() > 2 {
            drawing.shapes.push(Shape::Areas {
                outlines: vec![outline],
                fill: LINE.fade(0.25),
                stroke: None,
            });
        }
    }

    fn draw_counts(&self, drawing: &mut Drawing) {
        let most = self.counts.iter().copied().max().unwrap_or(0).max(1) as f64;
        let plot = Plot {
            frame: COUNTS,
            x: axis("incidence, degrees", [0.0, 90.0]),
            y: axis("thousand points", [0.0, 1.1e-3 * most]),
        };
        let width = 90.0 / self.counts.len().max(1) as f64;
        let bar = |(i, count): (usize, &u64)| {
            let (a, b, top) = (
                i as f64 * width,
                (i + 1) as f64 * width,
                *count as f64 * 1e-3,
            );
            let corners = [[a, 0.0], [b, 0.0], [b, top], [a, top]];
            corners.map(|[x, y]| plot.place(x, y)).to_vec()
        };
        plot.draw_grid(drawing);
        drawing.shapes.push(Shape::Areas {
            outlines: self.counts.iter().enumerate().map(bar).collect(),
            fill: BARS.fade(0.8),
            stroke: Some(Stroke::new(palette::PAPER, 1.0)),
        });
        plot.draw_axes(drawing);
    }
}

fn axis(label: &str, limits: [f64; 2]) -> Axis {
    Axis {
        limits,
        label: label.into(),
    }
}

/// The parts of a line that lie within the axes.
fn draw_line(plot: &Plot, points: &[Point], stroke: Stroke, drawing: &mut Drawing) {
    let pieces = points.windows(2).filter_map(|w| plot.clip(w[0], w[1]));
    drawing.lines(pieces.map(|piece| piece.to_vec()).collect(), stroke);
}
