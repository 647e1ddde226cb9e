//! Simulated recordings of boards and walls.

use super::known::known_profile;
use crate::arena::urg_04lx;
use etendue_calibrate::noise::{PanelHint, PanelRecording};
use etendue_physics::surface::{Lobe, Material};
use etendue_physics::{Purpose, Spectrum, Stream};
use etendue_scene::{MaterialId, Mesh, MeshId, NamedMaterial, Object, Scene, SceneBuilder};
use etendue_sensors::lidar::{Lidar, SweepSettings, simulate};
use etendue_sensors::transport::World;
use etendue_sensors::{NoiseProfiles, Scan};
use nalgebra::{Isometry3, Point3, Translation3, UnitQuaternion, Vector3};
use std::sync::Arc;

/// What is in a recording besides the panel, and how the robot moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum RecordingKind {
    /// A board alone.
    Plain,
    /// A pole before a wall.
    Pole,
    /// Boxes before and beside a wall.
    Clutter,
    /// A person walks past before the wall.
    Person,
    /// A board that is mostly on one side of its normal.
    Partial,
    /// A board a few centimetres before a wall; a declared width runs past its edge.
    BoardBeforeWall,
    /// A wall in two parts, with an opening to another wall between them.
    DividedWall,
    /// A wall with a part of the robot in view.
    RobotPart,
    /// A robot that drives.
    Driving,
    /// A robot that turns.
    Turning,
    /// A board that turns or moves a little.
    Unsteady,
}

/// A recording with its known truth.
#[derive(Clone, Debug)]
pub struct SimulatedRecording {
    /// The recording.
    pub recording: PanelRecording,
    /// What is declared.
    pub hint: PanelHint,
    /// Mean distances of the flat surfaces with the known profile during the recording, m.
    pub distances: Vec<f64>,
}

/// Number of sweeps.
const SWEEPS: u32 = 40;

/// Material with the known profile.
const PANEL: u32 = 0;

/// Material of everything else.
const OTHER: u32 = 1;

impl RecordingKind {
    /// All kinds.
    pub const ALL: [Self; 11] = [
        Self::Plain,
        Self::Pole,
        Self::Clutter,
        Self::Person,
        Self::Partial,
        Self::BoardBeforeWall,
        Self::DividedWall,
        Self::RobotPart,
        Self::Driving,
        Self::Turning,
        Self::Unsteady,
    ];

    /// Name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Plain => "board alone",
            Self::Pole => "pole before a wall",
            Self::Clutter => "clutter",
            Self::Person => "person walks past",
            Self::Partial => "partial board",
            Self::BoardBeforeWall => "board before a wall",
            Self::DividedWall => "wall in two parts",
            Self::RobotPart => "part of the robot",
            Self::Driving => "driving robot",
            Self::Turning => "turning robot",
            Self::Unsteady => "unsteady board",
        }
    }

    /// A recording of this kind with random dimensions.
    pub fn recording(self, seed: u64) -> SimulatedRecording {
        let mut draw = Draw(Stream::new(seed, 7, 0, 0, Purpose::World));
        let plan = Plan::new(self, &mut draw);
        let lidar = lidar();
        let scans: Vec<Scan> = (0..SWEEPS)
            .map(|sweep| plan.scan(&lidar, seed, sweep))
            .collect();
        let recording = PanelRecording::from_scans(self.name(), &scans);
        SimulatedRecording {
            recording: recording.expect("the recording has scans"),
            hint: plan.hint,
            distances: plan.mean_distances(),
        }
    }
}

/// Random dimensions.
struct Draw(Stream);

impl Draw {
    fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.0.uniform()
    }

    fn sign(&mut self) -> f64 {
        if self.0.uniform() < 0.5 { -1.0 } else { 1.0 }
    }
}

/// An upright box: centre, extent along x and y, and velocity.
#[derive(Clone, Copy)]
struct Block {
    /// Centre at the first sweep, m.
    centre: [f64; 2],
    /// Extent, m.
    size: [f64; 2],
    /// Change of the centre per sweep, m.
    step: [f64; 2],
    material: u32,
}

impl Block {
    fn fixed(centre: [f64; 2], size: [f64; 2], material: u32) -> Self {
        Self {
            centre,
            size,
            step: [0.0; 2],
            material,
        }
    }

    /// A board that faces the origin with its front at a distance, between two positions along y.
    fn facing(distance: f64, [right, left]: [f64; 2]) -> Self {
        let thickness = 0.01;
        let centre = [distance + 0.5 * thickness, 0.5 * (left + right)];
        Self::fixed(centre, [thickness, left - right], PANEL)
    }
}

