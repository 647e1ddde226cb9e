//! Test of whether a quantity changes from one band of incidence to the next.

use super::bins::IncidenceBin;
use etendue_physics::normal;

/// A quantity of the beams of a band.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BandQuantity {
    /// Mean range error.
    Bias,
    /// Standard deviation of the range error.
    Spread,
    /// Probability of a drop-out.
    DropOut,
    /// Mean intensity of returned beams.
    Intensity,
}

/// Difference of two adjacent bands of incidence.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BandDifference {
    /// Middle between the mean incidences of the bands, rad.
    pub incidence: f64,
    /// Two-sided probability of a difference as large as this without a change.
    pub p: f64,
    /// Whether the difference is significant among all of the quantity.
    pub is_significant: bool,
}

/// Probability that any difference of a quantity is called significant where nothing changes.
const LEVEL: f64 = 0.05;

/// Least number of independent samples of a band.
const LEAST_SAMPLES: f64 = 3.0;

/// Differences of adjacent bands in one quantity, by ascending incidence.
///
/// The statistic is $t = (y_2 - y_1)/\\sqrt{v_1 + v_2}$ with the degrees of freedom of Welch (1947,
/// doi:10.1093/biomet/34.1-2.28). $y$ is the mean range error, the logarithm of its standard deviation,
/// $\arcsin\sqrt p$ of the drop-out $p$, or the mean intensity; the variances $v$ come from the effective number of
/// independent samples, for the intensity from the number of directions. Significance is decided by the method of
/// Holm (1979, "A simple sequentially rejective multiple test procedure"), at a level of 5 % for all differences of
/// the quantity. `drop_correlation` is the correlation of the drop-outs of one direction where a band does not
/// determine it.
///
/// Bands with fewer than three independent samples are left out. Not modelled: correlation between bands.
pub fn band_differences(
    bands: &[IncidenceBin],
    quantity: BandQuantity,
    drop_correlation: f64,
) -> Vec<BandDifference> {
    // Compare each band with the next
    let estimates = bands
        .iter()
        .filter_map(|band| Some((band.incidence, estimate(band, quantity, drop_correlation)?)));
    let estimates: Vec<(f64, Estimate)> = estimates.collect();
    let mut differences: Vec<BandDifference> = estimates
        .windows(2)
        .map(|pair| BandDifference {
            incidence: 0.5 * (pair[0].0 + pair[1].0),
            p: probability(pair[0].1, pair[1].1),
            is_significant: false,
        })
        .collect();

    // Decide from the least probable one on
    let mut order: Vec<usize> = (0..differences.len()).collect();
    order.sort_by(|a, b| differences[*a].p.total_cmp(&differences[*b].p));
    for (rank, number) in order.iter().enumerate() {
        let others = (order.len() - rank) as f64;
        if differences[*number].p > LEVEL / others {
            break;
        }
        differences[*number].is_significant = true;
    }
    differences
}

/// A value with its variance and the degrees of freedom of the variance.
#[derive(Clone, Copy)]
struct Estimate {
    value: f64,
    variance: f64,
    freedom: f64,
}

/// The quantity of a band, transformed to nearly constant variance; `None` for too few samples.
fn estimate(
    band: &IncidenceBin,
    quantity: BandQuantity,
    drop_correlation: f64,
) -> Option<Estimate> {
    let ranges = band.effective_ranges();
    let (value, variance, samples) = match quantity {
        BandQuantity::Bias => (band.error?.mean, band.mean_variance()?, ranges),
        BandQuantity::Spread => {
            let sd = band.error?.sd.max(1e-5);
            (sd.ln(), 0.5 / (ranges - 1.0), ranges)
        }
        BandQuantity::DropOut => {
            let samples = band.effective_samples(drop_correlation);
            (band.drop_out().sqrt().asin(), 0.25 / samples, samples)
        }
        BandQuantity::Intensity => {
            let [mean, sd] = band.intensity;
            (mean, sd * sd / band.directions, band.directions)
        }
    };
    (samples >= LEAST_SAMPLES).then_some(Estimate {
        value,
        variance,
        freedom: samples - 1.0,
    })
}

