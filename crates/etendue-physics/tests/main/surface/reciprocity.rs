//! Light may go either way.

use super::{any_direction, every_kind};
use etendue_physics::surface::Side;
use etendue_physics::{Purpose, Stream};

#[test]
fn every_brdf_is_reciprocal() {
    let mut stream = Stream::new(3, 0, 0, 0, Purpose::LightPath);
    let mut seen = 0;
    for (name, material) in every_kind() {
        for _ in 0..2000 {
            let [mut one, mut other] = [(); 2].map(|()| any_direction(&mut stream));
            (one.z, other.z) = (one.z.abs(), other.z.abs());
            for side in [Side::Front, Side::Back] {
                let there = material.evaluate(&one, &other, side);
                let back = material.evaluate(&other, &one, side);
                // Measured: 2.3e-14 at most.
                assert!(
                    (there - back).abs() <= 1e-12 * there.max(back),
                    "{name}: {there} {back}"
                );
                seen += usize::from(there > 0.0);
            }
        }
    }
    assert!(seen > 30_000, "{seen}");
}

/// $f(i \to o)/\eta_o^2 = f(o \to i)/\eta_i^2$ through a rough surface.
#[test]
fn rough_transmission_is_reciprocal_but_for_the_index_squared() {
    let (_, material) = every_kind()
        .into_iter()
        .find(|m| m.0 == "rough dielectric")
        .unwrap();
    let mut stream = Stream::new(4, 0, 0, 0, Purpose::LightPath);
    let mut seen = 0;
    for _ in 0..20_000 {
        let [mut outside, mut inside] = [(); 2].map(|()| any_direction(&mut stream));
        (outside.z, inside.z) = (outside.z.abs(), -inside.z.abs());
        let inward = material.evaluate(&outside, &inside, Side::Front);
        // Seen from inside, z points the other way: turn both over.
        let outward = material.evaluate(&-inside, &-outside, Side::Back);
        // Grazing facets have their cosine kept off zero on one side: 2e-14, absolute.
        assert!(
            (inward / 2.25 - outward).abs() <= 1e-9 * outward + 1e-12,
            "{inward} {outward}"
        );
        seen += usize::from(inward > 0.0);
    }
    assert!(seen > 1000, "{seen}");
}

#[test]
fn backscatter_is_the_bsdf_towards_where_the_light_came_from() {
    let mut stream = Stream::new(5, 0, 0, 0, Purpose::LightPath);
    for (name, material) in every_kind() {
        for _ in 0..200 {
            let mut direction = any_direction(&mut stream);
            direction.z = direction.z.abs().max(1e-3);
            direction.normalize_mut();
            for side in [Side::Front, Side::Back] {
                let back = material.backscatter(direction.z, side);
                let value = material.evaluate(&direction, &direction, side);
                assert!(
                    (back - value).abs() <= 1e-9 * back,
                    "{name}: {back} {value}"
                );
            }
        }
    }
}

#[test]
fn a_retroreflector_shines_back_and_nowhere_else() {
    let (_, material) = every_kind()
        .into_iter()
        .find(|m| m.0 == "retroreflector")
        .unwrap();
    let incoming = super::direction(30.0, 0.0);
    let back = material.evaluate(&incoming, &incoming, Side::Front);
    let mirror = material.evaluate(&incoming, &super::direction(30.0, 180.0), Side::Front);
    assert!(back > 3.0 && mirror < 1e-10 * back, "{back} {mirror}");
    // At the half entrance angle (0.7 rad) the albedo is half of that at normal incidence.
    let ratio = material.albedo(f64::cos(0.7), Side::Front).reflected
        / material.albedo(1.0, Side::Front).reflected;
    // Measured 0.482: a lobe 0.1 rad wide averages over the fall and the cosine.
    assert!((ratio - 0.5).abs() < 0.03, "{ratio}");
}
