//! Agreement of the ray caster with a test of every triangle in `f64`.

use etendue_raycast::{CastScratch, Hit, Ray, RayCaster};
use etendue_simd::Isa;

/// Casts `count` of the rays, spread over the rotation, by every method, and counts the differences from the
/// exhaustive test: hit or miss, triangle, or distance by more than a millionth.
pub fn count(caster: &RayCaster, rays: &[Ray], count: usize) -> String {
    let step = (rays.len() / count).max(1);
    let some: Vec<Ray> = rays.iter().step_by(step).copied().collect();
    let exact = |ray: &Ray| caster.exhaustive_hits(ray).first().copied();
    let expected: Vec<Option<Hit>> = some.iter().map(exact).collect();
    let mut casts = 0;
    let mut different = 0;
    let mut largest = 0.0_f64;
    let mut compare = |found: &[Option<Hit>]| {
        for (found, expected) in found.iter().zip(&expected) {
            casts += 1;
            match (found, expected) {
                (None, None) => {}
                (Some(found), Some(expected)) => {
                    let difference = (found.distance / expected.distance - 1.0).abs();
                    largest = largest.max(difference);
                    different +=
                        usize::from(difference > 1e-6 || found.triangle != expected.triangle);
                }
                _ => different += 1,
            }
        }
    };
    let mut packed = caster.clone();
    packed.pack();
    let mut scratch = CastScratch::new();
    for caster in [caster, &packed] {
        for isa in Isa::available() {
            let caster = caster.clone().with_isa(isa);
            // Single rays.
            let single = some.iter().map(|ray| caster.closest_hit(ray, &mut scratch));
            compare(&single.collect::<Vec<_>>());
            // All rays in a batch.
            let mut batch = vec![];
            caster.closest_hits(rays, &mut batch, &mut scratch);
            compare(&batch.into_iter().step_by(step).collect::<Vec<_>>());
        }
    }
    format!(
        "{} rays, {casts} casts: {different} differ, distances by up to {largest:.1e}",
        some.len()
    )
}
