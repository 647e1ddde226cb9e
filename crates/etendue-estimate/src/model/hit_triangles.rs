//! Derivatives by parameters of the triangles that each beam hits.

use super::{Model, QUANTITIES};
use crate::sensor::BeamMeasurement;
use etendue_physics::Dual;
use std::sync::{Mutex, PoisonError};

/// Triangles that each beam hits, and those among them that carry derivatives in the present pass.
///
/// A triangle is named by a key `K`. Beams are simulated on several threads, each beam on one.
pub(super) struct HitTriangles<K> {
    /// Keys of the triangles of each beam, in the order of their first hit, by scan and beam.
    hits: Vec<Mutex<Vec<K>>>,
    /// Indices of the first beam of each scan.
    first_beams: Vec<usize>,
    /// Number of triangles per beam in one pass.
    per_pass: usize,
    /// Number of passes before the present one.
    pass: usize,
}

impl<K: Copy + PartialEq> HitTriangles<K> {
    /// Place of a triangle among those of a beam with derivatives in this pass; `None` if it has none.
    pub fn slot(&self, scan: usize, beam: usize, key: K) -> Option<usize> {
        let hits = &self.hits[self.first_beams[scan] + beam];
        let mut hits = hits.lock().unwrap_or_else(PoisonError::into_inner);
        let place = hits.iter().position(|own| *own == key);
        let place = place.unwrap_or_else(|| {
            hits.push(key);
            hits.len() - 1
        });
        let slot = place.checked_sub(self.pass * self.per_pass)?;
        (slot < self.per_pass).then_some(slot)
    }
}

impl Model {
    /// Differentiates by parameters of the triangles that each beam hits, `per_pass` of its triangles in each
    /// pass: the cost does not depend on the number of triangles.
    ///
    /// `simulate` gives the measurements by scan and beam, with derivatives in the slots of
    /// [`HitTriangles::slot`]. `scatter` takes the index of each quantity, the key and the slot of each
    /// triangle that its beam hits, and the derivatives of the quantity.
    pub(super) fn for_each_hit_triangle<K: Copy + PartialEq, const N: usize>(
        &self,
        per_pass: usize,
        simulate: impl Fn(&HitTriangles<K>) -> Vec<Vec<BeamMeasurement<Dual<N>>>>,
        mut scatter: impl FnMut(usize, K, usize, &[f64; N]),
    ) {
        let mut triangles = HitTriangles {
            hits: (0..self.all_beams()).map(|_| Mutex::default()).collect(),
            first_beams: self.beams_of_scans().map(|of_scan| of_scan.start).collect(),
            per_pass,
            pass: 0,
        };
        // Simulate in passes until every beam has derivatives by all of its triangles.
        loop {
            let scans = simulate(&triangles);
            let mut most = 0;
            let first = triangles.pass * per_pass;
            let hits = triangles.hits.iter_mut();
            for (beam, (measured, hits)) in scans.iter().flatten().zip(hits).enumerate() {
                let hits = hits.get_mut().unwrap_or_else(PoisonError::into_inner);
                most = most.max(hits.len());
                let of_pass = hits.get(first..).unwrap_or_default().iter().take(per_pass);
                for (slot, &key) in of_pass.enumerate() {
                    for (kind, value) in measured.quantities().into_iter().enumerate() {
                        if let Some(value) = value {
                            scatter(beam * QUANTITIES + kind, key, slot, &value.eps);
                        }
                    }
                }
            }
            triangles.pass += 1;
            if most <= triangles.pass * per_pass {
                return;
            }
        }
    }
}
