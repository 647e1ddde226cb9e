//! The edited scene and sensor, and their sweep.

mod allowed_paths;
mod coarse;
mod edit;
mod export;
mod history;
mod loading;
mod panel;
pub mod pose;
mod profile;
mod sweep;
mod text_file;
mod toml_edits;
mod trajectory;
mod upload;
mod weather;

pub use allowed_paths::AllowedPaths;
pub use edit::{Document, Edit};
pub use export::Export;
pub use loading::{Loaded, Opening};
pub(crate) use panel::PanelTask;
pub use panel::{PanelHintRequest, RecordedPanel};
pub use profile::OpenProfile;
pub use sweep::{SimulatedSweep, SweepTask, Timing, WholeSweep};
pub use text_file::TextFile;
pub use toml_edits::Step;
pub use trajectory::TrajectoryFile;
pub use upload::Upload;
pub use weather::WeatherOptions;

use crate::recording::Recording;
use crate::refusal::Refusal;
use etendue::config::scene::SceneCache;
use etendue::sensors::lidar::{Sweep, SweepScratch};
use history::History;
use pose::PoseNumbers;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

/// What the page edits: the inputs of a sweep, and the open noise profile.
#[derive(Clone, Debug, PartialEq)]
pub struct Inputs {
    /// Scene file.
    pub scene: TextFile,
    /// Robot file, whose scene is the scene file.
    pub robot: Option<TextFile>,
    /// Sensor file; `None` for the sensor of the scene.
    pub sensor: Option<TextFile>,
    /// Noise profile that is edited.
    pub profile: Option<TextFile>,
    /// Pose of the sensor; `None` for that of the scene.
    pub pose: Option<PoseNumbers>,
    /// Trajectory of the sensor, in place of a pose.
    pub trajectory: Option<Arc<TrajectoryFile>>,
    /// Weather in place of that of the scene.
    pub weather: WeatherOptions,
    /// Seed of all noise.
    pub seed: u64,
    /// Index of the sweep in its run.
    pub sweep: u32,
}

/// A session: the inputs, what they load to, and the history of their changes.
pub struct Session {
    inputs: Inputs,
    loaded: Loaded,
    history: History<Inputs>,
    cache: SceneCache,
    allowed: AllowedPaths,
    /// Folder of the uploads.
    uploads: PathBuf,
    /// Number of the current inputs; it grows with every change.
    revision: u64,
    /// Duration of the last loading, ms.
    load_ms: f64,
    /// The last whole sweep.
    whole: WholeSweep,
    recording: Option<Arc<Recording>>,
    /// Dropped noise profiles, by name.
    profiles: BTreeMap<String, TextFile>,
    /// Source of scans of a panel that the page did not give.
    aim: Option<String>,
    /// Panel of the recording, once it is found.
    panel: Option<Arc<RecordedPanel>>,
    /// Memory of sweeps that are no longer in use.
    spare: Sweep,
    scratch: SweepScratch,
}

impl Session {
    /// Opens a scene, and simulates its first sweep.
    ///
    /// # Errors
    /// If the scene or the sensor cannot be loaded.
    pub fn open(opening: &Opening, uploads: PathBuf) -> Result<Self, Refusal> {
        let mut cache = SceneCache::default();
        let inputs = opening.inputs()?;
        let (inputs, loaded) = loading::load(&inputs, None, &mut cache)?;
        let mut session = Self {
            allowed: allowed_paths(&inputs, &uploads),
            whole: WholeSweep {
                inputs: inputs.clone(),
                loaded: loaded.clone(),
                simulated: SimulatedSweep::default(),
            },
            inputs,
            loaded,
            history: History::default(),
            cache,
            uploads,
            revision: 1,
            load_ms: 0.0,
            recording: None,
            profiles: BTreeMap::new(),
            aim: opening.aim.clone(),
            panel: None,
            spare: Sweep::default(),
            scratch: SweepScratch::default(),
        };
        session.simulate()?;
        Ok(session)
    }

