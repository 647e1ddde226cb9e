//! Echoes in the waveform that a receiver samples on average.
//!
//! The waveform is made in plain numbers, the air's part of it once for all shots. Echoes are found
//! in it, and of each the few samples that are read are evaluated again in `S`. Steps of the
//! converter are left out: rounded samples have no derivatives, and noise smooths the steps.

use super::MeanAir;
use crate::pulsed::air::{volume_step, whole_cells};
use crate::scanner::PulsedReceiver;
use etendue_physics::atmosphere::{cut_volume_return, volume_returns};
use etendue_physics::pulse::{Echo, EchoFinder, Pulse, Return, Samples, Timing, Waveform, Window};
use etendue_physics::{SPEED_OF_LIGHT, Scalar};

/// A receiver that samples waveforms, made ready for many shots.
pub(super) struct Sampled<S> {
    receiver: PulsedReceiver,
    pulse: Pulse<S>,
    plain: Pulse,
    finder: EchoFinder<S>,
    glow: Option<Glow<S>>,
}

/// The light that the air sends back to every shot, on the receiver's clock.
struct Glow<S> {
    air: MeanAir<S>,
    /// Its returns, and how far they are apart, m.
    cells: Vec<Return<S>>,
    plain: Vec<Return>,
    step: f64,
    /// The power of all of them from the sample of that number on.
    first: f64,
    values: Vec<f64>,
    exact: Vec<S>,
}

/// Light of one stretch of a waveform: returns, and so many whole cells of air.
struct Stretch<'a, S> {
    returns: &'a [Return<S>],
    cells: usize,
    near: f64,
    far: f64,
}

/// A return without its derivatives.
fn plain<S: Scalar>(one: &Return<S>) -> Return {
    Return {
        range: one.range.value(),
        power: one.power.value(),
    }
}

impl<S: Scalar> Sampled<S> {
    /// `far` is the farthest range that the scanner reports, m.
    pub fn new(receiver: &PulsedReceiver, timing: &Timing<S>, air: &MeanAir<S>, far: f64) -> Self {
        let pulse = receiver.pulse_of(timing);
        let glow = air
            .glows()
            .then(|| Glow::new(air, &pulse, receiver, far))
            .filter(|glow| !glow.cells.is_empty());
        Self {
            receiver: *receiver,
            plain: pulse.plain(),
            pulse,
            finder: receiver.finder_timed_by(timing),
            glow,
        }
    }

    /// The echoes of some returns (which it sorts, and adds to), nearest first; `axis` is the
    /// distance of the first surface on the beam's axis, m.
    pub fn echoes(&self, returns: &mut Vec<Return<S>>, axis: Option<S>) -> Vec<Echo<S>> {
        let cells = self.glow.as_ref().map_or(0, |glow| glow.cut(axis, returns));
        returns.sort_unstable_by(|a, b| a.range.value().total_cmp(&b.range.value()));
        let [before, after] = self.plain.support();
        let apart = 0.5 * SPEED_OF_LIGHT * (before + after);
        let mut echoes = Vec::new();
        let mut rest = &returns[..];
        if let Some(last) = cells.checked_sub(1).and_then(|last| self.cell(last)) {
            let mut far = last;
            let joined = rest.iter().take_while(|one| {
                let is_near = one.range.value() - far < apart;
                far = far.max(if is_near { one.range.value() } else { far });
                is_near
            });
            let (own, others) = rest.split_at(joined.count());
            rest = others;
            let first = own.first().map_or(last, |one| one.range.value());
            self.find(
                &Stretch {
                    returns: own,
                    cells,
                    near: self.cell(0).unwrap_or(last).min(first),
                    far,
                },
                &mut echoes,
            );
        }
        for returns in rest.chunk_by(|a, b| (b.range - a.range).value() < apart) {
            let most: f64 = returns.iter().map(|one| one.power.value().max(0.0)).sum();
            if most >= self.finder.threshold.value() {
                let [near, far] = [0, returns.len() - 1].map(|i| returns[i].range.value());
                let stretch = Stretch {
                    returns,
                    cells: 0,
                    near,
                    far,
                };
                self.find(&stretch, &mut echoes);
            }
        }
        echoes
    }

    /// Range of a cell of air, m.
    fn cell(&self, number: usize) -> Option<f64> {
        let glow = self.glow.as_ref()?;
        glow.plain.get(number).map(|one| one.range)
    }

