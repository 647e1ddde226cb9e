//! Pulsed receivers: echoes and their time of flight.

use super::{Detection, Reception};
use crate::lidar::backscatter::Backscatter;
use crate::lidar::check::{Wrong, is_positive, positive, value, zero_or_more};
use crate::lidar::light::ShotLight;
use crate::lidar::range_limits::RangeLimits;
use crate::lidar::waveform::WaveformSearch;
use etendue_physics::atmosphere::Overlap;
use etendue_physics::light::ReceiverWindow;
use etendue_physics::pulse::{
    AnalogueDetector, AnalyticFinder, AnalyticReceiver, Detector, Discriminator, Echo, EchoFinder,
    PhotonCounter, Pulse, PulseReturn, ReturnMode, reference_power,
};
use etendue_physics::{Purpose, SPEED_OF_LIGHT, Scalar, Stream, normal};

/// How echoes are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EchoModel {
    /// In closed form ([`AnalyticReceiver`]); in waveforms if backscatter of the air alone causes
    /// echoes.
    Analytic,
    /// In a sampled waveform.
    Waveform,
}

/// A receiver's sensitivity in the terms of a data sheet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sensitivity {
    /// Diffuse reflectance of the target.
    pub reflectance: f64,
    /// Range at which it is found, m.
    pub range: f64,
    /// Probability of finding it there, in (0, 1).
    pub probability: f64,
    /// Detection threshold over the standard deviation of the noise: sets the false alarms.
    pub threshold_over_noise: f64,
}

/// A pulsed receiver.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PulsedReceiver<S = f64> {
    /// The pulse as the receiver sees it.
    pub pulse: Pulse<S>,
    /// What is timed.
    pub discriminator: Discriminator,
    /// Which echoes are reported.
    pub returns: ReturnMode,
    /// Power that an echo must reach, 1/(m² sr).
    pub threshold: S,
    /// Power whose range has no bias, 1/(m² sr).
    pub reference: S,
    /// Noise and saturation.
    pub detector: Detector,
    /// Time between samples, s.
    pub interval: f64,
    /// Bits of the converter, if its steps matter.
    pub bits: Option<u8>,
    /// Timing jitter that does not depend on the power, as a standard deviation of range, m.
    pub jitter: f64,
    /// How echoes are found.
    pub echoes: EchoModel,
    /// What lets ambient light in, with the peak of the emitted power; none shuts it out.
    pub window: Option<ReceiverWindow>,
    /// Whether echoes that noise alone makes are drawn.
    pub false_alarms: bool,
    /// Smallest range at which all light of the air lands on the detector, m: nearer air is out
    /// of focus ([`Overlap::full_from`]).
    pub full_overlap: f64,
}

impl Sensitivity {
    /// Threshold and noise (standard deviation), 1/(m² sr): with the standard normal quantile
    /// $z_p$ of the probability, $L = \rho/\pi R^2 = (k + z_p)\\,\sigma$ and $T = k\sigma$.
    pub fn threshold_and_noise(&self) -> [f64; 2] {
        let power = reference_power(self.reflectance, self.range);
        let noise = power / (self.threshold_over_noise + normal_quantile(self.probability));
        [self.threshold_over_noise * noise, noise]
    }

    /// Threshold, and an analogue detector that saturates at a multiple of the threshold.
    pub fn analogue(&self, saturation_over_threshold: f64) -> (f64, Detector) {
        let [threshold, thermal_noise] = self.threshold_and_noise();
        let detector = Detector::Analogue(AnalogueDetector {
            thermal_noise,
            shot_noise: 0.0,
            background: 0.0,
            saturation: threshold * saturation_over_threshold,
        });
        (threshold, detector)
    }

    /// A photon counter of that sensitivity with a mean of `background` counts in a bin.
    pub fn photon_counting(&self, background: f64, capacity: f64) -> (f64, Detector) {
        let [threshold, noise] = self.threshold_and_noise();
        // At the threshold the noise is that of the background alone: sqrt(b) / photons.
        let detector = Detector::PhotonCounting(PhotonCounter {
            photons: background.sqrt() / noise,
            background,
            capacity,
        });
        (threshold, detector)
    }
}