    /// Opens another scene in place of this one. The history is kept.
    ///
    /// # Errors
    /// As [`Session::open`]; the session stays as it was.
    pub fn reopen(&mut self, opening: &Opening, gesture: u64) -> Result<(), Refusal> {
        let inputs = opening.inputs()?;
        self.replace(&inputs, Some(gesture))
    }

    /// The inputs.
    pub fn inputs(&self) -> &Inputs {
        &self.inputs
    }

    /// The scene and the sensor of the inputs.
    pub fn loaded(&self) -> &Loaded {
        &self.loaded
    }

    /// Number of the current inputs.
    pub fn revision(&self) -> u64 {
        self.revision
    }

    /// Number of steps that can be undone and redone.
    pub fn steps(&self) -> [usize; 2] {
        self.history.steps()
    }

    /// The last whole sweep, perhaps one of earlier inputs.
    pub fn sweep(&self) -> &SimulatedSweep {
        &self.whole.simulated
    }

    /// The last whole sweep with what it was made of.
    pub fn whole(&self) -> &WholeSweep {
        &self.whole
    }

    /// Source of scans of a panel that the page did not give.
    pub fn aim(&self) -> Option<&str> {
        self.aim.as_deref()
    }

    /// Folders whose files the page may name.
    pub fn allowed(&self) -> &AllowedPaths {
        &self.allowed
    }

    /// Applies edits of one gesture; all of them or none.
    ///
    /// # Errors
    /// If an edit is impossible, or its result cannot be loaded; the session stays as it was.
    pub fn edit(&mut self, edits: &[Edit], gesture: u64) -> Result<(), Refusal> {
        let mut inputs = self.inputs.clone();
        for edit in edits {
            if let Edit::Profile(name) = edit {
                let open = name.as_deref().map(|name| self.profile_file(name));
                inputs.profile = open.transpose()?;
            } else {
                edit.apply(&mut inputs, &self.loaded, &self.allowed)?;
            }
        }
        self.replace(&inputs, Some(gesture))
    }

    /// Undoes the last step; nothing if there is none.
    ///
    /// # Errors
    /// If the earlier inputs can no longer be loaded.
    pub fn undo(&mut self) -> Result<(), Refusal> {
        match self.history.undo(&self.inputs) {
            Some(inputs) => self.replace(&inputs, None),
            None => Ok(()),
        }
    }

    /// Repeats the last undone step; nothing if there is none.
    ///
    /// # Errors
    /// If the later inputs can no longer be loaded.
    pub fn redo(&mut self) -> Result<(), Refusal> {
        match self.history.redo(&self.inputs) {
            Some(inputs) => self.replace(&inputs, None),
            None => Ok(()),
        }
    }

    /// Loads inputs and makes them current. A change of a gesture is kept in the history.
    fn replace(&mut self, inputs: &Inputs, gesture: Option<u64>) -> Result<(), Refusal> {
        let start = Instant::now();
        let (inputs, loaded) =
            loading::load(inputs, Some((&self.inputs, &self.loaded)), &mut self.cache)?;
        self.load_ms = start.elapsed().as_secs_f64() * 1e3;
        if inputs == self.inputs {
            return Ok(());
        }
        if let Some(gesture) = gesture {
            self.history.keep(&self.inputs, gesture);
        }
        self.allowed = allowed_paths(&inputs, &self.uploads);
        self.inputs = inputs;
        self.loaded = loaded;
        self.revision += 1;
        Ok(())
    }
}

/// Folders of the scene, the sensor, the noise profile and the uploads.
fn allowed_paths(inputs: &Inputs, uploads: &Path) -> AllowedPaths {
    let files = inputs.sensor.iter().chain(&inputs.profile);
    let files = files.chain(&inputs.robot);
    let files = files.chain([&inputs.scene]);
    let folder = |file: &TextFile| match file.path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder.to_owned(),
        _ => PathBuf::from("."),
    };
    let folders: Vec<PathBuf> = files.map(folder).chain([uploads.to_owned()]).collect();
    AllowedPaths::new(folders)
}
