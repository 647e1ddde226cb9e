//! A board turned before the lidar (section IV-A: 0.5 x 1.15 m, white and black, at 5.3 and 8.6 m).

use super::corridor::ExperimentError;
use etendue_calibrate::depth::DepthModel;
use etendue_physics::statistics::mean;
use etendue_physics::surface::{Lobe, Material};
use etendue_scene::primitive::cuboid;
use etendue_scene::{MaterialId, MeshId, NamedMaterial, Object, Scene, SceneBuilder, SceneError};
use etendue_sensors::lidar::Lidar;
use etendue_sensors::lidar::{Frame, SweepSettings, simulate};
use etendue_sensors::transport::World;
use nalgebra::{Isometry3, Translation3, UnitQuaternion, Vector3};

/// Width, height and thickness of the board, m.
const BOARD: [f64; 3] = [0.005, 0.5, 1.15];
/// Its two sides: names and reflectances.
pub const SIDES: [(&str, f64); 2] = [("white", 0.8), ("black", 0.06)];
/// Distances of the board, m.
pub const DISTANCES: [f64; 2] = [5.3, 8.6];

/// One angle of the board.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BoardRow {
    /// Which side faces the lidar.
    pub side: &'static str,
    /// Distance of its middle, m.
    pub distance: f64,
    /// How it is turned, rad: the incidence at its middle.
    pub angle: f64,
    /// Points on it in all sweeps.
    pub points: usize,
    /// Mean distance behind the true face along its normal, m; negative reads short.
    pub offset: f64,
    /// Mean error along the beams, m.
    pub depth_error: f64,
    /// The latter after correction, where a model is given.
    pub corrected: Option<f64>,
}

/// Turns the board through 0 to 85 degrees in steps of five, `sweeps` sweeps at each, with the
/// true incidence given to the model. Angles at which no beam meets the board are left out.
///
/// # Errors
/// Where the lidar's wavelength is unknown to the materials.
pub fn run(
    scanner: &Lidar,
    model: Option<&DepthModel>,
    sweeps: u32,
    seed: u64,
    progress: &mut dyn FnMut(),
) -> Result<Vec<BoardRow>, ExperimentError> {
    let mut rows = Vec::new();
    for (side, reflectance) in SIDES {
        for distance in DISTANCES {
            for step in 0..=17_u32 {
                let angle = f64::from(5 * step).to_radians();
                let pose = placed(distance, angle);
                let scene = scene(reflectance, pose).expect("a box is a scene");
                rows.extend(measured(
                    &scene,
                    (scanner, sweeps, seed),
                    &pose,
                    model,
                    (side, distance, angle),
                )?);
                progress();
            }
        }
    }
    Ok(rows)
}

/// How many angles [`run`] tries.
pub const ANGLES: usize = 72;

fn placed(distance: f64, angle: f64) -> Isometry3<f64> {
    let turn = UnitQuaternion::from_scaled_axis(Vector3::z() * angle);
    Isometry3::from_parts(Translation3::new(distance, 0.0, 0.0), turn)
}

fn scene(reflectance: f64, pose: Isometry3<f64>) -> Result<Scene, SceneError> {
    let board = cuboid(BOARD).expect("all sizes are above zero");
    SceneBuilder {
        materials: vec![NamedMaterial {
            name: "board".into(),
            material: Material {
                lobes: vec![Lobe::lambert(reflectance.into())],
            },
        }],
        meshes: vec![board.into()],
        objects: vec![Object {
            name: "board".into(),
            mesh: MeshId(0),
            world_from_object: pose,
            material: MaterialId(0),
            mask: u32::MAX,
        }],
    }
    .build()
}

fn measured(
    scene: &Scene,
    (scanner, sweeps, seed): (&Lidar, u32, u64),
    pose: &Isometry3<f64>,
    model: Option<&DepthModel>,
    (side, distance, angle): (&'static str, f64, f64),
) -> Result<Option<BoardRow>, ExperimentError> {
    let world = World::at_wavelength(scene, scanner.wavelength)?;
    // The face to the lidar.
    let normal = pose.rotation * -Vector3::x();
    let face = pose.translation.vector + normal * (0.5 * BOARD[0]);
    let (mut offsets, mut errors, mut corrected) = (Vec::new(), Vec::new(), Vec::new());
    for sweep in 0..sweeps {
        let run = SweepSettings {
            seed,
            sweep,
            frame: Frame::Sensor,
            ..SweepSettings::default()
        };
        let scan = simulate(&world, scanner, &run, |_| Isometry3::identity());
        for point in &scan.points {
            let shot = scan.shot_of(point);
            let (start, along) = (shot.origin.coords, shot.direction());
            let slope = normal.dot(&along);
            let depth = (point.position.coords - start).dot(&along);
            let truth = normal.dot(&(face - start)) / slope;
            let incidence = slope.abs().min(1.0).acos();
            offsets.push(-normal.dot(&(point.position.coords - face)));
            errors.push(depth - truth);
            if let Some(model) = model {
                corrected.push(model.correct(depth, incidence) - truth);
            }
        }
    }
    Ok((!errors.is_empty()).then(|| BoardRow {
        side,
        distance,
        angle,
        points: errors.len(),
        offset: mean(&offsets),
        depth_error: mean(&errors),
        corrected: model.map(|_| mean(&corrected)),
    }))
}
