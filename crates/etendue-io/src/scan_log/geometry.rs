//! Beam directions, shared between scans.

use std::sync::Arc;

/// Sets of beam directions in a log; most logs have one.
#[derive(Default)]
pub(super) struct Geometries {
    last: Option<Arc<[f64]>>,
}

impl Geometries {
    /// `azimuths` (rad) as shared data. Equal azimuths of the preceding scan are reused.
    pub fn share(&mut self, azimuths: Vec<f64>) -> Arc<[f64]> {
        match &self.last {
            Some(last) if **last == *azimuths => last.clone(),
            _ => {
                let shared: Arc<[f64]> = azimuths.into();
                self.last = Some(shared.clone());
                shared
            }
        }
    }

    /// `beams` azimuths from `first` in steps of `step`, rad.
    pub fn regular(&mut self, first: f64, step: f64, beams: usize) -> Arc<[f64]> {
        self.share((0..beams).map(|i| first + step * i as f64).collect())
    }
}
