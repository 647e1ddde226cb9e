//! Phase receivers in the pipeline: vectorised against plain form, derivatives, air; and features that all
//! receivers share.

use super::stage::{Stage, at_origin, lambert, pulsed, quiet, room, scanner};
use crate::Derivatives as D;
use crate::phase::ideal_receiver;
use etendue_physics::atmosphere::{Atmosphere, Weather};
use etendue_physics::beam::{BeamShape, BeamWidth, Divergence, DivergenceAt, SubRayPattern};
use etendue_physics::phase::{
    Ambiguity, AutomaticGain, Combination, PhaseReceiverNoise, PowerDependentBias,
};
use etendue_physics::pulse::{
    Discriminator, Fmcw, IntensityResponse, ReflectivityScale, ReturnMode,
};
use etendue_physics::surface::{Lobe, Material, OrenNayar, OrenNayarForm};
use etendue_physics::{DualParts, Scalar};
use etendue_scene::{Hit, MaterialId, Scene};
use etendue_sensors::LaneScalar;
use etendue_sensors::lidar::{
    Beam, EchoModel, ExpectedReturn, ExtraRay, Hooks, Intensity, Lidar, PhaseReceiver, Pipeline,
    RangeLimits, Receiver, Sweep, SweepSettings, Triangulation, predict, simulate,
};
use etendue_sensors::transport::{LightRay, World};
use nalgebra::{Isometry3, Point3, Translation3, UnitQuaternion, Vector3};

/// A receiver with amplifier noise, a converter of 10 bits and the limits of the URG-04LX.
fn receiver() -> PhaseReceiver {
    let ideal = ideal_receiver();
    PhaseReceiver {
        converter_bits: Some(10),
        gain: AutomaticGain {
            strongest: 700.0,
            weakest: 1e-6,
            ..ideal.gain
        },
        noise: PhaseReceiverNoise {
            amplifier: 1e-4,
            ..PhaseReceiverNoise::default()
        },
        ambiguity: Ambiguity {
            gate: 0.15,
            ..ideal.ambiguity
        },
        full_overlap: 0.2,
        ..ideal
    }
}

/// A phase lidar with a conical beam of three rays.
fn phase_lidar() -> Lidar {
    Lidar {
        beam: Beam::cone(0.005, SubRayPattern::THREE),
        receiver: Receiver::Phase(receiver()),
        limits: RangeLimits {
            near: 0.02,
            far: 5.6,
            step: 1e-3,
        },
        ..scanner(pulsed(EchoModel::Analytic, ReturnMode::Strongest))
    }
}

/// A room of 3 m with a mirror on one side and a post in front of the other.
fn room_with_mirror() -> Scene {
    let mesh = etendue_scene::primitive::cuboid([3.0, 3.0, 3.0])
        .unwrap()
        .inside_out();
    Stage::default()
        .add(mesh, Isometry3::identity(), lambert(0.5))
        .panel(
            [1.2, 0.0, 0.0],
            [-1.0, 0.2, 0.0],
            [0.8, 2.0],
            Lobe::mirror(0.9),
        )
        .panel([-1.0, 0.3, 0.0], [1.0, 0.0, 0.0], [0.3, 1.0], lambert(0.8))
        .build()
}

/// x, y, yaw, visibility of a fog, reflectance of all surfaces, share of an extra ray.
const PARAMETERS: usize = 6;
const AT: [f64; PARAMETERS] = [0.1, -0.05, 0.3, 20.0, 1.0, 0.1];

