//! The state of a session, for the page.

use super::Look;
use crate::refusal::Refusal;
use crate::robot::{Output, RobotRun};
use crate::session::pose::{PoseNumbers, to_numbers, to_position_and_quaternion};
use crate::session::{Export, Session, TextFile, WeatherOptions};
use etendue::config::material::{MaterialFile, find};
use etendue::physics::surface::Material;
use etendue::scene::{MaterialId, Mesh};
use etendue::sensors::lidar::Receiver;
use serde::Serialize;
use serde_json::Value as Json;
use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

/// The inputs and what they load to.
#[derive(Serialize)]
pub struct State {
    revision: u64,
    /// Number of steps that can be undone and redone.
    steps: [usize; 2],
    scene: FileState,
    scene_name: String,
    sensor: FileState,
    robot: Option<RobotState>,
    profile: Option<ProfileState>,
    /// Names of profiles that can be opened and are not built in.
    own_profiles: Vec<String>,
    lidar: LidarState,
    /// Pose of the sensor at the start of the run: position, yaw, pitch and roll (m, degrees).
    pose: PoseNumbers,
    is_pose_given: bool,
    is_moving: bool,
    trajectory: Option<TrajectoryState>,
    /// Number of sweeps of the run, where its motion has an end.
    sweeps: Option<u32>,
    /// Positions along the motion of the sensor, m.
    path: Vec<[f64; 3]>,
    weather: WeatherOptions,
    seed: u64,
    sweep: u32,
    objects: Vec<ObjectState>,
    materials: Vec<MaterialState>,
    classes: Vec<String>,
    bounds: [[f64; 3]; 2],
    warnings: Vec<String>,
    recording: Option<RecordingState>,
    /// Source of scans of a panel in place of the recording.
    aim_source: Option<String>,
    export: Export,
}

/// The recording next to the sweep.
#[derive(Serialize)]
struct RecordingState {
    name: String,
    scans: usize,
    /// Whether a scan has a measurement for each beam of the sensor, for fits.
    has_beams: bool,
    warnings: Vec<String>,
}

/// The robot, whose run has its own messages.
#[derive(Serialize)]
struct RobotState {
    word: String,
    name: String,
    duration: f64,
    outputs: Vec<Output>,
    warnings: Vec<String>,
    /// Number of the run, another one for each.
    run: u64,
}

/// The open noise profile.
#[derive(Serialize)]
struct ProfileState {
    word: String,
    path: String,
    is_changed: bool,
    /// How a material of the scene names it; null before it is saved.
    name_in_scene: Option<String>,
    /// Numbers of the materials that it is drawn for.
    materials: Vec<u32>,
    /// Text of the file, to tell states apart.
    fingerprint: u64,
}

/// The trajectory file of the sensor.
#[derive(Serialize)]
struct TrajectoryState {
    path: String,
    poses: usize,
    duration: f64,
}

/// Number of drawn positions of a motion.
const PATH_POINTS: u32 = 300;

/// A file of the session.
#[derive(Serialize)]
struct FileState {
    word: String,
    path: String,
    is_changed: bool,
    /// Content of the text.
    toml: Json,
}

/// Numbers of the lidar.
#[derive(Serialize)]
struct LidarState {
    name: String,
    wavelength_nm: f64,
    receiver: &'static str,
    channels: usize,
    columns: u32,
    /// Least and greatest azimuth and elevation of the beams, rad.
    azimuths: [f64; 2],
    elevations: [f64; 2],
    near: f64,
    far: f64,
    intensity_top: Option<f64>,
}

/// An object.
#[derive(Serialize)]
struct ObjectState {
    name: String,
    /// Number of the mesh message.
    mesh: u64,
    /// Position and quaternion (x, y, z, w) at the time of the sweep.
    pose: [f64; 7],
    material: u32,
    /// Index of its table in the scene file; `None` for an object of an included file.
    table: Option<usize>,
    is_moving: bool,
}

/// A material.
#[derive(Serialize)]
struct MaterialState {
    name: String,
    look: Look,
    /// Whether the scene file has a table for it.
    is_own: bool,
    /// Its lobes with those of its base; null for a material of a mesh file.
    file: Option<MaterialFile>,
}

/// Numbers of the meshes of a session, which the page requests once each.
#[derive(Default)]
pub struct MeshNumbers {
    next: u64,
    known: BTreeMap<u64, Arc<Mesh>>,
    /// Appearances, which take a millisecond each.
    looks: Vec<(Material<f64>, Look)>,
}

