//! Arena and sensor.

use etendue_estimate::model::upright;
use etendue_physics::Spectrum;
use etendue_physics::beam::SubRayPattern;
use etendue_physics::phase::{
    Ambiguity, AutomaticGain, Combination, Modulation, PhaseReceiverNoise, PowerDependentBias,
    SamplingScheme,
};
use etendue_physics::pulse::IntensityResponse;
use etendue_physics::surface::{Dielectric, Lobe, Material, ThinDielectric};
use etendue_scene::{MaterialId, Mesh, MeshId, NamedMaterial, Object, SceneBuilder};
use etendue_sensors::lidar::{
    Beam, Channel, CorrelatedNoise, Encoder, Intensity, Lidar, PhaseMethod, PhaseReceiver,
    RangeLimits, Receiver, ScanPattern,
};
use nalgebra::{Isometry2, Isometry3, Point3, Vector2};
use std::f64::consts::TAU;

/// Length of the arena along x, m.
const LENGTH: f64 = 1.85;
/// Width of the arena along y, m.
const WIDTH: f64 = 0.92;
/// Half of the height of all objects, m; the sensor is at half height.
const HALF_HEIGHT: f64 = 0.14;
/// Thickness of a mirror, whose back is painted like the walls, m.
const MIRROR_THICKNESS: f64 = 0.004;

/// Furniture of the arena.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Furniture {
    /// Mirror with a reflectance of 0.9, whose normal is its x axis.
    Mirror {
        /// Name of the object.
        name: &'static str,
        /// Position of its centre (m) and yaw (rad).
        pose: [f64; 3],
        /// Width, m.
        width: f64,
    },
    /// Pane of dusty window glass of 4 mm, whose normal is its x axis.
    Pane {
        /// Name of the object.
        name: &'static str,
        /// Position of its centre (m) and yaw (rad).
        pose: [f64; 3],
        /// Width, m.
        width: f64,
    },
    /// Cardboard box with a square base.
    Carton {
        /// Name of the object.
        name: &'static str,
        /// Position of its centre (m) and yaw (rad).
        pose: [f64; 3],
        /// Side, m.
        side: f64,
    },
}

/// Arena with furniture. Objects: `walls` and the names of the furniture; materials: `wall`, `mirror`,
/// `glass`, `carton`.
pub fn arena(furniture: &[Furniture]) -> SceneBuilder {
    let mut parts = SceneBuilder {
        materials: materials(),
        ..SceneBuilder::default()
    };
    let x = LENGTH / 2.0;
    let y = WIDTH / 2.0;
    // The corners run clockwise, so that the normals point inwards
    let walls = upright_faces(&[[-x, -y], [-x, y], [x, y], [x, -y]], true);
    add(&mut parts, "walls", walls, Isometry3::identity(), 0);
    for item in furniture {
        item.add(&mut parts);
    }
    parts
}

impl Furniture {
    fn add(&self, parts: &mut SceneBuilder) {
        match *self {
            Self::Mirror { name, pose, width } => {
                let half = width / 2.0;
                let back = -MIRROR_THICKNESS;
                let corners = [[0.0, -half], [0.0, half], [back, half], [back, -half]];
                let mut mesh = upright_faces(&corners, true);
                // The front is the first of four faces of two triangles each
                mesh.materials = (0..8).map(|i| MaterialId(u32::from(i < 2))).collect();
                add(parts, name, mesh, placed(pose), 0);
            }
            Self::Pane { name, pose, width } => {
                let half = width / 2.0;
                let mesh = upright_faces(&[[0.0, -half], [0.0, half]], false);
                add(parts, name, mesh, placed(pose), 2);
            }
            Self::Carton { name, pose, side } => {
                let half = side / 2.0;
                let corners = [[half, -half], [half, half], [-half, half], [-half, -half]];
                add(parts, name, upright_faces(&corners, true), placed(pose), 3);
            }
        }
    }
}

fn placed([x, y, yaw]: [f64; 3]) -> Isometry3<f64> {
    upright(&Isometry2::new(Vector2::new(x, y), yaw))
}

fn add(
    parts: &mut SceneBuilder,
    name: &str,
    mesh: Mesh,
    world_from_object: Isometry3<f64>,
    material: u32,
) {
    let number = u32::try_from(parts.meshes.len()).expect("a handful of objects");
    parts.meshes.push(mesh.into());
    parts.objects.push(Object {
        name: name.to_owned(),
        mesh: MeshId(number),
        world_from_object,
        material: MaterialId(material),
        mask: u32::MAX,
    });
}

