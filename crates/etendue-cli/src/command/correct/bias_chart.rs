//! Chart of a bias over incidence with its confidence band, above a histogram of its data.

use etendue_plot::{Axis, Color, Drawing, Figure, Plot, Point, Series, Stroke, Symbol, palette};

/// Bias over incidence.
#[derive(Clone, Debug)]
pub struct BiasChart<'a> {
    /// Heading.
    pub title: &'a str,
    /// Line below the heading.
    pub subtitle: &'a str,
    /// Incidence (degrees), bias and standard deviation (mm).
    pub curve: Vec<[f64; 3]>,
    /// Range of incidences with data, degrees.
    pub seen: Option<[f64; 2]>,
    /// Counts of measurements in equal bins from 0 to 90 degrees.
    pub counts: &'a [u64],
}

const LINE: Color = Color::hex(0x0072B2);
const BARS: Color = Color::hex(0x56B4E9);

impl BiasChart<'_> {
    /// Draws the chart.
    pub fn draw(&self) -> Drawing {
        Figure::new(self.title)
            .with_subtitle(self.subtitle)
            .with_plot(self.bias())
            .with_plot(self.histogram())
            .draw()
    }

    fn bias(&self) -> Plot {
        let x = Axis::new("").with_limits([0.0, 90.0]);
        let y = Axis::new("bias, mm").with_limits(self.bias_limits());
        let mut plot = Plot::new(x, y).with_size([640.0, 320.0]);

        // Incidences without data
        if let Some([from, to]) = self.seen {
            plot.add(Series::Stripes {
                stripes: vec![[0.0, from], [to, 90.0]],
                fill: palette::FAINT.fade(0.35),
            });
        }

        // Confidence band and curve
        let interval = |[x, y, sd]: &[f64; 3]| [*x, y - 2.0 * sd, y + 2.0 * sd];
        plot.add(Series::Band {
            intervals: self.curve.iter().map(interval).collect(),
            fill: LINE.fade(0.25),
        });
        let points: Vec<Point> = self.curve.iter().map(|[x, y, _]| [*x, *y]).collect();
        plot.add_curve("learnt", points, Stroke::new(LINE, 2.6));
        let band = Symbol::Line(Stroke::new(LINE.fade(0.25), 9.0));
        plot.legend.add(band, "two standard deviations");
        if self.seen.is_some() {
            let stripe = Symbol::Line(Stroke::new(palette::FAINT.fade(0.5), 9.0));
            plot.legend.add(stripe, "no data");
        }
        plot
    }

    /// Limits that contain the curve with two standard deviations over the incidences with data.
    fn bias_limits(&self) -> [f64; 2] {
        let [from, to] = self.seen.unwrap_or([0.0, 85.0]);
        let seen = self.curve.iter().filter(|c| from <= c[0] && c[0] <= to);
        let ends = seen.flat_map(|[_, y, sd]| [y - 2.0 * sd, y + 2.0 * sd]);
        let finite = ends.filter(|y| y.is_finite());
        let [low, high] = finite.fold([0.0_f64; 2], |[l, h], y| [l.min(y), h.max(y)]);
        let margin = 0.15 * (high - low).max(1.0);
        [low - margin, high + margin]
    }

    fn histogram(&self) -> Plot {
        let most = self.counts.iter().copied().max().unwrap_or(0).max(1) as f64;
        let x = Axis::new("incidence, degrees").with_limits([0.0, 90.0]);
        let y = Axis::new("thousand points").with_limits([0.0, 1.1e-3 * most]);
        let mut plot = Plot::new(x, y).with_size([640.0, 100.0]);
        let width = 90.0 / self.counts.len().max(1) as f64;
        let bar = |(i, count): (usize, &u64)| {
            let left = i as f64 * width;
            [left, left + width, 1e-3 * *count as f64]
        };
        plot.add(Series::Bars {
            bars: self.counts.iter().enumerate().map(bar).collect(),
            fill: BARS.fade(0.8),
        });
        plot
    }
}