fn predicted<S: LaneScalar>(
    world: &World<S>,
    lidar: &Lidar<S>,
    x: [S; PARAMETERS],
    pipeline: Pipeline,
) -> Vec<Option<ExpectedReturn<S>>> {
    let settings = SweepSettings {
        pipeline,
        ..SweepSettings::default()
    };
    let pose = Isometry3::from_parts(
        Translation3::new(x[0], x[1], S::zero()),
        UnitQuaternion::from_axis_angle(&Vector3::z_axis(), x[2]),
    );
    let atmosphere = Atmosphere {
        weather: vec![Weather::Fog { visibility: x[3] }],
    };
    let factor = |_: usize, _: &Hit| x[4];
    let extra_rays = |shot: usize, rays: &mut Vec<ExtraRay<S>>| {
        if shot.is_multiple_of(7) {
            let ray = LightRay::new(pose.translation.vector.into(), Vector3::y().map(S::from));
            rays.push(ExtraRay { ray, share: x[5] });
        }
    };
    let hooks = Hooks {
        atmosphere: Some(&atmosphere),
        factor: Some(&factor),
        extra_rays: Some(&extra_rays),
    };
    // Every second shot leaves the sensor beside its origin.
    let mut shots: Vec<_> = phase_lidar().shots(0).into_iter().step_by(3).collect();
    for shot in shots.iter_mut().step_by(2) {
        shot.origin = Point3::new(0.03, -0.02, 0.01);
    }
    predict(world, lidar, &settings, &shots, |_| pose, hooks)
}

/// Direct returns are summed in lanes: values are bit-equal to the plain form, derivatives equal within 1e-12
/// (measured: 2.2e-16).
#[test]
fn lanes_predict_the_values_and_derivatives_of_the_plain_form() {
    let scene = room_with_mirror();
    let world = World::at_wavelength(&scene, super::stage::WAVELENGTH).unwrap();
    let world = world.lift::<D>();
    let lidar = phase_lidar().map(D::from);
    let x = std::array::from_fn(|i| D::variable(AT[i], i));
    let [plain, lanes] = [Pipeline::Reference, Pipeline::default()]
        .map(|pipeline| predicted(&world, &lidar, x, pipeline));
    assert_eq!(plain.len(), 1200);
    let (mut compared, mut apart) = (0, 0.0_f64);
    for (plain, lanes) in plain.iter().zip(&lanes) {
        assert_eq!(plain.is_some(), lanes.is_some());
        let (Some(plain), Some(lanes)) = (plain, lanes) else {
            continue;
        };
        for (a, b) in [(plain.range, lanes.range), (plain.power, lanes.power)] {
            assert_eq!(a.value().to_bits(), b.value().to_bits());
            for (a, b) in a.gradient().into_iter().zip(b.gradient()) {
                apart = apart.max((a - b).abs() / (1.0 + a.abs()));
            }
        }
        compared += 1;
    }
    assert!(compared > 1000 && apart < 1e-12, "{compared} {apart:e}");
}

/// Expected returns of 1,200 beams of seven rays of a pulsed lidar, beside the origin of a sensor at a pose.
fn predicted_pulses(pipeline: Pipeline) -> Vec<Option<ExpectedReturn<D>>> {
    // A pose with derivatives by all of its coordinates, and a factor on the power.
    let x: [D; 8] = std::array::from_fn(|i| D::variable(0.1 * i as f64, i));
    let turn = Vector3::new(x[3], x[4], x[5]);
    let pose = Isometry3::new(Vector3::new(x[0], x[1], x[2]), turn);
    let factor = |_: usize, _: &Hit| x[6] + 0.2;
    let hooks = Hooks {
        factor: Some(&factor),
        ..Hooks::default()
    };
    // A lidar with a threshold that has a derivative.
    let mut receiver = pulsed(EchoModel::Analytic, ReturnMode::Strongest);
    receiver.discriminator = Discriminator::Threshold;
    let plain = scanner(receiver);
    let mut lidar = plain.map(D::from);
    lidar.beam = lidar.beam.with_rings(1);
    if let Receiver::Pulsed(receiver) = &mut lidar.receiver {
        receiver.threshold = D::variable(1e-8, 7);
    }
    let mut shots: Vec<_> = plain.shots(0).into_iter().step_by(3).collect();
    for shot in &mut shots {
        shot.origin = Point3::new(0.03, -0.02, 0.01);
    }
    let scene = room_with_mirror();
    let world = World::at_wavelength(&scene, super::stage::WAVELENGTH).unwrap();
    let settings = SweepSettings {
        pipeline,
        ..SweepSettings::default()
    };
    predict(
        &world.lift::<D>(),
        &lidar,
        &settings,
        &shots,
        |_| pose,
        hooks,
    )
}

