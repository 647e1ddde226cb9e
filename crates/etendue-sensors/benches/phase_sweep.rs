//! Sweeps of a phase lidar: 682 beams of three rays in a box of four walls.

use criterion::{Criterion, criterion_group, criterion_main};
use etendue_physics::beam::SubRayPattern;
use etendue_physics::phase::{
    Ambiguity, AutomaticGain, Combination, Modulation, PhaseReceiverNoise, PowerDependentBias,
    SamplingScheme,
};
use etendue_physics::pulse::IntensityResponse;
use etendue_physics::surface::{Lobe, Material};
use etendue_scene::{MaterialId, Mesh, MeshId, NamedMaterial, Object, Scene, SceneBuilder};
use etendue_sensors::lidar::{
    Beam, Channel, CorrelatedNoise, Encoder, Intensity, Lidar, PhaseMethod, PhaseReceiver,
    RangeLimits, Receiver, ScanPattern, Sweep, SweepScratch, SweepSettings, simulate_into,
};
use etendue_sensors::trajectory::stationary;
use etendue_sensors::transport::World;
use nalgebra::{Isometry3, Point3};
use std::f64::consts::TAU;
use std::hint::black_box;

/// Four walls, 1.85 x 0.92 m.
fn room() -> Scene {
    let corners = [
        (-0.925, -0.46),
        (0.925, -0.46),
        (0.925, 0.46),
        (-0.925, 0.46),
    ];
    let vertices = corners
        .iter()
        .flat_map(|&(x, y)| [-0.14, 0.14].map(|z| Point3::new(x, y, z)));
    let triangles = (0..4_u32).flat_map(|i| {
        let [a, b] = [2 * i, 2 * ((i + 1) % 4)];
        [[a, b, b + 1], [a, b + 1, a + 1]]
    });
    let mesh = Mesh {
        vertices: vertices.collect(),
        triangles: triangles.collect(),
        materials: vec![],
    };
    let reflectance = 0.8.into();
    let parts = SceneBuilder {
        materials: vec![NamedMaterial {
            name: "paint".into(),
            material: Material {
                lobes: vec![Lobe::lambert(reflectance)],
            },
        }],
        meshes: vec![mesh.into()],
        objects: vec![Object {
            name: "room".into(),
            mesh: MeshId(0),
            world_from_object: Isometry3::identity(),
            material: MaterialId(0),
            mask: u32::MAX,
        }],
        ..SceneBuilder::default()
    };
    parts.build().expect("a room")
}

/// A Hokuyo URG-04LX.
fn lidar(method: PhaseMethod) -> Lidar {
    let step = TAU / 1024.0;
    let mut beam = Beam::cone(0.005, SubRayPattern::THREE);
    beam.azimuth_jitter = 2.8e-3;
    let lidar = Lidar {
        name: "URG-04LX".into(),
        source: String::new(),
        wavelength: 785e-9,
        channels: vec![Channel::default()],
        pattern: ScanPattern::Encoder(Encoder {
            rate: 10.0,
            columns: 682,
            first: -340.0 * step,
            step,
        }),
        beam,
        receiver: Receiver::Phase(receiver(method)),
        noise: CorrelatedNoise::default(),
        limits: RangeLimits {
            near: 0.02,
            far: 5.6,
            step: 0.001,
        },
        intensity: Intensity {
            response: IntensityResponse::Power { counts: 1.0 },
            top: None,
        },
    };
    lidar.checked().expect("a lidar")
}

fn receiver(method: PhaseMethod) -> PhaseReceiver {
    PhaseReceiver {
        modulation: Modulation::URG_04LX,
        sampling: SamplingScheme::Pair,
        converter_bits: Some(10),
        gain: AutomaticGain {
            target: 0.5,
            strongest: 700.0,
            weakest: 0.0073,
        },
        noise: PhaseReceiverNoise {
            amplifier: 6.8e-4,
            converter: 0.0113,
            ..PhaseReceiverNoise::default()
        },
        window: None,
        detectable: 0.0071,
        sufficient: 0.0073,
        ambiguity: Ambiguity {
            slack: 0.1,
            gate: 0.15,
            combination: Combination::Mean,
        },
        bias: PowerDependentBias::None,
        method,
        full_overlap: 0.0,
    }
}

fn sweeps(criterion: &mut Criterion) {
    // Before anything else starts the pool.
    rayon::ThreadPoolBuilder::new()
        .num_threads(1)
        .use_current_thread()
        .build_global()
        .expect("the first pool");
    let scene = room();
    let world = World::at_wavelength(&scene, 785e-9).expect("grey walls");
    for method in [PhaseMethod::ClosedForm, PhaseMethod::Sampled] {
        let lidar = lidar(method);
        let name = format!("682 beams x 3 rays, one core, {method:?}");
        let mut settings = SweepSettings::default();
        let mut sweep = Sweep::default();
        let mut scratch = SweepScratch::default();
        criterion.bench_function(&name, |bencher| {
            bencher.iter(|| {
                settings.sweep += 1;
                let pose = stationary(Isometry3::translation(0.1, 0.05, 0.0));
                simulate_into(&world, &lidar, &settings, pose, &mut sweep, &mut scratch);
                black_box(sweep.points.len())
            });
        });
    }
}

criterion_group!(benches, sweeps);
criterion_main!(benches);
