//! Monte Carlo test of a recording against its profile.

use super::baselines::on_steps;
use super::distances::{kolmogorov_smirnov, kolmogorov_smirnov_p};
use crate::noise::{PanelBeams, replay};
use etendue_physics::profile::Profile;
use rayon::prelude::*;

/// Comparison of a recorded band of incidence with simulations.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MonteCarloBand {
    /// From and to, rad.
    pub incidence: [f64; 2],
    /// Recorded ranges.
    pub ranges: usize,
    /// Kolmogorov and Smirnov's distance between the recorded ranges' errors and what the profile
    /// makes on the whole.
    pub distance: f64,
    /// Probability that a simulation of the set-up lies as far from that.
    pub probability: f64,
    /// In how many simulations it was looked for.
    pub simulations: usize,
    /// How often the plain test, every range a sample of its own, tells two simulations of the same
    /// profile apart at 1 %.
    pub plain_tells: f64,
}

/// Number of pooled simulations.
const POOLED: u64 = 10;

/// Number of simulations with at least the distance of the recording after which a band is decided.
const ENOUGH: usize = 10;

/// Maximum number of simulations.
const MOST: usize = 999;

/// Number of simulations in a batch.
const TOGETHER: u64 = 20;

/// Least number of ranges of a band.
const LEAST: usize = 20;

/// Bands of ten degrees.
const BANDS: usize = 9;

/// The test of Kolmogorov and Smirnov where beams are not independent: the set-up is simulated again
/// and again, direction by direction and scan by scan, with all that neighbours and successive scans
/// share, and the recording's distance from what the profile makes on the whole is one among those of
/// the simulations (Barnard 1963; stopped as soon as enough lie as far off, Besag and Clifford 1991,
/// doi:10.1093/biomet/78.2.301).
pub fn monte_carlo_test(recorded: &PanelBeams, profile: &Profile) -> Vec<MonteCarloBand> {
    let recorded = &on_steps(recorded, &profile.steps);
    let mut pool = by_band(recorded, |_| None);
    for seed in 0..POOLED {
        for (all, one) in pool.iter_mut().zip(simulated(recorded, profile, seed)) {
            all.extend(one);
        }
    }
    for band in &mut pool {
        band.sort_by(f64::total_cmp);
    }
    let seen = by_band(recorded, Some);
    let numbered = seen.into_iter().zip(pool).enumerate();
    let mut bands: Vec<Running> = numbered
        .filter(|(_, (seen, pool))| seen.len() >= LEAST && !pool.is_empty())
        .map(|(number, (seen, pool))| Running::new(number, seen, pool))
        .collect();
    let mut seed = POOLED;
    while bands.iter().any(|band| !band.is_settled()) {
        let simulations: Vec<_> = (seed..seed + TOGETHER)
            .into_par_iter()
            .map(|seed| simulated(recorded, profile, seed))
            .collect();
        for band in &mut bands {
            band.look_at(&simulations);
        }
        seed += TOGETHER;
    }
    bands.into_iter().map(|band| band.band).collect()
}

/// Errors of a simulation, band by band.
fn simulated(recorded: &PanelBeams, profile: &Profile, seed: u64) -> Vec<Vec<f64>> {
    by_band(&replay(recorded, profile, seed), Some)
}

fn by_band(beams: &PanelBeams, keep: impl Fn(f64) -> Option<f64>) -> Vec<Vec<f64>> {
    let mut bands = vec![Vec::new(); BANDS];
    for beam in &beams.beams {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "incidence is within a quarter turn"
        )]
        let number = (beam.incidence.to_degrees() / 10.0) as usize;
        bands[number.min(BANDS - 1)].extend(beam.error().and_then(&keep));
    }
    bands
}

/// A band that is being tested.
struct Running {
    number: usize,
    pool: Vec<f64>,
    band: MonteCarloBand,
    /// Simulations as far off as the recording.
    beyond: usize,
    /// Pairs of simulations, and how many the plain test tells apart.
    pairs: [usize; 2],
}

impl Running {
    fn new(number: usize, mut seen: Vec<f64>, mut pool: Vec<f64>) -> Self {
        let edge = |number: usize| (10.0 * number as f64).to_radians();
        Self {
            number,
            band: MonteCarloBand {
                incidence: [edge(number), edge(number + 1)],
                ranges: seen.len(),
                distance: kolmogorov_smirnov(&mut seen, &mut pool),
                probability: 1.0,
                simulations: 0,
                plain_tells: 0.0,
            },
            pool,
            beyond: 0,
            pairs: [0; 2],
        }
    }

    fn is_settled(&self) -> bool {
        self.beyond >= ENOUGH || self.band.simulations >= MOST
    }

    fn look_at(&mut self, simulations: &[Vec<Vec<f64>>]) {
        let bands: Vec<&Vec<f64>> = simulations
            .iter()
            .map(|bands| &bands[self.number])
            .collect();
        for errors in &bands {
            if self.is_settled() {
                break;
            }
            // One without any range is as far off as can be.
            let distance = if errors.is_empty() {
                1.0
            } else {
                kolmogorov_smirnov(&mut (*errors).clone(), &mut self.pool)
            };
            self.band.simulations += 1;
            self.beyond += usize::from(distance >= self.band.distance);
        }
        for two in bands.chunks_exact(2) {
            let samples = [two[0].len() as f64, two[1].len() as f64];
            let distance = kolmogorov_smirnov(&mut two[0].clone(), &mut two[1].clone());
            self.pairs[0] += 1;
            self.pairs[1] += usize::from(kolmogorov_smirnov_p(distance, samples) < 0.01);
        }
        let (beyond, all) = (self.beyond as f64, self.band.simulations as f64);
        self.band.plain_tells = self.pairs[1] as f64 / self.pairs[0].max(1) as f64;
        self.band.probability = if self.beyond >= ENOUGH {
            beyond / all
        } else {
            (beyond + 1.0) / (all + 1.0)
        };
    }
}