/// The direct returns of pulsed lidars are evaluated in lanes: values are bit-equal to the plain form,
/// derivatives equal within 1e-12 (measured: 3.8e-16).
#[test]
fn lanes_predict_the_pulses_of_the_plain_form() {
    let plain = predicted_pulses(Pipeline::Reference);
    let lanes = predicted_pulses(Pipeline::default());
    assert_eq!(plain.len(), 1200);
    let (mut compared, mut apart, mut largest) = (0, 0.0_f64, [0.0_f64; 8]);
    for (plain, lanes) in plain.iter().zip(&lanes) {
        assert_eq!(plain.is_some(), lanes.is_some());
        let (Some(plain), Some(lanes)) = (plain, lanes) else {
            continue;
        };
        for (a, b) in [
            (plain.range, lanes.range),
            (plain.intensity, lanes.intensity),
        ] {
            assert_eq!(a.value().to_bits(), b.value().to_bits());
            for (k, (a, b)) in a
                .gradient()
                .into_iter()
                .zip(b.gradient())
                .enumerate()
                .take(8)
            {
                apart = apart.max((a - b).abs() / (1.0 + a.abs()));
                largest[k] = largest[k].max(a.abs());
            }
        }
        compared += 1;
    }
    assert!(compared > 1000 && apart < 1e-12, "{compared} {apart:e}");
    assert!(largest.iter().all(|slope| *slope > 1e-3), "{largest:?}");
}

/// What has a derivative beside the pose of the sensor.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Beside {
    /// A factor on the power of each return.
    Factor,
    /// The reflectance of the walls.
    Wall,
    /// The reflectance of rough walls, whose backscatter depends on the incidence.
    RoughWall,
}

/// Expected returns of 1,200 beams, every second from beside the origin, of a lidar whose parameters have no derivatives, at a
/// pose with derivatives by all of its coordinates.
fn predicted_simply(
    lidar: &Lidar,
    beside: Beside,
    pipeline: Pipeline,
) -> Vec<Option<ExpectedReturn<D>>> {
    // The pose, and a seventh variable.
    let x: [D; 7] = std::array::from_fn(|i| D::variable(0.1 * i as f64, i));
    let turn = Vector3::new(x[3], x[4], x[5]);
    let pose = Isometry3::new(Vector3::new(x[0], x[1], x[2]), turn);
    let factor = |_: usize, _: &Hit| x[6] + 0.2;
    let hooks = Hooks {
        factor: (beside == Beside::Factor).then_some(&factor as _),
        ..Hooks::default()
    };
    let scene = room_with_mirror();
    let world = World::at_wavelength(&scene, super::stage::WAVELENGTH).unwrap();
    let mut world = world.lift::<D>();
    if beside != Beside::Factor {
        let reflectance = x[6] * 0.5 + 0.2;
        let lobe = match beside {
            Beside::RoughWall => Lobe::OrenNayar(OrenNayar {
                reflectance,
                slope_sd: D::from(0.3),
                form: OrenNayarForm::Qualitative,
            }),
            _ => Lobe::lambert(reflectance),
        };
        let lobes = vec![lobe];
        world = world.with_material(MaterialId(0), Material { lobes });
    }
    // Beams from two exits.
    let mut shots: Vec<_> = lidar.shots(0).into_iter().step_by(3).collect();
    for shot in shots.iter_mut().step_by(2) {
        shot.origin = Point3::new(0.03, -0.02, 0.01);
    }
    let settings = SweepSettings {
        pipeline,
        ..SweepSettings::default()
    };
    predict(
        &world,
        &lidar.map(D::from),
        &settings,
        &shots,
        |_| pose,
        hooks,
    )
}