/// Upright rectangles between the corners of a floor plan, two triangles each; the front is on the
/// right of the direction from corner to corner.
fn upright_faces(corners: &[[f64; 2]], closed: bool) -> Mesh {
    let count = u32::try_from(corners.len()).expect("a handful of corners");
    let vertices = corners
        .iter()
        .flat_map(|c| [-HALF_HEIGHT, HALF_HEIGHT].map(|z| Point3::new(c[0], c[1], z)));
    let faces = if closed { count } else { count - 1 };
    let triangles = (0..faces).flat_map(|i| {
        let a = 2 * i;
        let b = 2 * ((i + 1) % count);
        [[a, b, b + 1], [a, b + 1, a + 1]]
    });
    Mesh {
        vertices: vertices.collect(),
        triangles: triangles.collect(),
        materials: Vec::new(),
    }
}

fn materials() -> Vec<NamedMaterial> {
    let named = |name: &str, lobes: Vec<Lobe<Spectrum>>| NamedMaterial {
        name: name.to_owned(),
        material: Material { lobes },
    };
    let diffuse = |reflectance: f64| Lobe::lambert(reflectance.into());
    let pane = Lobe::ThinDielectric(ThinDielectric {
        medium: Dielectric {
            index: 1.51.into(),
            group_index: 1.53.into(),
            absorption: 5.0.into(),
        },
        thickness: 0.004.into(),
    });
    let mirror = Lobe::mirror(0.9.into());
    vec![
        named("wall", vec![diffuse(0.8)]),
        named("mirror", vec![mirror]),
        named("glass", vec![pane, diffuse(0.01)]),
        named("carton", vec![diffuse(0.5)]),
    ]
}

/// Board of ten vertical stripes of 6 cm, alternately white and black, in the plane x = 0 with its front
/// towards -x. Object: `board`; materials: `white`, `black`.
pub fn upright_board(reflectances: [f64; 2]) -> SceneBuilder {
    const STRIPES: u32 = 10;

    // Stripes
    let edge = |i: u32| (f64::from(i) - f64::from(STRIPES) / 2.0) * 0.06;
    let vertices = (0..=STRIPES).flat_map(|i| {
        [-2.0 * HALF_HEIGHT, 2.0 * HALF_HEIGHT].map(|z| Point3::new(0.0, edge(i), z))
    });
    let triangles = (0..STRIPES).flat_map(|i| {
        let a = 2 * i;
        [[a, a + 1, a + 3], [a, a + 3, a + 2]]
    });
    let mesh = Mesh {
        vertices: vertices.collect(),
        triangles: triangles.collect(),
        materials: (0..2 * STRIPES).map(|t| MaterialId(t / 2 % 2)).collect(),
    };

    // Paints
    let paint = |name: &str, reflectance: f64| NamedMaterial {
        name: name.to_owned(),
        material: Material {
            lobes: vec![Lobe::lambert(reflectance.into())],
        },
    };
    let mut parts = SceneBuilder {
        materials: vec![
            paint("white", reflectances[0]),
            paint("black", reflectances[1]),
        ],
        ..SceneBuilder::default()
    };
    add(&mut parts, "board", mesh, Isometry3::identity(), 0);
    parts
}

/// A Hokuyo URG-04LX without noise: 682 beams over 239.8 degrees, three rays per beam, 46.55 and
/// 53.2 MHz, 20 to 5600 mm.
pub fn urg_04lx() -> Lidar {
    let step = TAU / 1024.0;
    let limits = RangeLimits {
        near: 0.02,
        far: 5.6,
        step: 0.0,
    };
    Lidar {
        name: "Hokuyo URG-04LX".into(),
        source: "Hokuyo URG-04LX specification".into(),
        wavelength: 785e-9,
        channels: vec![Channel::default()],
        pattern: ScanPattern::Encoder(Encoder {
            rate: 10.0,
            columns: 682,
            first: -340.0 * step,
            step,
        }),
        beam: Beam::cone(0.005, SubRayPattern::THREE),
        receiver: Receiver::Phase(phase_receiver()),
        noise: CorrelatedNoise::default(),
        limits,
        intensity: Intensity {
            response: IntensityResponse::Power { counts: 1.0 },
            top: None,
        },
    }
}

/// The receiver of a URG-04LX, without noise, bias and converter.
fn phase_receiver() -> PhaseReceiver {
    PhaseReceiver {
        modulation: Modulation::URG_04LX,
        sampling: SamplingScheme::Pair,
        converter_bits: None,
        gain: AutomaticGain {
            target: 0.5,
            strongest: 700.0,
            weakest: 0.0073,
        },
        noise: PhaseReceiverNoise::default(),
        window: None,
        detectable: 0.0071,
        sufficient: 0.0073,
        ambiguity: Ambiguity {
            slack: 0.1,
            gate: 0.15,
            combination: Combination::Mean,
        },
        bias: PowerDependentBias::None,
        method: PhaseMethod::ClosedForm,
        full_overlap: 0.0,
    }
}