/// Contents of a recording.
struct Plan {
    blocks: Vec<Block>,
    /// Bearing of the scene from the sensor, rad.
    bearing: f64,
    /// Motion of the sensor per sweep: x, y (m) and yaw (rad).
    step: [f64; 3],
    hint: PanelHint,
    /// Distances of the flat surfaces with the known profile at the first sweep, m.
    distances: Vec<f64>,
}

impl Plan {
    fn new(kind: RecordingKind, draw: &mut Draw) -> Self {
        let distance = draw.between(0.5, 2.0);
        let bearing = draw.between(-40.0, 40.0).to_radians();
        let wall = Block::facing(distance, [-2.2 * distance, 2.2 * distance]);
        let mut plan = Self {
            blocks: vec![wall],
            bearing,
            step: [0.0; 3],
            hint: PanelHint::default(),
            distances: vec![distance],
        };
        match kind {
            RecordingKind::Plain | RecordingKind::Unsteady => {
                let half = distance * draw.between(0.5, 1.2);
                plan.blocks[0] = Block::facing(distance, [-half, half]);
                plan.hint.width = (draw.sign() > 0.0).then_some(2.0 * half);
                if kind == RecordingKind::Unsteady {
                    let turn = draw.sign() * draw.between(0.3_f64, 4.0).to_radians();
                    let shift = draw.sign() * draw.between(0.0, 0.02) * distance;
                    plan.step = [shift, 0.0, turn].map(|total| total / f64::from(SWEEPS));
                }
            }
            RecordingKind::Pole => {
                let at = distance * draw.between(0.3, 0.95);
                let size = draw.between(0.02, 0.15);
                let centre = [at, at * draw.between(-0.8, 0.8)];
                plan.blocks.push(Block::fixed(centre, [size, size], OTHER));
            }
            RecordingKind::Clutter => {
                for _ in 0..6 {
                    let at = distance * draw.between(0.3, 1.0);
                    let size = [draw.between(0.03, 0.25), draw.between(0.03, 0.25)];
                    let centre = [at, at * draw.sign() * draw.between(0.25, 1.8)];
                    plan.blocks.push(Block::fixed(centre, size, OTHER));
                }
            }
            RecordingKind::Person => {
                let at = distance * draw.between(0.4, 0.9);
                let speed = draw.sign() * draw.between(0.02, 0.15);
                let start = -speed.signum() * draw.between(0.2, 1.2) * at;
                for leg in [0.0, 0.25] {
                    plan.blocks.push(Block {
                        centre: [at + 0.3 * leg, start + leg],
                        size: [0.12, 0.14],
                        step: [0.0, speed],
                        material: OTHER,
                    });
                }
            }
            RecordingKind::Partial => {
                let short = distance * draw.between(0.05, 0.3);
                let long = distance * draw.between(0.5, 1.2);
                plan.blocks[0] = Block::facing(distance, [-short, long]);
            }
            RecordingKind::BoardBeforeWall => {
                let half = distance * draw.between(0.3, 0.8);
                let gap = draw.between(0.02, 0.12);
                let behind = distance + gap;
                plan.blocks = vec![
                    Block::facing(distance, [-half, half]),
                    Block::facing(behind, [-2.2 * behind, 2.2 * behind]),
                ];
                plan.distances.push(behind);
                plan.hint.distance = Some(distance);
                plan.hint.bearing = Some(bearing);
                plan.hint.width = (draw.sign() > 0.0).then_some(2.6 * half);
            }
            RecordingKind::DividedWall => {
                let middle = distance * draw.between(-0.6, 0.6);
                let half = 0.5 * distance * draw.between(0.15, 0.5);
                let edge = 2.2 * distance;
                let mut behind = Block::facing(1.6 * distance, [-2.0 * edge, 2.0 * edge]);
                behind.material = OTHER;
                plan.blocks = vec![
                    Block::facing(distance, [-edge, middle - half]),
                    Block::facing(distance, [middle + half, edge]),
                    behind,
                ];
            }
            RecordingKind::RobotPart => {
                let at = draw.between(0.12, 0.25);
                let half = at * draw.between(0.1, 0.3);
                let mut part = Block::facing(at, [-half, half]);
                part.material = OTHER;
                // On the other side of the sensor, or to one side of the wall
                part.centre = [0.3 * at, draw.sign() * at];
                part.size = [2.0 * half, 0.01];
                plan.blocks.push(part);
            }
            RecordingKind::Driving => {
                let speed = draw.between(0.005, 0.06);
                let course = draw.between(-60.0_f64, 60.0).to_radians();
                plan.step = [speed * course.cos(), speed * course.sin(), 0.0];
                plan.blocks.push(room(distance));
            }
            RecordingKind::Turning => {
                plan.step[2] = draw.sign() * draw.between(0.2_f64, 6.0).to_radians();
                plan.blocks.push(room(distance));
            }
        }
        plan
    }