/// Receivers without derivatives of their own are evaluated for sixteen beams at once: phase receivers with each bias and
/// combination, with one and with three rays; pulsed receivers of one ray with each discriminator and response. Values are
/// bit-equal to the plain form, derivatives equal within 1e-12 (measured: 4.3e-14).
#[test]
fn lanes_predict_the_returns_of_simple_receivers() {
    // The lidars.
    let phase = |bias, combination, pattern| {
        let own = receiver();
        Lidar {
            beam: Beam::cone(0.005, pattern),
            receiver: Receiver::Phase(PhaseReceiver {
                bias,
                ambiguity: Ambiguity {
                    combination,
                    ..own.ambiguity
                },
                ..own
            }),
            ..phase_lidar()
        }
    };
    let (none, range, turn) = (
        PowerDependentBias::None,
        PowerDependentBias::Range([0.01, 0.3, -0.2]),
        PowerDependentBias::Phase([0.02, 0.01, 0.03]),
    );
    let pulse = |discriminator, response| {
        let mut own = pulsed(EchoModel::Analytic, ReturnMode::Strongest);
        own.discriminator = discriminator;
        own.threshold = 1e-4;
        own.reference = 1e-1;
        let plain = scanner(own);
        Lidar {
            beam: plain.beam.with_one_ray(),
            intensity: Intensity {
                response,
                top: Some(120.0),
            },
            ..plain
        }
    };
    let scale = ReflectivityScale::DiffuseThenRetro { full_scale: 1e5 };
    let bright = IntensityResponse::Power { counts: 3e4 };
    let log = IntensityResponse::Log {
        zero: 1e-5,
        per_decade: 20.0,
    };
    let lidars = [
        phase(none, Combination::Mean, SubRayPattern::Centre),
        phase(range, Combination::FrequencySquared, SubRayPattern::THREE),
        phase(turn, Combination::Mean, SubRayPattern::THREE),
        pulse(Discriminator::Threshold, log),
        pulse(Discriminator::Peak, bright),
        pulse(
            Discriminator::ConstantFraction { fraction: 0.5 },
            IntensityResponse::Reflectivity { scale },
        ),
    ];
    // Compare both forms.
    let mut apart = 0.0_f64;
    let besides = [Beside::Factor, Beside::Wall, Beside::RoughWall];
    let cases = lidars.iter().enumerate();
    for ((number, lidar), beside) in cases.flat_map(|own| besides.map(|beside| (own, beside))) {
        let [plain, lanes] = [Pipeline::Reference, Pipeline::default()]
            .map(|pipeline| predicted_simply(lidar, beside, pipeline));
        assert_eq!(plain.len(), 1200);
        let (mut compared, mut largest) = (0, [0.0_f64; 7]);
        for (plain, lanes) in plain.iter().zip(&lanes) {
            assert_eq!(plain.is_some(), lanes.is_some(), "{number} {beside:?}");
            let (Some(plain), Some(lanes)) = (plain, lanes) else {
                continue;
            };
            for (a, b) in [
                (plain.range, lanes.range),
                (plain.intensity, lanes.intensity),
                (plain.power, lanes.power),
            ] {
                assert_eq!(
                    a.value().to_bits(),
                    b.value().to_bits(),
                    "{number} {beside:?}"
                );
                for (k, (a, b)) in a
                    .gradient()
                    .into_iter()
                    .zip(b.gradient())
                    .enumerate()
                    .take(7)
                {
                    apart = apart.max((a - b).abs() / (1.0 + a.abs()));
                    largest[k] = largest[k].max(a.abs());
                }
            }
            compared += 1;
        }
        assert!(compared > 400, "{number} {beside:?}: {compared}");
        assert!(
            largest.iter().all(|slope| *slope > 1e-3),
            "{number} {beside:?}: {largest:?}"
        );
    }
    assert!(apart < 1e-12, "{apart:e}");
}