/// Maximum number of kept appearances.
const MAX_LOOKS: usize = 512;

impl MeshNumbers {
    /// Number of a mesh; the same for the same mesh.
    fn number(&mut self, mesh: &Arc<Mesh>) -> u64 {
        let mut known = self.known.iter();
        if let Some((number, _)) = known.find(|(_, known)| Arc::ptr_eq(known, mesh)) {
            return *number;
        }
        self.next += 1;
        self.known.insert(self.next, mesh.clone());
        self.next
    }

    /// A mesh by its number.
    pub fn get(&self, number: u64) -> Option<Arc<Mesh>> {
        self.known.get(&number).cloned()
    }

    /// The appearance of a material.
    fn look(&mut self, material: &Material<f64>) -> Look {
        let mut looks = self.looks.iter();
        if let Some((_, look)) = looks.find(|(known, _)| known == material) {
            return *look;
        }
        if self.looks.len() == MAX_LOOKS {
            self.looks.clear();
        }
        let look = Look::of(material);
        self.looks.push((material.clone(), look));
        look
    }

    /// Forgets all meshes but those of a scene.
    fn keep(&mut self, meshes: &[Arc<Mesh>]) {
        self.known
            .retain(|_, known| meshes.iter().any(|mesh| Arc::ptr_eq(known, mesh)));
    }
}

impl State {
    /// The state of a session.
    ///
    /// # Errors
    /// If a material has no data at the wavelength of the sensor.
    pub fn of(
        session: &Session,
        meshes: &mut MeshNumbers,
        robot: Option<&RobotRun>,
    ) -> Result<Self, Refusal> {
        let inputs = session.inputs();
        let loaded = session.loaded();
        let scene = &loaded.scene.scene;
        let scene_toml = content(&inputs.scene);
        meshes.keep(&scene.parts().meshes);
        let [low, high] = scene.bounds();
        Ok(Self {
            revision: session.revision(),
            steps: session.steps(),
            scene_name: loaded.scene.name.clone(),
            objects: objects(session, meshes, &scene_toml),
            materials: materials(session, meshes, &scene_toml)?,
            scene: file_state(&inputs.scene, scene_toml),
            sensor: file_state(&loaded.sensor_file, content(&loaded.sensor_file)),
            robot: robot.map(|robot| RobotState {
                word: robot.file.word.clone(),
                name: robot.name.clone(),
                duration: robot.duration,
                outputs: robot.outputs.clone(),
                warnings: robot.warnings.clone(),
                run: robot.number,
            }),
            profile: profile_state(session),
            own_profiles: session.own_profiles(),
            lidar: lidar_state(session),
            pose: rounded(
                inputs
                    .pose
                    .unwrap_or_else(|| to_numbers(&loaded.world_from_sensor)),
            ),
            is_pose_given: inputs.pose.is_some(),
            is_moving: loaded.motion.is_some(),
            trajectory: inputs.trajectory.as_ref().map(|file| TrajectoryState {
                path: file.path.display().to_string(),
                poses: file.trajectory.frames().len(),
                duration: loaded.duration().unwrap_or(0.0),
            }),
            sweeps: loaded.sweeps(),
            path: path(session),
            weather: inputs.weather,
            seed: inputs.seed,
            sweep: inputs.sweep,
            classes: loaded.scene.classes.names.clone(),
            bounds: [low.into(), high.into()],
            warnings: loaded.scene.warnings.clone(),
            recording: session.recording().map(|recording| RecordingState {
                name: recording.name.clone(),
                scans: recording.scans.len(),
                has_beams: recording.scans.iter().any(|scan| !scan.beams.is_empty()),
                warnings: recording.warnings.clone(),
            }),
            aim_source: session.aim().map(Into::into),
            export: session.export(),
        })
    }
}

/// Pose numbers without the rounding errors of angles.
fn rounded(pose: PoseNumbers) -> PoseNumbers {
    pose.map(|number| (number * 1e9).round() / 1e9)
}

/// The content of a file as JSON; null where it is no TOML.
pub fn content(file: &TextFile) -> Json {
    let table = toml::from_str::<toml::Table>(&file.text);
    let json = table
        .ok()
        .and_then(|table| serde_json::to_value(table).ok());
    json.unwrap_or_default()
}

fn file_state(file: &TextFile, toml: Json) -> FileState {
    FileState {
        word: file.word.clone(),
        path: file.save_path().display().to_string(),
        is_changed: file.is_changed(),
        toml,
    }
}

