//! Range noise that is not independent from shot to shot: correlated between neighbouring beams, common to a
//! sweep, or fixed over all sweeps.
//!
//! The receivers draw the independent noise of each shot. [`CorrelatedNoise`] adds the parts that do not
//! average out over beams or sweeps. The simulation draws them ([`NoiseSampler`]), and
//! [`measurement_noise`](super::measurement_noise()) gives their variances to fits.

use super::description::Lidar;
use super::direct_sweep::{AveragedNormals, CorrelatedDraws};
use super::domain::{OutsideDomain, value, zero_or_more};
use super::settings::SweepSettings;
use etendue_physics::{Draws, MovingAverage, Purpose};
use etendue_scene::ObjectId;

/// Range noise that is not independent from shot to shot, as standard deviations.
///
/// The error of the shot $i$ of a channel $c$ in a sweep $s$ on an object $o$ is
///
/// $$e = \sigma_n \sum_k w_k z_{s,i-k} + \sigma_c\\,p_c + \sigma_b \sum_k v_k q_{o,i-k} + \sigma_s\\,g_s$$
///
/// with independent standard normal numbers $z$ (of a shot), $p$ (of a channel), $q$ (of a beam on an object,
/// the same in all sweeps) and $g$ (of a sweep). $i-k$ is the same channel $k$ columns earlier, and $w$ and
/// $v$ are the weights of [`MovingAverage`]s. The variance is the sum of the four squares. The errors of two
/// shots have the covariance
///
/// $$\sigma_n^2\\,\rho_k\\,[\text{same sweep and channel}] + \sigma_c^2\\,[\text{same channel}]
///   + \sigma_b^2\\,\beta_k\\,[\text{same channel and object}] + \sigma_s^2\\,[\text{same sweep}]$$
///
/// with the correlations $\rho_k$ and $\beta_k$ of beams $k$ columns apart, 1 for $k = 0$. The noise is added
/// to the detections of the receiver, before range limits and rounding; beams on surfaces with a noise profile
/// have the noise of the profile only.
///
/// The seed and the index of the sensor select a device: other seeds have other fixed-pattern errors. Not
/// modelled: a dependence on the range, drift from sweep to sweep, and fixed-pattern errors that change
/// with the place on a surface when the sensor moves.
///
/// Source of the parts: recordings of standing sensors (docs/validation/presets.md).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CorrelatedNoise {
    /// Standard deviation $\sigma_n$ of the noise that is correlated between neighbouring beams, m.
    pub neighbour: f64,
    /// Correlation $\rho_1$ of that noise, and of the azimuth jitter, between neighbouring beams, 0 to 0.75.
    pub neighbour_correlation: f64,
    /// Standard deviation $\sigma_c$ of the fixed-pattern errors of the channels, m.
    pub channel: f64,
    /// Standard deviation $\sigma_b$ of the fixed-pattern errors of beams on a surface, m.
    pub beam: f64,
    /// Correlation $\beta_1$ of the fixed-pattern errors of neighbouring beams, 0 to 0.75.
    pub beam_correlation: f64,
    /// Standard deviation $\sigma_s$ of the noise common to a sweep, m.
    pub scan: f64,
}

impl CorrelatedNoise {
    /// Whether there is no such noise.
    pub fn is_none(&self) -> bool {
        [self.neighbour, self.channel, self.beam, self.scan] == [0.0; 4]
    }

    /// Variance of the range, m².
    ///
    /// ```
    /// use etendue_sensors::lidar::CorrelatedNoise;
    /// let noise = CorrelatedNoise { channel: 3e-3, scan: 4e-3, ..CorrelatedNoise::default() };
    /// assert!((noise.variance() - 25e-6).abs() < 1e-18);
    /// ```
    pub fn variance(&self) -> f64 {
        let parts = [self.neighbour, self.channel, self.beam, self.scan];
        parts.iter().map(|sd| sd * sd).sum()
    }

    /// The moving average of the noise between neighbouring beams and of the azimuth jitter.
    pub fn neighbour_average(&self) -> MovingAverage {
        MovingAverage::of(self.neighbour_correlation)
    }

    /// The moving average of the fixed-pattern errors of neighbouring beams.
    pub fn beam_average(&self) -> MovingAverage {
        MovingAverage::of(self.beam_correlation)
    }

    /// Checks the parameters.
    pub(super) fn check(&self) -> Result<(), OutsideDomain> {
        zero_or_more(&[
            ("the noise of neighbouring beams, m,", self.neighbour),
            ("the fixed pattern of the channels, m,", self.channel),
            ("the fixed pattern of the beams, m,", self.beam),
            ("the noise common to a sweep, m,", self.scan),
        ])?;
        let correlation = |what, number: f64| {
            let ok = (0.0..=0.75).contains(&number);
            value(what, number, ok, "from 0 to 0.75")
        };
        correlation(
            "the correlation of neighbouring beams",
            self.neighbour_correlation,
        )?;
        correlation(
            "the correlation of the fixed pattern of neighbouring beams",
            self.beam_correlation,
        )
    }
}

/// The correlated noise of one sweep of a lidar.
#[derive(Clone, Debug)]
pub(super) struct NoiseSampler {
    /// Sum of the errors of the sweep and of each channel, m.
    common: Vec<f64>,
    neighbour: AveragedDraws,
    beam: AveragedDraws,
}

/// Moving averages of the draws of shots.
#[derive(Clone, Copy, Debug)]
struct AveragedDraws {
    /// Standard deviation, m; 0 for no draws.
    sd: f64,
    average: MovingAverage,
    draws: Draws,
    /// Difference of the indices of neighbours: the number of channels.
    stride: u32,
}

