//! Beam directions, shared between scans.

use std::sync::Arc;

/// Sets of azimuths, or of elevations, of the beams in a log; most logs have one.
#[derive(Default)]
pub(super) struct Geometries {
    last: Option<Arc<[f64]>>,
}

impl Geometries {
    /// `angles` (rad) as shared data. Equal angles of the preceding scan are reused.
    pub fn share(&mut self, angles: Vec<f64>) -> Arc<[f64]> {
        match &self.last {
            Some(last) if **last == *angles => last.clone(),
            _ => {
                let shared: Arc<[f64]> = angles.into();
                self.last = Some(shared.clone());
                shared
            }
        }
    }

    /// `elevations` (rad) as shared data; none if all are zero, as in a planar scan.
    pub fn share_elevations(&mut self, mut elevations: Vec<f64>) -> Arc<[f64]> {
        if elevations.iter().all(|elevation| *elevation == 0.0) {
            elevations.clear();
        }
        self.share(elevations)
    }

    /// `beams` azimuths from `first` in steps of `step`, rad.
    pub fn regular(&mut self, first: f64, step: f64, beams: usize) -> Arc<[f64]> {
        self.share((0..beams).map(|i| first + step * i as f64).collect())
    }
}