impl PulsedReceiver {
    /// The same receiver in another scalar, every differentiable number replaced by `f` of it.
    pub fn map<S>(&self, mut f: impl FnMut(f64) -> S) -> PulsedReceiver<S> {
        PulsedReceiver {
            pulse: Pulse {
                shape: self.pulse.shape,
                fwhm: f(self.pulse.fwhm),
            },
            discriminator: self.discriminator,
            returns: self.returns,
            threshold: f(self.threshold),
            reference: f(self.reference),
            detector: self.detector,
            interval: self.interval,
            bits: self.bits,
            jitter: self.jitter,
            echoes: self.echoes,
            window: self.window,
            false_alarms: self.false_alarms,
            full_overlap: self.full_overlap,
        }
    }

    /// Checks its numbers.
    pub(super) fn check(&self) -> Result<(), Wrong> {
        let pulse = self.pulse.fwhm;
        positive(&[
            ("the full width of the pulse, s,", pulse),
            ("the power that is just found, 1/(m2 sr),", self.threshold),
        ])?;
        let interval = self.interval;
        value(
            "the time between samples, s,",
            interval,
            is_positive(interval) && interval >= 1e-3 * pulse,
            "positive, and at least a thousandth of the pulse's width",
        )?;
        zero_or_more(&[
            ("the jitter, m,", self.jitter),
            ("the range of full overlap, m,", self.full_overlap),
        ])?;
        if let Discriminator::ConstantFraction { fraction } = self.discriminator {
            let ok = fraction > 0.0 && fraction < 1.0;
            value("the constant fraction", fraction, ok, "between 0 and 1")?;
        }
        if let Some(bits) = self.bits {
            let ok = (1..=32).contains(&bits);
            value("the converter's bits", f64::from(bits), ok, "1 to 32")?;
        }
        check_detector(&self.detector)?;
        self.window.as_ref().map_or(Ok(()), check_window)
    }
}

fn check_detector(detector: &Detector) -> Result<(), Wrong> {
    match detector {
        Detector::Analogue(diode) => {
            zero_or_more(&[
                (
                    "the detector's thermal noise, 1/(m2 sr),",
                    diode.thermal_noise,
                ),
                ("the detector's shot noise", diode.shot_noise),
                ("the constant background, 1/(m2 sr),", diode.background),
            ])?;
            // Without end: never.
            let saturation = diode.saturation;
            let ok = saturation > 0.0;
            value(
                "the power that saturates, 1/(m2 sr),",
                saturation,
                ok,
                "positive",
            )
        }
        Detector::PhotonCounting(counter) => positive(&[
            ("the photons of unit power in a bin", counter.photons),
            ("the background counts in a bin", counter.background),
            ("the most counts in a bin", counter.capacity),
        ]),
    }
}

fn check_window(window: &ReceiverWindow) -> Result<(), Wrong> {
    positive(&[
        ("the peak of the emitted power, W,", window.emitted_power),
        ("the field of view, rad,", window.field_of_view),
        ("the pass band, m,", window.bandwidth),
    ])
}

impl<S: Scalar> PulsedReceiver<S> {
    /// The overlap of beam and field of view in the near air: zero where its echo would precede the
    /// nearest reported range, because the receiver's gate is closed there.
    pub fn overlap(&self, limits: &RangeLimits) -> Overlap {
        Overlap {
            none_until: limits.near + 0.25 * SPEED_OF_LIGHT * self.pulse.fwhm.value(),
            full_from: self.full_overlap,
        }
    }

    /// The closed form of this receiver.
    pub fn analytic(&self) -> AnalyticReceiver<S> {
        AnalyticReceiver {
            pulse: self.pulse,
            discriminator: self.discriminator,
            threshold: self.threshold,
            reference: self.reference,
            detector: self.detector,
            interval: self.interval,
            jitter: self.jitter,
        }
    }

    /// The same receiver with that much more constant background, 1/(m² sr).
    #[must_use]
    pub fn in_light(mut self, power: f64) -> Self {
        self.detector = self.detector.in_light(power);
        self
    }

    /// Fall of the power between two peaks that makes them two echoes: three standard deviations of
    /// the noise.
    pub fn hysteresis(&self) -> f64 {
        (3.0 * self.detector.noise(0.0)).max(1e-9 * self.threshold.value())
    }

    /// The echo finder of this receiver: two peaks are two echoes where the power between them
    /// falls by three standard deviations of the noise.
    pub fn finder(&self) -> EchoFinder<S> {
        EchoFinder::calibrated(
            &self.pulse,
            self.discriminator,
            self.threshold,
            self.hysteresis(),
            self.reference,
        )
    }
}

/// A pulsed receiver with the finders of its echoes.
#[derive(Clone, Copy)]
pub(in crate::lidar) struct PreparedPulsed<S = f64> {
    pub receiver: PulsedReceiver<S>,
    pub analytic: AnalyticFinder<S>,
    /// Where echoes are found in waveforms.
    waveform: Option<EchoFinder<S>>,
}

