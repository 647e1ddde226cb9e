//! Derivatives by the scattering factors of single facets.

use super::hit_triangles::HitTriangles;
use super::jacobian::{Column, zeros};
use super::simulate::LocalParameters;
use super::{Model, SimulatorInputs};
use crate::manifold::Variable;
use etendue_physics::{Dual, DualParts, Scalar};
use etendue_scene::{Hit, ObjectId, Scene};

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
        let mut found: Vec<Column> = components.iter().copied().map(Column::empty).collect();
        let simulate = |facets: &HitTriangles<usize>| {
            let factor = |scan: usize, beam: usize, hit: &Hit| -> Dual<PER_PASS> {
                let Some(number) = index.of(hit) else {
                    return 1.0.into();
                };
                let factor = inputs.facet_factors[number].2;
                match facets.slot(scan, beam, number) {
                    Some(slot) => Dual::variable(factor, slot),
                    None => factor.into(),
                }
            };
            self.simulate_with_edges(scene, &inputs, LocalParameters::factors(Some(&factor)))
        };
        self.for_each_hit_triangle(
            PER_PASS,
            simulate,
            |quantity, number: usize, slot, slopes| {
                found[number].slopes.push((quantity, slopes[slot]));
            },
        );
        columns.extend(found);
    }
}
