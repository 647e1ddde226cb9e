//! Which instant of an echo counts as its arrival.

/// The instant of an echo that is timed.
///
/// Every discriminator is calibrated on a reference echo (see
/// [`EchoFinder::calibrated`](super::EchoFinder::calibrated)): what is left is the bias of
/// echoes that are weaker, stronger or wider than it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Discriminator {
    /// Where the leading edge crosses the detection threshold: weak echoes read long.
    Threshold,
    /// Where the leading edge is steepest.
    LeadingEdge,
    /// Where the leading edge reaches a fraction of the peak, in (0, 1).
    ConstantFraction {
        /// Level over peak.
        fraction: f64,
    },
    /// The peak, by a parabola through the three highest samples.
    Peak,
    /// The centre of gravity of the samples above the threshold.
    Centroid,
}

/// The samples of one echo within a waveform.
#[derive(Clone, Copy, Debug)]
pub(super) struct EchoSamples<'a> {
    pub samples: &'a [f64],
    /// No sample before this belongs to the echo's leading edge.
    pub edge_from: usize,
    /// First and one past the last sample of the echo above the threshold.
    pub from: usize,
    pub to: usize,
    /// The highest sample.
    pub peak: usize,
}

impl Discriminator {
    /// The timed instant in (fractional) samples.
    pub(super) fn instant(&self, echo: &EchoSamples, threshold: f64) -> f64 {
        match *self {
            Self::Threshold => echo.crossing(threshold),
            Self::LeadingEdge => echo.steepest(),
            Self::ConstantFraction { fraction } => echo.crossing(fraction * echo.vertex().1),
            Self::Peak => echo.vertex().0,
            Self::Centroid => echo.centroid(),
        }
    }
}

impl EchoSamples<'_> {
    /// Position and height of the parabola through the highest sample and its neighbours.
    pub fn vertex(&self) -> (f64, f64) {
        let middle = self.samples[self.peak];
        if self.peak == 0 || self.peak + 1 == self.samples.len() {
            return (self.peak as f64, middle);
        }
        let (left, right) = (self.samples[self.peak - 1], self.samples[self.peak + 1]);
        let curvature = left - 2.0 * middle + right;
        if curvature >= 0.0 {
            return (self.peak as f64, middle);
        }
        let offset = 0.5 * (left - right) / curvature;
        (
            self.peak as f64 + offset,
            middle - 0.25 * (left - right) * offset,
        )
    }

    /// The last point before the peak where the samples rise through `level`, linearly
    /// interpolated; the start of the edge where they never were below it.
    pub fn crossing(&self, level: f64) -> f64 {
        for i in (self.edge_from + 1..=self.peak).rev() {
            let (below, above) = (self.samples[i - 1], self.samples[i]);
            if below < level && level <= above {
                return (i - 1) as f64 + (level - below) / (above - below);
            }
        }
        self.edge_from as f64
    }

    /// The middle of the steepest step up before the peak, refined by a parabola through the
    /// steps beside it.
    fn steepest(&self) -> f64 {
        let step = |i: usize| self.samples[i + 1] - self.samples[i];
        let steps = self.edge_from..self.peak;
        let Some(best) = steps.clone().max_by(|a, b| step(*a).total_cmp(&step(*b))) else {
            return self.peak as f64;
        };
        let mut at = best as f64 + 0.5;
        if best > steps.start && best + 2 < self.samples.len() {
            let (left, middle, right) = (step(best - 1), step(best), step(best + 1));
            let curvature = left - 2.0 * middle + right;
            if curvature < 0.0 {
                at += 0.5 * (left - right) / curvature;
            }
        }
        at
    }

    fn centroid(&self) -> f64 {
        let above = (self.from..self.to).map(|i| (i as f64, self.samples[i]));
        let (moment, sum) = above.fold((0.0, 0.0), |(m, s), (i, p)| (m + i * p, s + p));
        moment / sum
    }

    /// Width of the echo at half its peak, in samples, by its two crossings.
    pub fn width(&self) -> f64 {
        let level = 0.5 * self.vertex().1;
        let fall = (self.peak + 1..self.samples.len()).find(|i| self.samples[*i] < level);
        let right = fall.map_or(self.samples.len() as f64, |i| {
            let (above, below) = (self.samples[i - 1], self.samples[i]);
            i as f64 - (level - below) / (above - below)
        });
        right - self.crossing(level)
    }
}
