//! What single facets scatter.

use super::jacobian::{Column, zeros};
use super::setting::Setting;
use super::{Model, Parameter};
use crate::manifold::Variable;
use etendue_physics::{Dual, DualParts, Scalar};
use etendue_scene::{Hit, ObjectId, Scene};
use std::sync::{Mutex, PoisonError};

/// Facets of one beam that are differentiated by at once.
const AT_ONCE: usize = 6;

/// Numbers given to facets.
struct Numbered {
    /// By object, by triangle; none where it has none.
    numbers: Vec<Vec<Option<usize>>>,
}

impl Numbered {
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

    fn of(&self, hit: &Hit) -> Option<usize> {
        let own = self.numbers.get(hit.object.0 as usize)?;
        own.get(hit.triangle as usize).copied().flatten()
    }
}

impl Model {
    /// The factors of facets, where there are any: 1 of all others.
    pub(super) fn facet_factor<S: Scalar>(
        &self,
        setting: &Setting<S>,
    ) -> Option<impl Fn(usize, usize, &Hit) -> S + Sync + use<S>> {
        let facets = &setting.facets;
        let factors: Vec<f64> = facets.iter().map(|facet| facet.2).collect();
        let facets = facets.iter().map(|facet| (facet.0, facet.1));
        let numbered = (facets.len() > 0).then(|| Numbered::new(&self.scene, facets))?;
        Some(move |_, _, hit: &Hit| numbered.of(hit).map_or(S::one(), |n| S::from(factors[n])))
    }

    /// Derivatives by factors of facets: by those that a beam meets, a few at once, then scattered.
    pub(super) fn facet_columns(
        &self,
        scene: &Scene,
        state: &[Variable],
        which: &[(usize, Parameter)],
        columns: &mut Vec<Column>,
    ) {
        let still: Vec<Dual<AT_ONCE>> = zeros(state).into_iter().map(Dual::from).collect();
        let setting = self.setting(state, &still);
        let facets = setting.facets.iter();
        let numbered = Numbered::new(scene, facets.map(|f| (f.0, f.1)));
        let met: Vec<Mutex<Vec<usize>>> = (0..self.scans() * self.beams())
            .map(|_| Mutex::default())
            .collect();
        let mut found: Vec<Column> = which
            .iter()
            .map(|(component, _)| Column {
                component: *component,
                slopes: Vec::new(),
            })
            .collect();
        let mut pass = 0;
        loop {
            let factor = |scan: usize, beam: usize, hit: &Hit| -> Dual<AT_ONCE> {
                let Some(number) = numbered.of(hit) else {
                    return 1.0.into();
                };
                let factor = setting.facets[number].2;
                let slot = slot(&met[scan * self.beams() + beam], number);
                match slot.checked_sub(pass * AT_ONCE).filter(|s| *s < AT_ONCE) {
                    Some(slot) => Dual::variable(factor, slot),
                    None => factor.into(),
                }
            };
            let scans = self.shoot_with_edges(scene, &setting, Some(&factor));
            let kinds = self.sensor.kinds();
            let mut most = 0;
            for (beam, (measured, met)) in scans.iter().flatten().zip(&met).enumerate() {
                let met = met.lock().unwrap_or_else(PoisonError::into_inner);
                most = most.max(met.len());
                let now = met.iter().skip(pass * AT_ONCE).take(AT_ONCE);
                for (slot, &number) in now.enumerate() {
                    for (kind, value) in measured.quantities(kinds).enumerate() {
                        let slope = value.map_or(0.0, |v| v.eps[slot]);
                        found[number].slopes.push((beam * kinds + kind, slope));
                    }
                }
            }
            pass += 1;
            if most <= pass * AT_ONCE {
                break;
            }
        }
        columns.extend(found);
    }
}

/// The place of a facet among those that a beam met.
fn slot(met: &Mutex<Vec<usize>>, number: usize) -> usize {
    let mut met = met.lock().unwrap_or_else(PoisonError::into_inner);
    met.iter().position(|n| *n == number).unwrap_or_else(|| {
        met.push(number);
        met.len() - 1
    })
}
