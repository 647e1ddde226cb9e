//! Derivatives of a whole sweep against central differences.

use super::scenes::{Wall, cuboid, scene};
use super::{receiver, urg_columns};
use etendue_physics::beam::SubRayPattern;
use etendue_physics::phase::PowerDependentBias;
use etendue_physics::{DualParts, Scalar};
use etendue_sensors::LaneScalar;
use etendue_sensors::lidar::{BeamProfile, ExpectedReturn, Hooks, Lidar, SweepSettings, predict};
use etendue_sensors::trajectory::constant_velocity;
use etendue_sensors::transport::World;
use nalgebra::{Isometry3, Translation3, UnitQuaternion, Vector3};

/// x, y, yaw, forward velocity, yaw rate, half-tangent, bias [c, b, a].
const PARAMETERS: usize = 9;
const AT: [f64; PARAMETERS] = [0.1, -0.05, 0.3, 0.4, 0.6, 0.005, 0.01, -0.02, 0.004];
/// Central differences: rounding of ranges of about a metre over this is 1e-10.
const STEP: f64 = 1e-6;

type D = crate::Derivatives;

fn sweep<S: LaneScalar>(world: &World<S>, x: [S; PARAMETERS]) -> Vec<Option<S>> {
    let expected = expected(world, x).into_iter();
    expected.map(|one| one.map(|one| one.range)).collect()
}

fn expected<S: LaneScalar>(world: &World<S>, x: [S; PARAMETERS]) -> Vec<Option<ExpectedReturn<S>>> {
    let zero = S::zero();
    let start = Isometry3::from_parts(
        Translation3::new(x[0], x[1], zero),
        UnitQuaternion::from_axis_angle(&Vector3::z_axis(), x[2]),
    );
    let motion = constant_velocity(
        start,
        Vector3::new(x[3], zero, zero),
        Vector3::new(zero, zero, x[4]),
    );
    let plain = urg_columns(SubRayPattern::THREE);
    let mut lidar: Lidar<S> = plain.map(S::from);
    if let BeamProfile::Cone { half_tangent, .. } = &mut lidar.beam.profile {
        *half_tangent = x[5];
    }
    receiver(&mut lidar).bias = PowerDependentBias::Range([x[6], x[7], x[8]]);
    let settings = SweepSettings::default();
    predict(
        world,
        &lidar,
        &settings,
        &plain.shots(0),
        motion,
        Hooks::default(),
    )
}

/// 682 beams by 9 parameters. Beams whose surfaces change within the step (edges) jump: where
/// both one-sided differences contradict each other, the beam is left out: none measured, fewer
/// than 1 % allowed. 2e-10 measured.
#[test]
fn derivatives_of_a_sweep_equal_differences() {
    let mut walls = cuboid();
    walls.push(Wall::between([0.5, 0.1], [0.6, 0.3], 0.4));
    let scene = scene(&walls);
    let world = World::at_wavelength(&scene, 785e-9).expect("grey walls");
    let dual = sweep(
        &world.lift::<D>(),
        std::array::from_fn(|i| D::variable(AT[i], i)),
    );
    let plain = sweep(&world, AT);
    assert_eq!(dual.len(), 682);
    let (mut compared, mut jumps) = (0, 0);
    for i in 0..PARAMETERS {
        let moved = |by: f64| {
            let mut x = AT;
            x[i] += by;
            sweep(&world, x)
        };
        let (forward, backward) = (moved(STEP), moved(-STEP));
        for beam in 0..dual.len() {
            let [d, p, f, b] = [
                dual[beam].map(|r| r.gradient()[i]),
                plain[beam],
                forward[beam],
                backward[beam],
            ]
            .map(|range| range.expect("walls all round"));
            assert!((dual[beam].expect("walls").value() - p).abs() < 1e-14);
            if (f - p - (p - b)).abs() > 1e-9 {
                jumps += 1;
                continue;
            }
            let difference = (f - b) / (2.0 * STEP);
            assert!(
                (d - difference).abs() < 1e-8,
                "{beam} by {i}: {d} {difference}"
            );
            compared += 1;
        }
    }
    assert!(
        compared > 6000 && jumps * 100 < compared,
        "{compared} {jumps}"
    );
}

/// Beams whose own directions carry no derivatives collect their light without trees, sixteen at a
/// time: ranges and powers are those of trees bit for bit, derivatives to the last digits (7e-16
/// measured where the largest is 7.4).
#[test]
fn what_comes_straight_back_is_what_trees_give() {
    let mut walls = cuboid();
    walls.push(Wall::between([0.5, 0.1], [0.6, 0.3], 0.4));
    let scene = scene(&walls);
    let plain = World::at_wavelength(&scene, 785e-9).expect("grey walls");
    let world = plain.lift::<D>();
    let of = |widens: bool| {
        let mut x: [D; PARAMETERS] = std::array::from_fn(|i| D::variable(AT[i], i));
        if !widens {
            x[5] = AT[5].into();
        }
        expected(&world, x)
    };
    let mut apart = 0.0_f64;
    for (straight, tree) in of(false).iter().zip(of(true)) {
        let of = |expected: &Option<ExpectedReturn<D>>| {
            let expected = expected.expect("walls all round");
            [expected.range, expected.power]
        };
        for (a, b) in of(straight).into_iter().zip(of(&tree)) {
            assert_eq!(a.value().to_bits(), b.value().to_bits());
            let own = |x: D| {
                x.gradient()
                    .into_iter()
                    .enumerate()
                    .filter(|(i, _)| *i != 5)
            };
            for ((_, a), (_, b)) in own(a).zip(own(b)) {
                apart = apart.max((a - b).abs());
            }
        }
    }
    assert!(apart < 2e-14, "{apart:e}");
}
