//! Board rotated in front of the lidar (section IV-A: 0.5 x 1.15 m, white and black, at 5.3 and 8.6 m).

use super::corridor::ExperimentError;
use etendue_calibrate::depth::DepthModel;
use etendue_physics::statistics::mean;
use etendue_physics::surface::{Lobe, Material};
use etendue_scene::primitive::cuboid;
use etendue_scene::{MaterialId, MeshId, NamedMaterial, Object, Scene, SceneBuilder, SceneError};
use etendue_sensors::lidar::{Frame, Lidar, SweepSettings, simulate};
use etendue_sensors::transport::World;
use nalgebra::{Isometry3, Translation3, UnitQuaternion, Vector3};

/// Thickness, width and height of the board, m.
const BOARD: [f64; 3] = [0.005, 0.5, 1.15];
/// Names and reflectances of its sides.
pub const SIDES: [(&str, f64); 2] = [("white", 0.8), ("black", 0.06)];
/// Distances of the board, m.
pub const DISTANCES: [f64; 2] = [5.3, 8.6];
/// Angles from 0 to 85 degrees in steps of 5 degrees.
const STEPS: u32 = 18;
/// Number of placements of the board in [`run`].
pub const ANGLES: usize = SIDES.len() * DISTANCES.len() * STEPS as usize;

/// Depth errors on the board at one placement.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BoardErrorRow {
    /// Side that faces the lidar.
    pub side: &'static str,
    /// Distance of its centre, m.
    pub distance: f64,
    /// Rotation about the vertical axis, rad: the incidence at the centre.
    pub angle: f64,
    /// Number of points on the board in all sweeps.
    pub points: usize,
    /// Mean distance of the points behind the true face along its normal, m; negative in front of it.
    pub offset: f64,
    /// Mean error along the beams, m.
    pub depth_error: f64,
    /// Mean error along the beams after correction, m, if a model is given.
    pub corrected: Option<f64>,
}

/// Rotates the board through 0 to 85 degrees in steps of 5 degrees, with `sweeps` sweeps at each angle.
/// The model receives the true incidence. Placements without points have no row.
///
/// # Errors
/// If a material has no data at the wavelength of the lidar.
pub fn run(
    lidar: &Lidar,
    model: Option<&DepthModel>,
    sweeps: u32,
    seed: u64,
    progress: &mut dyn FnMut(),
) -> Result<Vec<BoardErrorRow>, ExperimentError> {
    let mut rows = Vec::new();
    for (side, reflectance) in SIDES {
        for distance in DISTANCES {
            for step in 0..STEPS {
                let placement = Placement {
                    side,
                    reflectance,
                    distance,
                    angle: f64::from(5 * step).to_radians(),
                };
                rows.extend(placement.measure(lidar, model, sweeps, seed)?);
                progress();
            }
        }
    }
    Ok(rows)
}

/// Board in front of the lidar.
struct Placement {
    side: &'static str,
    reflectance: f64,
    distance: f64,
    angle: f64,
}

impl Placement {
    fn world_from_board(&self) -> Isometry3<f64> {
        let rotation = UnitQuaternion::from_scaled_axis(Vector3::z() * self.angle);
        Isometry3::from_parts(Translation3::new(self.distance, 0.0, 0.0), rotation)
    }

    fn scene(&self) -> Result<Scene, SceneError> {
        let board = cuboid(BOARD).expect("all sizes are above zero");
        SceneBuilder {
            materials: vec![NamedMaterial {
                name: "board".into(),
                material: Material {
                    lobes: vec![Lobe::lambert(self.reflectance.into())],
                },
            }],
            meshes: vec![board.into()],
            objects: vec![Object {
                name: "board".into(),
                mesh: MeshId(0),
                world_from_object: self.world_from_board(),
                material: MaterialId(0),
                mask: u32::MAX,
            }],
            ..SceneBuilder::default()
        }
        .build()
    }

    /// Depth errors of all points of the sweeps; `None` without points.
    fn measure(
        &self,
        lidar: &Lidar,
        model: Option<&DepthModel>,
        sweeps: u32,
        seed: u64,
    ) -> Result<Option<BoardErrorRow>, ExperimentError> {
        let scene = self.scene().expect("a box is a scene");
        let world = World::at_wavelength(&scene, lidar.wavelength)?;

        // Face of the board towards the lidar
        let pose = self.world_from_board();
        let normal = pose.rotation * -Vector3::x();
        let face = pose.translation.vector + normal * (0.5 * BOARD[0]);

        // Errors of the points, along the normal and along the beams
        let mut offsets = Vec::new();
        let mut errors = Vec::new();
        let mut corrected = Vec::new();
        for sweep in 0..sweeps {
            let settings = SweepSettings {
                seed,
                sweep,
                frame: Frame::Sensor,
                ..SweepSettings::default()
            };
            let scan = simulate(&world, lidar, &settings, |_| Isometry3::identity());
            for point in &scan.points {
                let shot = scan.shot_of(point);
                let origin = shot.origin.coords;
                let direction = shot.direction();
                let slope = normal.dot(&direction);
                let depth = (point.position.coords - origin).dot(&direction);
                let truth = normal.dot(&(face - origin)) / slope;
                let incidence = slope.abs().min(1.0).acos();
                offsets.push(-normal.dot(&(point.position.coords - face)));
                errors.push(depth - truth);
                if let Some(model) = model {
                    corrected.push(model.correct(depth, incidence) - truth);
                }
            }
        }

        // Means
        Ok((!errors.is_empty()).then(|| BoardErrorRow {
            side: self.side,
            distance: self.distance,
            angle: self.angle,
            points: errors.len(),
            offset: mean(&offsets),
            depth_error: mean(&errors),
            corrected: model.map(|_| mean(&corrected)),
        }))
    }
}
