//! Waveform of the air's backscatter on the sampling clock of a receiver.

use etendue_physics::pulse::{Pulse, PulseReturn, SamplingWindow, Waveform, WaveformModel};
use etendue_physics::{SPEED_OF_LIGHT, Scalar};

/// Share of the detection threshold below which backscatter is assumed to form no echo.
pub(super) const FAINT: f64 = 0.125;

/// Share of the detection threshold below which backscatter is omitted from waveforms: a twentieth of the
/// noise if the threshold is five times the noise.
pub(super) const HIDDEN: f64 = 0.01;

/// Length of the cells of air, m: an eighth of the length $c\\,T$ of a pulse with the full width $T$ (s).
pub(super) fn cell_length(pulse_fwhm: f64) -> f64 {
    0.125 * SPEED_OF_LIGHT * pulse_fwhm
}

/// Pulse, sampling clock and threshold of a receiver.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sampling<S> {
    /// The pulse.
    pub pulse: Pulse<S>,
    /// Time between samples, s.
    pub interval: f64,
    /// Power that an echo must reach, 1/(m² sr).
    pub threshold: f64,
    /// Share of the threshold that backscatter must reach somewhere.
    pub least: f64,
}

/// Waveform of the air's backscatter in the absence of surfaces. All shots share it; each uses the cells
/// before its first surface.
#[derive(Clone, Debug)]
pub(super) struct BackscatterWaveform<S> {
    /// Returns of the cells, nearest first; at least one.
    cells: Vec<PulseReturn<S>>,
    /// Distance between cells, m.
    pub cell_length: f64,
    pulse: Pulse<S>,
    /// Time between samples, s.
    interval: f64,
    /// Index of the first sample: its time over the interval.
    first: f64,
    /// Power of all cells at each sample.
    samples: Vec<S>,
    /// Number of samples up to the last that may form an echo.
    bright: usize,
}

/// Waveform of the air's backscatter in the absence of surfaces, for other processors.
///
/// A shot has the light of the whole cells before the first surface on its axis: a sample is one of `samples` if the next cell
/// does not contribute to it, else the sum of the pulses of the cells before. A cell that the surface cuts is a return of its own
/// ([`cut_volume_return`](etendue_physics::atmosphere::cut_volume_return)). Echoes may form from the first cell to the last one of
/// the shot or the last `bright` sample.
#[derive(Clone, Copy, Debug)]
pub struct DirectBackscatter<'a> {
    /// Returns of the cells, nearest first.
    pub cells: &'a [PulseReturn],
    /// Distance between cells, m.
    pub cell_length: f64,
    /// Number of the first sample on the clock of the receiver.
    pub first: f64,
    /// Power of all cells at each sample, 1/(m² sr).
    pub samples: &'a [f64],
    /// Number of samples up to the last that may form an echo.
    pub bright: usize,
    /// Largest share of the detection threshold behind these.
    pub faint: f64,
}

/// Backscatter of the cells before the first surface of a shot.
#[derive(Clone, Copy)]
pub(super) struct Backscatter<'a, S> {
    pub waveform: &'a BackscatterWaveform<S>,
    /// Number of whole cells before the surface.
    pub cells: usize,
}

impl BackscatterWaveform<f64> {
    /// The waveform, for other processors.
    pub fn direct(&self) -> DirectBackscatter<'_> {
        DirectBackscatter {
            cells: &self.cells,
            cell_length: self.cell_length,
            first: self.first,
            samples: &self.samples,
            bright: self.bright,
            faint: FAINT,
        }
    }
}

impl<S: Scalar> BackscatterWaveform<S> {
    /// The waveform of the returns of cells; `None` without cells, or if no sample reaches the least share
    /// of the threshold.
    pub fn new(
        cells: Vec<PulseReturn<S>>,
        cell_length: f64,
        sampling: &Sampling<S>,
    ) -> Option<Self> {
        // Sample the power of all cells.
        let near = cells.first()?.range.value();
        let far = cells.last()?.range.value();
        let interval = sampling.interval;
        let pulse = sampling.pulse.plain();
        let window = SamplingWindow::around(&pulse, interval, near, far);
        let samples = Waveform::received(&pulse, &cells, window).samples;
        let threshold = sampling.threshold;
        let most = samples.iter().copied().fold(0.0, f64::max);
        if most < sampling.least * threshold {
            return None;
        }
        let last = samples
            .iter()
            .rposition(|power| *power >= FAINT * threshold);
        let mut waveform = Self {
            bright: last.map_or(0, |last| last + 1),
            first: (window.start / interval).round(),
            samples: vec![],
            cells,
            cell_length,
            pulse: sampling.pulse,
            interval,
        };
        // Add the derivatives.
        let all = waveform.cells.len();
        let lifted = samples.iter().enumerate().map(|(i, power)| {
            let number = waveform.first + i as f64;
            S::with_derivatives_of(*power, || waveform.sum(number, all))
        });
        waveform.samples = lifted.collect();
        Some(waveform)
    }

