//! Derivatives of returns equal central differences, whatever they are taken by.

use super::stage::{Stage, depth, glass, mirror, paint, upright};
use etendue_physics::surface::{Dielectric, Lobe, Material};
use etendue_physics::{Dual, DualParts, Scalar};
use etendue_scene::{CastScratch, MaterialId, ObjectId};
use etendue_sensors::transport::{LightRay, LightReturn, World, trace_tree};
use nalgebra::{ComplexField, Isometry3, Point3, Translation3, UnitQuaternion, Vector3};

const NAMES: [&str; 13] = [
    "sensor x",
    "sensor y",
    "sensor yaw",
    "mirror roll",
    "mirror pitch",
    "mirror yaw",
    "mirror x",
    "mirror y",
    "mirror z",
    "mirror reflectance",
    "wall reflectance",
    "glass index",
    "glass absorption",
];

const AT: [f64; 13] = [
    0.05, -0.02, 0.15, 0.1, -0.05, 0.2, 0.01, 0.02, 0.03, 0.9, 0.7, 1.5, 2.0,
];

/// Through a block of glass onto a mirror and back past the block to a wall.
fn returns<S: Scalar>(p: &[S; 13]) -> Vec<LightReturn<S>> {
    let mut scratch = CastScratch::new();
    let values = p.map(Scalar::value);
    let place = upright([2.0, 0.0, 0.0], 150.0);
    let scene = Stage::default()
        .slab(0.8, 0.1, glass(values[11], values[12]))
        .with(
            etendue_scene::primitive::rectangle([3.0, 3.0]).expect("a mirror has a size"),
            pose(&values[3..9]) * place,
            mirror(values[9]),
        )
        .wall([9.0, 9.0], [0.0, 3.0, 0.0], -90.0, paint(values[10]))
        .build();
    let world = World::at_wavelength(&scene, 785e-9).expect("constant materials");
    let glass = Lobe::Dielectric(Dielectric {
        index: p[11],
        group_index: p[11],
        absorption: p[12],
    });
    let alone = |lobe| Material { lobes: vec![lobe] };
    let place = Isometry3::from_parts(
        Translation3::from(place.translation.vector.map(S::from)),
        UnitQuaternion::new_unchecked(place.rotation.coords.map(S::from).into()),
    );
    let world = world
        .lift::<S>()
        .with_pose(ObjectId(1), pose(&p[3..9]) * place)
        .with_material(MaterialId(0), alone(glass))
        .with_material(MaterialId(1), alone(Lobe::mirror(p[9])))
        .with_material(MaterialId(2), alone(Lobe::lambert(p[10])));
    let (sin, cos) = p[2].sin_cos();
    let origin = Point3::new(p[0], p[1], S::from(0.05));
    let ray = LightRay::new(origin, Vector3::new(cos, sin, S::zero()));
    let mut returns = Vec::new();
    trace_tree(&world, &ray, &depth(5), &mut scratch, |r| returns.push(r));
    returns
}

/// A pose from three angles and a place.
fn pose<S: Scalar>(p: &[S]) -> Isometry3<S> {
    let turn = UnitQuaternion::from_euler_angles(p[0], p[1], p[2]);
    Isometry3::from_parts(Translation3::new(p[3], p[4], p[5]), turn)
}

/// Measured: 1.7e-9 (relative where a derivative is above 1), with a step of 1e-6.
#[test]
fn derivatives_by_poses_and_materials_equal_central_differences() {
    let dual: [Dual<13>; 13] = std::array::from_fn(|i| Dual::variable(AT[i], i));
    let exact = returns(&dual);
    assert!(exact.iter().any(|r| r.depth >= 4), "{}", exact.len());
    for (i, name) in NAMES.iter().enumerate() {
        let moved = |step: f64| {
            let mut p = AT;
            p[i] += step;
            returns(&p)
        };
        let [less, more] = [moved(-1e-6), moved(1e-6)];
        let mut largest: f64 = 0.0;
        for (j, r) in exact.iter().enumerate() {
            let slopes = [
                (r.range, less[j].range, more[j].range),
                (
                    r.optical_range,
                    less[j].optical_range,
                    more[j].optical_range,
                ),
                (r.power.ln(), less[j].power.ln(), more[j].power.ln()),
                (
                    r.throughput.ln(),
                    less[j].throughput.ln(),
                    more[j].throughput.ln(),
                ),
                (
                    r.cos_incidence,
                    less[j].cos_incidence,
                    more[j].cos_incidence,
                ),
                (r.point.x, less[j].point.x, more[j].point.x),
            ];
            for (value, less, more) in slopes {
                let (ad, difference) = (value.gradient()[i], (more - less) / 2e-6);
                let error = (ad - difference).abs() / difference.abs().max(1.0);
                assert!(error < 1e-7, "{name}: {ad} {difference}");
                largest = largest.max(ad.abs());
            }
        }
        assert!(largest > 1e-3, "{name} changes nothing");
    }
}

/// At normal incidence onto glass and mirrors roots and angles are at the edge of their domains.
#[test]
fn derivatives_at_normal_incidence_are_finite() {
    let mut at = AT;
    at[1..9].fill(0.0);
    let dual: [Dual<13>; 13] = std::array::from_fn(|i| Dual::variable(at[i], i));
    let returns = returns(&dual);
    assert!(!returns.is_empty());
    for r in returns {
        for value in [
            r.range,
            r.optical_range,
            r.power,
            r.throughput,
            r.cos_incidence,
        ] {
            assert!(value.gradient().into_iter().all(f64::is_finite));
        }
    }
}