/// Memory that shots reuse.
pub(in crate::lidar) struct PulsedScratch<S> {
    echoes: Vec<Echo<S>>,
}

impl<S> Default for PulsedScratch<S> {
    fn default() -> Self {
        Self { echoes: Vec::new() }
    }
}

impl<S: Scalar> PreparedPulsed<S> {
    /// A receiver, in air whose backscatter may form echoes or not: light from all along the beam has
    /// no closed form.
    pub fn new(receiver: &PulsedReceiver<S>, with_backscatter: bool) -> Self {
        let sampled = with_backscatter || receiver.echoes == EchoModel::Waveform;
        Self {
            receiver: *receiver,
            analytic: receiver.analytic().finder(),
            waveform: sampled.then(|| receiver.finder()),
        }
    }

    /// The same receiver in ambient light of a power, 1/(m² sr).
    fn in_light(&self, power: f64) -> Self {
        let receiver = self.receiver.in_light(power);
        Self {
            receiver,
            analytic: self.analytic.in_light(power),
            waveform: self.waveform.map(|finder| EchoFinder {
                hysteresis: receiver.hysteresis(),
                ..finder
            }),
        }
    }

    /// Appends the detections in the light of a shot, in the device's order.
    pub fn detect(
        &self,
        reception: &Reception<S>,
        light: &mut ShotLight<S>,
        mut noise: Option<&mut Stream>,
        scratch: &mut PulsedScratch<S>,
        detections: &mut Vec<Detection<S>>,
    ) {
        let lit;
        let own = if light.ambient > 0.0 {
            lit = self.in_light(light.ambient);
            &lit
        } else {
            self
        };
        let backscatter =
            (reception.backscatter).map(|all| all.first_cells(light.backscatter_cells));
        let rounding = reception.rounding;
        own.find_echoes(
            &mut light.returns,
            backscatter.as_ref(),
            noise.as_deref_mut(),
            rounding,
            scratch,
        );
        if own.receiver.false_alarms && reception.noise {
            let mut stream = (reception.stream)(Purpose::FalseAlarm);
            own.receiver
                .add_false_alarms(reception.limits, &mut stream, &mut scratch.echoes);
        }
        own.select(noise, scratch, detections);
    }

    /// The echoes of returns without backscatter, and those of them that are reported.
    pub fn detect_returns(
        &self,
        returns: &mut [PulseReturn<S>],
        mut noise: Option<&mut Stream>,
        scratch: &mut PulsedScratch<S>,
        detections: &mut Vec<Detection<S>>,
    ) {
        self.find_echoes(returns, None, noise.as_deref_mut(), true, scratch);
        self.select(noise, scratch, detections);
    }

    /// Finds the echoes in returns (which it sorts) and backscatter, nearest first.
    fn find_echoes(
        &self,
        returns: &mut [PulseReturn<S>],
        backscatter: Option<&Backscatter<S>>,
        noise: Option<&mut Stream>,
        rounding: bool,
        PulsedScratch { echoes }: &mut PulsedScratch<S>,
    ) {
        echoes.clear();
        let Some(finder) = &self.waveform else {
            return self.analytic.find(returns, noise, echoes);
        };
        let is_analytic = self.receiver.echoes == EchoModel::Analytic;
        let search = WaveformSearch {
            receiver: &self.receiver,
            finder,
            analytic: is_analytic.then_some(&self.analytic),
            rounding,
        };
        search.find(returns, backscatter, noise, echoes);
    }

    /// Appends the echoes that the return mode selects. Those of waveforms get the jitter of the clock,
    /// which the closed form includes in its spread.
    fn select(
        &self,
        noise: Option<&mut Stream>,
        PulsedScratch { echoes }: &PulsedScratch<S>,
        detections: &mut Vec<Detection<S>>,
    ) {
        let is_sampled = self.receiver.echoes == EchoModel::Waveform;
        let mut jitter = noise.filter(|_| is_sampled);
        let mut detection = |echo: &Echo<S>| {
            let shift = match &mut jitter {
                Some(stream) => self.receiver.jitter * stream.normal(),
                None => 0.0,
            };
            Detection {
                range: echo.range + shift,
                power: echo.power,
                width: echo.width,
                velocity: None,
                intensity: None,
            }
        };
        match &echoes[..] {
            [] => {}
            [only] => detections.push(detection(only)),
            several => {
                let selected = self.receiver.returns.choose(several).into_iter();
                detections.extend(selected.map(|echo| detection(&several[echo])));
            }
        }
    }
}