fn profile_state(session: &Session) -> Option<ProfileState> {
    let file = session.inputs().profile.as_ref()?;
    let open = session.loaded().profile.as_ref()?;
    let mut hasher = DefaultHasher::new();
    file.text.hash(&mut hasher);
    Some(ProfileState {
        word: file.word.clone(),
        path: file.save_path().display().to_string(),
        is_changed: file.is_changed(),
        name_in_scene: session.open_profile_in_scene(),
        materials: open.materials.iter().map(|material| material.0).collect(),
        // Whole numbers of JavaScript have 53 bits
        fingerprint: hasher.finish() >> 11,
    })
}

/// Positions of the sensor at equal times of the run, where its motion has an end.
fn path(session: &Session) -> Vec<[f64; 3]> {
    let loaded = session.loaded();
    let Some(duration) = loaded.duration() else {
        return Vec::new();
    };
    let times = (0..=PATH_POINTS).map(|step| duration * f64::from(step) / f64::from(PATH_POINTS));
    let rounded = |metres: f64| (metres * 1e4).round() / 1e4;
    let at = |time| loaded.pose_at(time).translation.vector.map(rounded).into();
    times.map(at).collect()
}

fn lidar_state(session: &Session) -> LidarState {
    let loaded = session.loaded();
    let lidar = loaded.lidar();
    let sweep = &session.sweep().sweep;
    let span = |angles: &mut dyn Iterator<Item = f64>| {
        angles.fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], angle| {
            [low.min(angle), high.max(angle)]
        })
    };
    LidarState {
        name: loaded.sensor.name.clone(),
        wavelength_nm: lidar.wavelength * 1e9,
        receiver: match lidar.receiver {
            Receiver::Pulsed(_) => "pulsed",
            Receiver::Phase(_) => "phase",
            Receiver::Fmcw(_) => "fmcw",
            _ => "triangulation",
        },
        channels: lidar.channels.len(),
        columns: lidar.columns(),
        azimuths: span(&mut sweep.shots.iter().map(|shot| shot.azimuth)),
        elevations: span(&mut sweep.shots.iter().map(|shot| shot.elevation)),
        near: lidar.limits.near,
        far: lidar.limits.far,
        intensity_top: lidar.intensity.top,
    }
}

fn objects(session: &Session, meshes: &mut MeshNumbers, toml: &Json) -> Vec<ObjectState> {
    let scene = &session.loaded().scene.scene;
    let time = session.sweep().sweep.start;
    // Each table makes one object, or its copies
    let tables = toml["objects"].as_array().map_or(&[][..], Vec::as_slice);
    let copies = |table: &Json| {
        let counts = table["repeat"]["count"].as_array();
        counts.map_or(1, |counts| {
            counts.iter().filter_map(Json::as_u64).product::<u64>()
        })
    };
    let table_of_object = tables.iter().enumerate().flat_map(|(number, table)| {
        std::iter::repeat_n(Some(number), usize::try_from(copies(table)).unwrap_or(0))
    });
    let table_of_object = table_of_object.chain(std::iter::repeat(None));
    let parts = scene.parts();
    let states = (0..)
        .zip(&parts.objects)
        .zip(table_of_object)
        .map(|((number, object), table)| {
            let id = etendue::scene::ObjectId(number);
            ObjectState {
                name: object.name.clone(),
                mesh: meshes.number(&parts.meshes[object.mesh.0 as usize]),
                pose: to_position_and_quaternion(&scene.world_from_object(id, time)),
                material: object.material.0,
                table,
                is_moving: scene.motion(id).is_some(),
            }
        });
    states.collect()
}

fn materials(
    session: &Session,
    known: &mut MeshNumbers,
    toml: &Json,
) -> Result<Vec<MaterialState>, Refusal> {
    let loaded = session.loaded();
    let world = loaded.world()?;
    let own = &toml["materials"];
    let materials = (0..).zip(loaded.scene.scene.materials());
    let state = |(number, named): (u32, &etendue::scene::NamedMaterial)| {
        let table = own.get(&named.name);
        let file = match table {
            Some(table) => serde_json::from_value::<MaterialFile>(table.clone()).ok(),
            None => find(&named.name).ok().map(|material| material.file.clone()),
        };
        MaterialState {
            name: named.name.clone(),
            look: known.look(world.material(MaterialId(number))),
            is_own: table.is_some(),
            file: file.and_then(|file| file.resolved().ok()),
        }
    };
    Ok(materials.map(state).collect())
}