/// Derivatives with respect to all parameters by the plain form equal central differences within 1e-6 where
/// the one-sided differences agree (no edge within the step).
#[test]
fn derivatives_by_pose_fog_and_power_equal_differences() {
    let scene = room_with_mirror();
    let world = World::at_wavelength(&scene, super::stage::WAVELENGTH).unwrap();
    let lidar = phase_lidar();
    let range = |x: [f64; PARAMETERS]| -> Vec<f64> {
        let all = predicted(&world, &lidar, x, Pipeline::default());
        all.iter()
            .map(|one| one.map_or(f64::NAN, |one| one.range))
            .collect()
    };
    let x = std::array::from_fn(|i| D::variable(AT[i], i));
    let dual = predicted(
        &world.lift::<D>(),
        &lidar.map(D::from),
        x,
        Pipeline::default(),
    );
    let values = range(AT);
    let (mut compared, mut by_fog) = (0, 0.0_f64);
    for i in 0..PARAMETERS {
        let step = 1e-6 * AT[i].abs().max(1.0);
        let moved = |by: f64| {
            let mut x = AT;
            x[i] += by;
            range(x)
        };
        let (forward, backward) = (moved(step), moved(-step));
        for (shot, dual) in dual.iter().enumerate() {
            let Some(dual) = dual else { continue };
            let (f, p, b) = (forward[shot], values[shot], backward[shot]);
            let is_smooth = (f - p - (p - b)).abs() < 1e-9;
            if !is_smooth {
                continue;
            }
            let (own, difference) = (dual.range.gradient()[i], (f - b) / (2.0 * step));
            assert!(
                (own - difference).abs() < 1e-6 * (1.0 + own.abs()),
                "{shot} by {i}: {own} {difference}"
            );
            compared += 1;
            if i == 3 {
                by_fog = by_fog.max(own.abs());
            }
        }
    }
    assert!(compared > 5000 && by_fog > 1e-4, "{compared} {by_fog}");
}

/// A width at half maximum, the same in both directions.
fn round<S: Copy>(width: S) -> Divergence<S> {
    Divergence {
        horizontal: width,
        vertical: width,
        at: DivergenceAt::HalfMaximum,
    }
}

/// Expected range of the first shot of a phase lidar with an elliptical beam of a divergence (rad).
fn range_with_divergence<S: LaneScalar>(world: &World<S>, divergence: S) -> S {
    let width = BeamWidth {
        shape: BeamShape::Gaussian,
        divergence: round(divergence),
        exit: round(0.01),
    };
    let lidar = Lidar {
        beam: Beam::elliptic(width, 1),
        ..phase_lidar().map(S::from)
    };
    let shots = phase_lidar().shots(0);
    let settings = SweepSettings::default();
    let pose = |_| Isometry3::identity();
    let all = predict(
        world,
        &lidar,
        &settings,
        &shots[..1],
        pose,
        Hooks::default(),
    );
    all[0].unwrap().range
}

/// Seven rays of an elliptical beam on a slanted wall.
#[test]
fn the_divergence_of_an_elliptical_beam_has_derivatives() {
    let scene = Stage::default()
        .panel([2.0, 0.0, 0.0], [-1.0, 1.2, 0.0], [4.0, 4.0], lambert(0.5))
        .build();
    let world = World::at_wavelength(&scene, super::stage::WAVELENGTH).unwrap();
    let own = range_with_divergence(&world.lift::<D>(), D::variable(0.05, 0));
    let difference = (range_with_divergence(&world, 0.05 + 1e-6)
        - range_with_divergence(&world, 0.05 - 1e-6))
        / 2e-6;
    assert!(difference.abs() > 1e-3, "{difference}");
    assert!(
        (own.gradient()[0] - difference).abs() < 1e-6,
        "{own:?} {difference}"
    );
}

