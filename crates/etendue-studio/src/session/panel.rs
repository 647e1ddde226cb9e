//! The panel of a recording, as `etendue calibrate` finds it.

use super::Session;
use crate::refusal::Refusal;
use etendue::calibrate::noise::panel::find_panel;
use etendue::calibrate::noise::{NoiseError, Panel, PanelBeams, PanelHint, PanelSearch};
use serde::Deserialize;
use std::sync::Arc;

/// Approximate position of the panel: the options `--distance`, `--width` and `--bearing` of `etendue calibrate`.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq)]
#[serde(deny_unknown_fields, default)]
pub struct PanelHintRequest {
    distance_m: Option<f64>,
    width_m: Option<f64>,
    bearing_deg: Option<f64>,
}

impl PanelHintRequest {
    /// The hint for the search.
    pub(crate) fn hint(self) -> PanelHint {
        PanelHint {
            distance: self.distance_m,
            width: self.width_m,
            bearing: self.bearing_deg.map(f64::to_radians),
            sector: None,
        }
    }
}

/// The panel of a recording, and its beams.
#[derive(Clone, Debug)]
pub struct RecordedPanel {
    hint: PanelHintRequest,
    /// Number of scans.
    pub scans: usize,
    /// The panel.
    pub panel: Panel,
    /// Its beams.
    pub beams: PanelBeams,
}

impl From<NoiseError> for Refusal {
    fn from(error: NoiseError) -> Self {
        Self::new(error.to_string(), error.remedy())
    }
}

impl Session {
    /// The panel of the recording; the search is done once for a hint.
    ///
    /// # Errors
    /// If there is no recording, or no panel in it.
    pub fn panel(&mut self, hint: PanelHintRequest) -> Result<Arc<RecordedPanel>, Refusal> {
        if let Some(known) = self.panel.as_ref().filter(|known| known.hint == hint) {
            return Ok(known.clone());
        }
        let recording = self.recording.as_ref().ok_or_else(|| {
            Refusal::new(
                "there is no recording of a panel",
                "drop one on the page: a scan log or clouds of a sensor at rest before a panel",
            )
        })?;
        let beams_by_direction = recording.by_direction()?;
        let panel = find_panel(&beams_by_direction, &hint.hint(), &PanelSearch::default())?;
        let found = Arc::new(RecordedPanel {
            hint,
            scans: beams_by_direction.scans,
            beams: PanelBeams::of(&beams_by_direction, &panel),
            panel,
        });
        self.panel = Some(found.clone());
        Ok(found)
    }
}