/// Two-sided probability of the difference of two estimates without a change.
fn probability(a: Estimate, b: Estimate) -> f64 {
    let variance = a.variance + b.variance;
    let difference = (b.value - a.value).abs();
    if difference == 0.0 {
        return 1.0;
    }
    let squares = a.variance.powi(2) / a.freedom + b.variance.powi(2) / b.freedom;
    if squares <= 0.0 {
        return 0.0;
    }
    let freedom = variance.powi(2) / squares;
    // Student's t to a normal deviate (Wallace 1959, doi:10.1214/aoms/1177706096, equation 5.1)
    let t_squared = difference * difference / variance;
    let normal_deviate = (8.0 * freedom + 1.0) / (8.0 * freedom + 3.0)
        * (freedom * (t_squared / freedom).ln_1p()).sqrt();
    2.0 * normal::probability(-normal_deviate)
}

#[cfg(test)]
mod tests {
    use super::super::wide_bins;
    use super::*;
    use crate::noise::{BeamOutcome, PanelBeam, PanelBeams, replay};
    use etendue_physics::profile::{Correlation, Knot, Profile, Steps};

    /// Beams in steps of one degree, 40 scans, before a panel at 1 m.
    fn beams() -> PanelBeams {
        let directions = (0_u8..50).map(|cell| (cell, f64::from(cell).to_radians()));
        let beams = directions.flat_map(|(cell, incidence)| {
            (0..40).map(move |scan| PanelBeam {
                cell: cell.into(),
                scan,
                incidence,
                expected: 1.0 / incidence.cos(),
                outcome: BeamOutcome::Dropped,
                intensity: 0.0,
                side: 1.0,
                at_edge: false,
            })
        });
        PanelBeams {
            beams: beams.collect(),
            strays: 0,
            distance: 1.0,
        }
    }

    /// A profile with a fixed pattern, whose bias and drop-out change at 20.5 degrees.
    fn profile(bias_step: f64, drop_out_step: f64) -> Profile {
        let knot = |degrees: f64, share: f64| Knot {
            incidence: degrees.to_radians(),
            bias: share * bias_step,
            spread: 1e-3,
            drop_out: 0.1 + share * drop_out_step,
            ..Knot::default()
        };
        Profile {
            distance: 1.0,
            steps: Steps::default(),
            correlation: Correlation::new(0.0, 0.4, 0.2),
            knots: vec![
                knot(0.0, 0.0),
                knot(19.4, 0.0),
                knot(19.6, 1.0),
                knot(60.0, 1.0),
            ],
            ..Profile::default()
        }
    }

    /// Differences of bands of five degrees that are significant, in degrees, per run.
    fn marks(profile: &Profile, quantity: BandQuantity, runs: u64) -> Vec<Vec<f64>> {
        let beams = beams();
        let width = 5.0_f64.to_radians();
        let marks = (0..runs).map(|seed| {
            let bands = wide_bins(&replay(&beams, profile, seed), &profile.steps, width);
            let differences = band_differences(&bands, quantity, 0.2);
            assert_eq!(differences.len(), 9);
            let significant = differences.iter().filter(|one| one.is_significant);
            significant.map(|one| one.incidence.to_degrees()).collect()
        });
        marks.collect()
    }

    #[test]
    fn where_nothing_changes_few_runs_have_a_mark() {
        for quantity in [
            BandQuantity::Bias,
            BandQuantity::Spread,
            BandQuantity::DropOut,
        ] {
            let marked = marks(&profile(0.0, 0.0), quantity, 200);
            let marked = marked.iter().filter(|marks| !marks.is_empty()).count();
            assert!(marked <= 20, "{quantity:?}: {marked} of 200");
        }
    }

    #[test]
    fn a_step_is_marked_where_it_is_and_nowhere_else() {
        let changed = profile(4e-3, 0.4);
        for quantity in [BandQuantity::Bias, BandQuantity::DropOut] {
            let marks = marks(&changed, quantity, 50);
            let right = |marks: &&Vec<f64>| {
                let [only] = marks[..] else { return false };
                (only - 19.5).abs() < 0.6
            };
            let right = marks.iter().filter(right).count();
            assert!(right >= 45, "{quantity:?}: {right} of 50");
        }
    }
}