/// A lidar with each receiver.
fn one_of_each() -> Vec<Lidar> {
    let with = |receiver| Lidar {
        receiver,
        ..scanner(pulsed(EchoModel::Analytic, ReturnMode::Strongest))
    };
    vec![
        with(Receiver::Pulsed(pulsed(
            EchoModel::Analytic,
            ReturnMode::Strongest,
        ))),
        phase_lidar(),
        with(Receiver::Fmcw(Fmcw {
            wavelength: 1550e-9,
            bandwidth: 1e9,
            chirp: 10e-6,
            noise: 1e-12,
            threshold: 10.0,
        })),
        with(Receiver::Triangulation(Triangulation {
            baseline: 0.05,
            angle_noise: 0.0,
            angle_step: 0.0,
            threshold: 1e-6,
        })),
    ]
}

/// The truth of each beam is the first surface on its axis, pointing jitter included.
#[test]
fn every_receiver_has_axis_truths_and_azimuth_jitter() {
    let scene = room([3.0, 3.0, 3.0], 0.5);
    for mut lidar in one_of_each() {
        lidar.beam.azimuth_jitter = 0.02;
        let with_truth = SweepSettings {
            with_truth: true,
            ..SweepSettings::default()
        };
        let sweep = at_origin(&scene, &lidar, &with_truth);
        assert_eq!(sweep.axis_truths.len(), sweep.shots.len());
        let still = at_origin(
            &scene,
            &lidar,
            &SweepSettings {
                with_truth: true,
                ..quiet()
            },
        );
        // On an inclined wall, a beam with jitter has another range.
        let truth = |sweep: &Sweep, shot: usize| sweep.axis_truths[shot].unwrap().range;
        let slanted = 300..400;
        let deviations: Vec<f64> = slanted
            .clone()
            .map(|shot| truth(&sweep, shot) - truth(&still, shot))
            .collect();
        let square: f64 = deviations.iter().map(|d| d * d).sum();
        assert!((square / 100.0).sqrt() > 5e-3, "{:?}", lidar.receiver);
        for (shot, deviation) in slanted.zip(deviations) {
            let range = |sweep: &Sweep| sweep.points_of(shot)[0].range;
            let measured = range(&sweep) - range(&still);
            assert!(
                (measured - deviation).abs() < 0.02,
                "{measured} {deviation}"
            );
        }
        // All else equals the sweep without truths.
        let without = at_origin(&scene, &lidar, &SweepSettings::default());
        assert_eq!(without.points, sweep.points);
    }
}

/// Phase lidars also support several channels off the origin, elliptical beams and single rays.
#[test]
fn phase_lidars_of_any_shape_are_the_same_in_lanes() {
    let scene = room_with_mirror();
    let world = World::at_wavelength(&scene, super::stage::WAVELENGTH).unwrap();
    let mut channels = phase_lidar();
    channels.channels = (0..3)
        .map(|number| etendue_sensors::lidar::Channel {
            elevation: 0.1 * f64::from(number),
            radius: 0.05,
            height: 0.02,
            range_offset: 0.03,
            ..Default::default()
        })
        .collect();
    let elliptic = Lidar {
        beam: super::stage::beam(0.01).with_rings(1),
        ..phase_lidar()
    };
    let one_ray = Lidar {
        beam: super::stage::beam(0.01),
        ..phase_lidar()
    };
    for lidar in [channels.checked().unwrap(), elliptic, one_ray] {
        let sweep = |pipeline| {
            let settings = SweepSettings {
                pipeline,
                with_truth: true,
                ..SweepSettings::default()
            };
            simulate(&world, &lidar, &settings, |time| {
                Isometry3::translation(0.1 + time, 0.0, 0.0)
            })
        };
        let plain = sweep(Pipeline::Reference);
        assert!(plain.points.len() > 1000);
        assert!(plain == sweep(Pipeline::default()));
    }
}
