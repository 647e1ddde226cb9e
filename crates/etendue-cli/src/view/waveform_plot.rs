//! Received power of one beam over range, with the threshold and the reported returns.

use etendue::physics::SPEED_OF_LIGHT;
use etendue::physics::pulse::Waveform;
use etendue_plot::{Axis, Drawing, Figure, Marker, Plot, Series, Symbol, palette};

/// Smallest power shown, relative to the largest.
const DYNAMIC_RANGE: f64 = 1e-5;

/// Radius of the marker of a return, page units.
const SIGN_RADIUS: f64 = 5.0;

/// Waveform of a beam and its returns in the sweep, with independent noise.
pub struct WaveformPlot<'a> {
    /// Heading.
    pub title: &'a str,
    /// Received power.
    pub waveform: &'a Waveform,
    /// Smallest power of an echo, 1/(m² sr).
    pub threshold: f64,
    /// Half the optical path (m) and power (1/(m² sr)) of each reported return.
    pub echoes: Vec<[f64; 2]>,
}

impl WaveformPlot<'_> {
    /// Draws the plot, power on a logarithmic axis.
    pub fn draw(&self) -> Drawing {
        let mut plot = self.axes();

        // Samples
        let samples = self.waveform.samples.iter().enumerate();
        let points = samples.map(|(i, power)| [self.range(i), *power]);
        let stroke = palette::category(0, 1.6);
        plot.add_curve("one realisation of the noise", points.collect(), stroke);

        // Threshold
        let ends = [0.0, self.range(self.waveform.samples.len())];
        let level = ends.map(|range| [range, self.threshold]).to_vec();
        let stroke = palette::category(5, 1.4).dashed(7.0, 4.0);
        plot.add_curve("threshold", level, stroke);

        // Returns of the sweep
        let color = palette::category(2, 1.0).color;
        let none = if self.echoes.is_empty() {
            " (none)"
        } else {
            ""
        };
        let sign = Symbol::Marker(Marker::Diamond, SIGN_RADIUS, color);
        plot.legend
            .add(sign, format!("reported in the sweep{none}"));
        plot.add(Series::Markers {
            points: self.echoes.clone(),
            marker: Marker::Diamond,
            radius: SIGN_RADIUS,
            color,
        });
        Figure::new(self.title).with_plot(plot).draw()
    }

    /// Axes from the exit of the lidar to just behind the last sample above the threshold (all
    /// samples where there is none), and from below the threshold to above all samples.
    fn axes(&self) -> Plot {
        let samples = &self.waveform.samples;
        let highest = samples
            .iter()
            .fold(self.threshold, |highest, power| power.max(highest));
        let lowest = (DYNAMIC_RANGE * highest).clamp(1e-2 * self.threshold, 0.3 * self.threshold);

        let last = samples.iter().rposition(|power| *power > self.threshold);
        let echoes = self.echoes.iter().map(|[range, _]| *range);
        let farthest = echoes.fold(self.range(last.unwrap_or(samples.len())), f64::max);
        let end = (1.2 * farthest + 2.0).min(self.range(samples.len()));

        let x = Axis::new("half the optical path, m").with_limits([0.0, end]);
        let y = Axis::new("received power, 1/(m² sr)").logarithmic(lowest);
        Plot::new(x, y.with_limits([lowest, 1.6 * highest]))
    }

    /// Half the optical path at a sample, m.
    fn range(&self, sample: usize) -> f64 {
        0.5 * SPEED_OF_LIGHT * self.waveform.time(sample as f64)
    }
}
