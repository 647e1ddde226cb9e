//! The light that the air sends back to every shot, on a receiver's clock.

use super::EchoModel;
use etendue_physics::pulse::{Pulse, PulseReturn, Samples, Waveform, Window};
use etendue_physics::{SPEED_OF_LIGHT, Scalar};

/// Glow below this share of the threshold is no echo of its own, whatever the noise.
pub(super) const FAINT: f64 = 0.125;

/// Glow that is nowhere more than this share of the threshold is left out of waveforms, too: a
/// twentieth of the noise, where the threshold is five times that.
const HIDDEN: f64 = 0.01;

/// The share of the threshold that glow must have somewhere to be looked at: the closed form knows
/// none but that of its own echoes.
pub(super) fn least_glow(model: EchoModel) -> f64 {
    match model {
        EchoModel::Analytic => FAINT,
        EchoModel::Waveform => HIDDEN,
    }
}

/// How far the returns of the air are apart, m: much less than a pulse of that full width (s).
pub(super) fn volume_step(pulse_fwhm: f64) -> f64 {
    0.125 * SPEED_OF_LIGHT * pulse_fwhm
}

/// The air's returns and their waveform: it is the same for all shots, but for the cells that stand
/// behind each shot's surface.
#[derive(Clone, Debug)]
pub(super) struct Glow {
    /// The air's returns, nearest first: at least one.
    pub cells: Vec<PulseReturn>,
    /// How far they are apart, m.
    pub step: f64,
    pulse: Pulse,
    /// Time between samples, s.
    interval: f64,
    /// The power of all of them from the sample of that number on.
    pub first: f64,
    pub samples: Vec<f64>,
    /// How many samples there are to the last whose light may be an echo.
    bright: usize,
}

/// The air before the surface that a shot meets: so many whole cells of it.
#[derive(Clone, Copy)]
pub(super) struct Before<'a> {
    pub glow: &'a Glow,
    pub cells: usize,
}

impl Glow {
    /// None of no cells, and where no sample has the share `least` of the threshold.
    pub fn new(
        cells: Vec<PulseReturn>,
        step: f64,
        pulse: &Pulse,
        interval: f64,
        (threshold, least): (f64, f64),
    ) -> Option<Self> {
        let (near, far) = (cells.first()?.range, cells.last()?.range);
        let window = Window::around(pulse, interval, near, far);
        let samples = Waveform::received(pulse, &cells, window).samples;
        let most = samples.iter().copied().fold(0.0, f64::max);
        if most < least * threshold {
            return None;
        }
        let last = samples
            .iter()
            .rposition(|power| *power >= FAINT * threshold);
        Some(Self {
            bright: last.map_or(0, |last| last + 1),
            first: (window.start / interval).round(),
            samples,
            cells,
            step,
            pulse: *pulse,
            interval,
        })
    }

    /// What of it stands before a surface at `far` (m).
    pub fn before(&self, far: f64) -> Before<'_> {
        let stands = |one: &PulseReturn| one.range + 0.5 * self.step <= far;
        Before {
            glow: self,
            cells: self.cells.partition_point(stands),
        }
    }

    /// The number of a sample in the light of all cells, where the first so many are all that it
    /// sees.
    pub fn number(&self, at: f64, cells: usize) -> Option<usize> {
        let [before, _] = self.pulse.support();
        let from = { self.cells.get(cells) }.map(|next| 2.0 * next.range / SPEED_OF_LIGHT - before);
        let sees_all = from.is_none_or(|from| at * self.interval < from);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a whole number, not negative"
        )]
        let number = (at - self.first).max(0.0) as usize;
        (sees_all && at >= self.first).then_some(number)
    }

    /// Power at the sample of that number on the clock of the first so many cells, given in `T` with
    /// the pulse.
    pub fn sum<T: Scalar>(
        &self,
        pulse: &Pulse<T>,
        cells: &[PulseReturn<T>],
        at: f64,
        count: usize,
    ) -> T {
        let t = at * self.interval;
        let [before, after] = self.pulse.support();
        let range = |t: f64| 0.5 * SPEED_OF_LIGHT * t;
        let seen = &self.cells[..count];
        let from = seen.partition_point(|one| one.range < range(t - after));
        let to = seen.partition_point(|one| one.range <= range(t + before));
        let near = Samples {
            pulse,
            returns: &cells[from.min(to)..to],
            start: T::from(t),
            interval: T::zero(),
        };
        near.power(0)
    }
}

impl Before<'_> {
    /// Whether a surface at `far` (m) cuts the cell after them.
    pub fn is_cut(&self, far: f64) -> bool {
        let next = self.glow.cells.get(self.cells);
        next.is_some_and(|next| next.range - 0.5 * self.glow.step < far)
    }

    /// Ranges (m) between which it may make echoes, if it may.
    pub fn bright(&self) -> Option<(f64, f64)> {
        let glow = self.glow;
        let last = { self.cells }.checked_sub(1).filter(|_| glow.bright > 0)?;
        let until = (glow.first + glow.bright as f64) * glow.interval;
        let bright = 0.5 * SPEED_OF_LIGHT * until;
        let near = glow.cells[0].range;
        Some((near, glow.cells[last].range.min(bright).max(near)))
    }

    /// Its power at the time of a range (m), within a sample.
    pub fn power_from(&self, range: f64) -> f64 {
        let at = (2.0 * range / SPEED_OF_LIGHT / self.glow.interval).round();
        if self.cells == 0 { 0.0 } else { self.power(at) }
    }

    /// Adds it to a waveform on its clock.
    pub fn add_to(&self, waveform: &mut Waveform) {
        if self.cells == 0 {
            return;
        }
        let first = (waveform.start / waveform.interval).round();
        for (i, sample) in waveform.samples.iter_mut().enumerate() {
            *sample += self.power(first + i as f64);
        }
    }

    /// Power at the sample of that number on the clock.
    fn power(&self, at: f64) -> f64 {
        let glow = self.glow;
        match glow.number(at, self.cells) {
            Some(number) => glow.samples.get(number).copied().unwrap_or(0.0),
            None => glow.sum(&glow.pulse, &glow.cells, at, self.cells),
        }
    }
}
