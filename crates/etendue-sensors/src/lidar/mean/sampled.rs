//! Echoes in the waveform that a receiver samples on average.
//!
//! The waveform is made in plain numbers, the air's part of it once for all shots. Echoes are found
//! in it, and of each the few samples that are read are evaluated again in `S`. Steps of the
//! converter are left out: rounded samples have no derivatives, and noise smooths the steps.

use super::MeanAir;
use crate::lidar::backscatter::{Before, FAINT, Glow, least_glow, volume_step};
use crate::lidar::sections::{Stretch, stretches};
use crate::lidar::{EchoModel, PulsedReceiver};
use etendue_physics::Scalar;
use etendue_physics::atmosphere::{Overlap, cut_volume_return, volume_returns};
use etendue_physics::pulse::{
    AnalyticFinder, Echo, EchoFinder, Pulse, PulseReturn, Samples, Waveform, Window,
};

/// A receiver that samples waveforms, made ready for many shots.
pub(super) struct Sampled<S> {
    receiver: PulsedReceiver<S>,
    pulse: Pulse<S>,
    plain: Pulse,
    finder: EchoFinder<S>,
    /// What finds the echoes of light beyond the air's own, where the receiver has a closed form.
    fast: Option<AnalyticFinder<S>>,
    air: Option<MeanGlow<S>>,
}

/// The light that the air sends back to every shot.
struct MeanGlow<S> {
    air: MeanAir<S>,
    overlap: Overlap,
    glow: Glow,
    /// Its cells and its samples.
    cells: Vec<PulseReturn<S>>,
    samples: Vec<S>,
}

/// A return without its derivatives.
fn plain<S: Scalar>(one: &PulseReturn<S>) -> PulseReturn {
    PulseReturn {
        range: one.range.value(),
        power: one.power.value(),
    }
}

impl<S: Scalar> Sampled<S> {
    /// `overlap` is what the receiver sees of the near air, `far` the farthest range that the scanner
    /// reports, m.
    pub fn new(
        receiver: &PulsedReceiver<S>,
        air: Option<&MeanAir<S>>,
        overlap: Overlap,
        far: f64,
    ) -> Self {
        let pulse = receiver.pulse;
        let finder = receiver.finder();
        let is_fast = receiver.echoes == EchoModel::Analytic;
        let bright = (finder.threshold.value(), least_glow(receiver.echoes));
        let glow = |air| MeanGlow::new(air, overlap, &pulse, (receiver.interval, bright), far);
        Self {
            receiver: *receiver,
            plain: pulse.plain(),
            air: air.and_then(glow),
            finder,
            fast: is_fast.then(|| receiver.analytic().finder()),
            pulse,
        }
    }

    /// Whether the air itself sends light back.
    pub fn sees_air(&self) -> bool {
        self.air.is_some()
    }

    /// The echoes of some returns (which it sorts, and adds to), nearest first; `axis` is the
    /// distance of the first surface on the beam's axis, m.
    pub fn echoes(&self, returns: &mut Vec<PulseReturn<S>>, axis: Option<S>) -> Vec<Echo<S>> {
        let air = self.air.as_ref().map(|air| air.before(axis, returns));
        returns.sort_unstable_by(|a, b| a.range.value().total_cmp(&b.range.value()));
        let mut echoes = Vec::new();
        let threshold = self.finder.threshold.value();
        let glow = air.map_or(0.0, |_| FAINT * threshold);
        stretches(returns, air.as_ref(), &self.plain, |stretch| {
            if let (false, Some(fast)) = (stretch.bright, &self.fast) {
                let mut returns = stretch.returns.to_vec();
                return fast.find(&mut returns, None, &mut echoes);
            }
            let powers = stretch.returns.iter().map(|one| one.power.value().max(0.0));
            if stretch.bright || powers.sum::<f64>() + glow >= threshold {
                self.find(&stretch, air.as_ref(), &mut echoes);
            }
        });
        echoes
    }

    /// Appends the echoes of one stretch.
    fn find(&self, stretch: &Stretch<S>, air: Option<&Before>, echoes: &mut Vec<Echo<S>>) {
        let interval = self.receiver.interval;
        let window = Window::around(&self.plain, interval, stretch.near, stretch.far);
        let returns: Vec<PulseReturn> = stretch.returns.iter().map(plain).collect();
        let mut waveform = Waveform::received(&self.plain, &returns, window);
        if let Some(air) = air {
            air.add_to(&mut waveform);
        }
        let top = self.receiver.detector.saturation();
        waveform.saturate(top);
        let samples = Samples {
            pulse: &self.pulse,
            returns: stretch.returns,
            start: S::from(window.start),
            interval: S::from(interval),
        };
        let first = (window.start / interval).round();
        let of_air = |i: usize| match (&self.air, air) {
            (Some(own), Some(before)) => own.power(&self.pulse, first + i as f64, before.cells),
            _ => S::zero(),
        };
        let at = |i: usize| (samples.power(i) + of_air(i)).min(S::from(top));
        self.finder
            .find_with(&waveform, at, |echo| echoes.push(echo));
    }
}

impl<S: Scalar> MeanGlow<S> {
    fn new(
        air: &MeanAir<S>,
        overlap: Overlap,
        pulse: &Pulse<S>,
        (interval, bright): (f64, (f64, f64)),
        far: f64,
    ) -> Option<Self> {
        let step = volume_step(pulse.plain().fwhm);
        let cells = volume_returns(&air.coefficients, &overlap, far, step);
        let plain = cells.iter().map(plain).collect();
        let glow = Glow::new(plain, step, &pulse.plain(), interval, bright)?;
        let all = cells.len();
        let sample = |i: usize| glow.sum(pulse, &cells, glow.first + i as f64, all);
        Some(Self {
            air: *air,
            overlap,
            samples: (0..glow.samples.len()).map(sample).collect(),
            cells,
            glow,
        })
    }

    /// What of it stands before a surface; adds the light of the cell that it cuts.
    fn before(&self, surface: Option<S>, returns: &mut Vec<PulseReturn<S>>) -> Before<'_> {
        let far = surface.map_or(f64::INFINITY, Scalar::value);
        let before = self.glow.before(far);
        if let Some(far) = surface
            && before.is_cut(far.value())
        {
            let cells = (before.cells, self.glow.step);
            let cut = cut_volume_return(&self.air.coefficients, &self.overlap, cells, far);
            returns.push(cut);
        }
        before
    }

    /// Power at the sample of that number on the clock, of the first so many cells.
    fn power(&self, pulse: &Pulse<S>, at: f64, cells: usize) -> S {
        match self.glow.number(at, cells) {
            Some(number) => self.samples.get(number).copied().unwrap_or(S::zero()),
            None => self.glow.sum(pulse, &self.cells, at, cells),
        }
    }
}
