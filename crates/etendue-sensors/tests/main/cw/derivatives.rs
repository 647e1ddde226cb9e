//! Derivatives of a whole sweep against central differences.

use super::scenes::{Wall, cuboid, scene};
use super::{fan, ideal};
use etendue_physics::beam::SubRayPattern;
use etendue_physics::cw::Bias;
use etendue_physics::{Dual, DualParts, Scalar};
use etendue_sensors::cw::{CwLidar, Shot, Turn, shoot};
use etendue_sensors::motion::constant_velocity;
use etendue_sensors::transport::World;
use nalgebra::{Isometry3, Translation3, UnitQuaternion, Vector3};

/// x, y, yaw, forward velocity, yaw rate, half-tangent, bias [c, b, a].
const PARAMETERS: usize = 9;
const AT: [f64; PARAMETERS] = [0.1, -0.05, 0.3, 0.4, 0.6, 0.005, 0.01, -0.02, 0.004];
/// Central differences: rounding of ranges of about a metre over this is 1e-10.
const STEP: f64 = 1e-6;

type D = Dual<PARAMETERS>;

fn sweep<S: Scalar>(world: &World<S>, x: [S; PARAMETERS]) -> Vec<Option<S>> {
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
    let mut lidar: CwLidar<S> = ideal(&[], SubRayPattern::THREE).map(S::from);
    lidar.beams = fan();
    lidar.azimuth_jitter = 1e-3;
    lidar.receiver.noise.amplifier = 1e-3;
    lidar.half_tangent = x[5];
    lidar.receiver.bias = Bias::Range([x[6], x[7], x[8]]);
    shoot(world, &lidar, &Turn::default(), motion)
        .iter()
        .map(Shot::range)
        .collect()
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
