//! Agreement of the ray caster with a test of every triangle in `f64`.

use etendue_scene::{Hit, Isa, Ray, Scene};

/// Casts `count` of the rays, spread over the rotation, by every method, and counts the differences from the
/// exhaustive test: hit or miss, triangle, or distance by more than a millionth.
pub fn count(scene: &mut Scene, rays: &[Ray], count: usize) -> String {
    let step = (rays.len() / count).max(1);
    let some: Vec<Ray> = rays.iter().step_by(step).copied().collect();
    let exact = |ray: &Ray| scene.exhaustive_hits(ray).first().copied();
    let wanted: Vec<Option<Hit>> = some.iter().map(exact).collect();
    let mut casts = 0;
    let mut different = 0;
    let mut farthest = 0.0_f64;
    let mut compare = |found: &[Option<Hit>], wanted: &[Option<Hit>]| {
        for (found, wanted) in found.iter().zip(wanted) {
            casts += 1;
            match (found, wanted) {
                (None, None) => {}
                (Some(found), Some(wanted)) => {
                    let apart = (found.distance / wanted.distance - 1.0).abs();
                    farthest = farthest.max(apart);
                    different += usize::from(apart > 1e-6 || found.triangle != wanted.triangle);
                }
                _ => different += 1,
            }
        }
    };
    for packed in [false, true] {
        if packed {
            scene.pack_trees();
        }
        for isa in Isa::ALL.into_iter().filter(|isa| isa.is_available()) {
            scene.set_isa(isa);
            let single: Vec<Option<Hit>> = some.iter().map(|ray| scene.closest_hit(ray)).collect();
            compare(&single, &wanted);
            let mut batch = vec![];
            scene.closest_hits(rays, &mut batch);
            let batch: Vec<Option<Hit>> = batch.into_iter().step_by(step).collect();
            compare(&batch, &wanted);
        }
    }
    format!(
        "{} rays, {casts} casts: {different} differ, distances by up to {farthest:.1e}",
        some.len()
    )
}