impl<S: Scalar> PulsedReceiver<S> {
    /// Appends the echoes that noise alone makes between the range limits, and sorts all by range.
    ///
    /// Each sample of the noise without an echo, of standard deviation $\sigma$, is over the threshold
    /// $T$ with the probability $p = 1 - \Phi(T/\sigma)$ (of counted photons too, whose skewness is left
    /// out); the gaps between such samples are exponential with the mean $1/p$. They exceed the
    /// threshold by an exponential excess of the mean $\sigma^2/T$, the tail of the normal
    /// distribution.
    fn add_false_alarms(
        &self,
        limits: &RangeLimits,
        stream: &mut Stream,
        echoes: &mut Vec<Echo<S>>,
    ) {
        let threshold = self.threshold.value();
        let sigma = self.detector.noise(0.0);
        let chance = normal::probability(-threshold / sigma);
        if chance <= 0.0 {
            return;
        }
        let step = 0.5 * SPEED_OF_LIGHT * self.interval;
        let mut exponential = |mean: f64| -mean * (1.0 - stream.uniform()).ln();
        let before = echoes.len();
        let mut range = limits.near;
        loop {
            range += step * exponential(1.0 / chance).max(1.0);
            if range > limits.far {
                break;
            }
            echoes.push(Echo {
                range: S::from(range),
                power: S::from(threshold + exponential(sigma * sigma / threshold)),
                width: S::from(self.interval),
            });
        }
        if echoes.len() > before {
            echoes.sort_by(|a, b| a.range.value().total_cmp(&b.range.value()));
        }
    }
}

/// Quantile of the standard normal distribution, by bisection of its distribution function.
fn normal_quantile(probability: f64) -> f64 {
    let (mut low, mut high) = (-8.0, 8.0);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if normal_probability(middle) < probability {
            low = middle;
        } else {
            high = middle;
        }
    }
    0.5 * (low + high)
}

/// Distribution function of the standard normal distribution (Abramowitz, Stegun 1964,
/// 26.2.17: within 7.5e-8).
fn normal_probability(z: f64) -> f64 {
    let t = 1.0 / (1.0 + 0.231_641_9 * z.abs());
    let series = t
        * (0.319_381_530
            + t * (-0.356_563_782
                + t * (1.781_477_937 + t * (-1.821_255_978 + t * 1.330_274_429))));
    let density = (-0.5 * z * z).exp() / std::f64::consts::TAU.sqrt();
    if z > 0.0 {
        1.0 - density * series
    } else {
        density * series
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_quantile_inverts_the_distribution() {
        for (probability, z) in [
            (0.5, 0.0),
            (0.9, 1.281_552),
            (0.975, 1.959_964),
            (0.01, -2.326_348),
        ] {
            assert!((normal_quantile(probability) - z).abs() < 1e-5);
        }
    }

    /// 20,000 echoes of the data sheet's target: found with its probability, within 4.5 standard
    /// errors (0.0095), by both detectors, in the closed form.
    #[test]
    fn the_data_sheets_target_is_found_with_its_probability() {
        use etendue_physics::pulse::PulseReturn;
        use etendue_physics::{Purpose, Stream};
        let sensitivity = Sensitivity {
            reflectance: 0.1,
            range: 40.0,
            probability: 0.9,
            threshold_over_noise: 5.0,
        };
        let (threshold, detector) = sensitivity.analogue(1e4);
        let receiver = PulsedReceiver {
            pulse: Pulse::gaussian(5e-9),
            discriminator: Discriminator::ConstantFraction { fraction: 0.5 },
            returns: ReturnMode::Strongest,
            threshold,
            reference: 10.0 * threshold,
            detector,
            interval: 1e-9,
            bits: None,
            jitter: 0.0,
            echoes: EchoModel::Analytic,
            window: None,
            false_alarms: false,
            full_overlap: 0.0,
        };
        let fast = receiver.analytic();
        let found = (0..20_000).filter(|beam| {
            let mut stream = Stream::new(1, 0, 0, *beam, Purpose::ReceiverNoise);
            let mut target = [PulseReturn {
                range: 40.0,
                power: reference_power(0.1, 40.0),
            }];
            !fast.echoes(&mut target, Some(&mut stream)).is_empty()
        });
        let rate = found.count() as f64 / 2e4;
        assert!((rate - 0.9).abs() < 0.0095, "{rate}");
    }
}
