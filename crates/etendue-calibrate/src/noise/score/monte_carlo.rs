//! Monte Carlo test of a recording against its profile.

use super::baselines::on_steps;
use super::distances::{kolmogorov_smirnov, kolmogorov_smirnov_p};
use crate::noise::beams::PanelBeams;
use crate::noise::replay::replay;
use etendue_physics::profile::Profile;
use rayon::prelude::*;

/// Comparison of a band of incidence of a recording with simulations.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MonteCarloBand {
    /// First and last incidence, rad.
    pub incidence: [f64; 2],
    /// Number of recorded ranges.
    pub ranges: usize,
    /// Kolmogorov-Smirnov distance between the recorded errors and pooled simulations.
    pub distance: f64,
    /// Probability of at least that distance for a simulation of the recording.
    pub probability: f64,
    /// Number of simulations that determine the probability.
    pub simulations: usize,
    /// Rejection rate at 1 % of the plain test between two simulations of the same profile: the plain test
    /// counts every range as an independent sample.
    pub plain_rejection_rate: f64,
}

/// Number of pooled simulations.
const POOLED: u64 = 10;

/// Number of simulations with at least the distance of the recording at which the test of a band stops.
const ENOUGH: usize = 10;

/// Maximum number of simulations.
const MOST: usize = 999;

/// Number of simulations in a batch.
const TOGETHER: u64 = 20;

/// Least number of ranges of a band.
const LEAST: usize = 20;

/// Number of bands, of ten degrees each.
const BANDS: usize = 9;

/// Kolmogorov-Smirnov test for correlated beams, by simulation. Every simulation draws all beams of the
/// recording, with the correlations between neighbours and between scans. The distance of the recording
/// from pooled simulations is ranked among the distances of the simulations (Barnard 1963; sequential
/// version of Besag and Clifford 1991, doi:10.1093/biomet/78.2.301).
pub fn monte_carlo_test(recorded: &PanelBeams, profile: &Profile) -> Vec<MonteCarloBand> {
    // Pool some simulations as the reference distribution
    let recorded = &on_steps(recorded, &profile.steps);
    let mut pool = vec![Vec::new(); BANDS];
    for seed in 0..POOLED {
        for (all, one) in pool.iter_mut().zip(simulated(recorded, profile, seed)) {
            all.extend(one);
        }
    }
    for band in &mut pool {
        band.sort_by(f64::total_cmp);
    }

    // Measure the distance of the recording from the pool in each band
    let numbered = errors_by_band(recorded).into_iter().zip(pool).enumerate();
    let mut bands: Vec<BandTest> = numbered
        .filter(|(_, (errors, pool))| errors.len() >= LEAST && !pool.is_empty())
        .map(|(number, (errors, pool))| BandTest::new(number, errors, pool))
        .collect();

    // Simulate until all bands are decided
    let mut seed = POOLED;
    while bands.iter().any(|band| !band.is_decided()) {
        let simulations: Vec<_> = (seed..seed + TOGETHER)
            .into_par_iter()
            .map(|seed| simulated(recorded, profile, seed))
            .collect();
        for band in &mut bands {
            band.add(&simulations);
        }
        seed += TOGETHER;
    }
    bands.into_iter().map(|band| band.result).collect()
}

/// Errors of a simulation by band of incidence, m.
fn simulated(recorded: &PanelBeams, profile: &Profile, seed: u64) -> Vec<Vec<f64>> {
    errors_by_band(&replay(recorded, profile, seed))
}

/// Errors by band of incidence, m.
fn errors_by_band(beams: &PanelBeams) -> Vec<Vec<f64>> {
    let mut bands = vec![Vec::new(); BANDS];
    for beam in &beams.beams {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "incidence is within a quarter turn"
        )]
        let number = (beam.incidence.to_degrees() / 10.0) as usize;
        bands[number.min(BANDS - 1)].extend(beam.error());
    }
    bands
}

/// Running test of one band.
struct BandTest {
    /// Index of the band.
    number: usize,
    /// Errors of the pooled simulations, m.
    pool: Vec<f64>,
    result: MonteCarloBand,
    /// Number of simulations with at least the distance of the recording.
    beyond: usize,
    /// Number of pairs of simulations.
    pairs: usize,
    /// Number of pairs that the plain test rejects.
    rejected: usize,
}

impl BandTest {
    fn new(number: usize, mut errors: Vec<f64>, mut pool: Vec<f64>) -> Self {
        let edge = |number: usize| (10.0 * number as f64).to_radians();
        Self {
            number,
            result: MonteCarloBand {
                incidence: [edge(number), edge(number + 1)],
                ranges: errors.len(),
                distance: kolmogorov_smirnov(&mut errors, &mut pool),
                probability: 1.0,
                simulations: 0,
                plain_rejection_rate: 0.0,
            },
            pool,
            beyond: 0,
            pairs: 0,
            rejected: 0,
        }
    }

    fn is_decided(&self) -> bool {
        self.beyond >= ENOUGH || self.result.simulations >= MOST
    }

    /// Adds simulations, given by their errors in each band.
    fn add(&mut self, simulations: &[Vec<Vec<f64>>]) {
        // Count the simulations with at least the distance of the recording
        let bands: Vec<&Vec<f64>> = simulations
            .iter()
            .map(|bands| &bands[self.number])
            .collect();
        for errors in &bands {
            if self.is_decided() {
                break;
            }
            let distance = if errors.is_empty() {
                1.0
            } else {
                kolmogorov_smirnov(&mut (*errors).clone(), &mut self.pool)
            };
            self.result.simulations += 1;
            self.beyond += usize::from(distance >= self.result.distance);
        }

        // Apply the plain test to pairs of simulations
        for pair in bands.chunks_exact(2) {
            let samples = [pair[0].len() as f64, pair[1].len() as f64];
            let distance = kolmogorov_smirnov(&mut pair[0].clone(), &mut pair[1].clone());
            self.pairs += 1;
            self.rejected += usize::from(kolmogorov_smirnov_p(distance, samples) < 0.01);
        }
        self.result.plain_rejection_rate = self.rejected as f64 / self.pairs.max(1) as f64;

        // Estimate the probability
        let beyond = self.beyond as f64;
        let total = self.result.simulations as f64;
        self.result.probability = if self.beyond >= ENOUGH {
            beyond / total
        } else {
            (beyond + 1.0) / (total + 1.0)
        };
    }
}
