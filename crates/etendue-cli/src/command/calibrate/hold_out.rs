//! Report of held-out scores.

use etendue::calibrate::noise::score::{HoldOutScores, IncidenceBand, MonteCarloBand};
use serde::Serialize;
use std::fmt::Write as _;

/// Held-out scores of a material.
#[derive(Serialize)]
pub struct HoldOutReport {
    material: String,
    scans_fitted: usize,
    scans_held_out: usize,
    scores: Vec<ScoreRow>,
    bands: Vec<BandRow>,
}

#[derive(Serialize)]
struct ScoreRow {
    predictor: &'static str,
    negative_log_likelihood: f64,
    crps_mm: f64,
    drop_out_brier: f64,
    pit: [f64; 10],
    /// Predicted drop-out, observed drop-out, number of beams.
    drop_out_calibration: Vec<(f64, f64, usize)>,
}

#[derive(Serialize)]
struct BandRow {
    from_deg: f64,
    to_deg: f64,
    beams: usize,
    effective_sample_size: f64,
    ks_distance: f64,
    ks_probability: f64,
    ks_probability_all_independent: f64,
    /// Probability of a simulation of the set-up that differs at least as much as the recording.
    ks_probability_simulated: Option<f64>,
    /// Fraction of pairs of simulations that the test for independent beams rejects at the 1 %
    /// level.
    ks_all_independent_tells_simulations: Option<f64>,
    jensen_shannon_bits: f64,
    drop_out_seen: f64,
    drop_out_predicted: f64,
}

impl HoldOutReport {
    /// Report of the scores of a material.
    pub fn of(material: &str, hold_out: &HoldOutScores) -> Self {
        // Scores of each predictor
        let scores = hold_out.scores.iter().map(|(predictor, scores)| {
            let classes = scores.calibration.iter();
            ScoreRow {
                predictor,
                negative_log_likelihood: scores.negative_log_likelihood,
                crps_mm: scores.ranked_probability * 1e3,
                drop_out_brier: scores.drop_out_error,
                pit: scores.transform,
                drop_out_calibration: classes
                    .map(|class| (class.predicted, class.observed, class.beams))
                    .collect(),
            }
        });

        // Tests in bands of incidence, with the Monte Carlo result of the same band
        let simulated = |band: &IncidenceBand| {
            let same = |one: &&MonteCarloBand| one.incidence[0] == band.incidence[0];
            hold_out.monte_carlo.iter().find(same)
        };
        let bands = hold_out.scores[0].1.bands.iter().map(|band| BandRow {
            from_deg: band.incidence[0].to_degrees(),
            to_deg: band.incidence[1].to_degrees(),
            beams: band.beams,
            effective_sample_size: band.samples,
            ks_distance: band.distance,
            ks_probability: band.probability,
            ks_probability_all_independent: band.plain_probability,
            ks_probability_simulated: simulated(band).map(|one| one.probability),
            ks_all_independent_tells_simulations: simulated(band)
                .map(|one| one.plain_rejection_rate),
            jensen_shannon_bits: band.divergence,
            drop_out_seen: band.drop_out[0],
            drop_out_predicted: band.drop_out[1],
        });
        Self {
            material: material.into(),
            scans_fitted: hold_out.scans[0],
            scans_held_out: hold_out.scans[1],
            scores: scores.collect(),
            bands: bands.collect(),
        }
    }

    /// The report as text.
    pub fn text(&self) -> String {
        // Heading with the columns of the scores
        let mut text = format!(
            "{}: fitted to {} scans, tested on {}\n  {:<18} {:>9} {:>9} {:>9}\n",
            self.material,
            self.scans_fitted,
            self.scans_held_out,
            "",
            "NLL/beam",
            "CRPS, mm",
            "Brier"
        );

        // Scores of each predictor
        for row in &self.scores {
            writeln!(
                text,
                "  {:<18} {:>9.3} {:>9.3} {:>9.4}",
                row.predictor, row.negative_log_likelihood, row.crps_mm, row.drop_out_brier
            )
            .expect("writing to a string does not fail");
        }

        // Tests in bands of incidence
        for band in &self.bands {
            text += &band.text();
        }
        text
    }
}

impl BandRow {
    fn text(&self) -> String {
        format!(
            "  {:>3.0} - {:<3.0} deg: KS {:.3}, p {:.3} from simulations, {:.3} from {:.0} \
             independent samples, {:.2e} from {} beams; JS {:.3} bits, drop-out {:.1} %, \
             predicted {:.1} %\n",
            self.from_deg,
            self.to_deg,
            self.ks_distance,
            self.ks_probability_simulated.unwrap_or(f64::NAN),
            self.ks_probability,
            self.effective_sample_size,
            self.ks_probability_all_independent,
            self.beams,
            self.jensen_shannon_bits,
            1e2 * self.drop_out_seen,
            1e2 * self.drop_out_predicted
        )
    }
}