    /// The backscatter before a surface at `far` (m).
    pub fn before(&self, far: f64) -> Backscatter<'_, S> {
        let is_before = |one: &PulseReturn<S>| one.range.value() + 0.5 * self.cell_length <= far;
        self.first_cells(self.cells.partition_point(is_before))
    }

    /// The backscatter of the first cells.
    pub fn first_cells(&self, cells: usize) -> Backscatter<'_, S> {
        Backscatter {
            waveform: self,
            cells,
        }
    }

    /// Index in `samples` of a sample number on the clock, if only the first `cells` contribute to it.
    fn index(&self, number: f64, cells: usize) -> Option<usize> {
        let [before, _] = self.pulse.plain().support();
        let next = self.cells.get(cells);
        let from = next.map(|next| 2.0 * next.range.value() / SPEED_OF_LIGHT - before);
        let is_whole = from.is_none_or(|from| number * self.interval < from);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a whole number, not negative"
        )]
        let index = (number - self.first).max(0.0) as usize;
        (is_whole && number >= self.first).then_some(index)
    }

    /// Power of the first `cells` at a sample number on the clock.
    fn sum(&self, number: f64, cells: usize) -> S {
        let t = number * self.interval;
        let [before, after] = self.pulse.plain().support();
        let range = |t: f64| 0.5 * SPEED_OF_LIGHT * t;
        let seen = &self.cells[..cells];
        let from = seen.partition_point(|one| one.range.value() < range(t - after));
        let to = seen.partition_point(|one| one.range.value() <= range(t + before));
        let near = WaveformModel {
            pulse: &self.pulse,
            returns: &self.cells[from.min(to)..to],
            start: S::from(t),
            interval: S::zero(),
        };
        near.power(0)
    }
}

impl<S: Scalar> Backscatter<'_, S> {
    /// Whether a surface at `far` (m) truncates the next cell.
    pub fn is_cut(&self, far: f64) -> bool {
        let next = self.waveform.cells.get(self.cells);
        next.is_some_and(|next| next.range.value() - 0.5 * self.waveform.cell_length < far)
    }

    /// Interval of ranges (m) in which the backscatter may form echoes; `None` if it cannot.
    pub fn bright(&self) -> Option<[f64; 2]> {
        let waveform = self.waveform;
        let last = (self.cells.checked_sub(1)).filter(|_| waveform.bright > 0)?;
        let until = (waveform.first + waveform.bright as f64) * waveform.interval;
        let bright = 0.5 * SPEED_OF_LIGHT * until;
        let near = waveform.cells[0].range.value();
        let far = waveform.cells[last].range.value();
        Some([near, far.min(bright).max(near)])
    }

    /// Power at the time of a range (m), within a sample.
    pub fn power_at_range(&self, range: f64) -> f64 {
        let number = (2.0 * range / SPEED_OF_LIGHT / self.waveform.interval).round();
        if self.cells == 0 {
            0.0
        } else {
            self.power(number).value()
        }
    }

    /// Adds the backscatter to a waveform on the same clock.
    pub fn add_to(&self, waveform: &mut Waveform) {
        if self.cells == 0 {
            return;
        }
        let first = (waveform.start / waveform.interval).round();
        for (i, sample) in waveform.samples.iter_mut().enumerate() {
            *sample += self.power(first + i as f64).value();
        }
    }

    /// Power at a sample number on the clock.
    pub fn power(&self, number: f64) -> S {
        let waveform = self.waveform;
        match waveform.index(number, self.cells) {
            Some(index) => waveform.samples.get(index).copied().unwrap_or(S::zero()),
            None => waveform.sum(number, self.cells),
        }
    }
}
