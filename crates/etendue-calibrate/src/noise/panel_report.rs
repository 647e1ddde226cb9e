//! The panel of one recording with its beams.

use super::beams::PanelBeams;
use super::bias_hypotheses::{BiasHypothesis, fit_bias_hypotheses};
use super::error::NoiseError;
use super::options::CalibrationOptions;
use super::panel::{Panel, PanelHint, find_panel};
use super::recording::PanelRecording;

/// The panel of one recording, its beams and hypotheses about its bias.
#[derive(Clone, Debug, PartialEq)]
pub struct PanelReport {
    /// Name of the recording.
    pub recording: String,
    /// The panel.
    pub panel: Panel,
    /// Its beams.
    pub beams: PanelBeams,
    /// Hypotheses about its bias.
    pub bias_hypotheses: Vec<BiasHypothesis>,
}

/// Least number of beams on a panel.
const LEAST_BEAMS: usize = 200;

/// Least span of incidence of the returned beams, rad.
const LEAST_SPAN: f64 = 4.0 * std::f64::consts::PI / 180.0;

/// Incidence below which bias hypotheses are fitted, degrees.
const HYPOTHESES_BELOW_DEG: f64 = 75.0;

impl PanelReport {
    /// Finds the panel of a recording and collects its beams.
    pub(super) fn new(
        recording: &PanelRecording,
        hint: &PanelHint,
        options: &CalibrationOptions,
    ) -> Result<Self, NoiseError> {
        // Find the panel and its beams
        let panel = find_panel(recording, hint, &options.search)?;
        let beams = PanelBeams::of(recording, &panel);

        // Reject too few beams, or too narrow a span of incidence
        let returned = beams.beams.iter().filter(|beam| beam.returned());
        let incidences = returned.map(|beam| beam.incidence);
        let widest = incidences.clone().fold(0.0, f64::max);
        let span = widest - incidences.fold(widest, f64::min);
        if beams.beams.len() < LEAST_BEAMS || span < LEAST_SPAN {
            return Err(NoiseError::TooFewBeamsOnPanel {
                recording: recording.name.clone(),
                beams: beams.beams.len(),
                span_deg: span.to_degrees(),
                needed: LEAST_BEAMS,
            });
        }

        // Fit hypotheses about the bias
        let widest = HYPOTHESES_BELOW_DEG.to_radians();
        Ok(Self {
            recording: recording.name.clone(),
            bias_hypotheses: fit_bias_hypotheses(recording, &panel, widest),
            panel,
            beams,
        })
    }

    /// Distance of the panel, m.
    pub(super) fn distance(&self) -> f64 {
        self.panel.plane.distance
    }
}
