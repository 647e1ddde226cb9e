//! Derivatives by the scattering factors of single facets.

use super::jacobian::{Column, zeros};
use super::simulate::LocalParameters;
use super::{Model, QUANTITIES, SimulatorInputs};
use crate::manifold::Variable;
use etendue_physics::{Dual, DualParts, Scalar};
use etendue_scene::{Hit, ObjectId, Scene};
use std::sync::{Mutex, PoisonError};

/// Number of facets per beam in one pass of forward-mode differentiation.
const PER_PASS: usize = 6;

/// Index of the facets with unknown factors.
struct FacetIndex {
    /// Position among the unknown factors, by object and triangle; `None` where the factor is known.
    numbers: Vec<Vec<Option<usize>>>,
}

impl FacetIndex {
    /// Index of facets given by object and triangle.
    fn new(scene: &Scene, facets: impl Iterator<Item = (ObjectId, u32)>) -> Self {
        let mut numbers = vec![Vec::new(); scene.objects().len()];
        for (number, (object, triangle)) in facets.enumerate() {
            let own: &mut Vec<Option<usize>> = &mut numbers[object.0 as usize];
            if own.is_empty() {
                let mesh = scene.mesh(scene.objects()[object.0 as usize].mesh);
                own.resize(mesh.triangles.len(), None);
            }
            own[triangle as usize] = Some(number);
        }
        Self { numbers }
    }

    /// Position of the facet of a hit among the unknown factors.
    fn of(&self, hit: &Hit) -> Option<usize> {
        let own = self.numbers.get(hit.object.0 as usize)?;
        own.get(hit.triangle as usize).copied().flatten()
    }
}

impl Model {
    /// Factor on the backscatter at a hit: that of the facet, or 1; `None` where no factor is unknown.
    pub(super) fn facet_factor<S: Scalar>(
        &self,
        inputs: &SimulatorInputs<S>,
    ) -> Option<impl Fn(usize, usize, &Hit) -> S + Sync + use<S>> {
        let facets = &inputs.facet_factors;
        let factors: Vec<f64> = facets.iter().map(|facet| facet.2).collect();
        let facets = facets.iter().map(|facet| (facet.0, facet.1));
        let index = (facets.len() > 0).then(|| FacetIndex::new(&self.scene, facets))?;
        Some(move |_, _, hit: &Hit| index.of(hit).map_or(S::one(), |n| S::from(factors[n])))
    }

    /// Appends the derivatives by the factors of facets.
    ///
    /// Every beam carries dual numbers for the facets that it hits, [`PER_PASS`] in each pass.
    pub(super) fn facet_columns(
        &self,
        scene: &Scene,
        state: &[Variable],
        components: &[usize],
        columns: &mut Vec<Column>,
    ) {
        let step: Vec<Dual<PER_PASS>> = zeros(state).into_iter().map(Dual::from).collect();
        let inputs = self.inputs(state, &step);
        let facets = inputs.facet_factors.iter();
        let index = FacetIndex::new(scene, facets.map(|f| (f.0, f.1)));
        // Facets that each beam hits, in the order of their first hit.
        let hit_facets: Vec<Mutex<Vec<usize>>> = (0..self.scans() * self.beams())
            .map(|_| Mutex::default())
            .collect();
        let mut found: Vec<Column> = components.iter().copied().map(Column::empty).collect();
        // Simulate in passes until every beam has derivatives by all of its facets.
        let mut pass = 0;
        loop {
            let factor = |scan: usize, beam: usize, hit: &Hit| -> Dual<PER_PASS> {
                let Some(number) = index.of(hit) else {
                    return 1.0.into();
                };
                let factor = inputs.facet_factors[number].2;
                let slot = slot(&hit_facets[scan * self.beams() + beam], number);
                match slot.checked_sub(pass * PER_PASS).filter(|s| *s < PER_PASS) {
                    Some(slot) => Dual::variable(factor, slot),
                    None => factor.into(),
                }
            };
            let local = LocalParameters::factors(Some(&factor));
            let scans = self.simulate_with_edges(scene, &inputs, local);
            // Scatter the derivatives of the beams to the columns of the facets.
            let mut most = 0;
            for (beam, (measured, hits)) in scans.iter().flatten().zip(&hit_facets).enumerate() {
                let hits = hits.lock().unwrap_or_else(PoisonError::into_inner);
                most = most.max(hits.len());
                let now = hits.iter().skip(pass * PER_PASS).take(PER_PASS);
                for (slot, &number) in now.enumerate() {
                    for (kind, value) in measured.quantities().into_iter().enumerate() {
                        let slope = value.map_or(0.0, |v| v.eps[slot]);
                        found[number].slopes.push((beam * QUANTITIES + kind, slope));
                    }
                }
            }
            pass += 1;
            if most <= pass * PER_PASS {
                break;
            }
        }
        columns.extend(found);
    }
}

/// Position of a facet among those that a beam has hit; appends a new facet.
fn slot(hits: &Mutex<Vec<usize>>, number: usize) -> usize {
    let mut hits = hits.lock().unwrap_or_else(PoisonError::into_inner);
    hits.iter().position(|n| *n == number).unwrap_or_else(|| {
        hits.push(number);
        hits.len() - 1
    })
}
