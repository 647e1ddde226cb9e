//! A prepared material has the results of the material, bit for bit, with their derivatives.

use super::{any_direction, every_kind};
use etendue_physics::surface::{Lobe, Material, Side};
use etendue_physics::{Dual, DualParts, Purpose, Scalar, Stream};
use nalgebra::Vector3;

const SIDES: [Side; 2] = [Side::Front, Side::Back];

/// Every kind of material, and each on half of the area.
fn materials() -> impl Iterator<Item = (&'static str, Material<f64>)> {
    every_kind().into_iter().flat_map(|(name, material)| {
        let half = material.lobes.iter().cloned();
        let half = half.map(|lobe| Lobe::blend(0.5, lobe)).collect();
        [(name, material), (name, Material { lobes: half })]
    })
}

/// Directions towards the source and away from the surface, to either side.
fn directions(stream: &mut Stream) -> [Vector3<f64>; 2] {
    let mut incoming = any_direction(stream);
    incoming.z = incoming.z.abs();
    [incoming, any_direction(stream)]
}

#[test]
fn prepared_materials_scatter_as_materials_do() {
    let mut stream = Stream::new(3, 0, 0, 0, Purpose::LightPath);
    for (name, material) in materials() {
        let prepared = material.clone().prepared();
        for side in SIDES {
            for _ in 0..50 {
                let [incoming, outgoing] = directions(&mut stream);
                let uniform = [stream.uniform(), stream.uniform(), stream.uniform()];
                let cos = incoming.z;
                let here = format!("{name} {side:?} {incoming:?} {outgoing:?}");

                assert_eq!(
                    prepared.backscatter(cos, side).to_bits(),
                    material.backscatter(cos, side).to_bits(),
                    "{here}"
                );
                assert_eq!(
                    prepared.evaluate(&incoming, &outgoing, side).to_bits(),
                    material.evaluate(&incoming, &outgoing, side).to_bits(),
                    "{here}"
                );
                assert_eq!(
                    prepared.pdf(&incoming, &outgoing, side).to_bits(),
                    material.pdf(&incoming, &outgoing, side).to_bits(),
                    "{here}"
                );
                assert_eq!(
                    prepared.delta_chances(cos, side),
                    material.delta_chances(cos, side),
                    "{here}"
                );
                let drawn = |sample: etendue_physics::surface::BsdfSample| {
                    (sample.direction, sample.weight, sample.pdf)
                };
                assert_eq!(
                    prepared.sample(&incoming, side, uniform).map(drawn),
                    material.sample(&incoming, side, uniform).map(drawn),
                    "{here}"
                );
            }
        }
    }
}

#[test]
fn prepared_materials_carry_the_derivatives_of_their_parameters() {
    let mut stream = Stream::new(4, 0, 0, 0, Purpose::LightPath);
    for (name, material) in materials() {
        // Each parameter is a variable of its own.
        let mut count = 0;
        let variable = material.map(|&value| {
            count += 1;
            Dual::<8>::variable(value, (count - 1) % 8)
        });
        let prepared = variable.clone().prepared();
        for side in SIDES {
            for _ in 0..10 {
                let [incoming, outgoing] = directions(&mut stream);
                let [towards, away] = [incoming, outgoing].map(|v| v.map(Dual::from));
                let (found, expected) = (
                    prepared.evaluate(&towards, &away, side),
                    variable.evaluate(&towards, &away, side),
                );
                assert_eq!(found, expected, "{name} {side:?}");
                let (found, expected) = (
                    prepared.backscatter(towards.z, side),
                    variable.backscatter(towards.z, side),
                );
                assert_eq!(found, expected, "{name} {side:?}");
                assert_eq!(
                    found.value(),
                    material.backscatter(incoming.z, side),
                    "{name} {side:?}"
                );
            }
        }
    }
}

#[test]
fn a_texture_changes_a_prepared_material_as_it_changes_the_material() {
    for (name, material) in materials() {
        let tinted = material.clone().prepared().tinted(0.3);
        assert_eq!(tinted, material.tinted(0.3).prepared(), "{name}");
    }
}
