//! Frequency-modulated continuous-wave (FMCW) receivers: range and radial velocity.

use super::merge::group_returns;
use super::pulse_return::RangedPower;
use crate::{SPEED_OF_LIGHT, Scalar, Stream};
use std::f64::consts::PI;

/// FMCW receiver with a triangular chirp (rising, then falling) that is mixed with its echo.
///
/// At range $R$ (m) and radial velocity $v$ (m/s, positive when the range grows) the beat
/// frequencies of the rising and the falling chirp of bandwidth $B$ (Hz), duration $T$ (s) and wavelength
/// $\lambda$ (m) are
/// $$f_\uparrow = \left|\frac{2RB}{cT} + \frac{2v}{\lambda}\right|,\qquad
/// f_\downarrow = \left|\frac{2RB}{cT} - \frac{2v}{\lambda}\right|,$$
/// so that $R = cT(f_\uparrow+f_\downarrow)/4B$ and $v = \lambda(f_\uparrow-f_\downarrow)/4$
/// (Behroozpour et al. 2017, doi:10.1109/MCOM.2017.1700030). The absolute values model a mixer without
/// quadrature, which does not measure the sign of the beat: very near and fast targets are ambiguous.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fmcw {
    /// Wavelength, m.
    pub wavelength: f64,
    /// Frequency swept by one chirp, Hz.
    pub bandwidth: f64,
    /// Duration of one chirp, s.
    pub chirp: f64,
    /// Power whose beat has a signal-to-noise ratio of one over a whole chirp.
    pub noise: f64,
    /// Smallest signal-to-noise ratio of a detected beat.
    pub threshold: f64,
}

/// A target, or the detection reported by the device.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FmcwEcho<S = f64> {
    /// Range, m.
    pub range: S,
    /// Received power.
    pub power: S,
    /// Radial velocity, m/s, positive when the range grows.
    pub velocity: S,
}

impl<S: Scalar> RangedPower for FmcwEcho<S> {
    type Scalar = S;

    fn range(&self) -> S {
        self.range
    }

    fn power(&self) -> S {
        self.power
    }
}

impl Fmcw {
    /// Range resolution $c/2B$, m: targets closer than this merge.
    ///
    /// ```
    /// use etendue_physics::pulse::Fmcw;
    /// let fmcw = Fmcw { wavelength: 1550e-9, bandwidth: 1e9, chirp: 10e-6, noise: 1e-9, threshold: 10.0 };
    /// assert!((fmcw.resolution() - 0.1499).abs() < 1e-4);
    /// ```
    pub fn resolution(&self) -> f64 {
        SPEED_OF_LIGHT / (2.0 * self.bandwidth)
    }

    /// Beat frequencies of the rising and the falling chirp, Hz.
    pub fn beats<S: Scalar>(&self, range: S, velocity: S) -> [S; 2] {
        let delay = range * 2.0 * self.bandwidth / (SPEED_OF_LIGHT * self.chirp);
        let doppler = velocity * 2.0 / self.wavelength;
        [(delay + doppler).abs(), (delay - doppler).abs()]
    }

    /// Range (m) and radial velocity (m/s) of a pair of beat frequencies (Hz).
    pub fn from_beats<S: Scalar>(&self, [up, down]: [S; 2]) -> (S, S) {
        let range = (up + down) * (SPEED_OF_LIGHT * self.chirp) / (4.0 * self.bandwidth);
        (range, (up - down) * (0.25 * self.wavelength))
    }

    /// Standard deviation of a beat frequency, Hz: the Cramér-Rao bound
    /// $\sigma_f = \sqrt{6/\mathrm{SNR}}/(2\pi T)$ (Rife, Boorstyn 1974,
    /// doi:10.1109/TIT.1974.1055282), with the ratio over the whole chirp.
    pub fn beat_noise(&self, power: f64) -> f64 {
        (6.0 * self.noise / power).sqrt() / (2.0 * PI * self.chirp)
    }

    /// Standard deviation of the range of a target, m: that of the mean of both beats.
    ///
    /// ```
    /// use etendue_physics::pulse::Fmcw;
    /// let fmcw = Fmcw { wavelength: 1550e-9, bandwidth: 1e9, chirp: 10e-6, noise: 1e-9, threshold: 10.0 };
    /// // A signal-to-noise ratio of 100 and a resolution of 150 mm.
    /// assert!((fmcw.range_sd(1e-7) - 4.13e-3).abs() < 1e-5);
    /// ```
    pub fn range_sd(&self, power: f64) -> f64 {
        let per_beat = SPEED_OF_LIGHT * self.chirp / (4.0 * self.bandwidth);
        per_beat * std::f64::consts::SQRT_2 * self.beat_noise(power)
    }

    /// Echoes of `targets` (sorted in place), nearest first: targets within one resolution cell
    /// merge at their power-weighted mean range and velocity. Merging, thresholds and noise are
    /// constant under differentiation.
    pub fn echoes<S: Scalar>(
        &self,
        targets: &mut [FmcwEcho<S>],
        mut noise: Option<&mut Stream>,
    ) -> Vec<FmcwEcho<S>> {
        let resolution = self.resolution();
        let mut echoes = Vec::new();
        let mut each = |cell: &[FmcwEcho<S>]| {
            let merged = merge(cell);
            if merged.power.value() >= self.threshold * self.noise {
                echoes.push(self.measure(&merged, noise.as_deref_mut()));
            }
        };
        if targets.iter().all(|target| target.power.value() > 0.0) {
            targets.sort_unstable_by(|a, b| a.range.value().total_cmp(&b.range.value()));
            targets
                .chunk_by(|a, b| (b.range - a.range).value() < resolution)
                .for_each(each);
        } else {
            group_returns(targets, |near, far| far - near < resolution, &mut each);
        }
        echoes
    }

