//! Discriminators: timing of an echo.

use crate::Scalar;

/// Timing method: the instant of an echo that is timed.
///
/// Every discriminator is calibrated on a reference echo (see
/// [`EchoFinder::calibrated`](super::EchoFinder::calibrated)): the remaining bias is that of echoes
/// that are weaker, stronger or wider than the reference.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Discriminator {
    /// Crossing of the detection threshold by the leading edge; ranges of weak echoes are too long.
    Threshold,
    /// Steepest point of the leading edge.
    LeadingEdge,
    /// Crossing of a fraction of the peak by the leading edge.
    ConstantFraction {
        /// Fraction of the peak, in (0, 1).
        fraction: f64,
    },
    /// Peak: vertex of the parabola through the highest sample and its neighbours.
    Peak,
    /// Centroid of the samples above the threshold.
    Centroid,
}

/// The samples of one echo within a waveform.
#[derive(Clone, Copy, Debug)]
pub(super) struct EchoSamples<'a> {
    pub samples: &'a [f64],
    /// First sample that can belong to the echo's leading edge.
    pub edge_from: usize,
    /// First and one past the last sample of the echo above the threshold.
    pub from: usize,
    pub to: usize,
    /// The highest sample.
    pub peak: usize,
}

impl Discriminator {
    /// The timed instant in (fractional) samples.
    pub(super) fn instant<S: Scalar>(
        &self,
        echo: &EchoSamples,
        threshold: S,
        at: &impl Fn(usize) -> S,
    ) -> S {
        match *self {
            Self::Threshold => echo.crossing(threshold, at),
            Self::LeadingEdge => echo.steepest(at),
            Self::ConstantFraction { fraction } => echo.crossing(echo.vertex(at).1 * fraction, at),
            Self::Peak => echo.vertex(at).0,
            Self::Centroid => echo.centroid(at),
        }
    }
}

/// Samples are selected by their values; results are computed from the selected samples by `at`,
/// which gives the same samples in a scalar that may carry derivatives.
impl EchoSamples<'_> {
    /// Position and height of the parabola through the highest sample and its neighbours.
    pub fn vertex<S: Scalar>(&self, at: &impl Fn(usize) -> S) -> (S, S) {
        let middle = at(self.peak);
        let place = S::from(self.peak as f64);
        if self.peak == 0 || self.peak + 1 == self.samples.len() {
            return (place, middle);
        }
        let left = at(self.peak - 1);
        let right = at(self.peak + 1);
        let curvature = left - middle * 2.0 + right;
        if curvature.value() >= 0.0 {
            return (place, middle);
        }
        let offset = (left - right) * 0.5 / curvature;
        (place + offset, middle - (left - right) * 0.25 * offset)
    }

    /// The last point before the peak where the samples rise through `level`, linearly
    /// interpolated; the start of the edge where they never were below it.
    pub fn crossing<S: Scalar>(&self, level: S, at: &impl Fn(usize) -> S) -> S {
        for i in (self.edge_from + 1..=self.peak).rev() {
            if self.samples[i - 1] < level.value() && level.value() <= self.samples[i] {
                let below = at(i - 1);
                return (level - below) / (at(i) - below) + (i - 1) as f64;
            }
        }
        S::from(self.edge_from as f64)
    }

    /// Middle of the steepest rise before the peak, refined by a parabola through the adjacent
    /// steps.
    fn steepest<S: Scalar>(&self, at: &impl Fn(usize) -> S) -> S {
        let rise = |i: usize| self.samples[i + 1] - self.samples[i];
        let steps = self.edge_from..self.peak;
        let Some(best) = steps.clone().max_by(|a, b| rise(*a).total_cmp(&rise(*b))) else {
            return S::from(self.peak as f64);
        };
        let mut instant = S::from(best as f64 + 0.5);
        if best > steps.start && best + 2 < self.samples.len() {
            let step = |i: usize| at(i + 1) - at(i);
            let left = step(best - 1);
            let middle = step(best);
            let right = step(best + 1);
            let curvature = left - middle * 2.0 + right;
            if curvature.value() < 0.0 {
                instant += (left - right) * 0.5 / curvature;
            }
        }
        instant
    }

    /// Power-weighted mean of the samples of the echo, in samples.
    fn centroid<S: Scalar>(&self, at: &impl Fn(usize) -> S) -> S {
        let mut moment = S::zero();
        let mut sum = S::zero();
        for i in self.from..self.to {
            let power = at(i);
            moment += power * i as f64;
            sum += power;
        }
        moment / sum
    }

    /// Width of the echo at half its peak, in samples, from its two crossings.
    pub fn width<S: Scalar>(&self, at: &impl Fn(usize) -> S) -> S {
        let level = self.vertex(at).1 * 0.5;
        let mut after = self.peak + 1..self.samples.len();
        let right = match after.find(|i| self.samples[*i] < level.value()) {
            Some(i) => {
                let above = at(i - 1);
                let below = at(i);
                -((level - below) / (above - below)) + i as f64
            }
            None => S::from(self.samples.len() as f64),
        };
        right - self.crossing(level, at)
    }
}
