//! The panel of a recording, as `etendue calibrate` finds it.

use super::Session;
use crate::recording::Recording;
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

/// The search for a panel, for a thread of its own: it takes seconds for a long recording.
pub(crate) struct PanelTask {
    recording: Arc<Recording>,
    hint: PanelHintRequest,
    /// The panel, if it is known.
    known: Option<Arc<RecordedPanel>>,
}

impl PanelTask {
    /// The panel.
    ///
    /// # Errors
    /// If there is no panel in the recording.
    pub fn find(&self) -> Result<Arc<RecordedPanel>, Refusal> {
        if let Some(known) = &self.known {
            return Ok(known.clone());
        }
        let beams_by_direction = self.recording.by_direction()?;
        let hint = self.hint.hint();
        let panel = find_panel(&beams_by_direction, &hint, &PanelSearch::default())?;
        Ok(Arc::new(RecordedPanel {
            hint: self.hint,
            scans: beams_by_direction.scans,
            beams: PanelBeams::of(&beams_by_direction, &panel),
            panel,
        }))
    }
}

impl Session {
    /// The search for the panel of the recording.
    ///
    /// # Errors
    /// If there is no recording.
    pub(crate) fn panel_task(&self, hint: PanelHintRequest) -> Result<PanelTask, Refusal> {
        let recording = self.recording.clone().ok_or_else(|| {
            Refusal::new(
                "there is no recording of a panel",
                "drop one on the page: a scan log or clouds of a sensor at rest before a panel",
            )
        })?;
        let known = self.panel.clone().filter(|known| known.hint == hint);
        Ok(PanelTask {
            recording,
            hint,
            known,
        })
    }

    /// Keeps the panel that a task has found, if its recording is still the present one.
    pub(crate) fn keep_panel(&mut self, task: &PanelTask, found: Arc<RecordedPanel>) {
        let present = self.recording.as_ref();
        if present.is_some_and(|present| Arc::ptr_eq(present, &task.recording)) {
            self.panel = Some(found);
        }
    }
}