    /// Range and velocity of a target from its noisy beat frequencies.
    fn measure<S: Scalar>(&self, target: &FmcwEcho<S>, noise: Option<&mut Stream>) -> FmcwEcho<S> {
        let draws = noise.map_or([0.0; 2], Stream::normal_pair);
        let sigma = self.beat_noise(target.power.value());
        let mut beats = self.beats(target.range, target.velocity);
        for (beat, draw) in beats.iter_mut().zip(draws) {
            *beat = (*beat + sigma * draw).abs();
        }
        let (range, velocity) = self.from_beats(beats);
        FmcwEcho {
            range,
            velocity,
            power: target.power,
        }
    }
}

/// Power-weighted mean of the targets of a cell.
fn merge<S: Scalar>(cell: &[FmcwEcho<S>]) -> FmcwEcho<S> {
    let power = cell
        .iter()
        .fold(S::zero(), |sum, target| sum + target.power);
    let mean = |of: fn(&FmcwEcho<S>) -> S| {
        let weighted = cell
            .iter()
            .fold(S::zero(), |sum, target| sum + target.power * of(target));
        if power.value() > 0.0 {
            weighted / power
        } else {
            of(&cell[0])
        }
    };
    FmcwEcho {
        range: mean(|target| target.range),
        velocity: mean(|target| target.velocity),
        power,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Purpose;

    const FMCW: Fmcw = Fmcw {
        wavelength: 1550e-9,
        bandwidth: 1e9,
        chirp: 10e-6,
        noise: 1e-6,
        threshold: 10.0,
    };

    /// The beat frequency from the phase difference between the transmitted and the received wave at the
    /// start and at the end of a chirp (including the phase of the carrier).
    fn counted_beat(range: f64, velocity: f64, sign: f64) -> f64 {
        let carrier = SPEED_OF_LIGHT / FMCW.wavelength;
        let slope = sign * FMCW.bandwidth / FMCW.chirp;
        let phase = |t: f64| {
            let delay = 2.0 * (range + velocity * t) / SPEED_OF_LIGHT;
            // phi(t) - phi(t - delay), with phi = carrier t + slope t^2 / 2
            carrier * delay + slope * (t * delay - 0.5 * delay * delay)
        };
        ((phase(1e-6) - phase(-1e-6)) / 2e-6).abs()
    }

    #[test]
    fn beat_frequencies_match_a_delayed_and_doppler_shifted_chirp() {
        for (range, velocity) in [(20.0, 0.0), (80.0, 12.0), (150.0, -30.0), (3.0, 1.0)] {
            let [up, down] = FMCW.beats(range, velocity);
            for (beat, sign) in [(up, 1.0), (down, -1.0)] {
                let counted = counted_beat(range, velocity, sign);
                // The delay's own growth during the chirp is left out: 2 v B / c.
                assert!((beat / counted - 1.0).abs() < 1e-5, "{beat} {counted}");
            }
        }
    }

    #[test]
    fn range_and_velocity_are_recovered_from_the_beat_frequencies() {
        let (range, velocity) = FMCW.from_beats(FMCW.beats(64.0, -13.0));
        assert!((range - 64.0).abs() < 1e-9 && (velocity + 13.0).abs() < 1e-9);
    }

    #[test]
    fn a_near_and_fast_target_is_ambiguous() {
        // 2 RB/cT = 66.7 MHz at 100 m; 2 v / lambda = 38.7 MHz at 30 m/s.
        let (range, velocity) = FMCW.from_beats(FMCW.beats(10.0, 30.0));
        assert!((range - 10.0).abs() > 1.0 && (velocity - 30.0).abs() > 1.0);
    }

    /// 4,000 echoes: within 5 % (4.5 standard errors) of the bound.
    #[test]
    fn the_variance_of_the_velocity_is_the_bound_of_the_beat_frequencies() {
        let target = FmcwEcho {
            range: 100.0,
            power: 1e-3,
            velocity: 5.0,
        };
        let velocities: Vec<f64> = (0..4000)
            .map(|beam| {
                let mut stream = Stream::new(3, 0, 0, beam, Purpose::ReceiverNoise);
                FMCW.echoes(&mut [target], Some(&mut stream))[0].velocity
            })
            .collect();
        let variance = velocities.iter().map(|v| (v - 5.0).powi(2)).sum::<f64>() / 4000.0;
        let expected = 0.25 * FMCW.wavelength * FMCW.beat_noise(1e-3) * 2.0_f64.sqrt();
        assert!((variance.sqrt() / expected - 1.0).abs() < 0.05);
    }

    #[test]
    fn weak_beats_are_not_detected_and_close_targets_merge() {
        let target = |range, power| FmcwEcho {
            range,
            power,
            velocity: 0.0,
        };
        assert!(FMCW.echoes(&mut [target(50.0, 9e-6)], None).is_empty());
        let mut close = [target(50.1, 3e-4), target(50.0, 1e-4)];
        let echoes = FMCW.echoes(&mut close, None);
        assert_eq!(echoes.len(), 1);
        assert!((echoes[0].range - 50.075).abs() < 1e-9);
    }
}
