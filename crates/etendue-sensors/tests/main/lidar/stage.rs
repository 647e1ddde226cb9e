//! Scenes and lidars for tests.

use etendue_physics::beam::{BeamShape, BeamWidth, Divergence, DivergenceAt};
use etendue_physics::pulse::{
    AnalogueDetector, Detector, Discriminator, IntensityResponse, Pulse, ReturnMode,
};
use etendue_physics::surface::{Lobe, Material};
use etendue_scene::{
    MaterialId, Mesh, MeshId, NamedMaterial, Object, ObjectId, Scene, SceneBuilder, Trajectory,
    primitive,
};
use etendue_sensors::lidar::{
    Beam, Channel, Columns, CorrelatedNoise, EchoModel, Intensity, Lidar, PulsedReceiver,
    RangeLimits, Receiver, ScanPattern, Spinning,
};
use etendue_sensors::lidar::{Sweep, SweepSettings, simulate};
use etendue_sensors::transport::World;
use nalgebra::{Isometry3, Translation3, UnitQuaternion, Vector3};

pub const WAVELENGTH: f64 = 905e-9;

/// Builds scenes object by object.
#[derive(Default)]
pub struct Stage {
    parts: SceneBuilder,
}

impl Stage {
    pub fn add(mut self, mesh: Mesh, pose: Isometry3<f64>, lobe: Lobe<f64>) -> Self {
        let number = self.parts.objects.len() as u32;
        let material = Material { lobes: vec![lobe] }.map(|&x| x.into());
        self.parts.materials.push(NamedMaterial {
            name: format!("material {number}"),
            material,
        });
        self.parts.meshes.push(mesh.into());
        self.parts.objects.push(Object {
            name: format!("object {number}"),
            mesh: MeshId(number),
            world_from_object: pose,
            material: MaterialId(number),
            mask: u32::MAX,
        });
        self
    }

    /// Adds a rectangle at `centre` whose normal is `towards`; `size` is its width and height, m.
    pub fn panel(
        self,
        centre: [f64; 3],
        towards: [f64; 3],
        size: [f64; 2],
        lobe: Lobe<f64>,
    ) -> Self {
        let mesh = primitive::rectangle([size[1], size[0]]).unwrap();
        // The rectangle is in the x-y plane with its normal along z. Its x axis becomes as upright as possible.
        let towards = Vector3::from(towards).normalize();
        let turn = UnitQuaternion::face_towards(&towards, &Vector3::z());
        let upright =
            turn * UnitQuaternion::from_axis_angle(&Vector3::z_axis(), 0.5 * std::f64::consts::PI);
        let pose = Isometry3::from_parts(Translation3::from(Vector3::from(centre)), upright);
        self.add(mesh, pose, lobe)
    }

    /// Pose of an object in the world.
    pub fn pose(&self, object: usize) -> Isometry3<f64> {
        self.parts.objects[object].world_from_object
    }

    pub fn build(self) -> Scene {
        self.parts.build().unwrap()
    }

    /// Builds the scene with trajectories for the first objects.
    pub fn build_moving(self, motions: Vec<Trajectory>) -> Scene {
        self.build_some_moving((0..).map(ObjectId).zip(motions).collect())
    }

    pub fn build_some_moving(mut self, motions: Vec<(ObjectId, Trajectory)>) -> Scene {
        let motions = motions.into_iter();
        self.parts.motions = motions
            .map(|(object, motion)| (object, motion.into()))
            .collect();
        self.parts.build().unwrap()
    }
}

pub fn lambert(reflectance: f64) -> Lobe<f64> {
    Lobe::lambert(reflectance)
}

pub fn beam(divergence: f64) -> Beam {
    let round = |width| Divergence {
        horizontal: width,
        vertical: width,
        at: DivergenceAt::HalfMaximum,
    };
    let width = BeamWidth {
        shape: BeamShape::Gaussian,
        divergence: round(divergence),
        exit: round(0.0),
    };
    Beam::elliptic(width, 0)
}

/// A pulsed receiver with a detection threshold of 1e-8 /(m² sr).
pub fn pulsed(echoes: EchoModel, returns: ReturnMode) -> PulsedReceiver {
    PulsedReceiver {
        pulse: Pulse::gaussian(4e-9),
        discriminator: Discriminator::ConstantFraction { fraction: 0.5 },
        returns,
        threshold: 1e-8,
        reference: 1e-4,
        detector: Detector::Analogue(AnalogueDetector {
            thermal_noise: 1e-9,
            shot_noise: 0.0,
            background: 0.0,
            saturation: f64::INFINITY,
            recovery: None,
        }),
        interval: 0.5e-9,
        bits: None,
        jitter: 0.0,
        echoes,
        window: None,
        false_alarms: false,
        full_overlap: 0.0,
    }
}

/// A spinning lidar of one channel with 3600 columns per rotation of 0.1 s, the first along x.
pub fn scanner(receiver: PulsedReceiver) -> Lidar {
    Lidar {
        name: "test".into(),
        source: "none".into(),
        wavelength: WAVELENGTH,
        channels: vec![Channel::default()],
        pattern: ScanPattern::Spinning(Spinning {
            rate: 10.0,
            clockwise: false,
            start: 0.0,
            columns: Columns::PerSweep {
                columns: 3600,
                fired: None,
            },
            nod: None,
        }),
        beam: beam(1e-3),
        receiver: Receiver::Pulsed(receiver),
        noise: CorrelatedNoise::default(),
        limits: RangeLimits {
            near: 0.1,
            far: 300.0,
            step: 0.0,
        },
        intensity: Intensity {
            response: IntensityResponse::Power { counts: 1.0 },
            top: None,
        },
    }
    .checked()
    .unwrap()
}

/// The same lidar with only the first column: one shot along x.
pub fn one_shot(receiver: PulsedReceiver) -> Lidar {
    let mut scanner = scanner(receiver);
    if let ScanPattern::Spinning(spinning) = &mut scanner.pattern {
        spinning.columns = Columns::PerSweep {
            columns: 3600,
            fired: Some(1),
        };
    }
    scanner
}

pub fn quiet() -> SweepSettings {
    SweepSettings {
        without_noise: true,
        ..SweepSettings::default()
    }
}

/// A sweep of a static sensor at the origin.
pub fn at_origin(scene: &Scene, scanner: &Lidar, run: &SweepSettings) -> Sweep {
    let world = World::at_wavelength(scene, scanner.wavelength).unwrap();
    simulate(&world, scanner, run, |_| Isometry3::identity())
}

/// A closed room about the origin, with normals to the inside.
pub fn room(size: [f64; 3], reflectance: f64) -> Scene {
    let mesh = primitive::cuboid(size).unwrap().inside_out();
    Stage::default()
        .add(mesh, Isometry3::identity(), lambert(reflectance))
        .build()
}