/// Sweep word of the random numbers that are the same in all sweeps.
const ALL_SWEEPS: u32 = u32::MAX;

/// Sweep word of the fixed-pattern errors of echoes without a surface.
const NO_SURFACE: u32 = u32::MAX - 1;

/// Number of shots that are drawn together.
const LANES: usize = 16;

impl NoiseSampler {
    /// The noise of a sweep; `None` if there is none.
    pub fn new<S>(lidar: &Lidar<S>, settings: &SweepSettings) -> Option<Self> {
        let noise = &lidar.noise;
        if noise.is_none() || settings.without_noise {
            return None;
        }
        // Draw the errors of the sweep and of the channels.
        let draws = |purpose, sweep| Draws {
            seed: settings.seed,
            sensor: settings.sensor,
            sweep,
            purpose,
        };
        let of_sweep = draws(Purpose::ScanNoise, settings.sweep);
        let scan = noise.scan * of_sweep.stream(0).normal();
        let of_channels = draws(Purpose::ChannelPattern, ALL_SWEEPS);
        let channel = |(_, number)| scan + noise.channel * of_channels.stream(number).normal();
        // Prepare those of the shots.
        let averaged = |sd, average, purpose| AveragedDraws {
            sd,
            average,
            draws: draws(purpose, settings.sweep),
            stride: stride(lidar),
        };
        let neighbour = noise.neighbour_average();
        Some(Self {
            common: lidar.channels.iter().zip(0..).map(channel).collect(),
            neighbour: averaged(noise.neighbour, neighbour, Purpose::NeighbourNoise),
            beam: averaged(noise.beam, noise.beam_average(), Purpose::BeamPattern),
        })
    }

    /// The parts of the noise, for other processors.
    pub fn draws(&self) -> CorrelatedDraws {
        CorrelatedDraws {
            common: self.common.clone(),
            neighbour: self.neighbour.normals(),
            beam: self.beam.normals(),
        }
    }

    /// Range error of the shot with the index `shot` on an object, m.
    pub fn error(&self, shot: u32, object: Option<ObjectId>) -> f64 {
        let mut error = self.common[shot as usize % self.common.len()];
        if self.neighbour.sd > 0.0 {
            error += self.neighbour.of(shot, self.neighbour.draws.sweep);
        }
        if self.beam.sd > 0.0 {
            error += self.beam.of(shot, sweep_word(object));
        }
        error
    }

    /// [`NoiseSampler::error`] of sixteen shots.
    #[expect(clippy::inline_always, reason = "for the caller's instructions")]
    #[inline(always)]
    pub fn errors(&self, shots: &[u32; LANES], objects: [Option<ObjectId>; LANES]) -> [f64; LANES] {
        let mut errors = [0.0; LANES];
        for (error, shot) in errors.iter_mut().zip(shots) {
            *error = self.common[*shot as usize % self.common.len()];
        }
        if self.neighbour.sd > 0.0 {
            let sweeps = [self.neighbour.draws.sweep; LANES];
            self.neighbour.add(shots, &sweeps, &mut errors);
        }
        if self.beam.sd > 0.0 {
            self.beam.add(shots, &objects.map(sweep_word), &mut errors);
        }
        errors
    }
}

impl AveragedDraws {
    /// Standard deviation and weights.
    fn normals(&self) -> AveragedNormals {
        AveragedNormals {
            sd: self.sd,
            weights: padded(&self.average),
        }
    }

    /// The number of a shot, with the sweep word of its draws, m.
    fn of(&self, shot: u32, sweep: u32) -> f64 {
        let mut sum = 0.0;
        for (back, weight) in (0..).zip(self.average.weights()) {
            let neighbour = shot.wrapping_sub(back * self.stride);
            let draws = Draws {
                sweep,
                ..self.draws
            };
            sum += weight * draws.stream(neighbour).normal();
        }
        self.sd * sum
    }

    /// Adds [`AveragedDraws::of`] of sixteen shots.
    #[expect(clippy::inline_always, reason = "for the caller's instructions")]
    #[inline(always)]
    fn add(&self, shots: &[u32; LANES], sweeps: &[u32; LANES], errors: &mut [f64; LANES]) {
        let mut sums = [0.0; LANES];
        for (back, weight) in (0..).zip(self.average.weights()) {
            let mut neighbours = *shots;
            for shot in &mut neighbours {
                *shot = shot.wrapping_sub(back * self.stride);
            }
            let normals = self.draws.normals_of_sweeps(&neighbours, sweeps);
            for (sum, normal) in sums.iter_mut().zip(&normals) {
                *sum += weight * normal;
            }
        }
        for (error, sum) in errors.iter_mut().zip(&sums) {
            *error += self.sd * sum;
        }
    }
}

/// Difference of the indices of neighbouring beams of a channel.
pub(super) fn stride<S>(lidar: &Lidar<S>) -> u32 {
    u32::try_from(lidar.channels.len()).unwrap_or(1)
}

/// The weights of a moving average, with zeros to the end.
pub(super) fn padded(average: &MovingAverage) -> [f64; 4] {
    let mut weights = [0.0; 4];
    let own = average.weights();
    weights[..own.len()].copy_from_slice(own);
    weights
}

/// Sweep word of the fixed-pattern errors on an object.
fn sweep_word(object: Option<ObjectId>) -> u32 {
    object.map_or(NO_SURFACE, |object| object.0)
}