    /// Appends the echoes of one stretch.
    fn find(&self, stretch: &Stretch<S>, echoes: &mut Vec<Echo<S>>) {
        let interval = self.receiver.interval;
        let window = Window::around(&self.plain, interval, stretch.near, stretch.far);
        let returns: Vec<Return> = stretch.returns.iter().map(plain).collect();
        let mut waveform = Waveform::received(&self.plain, &returns, window);
        let air = self.glow.as_ref().filter(|_| stretch.cells > 0);
        let first = (window.start / interval).round();
        if let Some(glow) = air {
            for (i, sample) in waveform.samples.iter_mut().enumerate() {
                let at = first + i as f64;
                *sample += glow.value(&self.plain, interval, at, stretch.cells);
            }
        }
        let top = self.receiver.detector.saturation();
        waveform.saturate(top);
        let samples = Samples {
            pulse: &self.pulse,
            returns: stretch.returns,
            start: S::from(window.start),
            interval: S::from(interval),
        };
        let at = |i: usize| {
            let of_air = air.map_or(S::zero(), |glow| {
                glow.exact(&self.pulse, interval, first + i as f64, stretch.cells)
            });
            (samples.power(i) + of_air).min(S::from(top))
        };
        self.finder
            .find_with(&waveform, at, |echo| echoes.push(echo));
    }
}

impl<S: Scalar> Glow<S> {
    fn new(air: &MeanAir<S>, pulse: &Pulse<S>, receiver: &PulsedReceiver, far: f64) -> Self {
        let step = volume_step(receiver.pulse.fwhm);
        let cells = volume_returns(&air.coefficients, &air.overlap, far, step);
        let mut glow = Self {
            air: *air,
            plain: cells.iter().map(plain).collect(),
            cells,
            step,
            first: 0.0,
            values: Vec::new(),
            exact: Vec::new(),
        };
        if let [first, .., last] = &glow.plain[..] {
            let (plain, interval) = (pulse.plain(), receiver.interval);
            let window = Window::around(&plain, interval, first.range, last.range);
            glow.first = (window.start / interval).round();
            glow.values = Waveform::received(&plain, &glow.plain, window).samples;
            let all = glow.plain.len();
            let exact =
                |i: usize| glow.sum(pulse, &glow.cells, (glow.first + i as f64) * interval, all);
            glow.exact = (0..window.samples).map(exact).collect();
        }
        glow
    }

    /// How many cells stand wholly before a surface; adds the light of the one that it cuts.
    fn cut(&self, surface: Option<S>, returns: &mut Vec<Return<S>>) -> usize {
        let Some(far) = surface else {
            return self.cells.len();
        };
        let whole = whole_cells(&self.plain, self.step, far.value());
        if whole < self.cells.len() && far.value() > self.air.overlap.none_until {
            let (air, cells) = (&self.air, (whole, self.step));
            let cut = cut_volume_return(&air.coefficients, &air.overlap, cells, far);
            returns.push(cut);
        }
        whole
    }

    /// Power at the sample of that number from the first so many cells.
    fn value(&self, pulse: &Pulse, interval: f64, at: f64, cells: usize) -> f64 {
        match self.number(pulse, interval, at, cells) {
            Some(number) => self.values.get(number).copied().unwrap_or(0.0),
            None => self.sum(pulse, &self.plain, at * interval, cells),
        }
    }

    /// The same with derivatives.
    fn exact(&self, pulse: &Pulse<S>, interval: f64, at: f64, cells: usize) -> S {
        match self.number(&pulse.plain(), interval, at, cells) {
            Some(number) => self.exact.get(number).copied().unwrap_or(S::zero()),
            None => self.sum(pulse, &self.cells, at * interval, cells),
        }
    }

    /// The number of a sample in the light of all cells, where the first so many are all that it
    /// sees.
    fn number(&self, pulse: &Pulse, interval: f64, at: f64, cells: usize) -> Option<usize> {
        let [before, _] = pulse.support();
        let from = { self.plain.get(cells) }.map(|next| 2.0 * next.range / SPEED_OF_LIGHT - before);
        let sees_all = from.is_none_or(|from| at * interval < from);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a whole number, not negative"
        )]
        let number = (at - self.first).max(0.0) as usize;
        (sees_all && at >= self.first).then_some(number)
    }

    /// Power at a time (s) of the first so many cells, given in `T`.
    fn sum<T: Scalar>(&self, pulse: &Pulse<T>, cells: &[Return<T>], t: f64, count: usize) -> T {
        let [before, after] = pulse.plain().support();
        let range = |t: f64| 0.5 * SPEED_OF_LIGHT * t;
        let seen = &self.plain[..count];
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
