//! The received power of one beam over range, and what is reported of it.

use etendue::physics::SPEED_OF_LIGHT;
use etendue::physics::pulse::Waveform;
use etendue_plot::{Anchor, Axis, Drawing, Legend, Marker, Plot, Stroke, Symbol, palette};

const FRAME: [f64; 4] = [74.0, 64.0, 774.0, 464.0];
/// Smallest power shown over the largest.
const FLOOR: f64 = 1e-5;

/// A waveform and what the device made of the beam in its sweep, whose noise was drawn on its own.
pub struct WaveformPlot<'a> {
    /// The heading.
    pub title: &'a str,
    /// The power that came back.
    pub waveform: &'a Waveform,
    /// Power that an echo must reach.
    pub threshold: f64,
    /// Half the optical path (m) and power of each echo that is reported.
    pub echoes: Vec<[f64; 2]>,
}

impl WaveformPlot<'_> {
    /// Draws it, the power on a logarithmic scale.
    pub fn draw(&self) -> Drawing {
        let plot = self.plot();
        let [floor, top] = plot.y.limits;
        let height = |power: f64| power.max(f64::MIN_POSITIVE).log10().clamp(floor, top);
        let mut drawing = Drawing::new(0.0, FRAME[3] + 60.0);
        let mut legend = Legend::default();
        plot.draw_grid(&mut drawing);
        let samples = self.waveform.samples.iter().enumerate();
        let line = samples
            .map(|(i, power)| [self.range(i), height(*power)])
            .filter(|[x, y]| plot.contains(*x, *y))
            .map(|[x, y]| plot.place(x, y));
        let stroke = palette::category(0, 1.6);
        drawing.lines(vec![line.collect()], stroke);
        legend.add(Symbol::Line(stroke), "one draw of the samples");
        let level = Stroke {
            dash: Some([7.0, 4.0]),
            ..palette::category(5, 1.4)
        };
        let ends = plot.x.limits.map(|x| [x, self.threshold.log10()]);
        let cut = plot.clip(ends[0], ends[1]);
        drawing.lines(cut.map(Vec::from).into_iter().collect(), level);
        legend.add(Symbol::Line(level), "threshold");
        let found = self.echoes.iter();
        let found = found.map(|[range, power]| plot.place(*range, height(*power)));
        let sign = palette::category(2, 1.0).color;
        drawing.markers(Marker::Diamond, found.collect(), 5.0, sign);
        let none = if self.echoes.is_empty() {
            " (none)"
        } else {
            ""
        };
        let reported = format!("reported in the sweep{none}");
        legend.add(Symbol::Marker(Marker::Diamond, 5.0, sign), reported);
        plot.draw_axes(&mut drawing);
        drawing.text([FRAME[0], 34.0], self.title, 19.0, Anchor::Start);
        legend.draw(&mut drawing, [FRAME[2] + 24.0, FRAME[1]]);
        drawing.width = FRAME[2] + legend.width() + 44.0;
        drawing
    }

    /// From the exit to behind the last light that may be an echo, else to the end; from below the threshold to above all.
    fn plot(&self) -> Plot {
        let samples = &self.waveform.samples;
        let most = { samples.iter() }.fold(self.threshold, |most, power| power.max(most));
        let least = (FLOOR * most).clamp(1e-2 * self.threshold, 0.3 * self.threshold);
        let seen = samples.iter().rposition(|power| *power > self.threshold);
        let farthest = { self.echoes.iter() }.fold(0.0_f64, |far, [range, _]| range.max(far));
        let far = self.range(seen.unwrap_or(samples.len())).max(farthest);
        Plot {
            frame: FRAME,
            x: Axis {
                limits: [0.0, (1.2 * far + 2.0).min(self.range(samples.len()))],
                label: "half the optical path, m".into(),
            },
            y: Axis {
                limits: [least.log10(), most.log10() + 0.2],
                label: "log10 of the received power, 1/(m² sr)".into(),
            },
        }
    }

    fn range(&self, sample: usize) -> f64 {
        0.5 * SPEED_OF_LIGHT * self.waveform.time(sample as f64)
    }
}