    /// Distances of the panels from the mean position of the sensor, m.
    fn mean_distances(&self) -> Vec<f64> {
        let approach = 0.5 * f64::from(SWEEPS - 1) * self.step[0];
        let distances = self.distances.iter();
        distances.map(|distance| distance - approach).collect()
    }

    /// One sweep as a scan.
    fn scan(&self, lidar: &Lidar, seed: u64, sweep: u32) -> Scan {
        // Scene at the time of the sweep, as seen from the sensor
        let scene = self.scene(sweep);
        let mut profiles = NoiseProfiles::default();
        profiles.set(MaterialId(PANEL), Arc::new(known_profile()));
        let world = World::at_wavelength(&scene, lidar.wavelength)
            .expect("the materials have one value for all wavelengths");
        let world = world.with_profiles(&profiles);
        let settings = SweepSettings {
            seed,
            sweep,
            ..SweepSettings::default()
        };
        let pose = self.pose(sweep);
        let found = simulate(&world, lidar, &settings, |_| pose).first_echoes();
        Scan {
            time: f64::from(sweep) * 0.1,
            beam_interval: 0.0,
            azimuths: found.measurements.iter().map(|m| m.azimuth).collect(),
            elevations: [].into(),
            readings: found.measurements.iter().map(|m| m.reading).collect(),
            intensities: Vec::new(),
            odom_from_robot: None,
        }
    }

    /// Pose of the sensor.
    fn pose(&self, sweep: u32) -> Isometry3<f64> {
        let [x, y, yaw] = self.step.map(|step| step * f64::from(sweep));
        let turn = UnitQuaternion::from_axis_angle(&Vector3::z_axis(), yaw - self.bearing);
        Isometry3::from_parts(Translation3::new(x, y, 0.0), turn)
    }

    fn scene(&self, sweep: u32) -> Scene {
        let material = |name: &str| NamedMaterial {
            name: name.into(),
            material: Material {
                lobes: vec![Lobe::<Spectrum>::lambert(0.8.into())],
            },
        };
        let mut parts = SceneBuilder {
            materials: vec![material("panel"), material("other")],
            ..SceneBuilder::default()
        };
        for (number, block) in (0..).zip(&self.blocks) {
            let centre = [0, 1].map(|i| block.centre[i] + f64::from(sweep) * block.step[i]);
            parts.meshes.push(cuboid(block.size).into());
            parts.objects.push(Object {
                name: format!("block {number}"),
                mesh: MeshId(number),
                world_from_object: Isometry3::translation(centre[0], centre[1], 0.0),
                material: MaterialId(block.material),
                mask: u32::MAX,
            });
        }
        parts.build().expect("the scene is valid")
    }
}

/// A wall beside the sensor, so that a moving robot sees more than one surface.
fn room(distance: f64) -> Block {
    Block::fixed([0.0, 1.3 * distance], [4.0 * distance, 0.02], OTHER)
}

/// A cuboid, 1 m high, with outward faces.
fn cuboid([x, y]: [f64; 2]) -> Mesh {
    let corner = |i: u32| {
        let sign = |bit: u32| if i & bit == 0 { -0.5 } else { 0.5 };
        Point3::new(sign(1) * x, sign(2) * y, sign(4))
    };
    let quads = [
        [0, 2, 6, 4],
        [1, 5, 7, 3],
        [0, 4, 5, 1],
        [2, 3, 7, 6],
        [0, 1, 3, 2],
        [4, 6, 7, 5],
    ];
    let triangles = quads
        .iter()
        .flat_map(|q| [[q[0], q[2], q[1]], [q[0], q[3], q[2]]]);
    Mesh {
        vertices: (0..8).map(corner).collect(),
        triangles: triangles.collect(),
        materials: Vec::new(),
    }
}

/// A planar phase lidar that reports whole millimetres.
fn lidar() -> Lidar {
    let mut lidar = urg_04lx();
    lidar.limits.step = 1e-3;
    lidar
}
