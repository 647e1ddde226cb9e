//! What the user is told when something goes wrong.

use crate::picture::png::RenderError;
use etendue::formats::FormatError;
use etendue::formats::material::UnknownMaterial;
use etendue::formats::scene::UnknownExample;
use etendue::formats::sensor::UnknownPreset;
use etendue::scene::{Isa, MeshError};
use etendue::sensors::trajectory::TrajectoryError;
use etendue::sensors::transport::WorldError;
use miette::{Diagnostic, LabeledSpan, NamedSource, SourceCode};
use std::fmt::Display;
use std::path::PathBuf;
use thiserror::Error;

/// Why a command failed.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Failure {
    /// A file is wrong, and the place in it is known.
    #[error("{message}")]
    InFile {
        /// What is wrong.
        message: String,
        /// What to do about it.
        remedy: String,
        /// The file's text.
        source_code: NamedSource<String>,
        /// The place.
        label: LabeledSpan,
    },
    /// A file cannot be read or written.
    #[error("{0}")]
    File(FormatError),
    /// There is no such sensor.
    #[error(transparent)]
    Preset(#[from] UnknownPreset),
    /// There is no such scene.
    #[error(transparent)]
    Example(#[from] UnknownExample),
    /// A cloud has no point to compare.
    #[error("{} has no finite point to compare", path.display())]
    NothingToCompare {
        /// The cloud's file.
        path: PathBuf,
    },
    /// The trajectory does not fit the run.
    #[error(transparent)]
    Trajectory(#[from] TrajectoryError),
    /// There is no such beam, or no waveform.
    #[error(
        "there is no waveform of ring {ring}, column {column}: the sensor has {rings} rings of {columns} columns"
    )]
    NoWaveform {
        /// The ring asked for.
        ring: u32,
        /// The column asked for.
        column: u32,
        /// How many rings there are.
        rings: usize,
        /// How many columns there are.
        columns: u32,
    },
    /// A mesh cannot be used.
    #[error("{}: {source}", path.display())]
    Mesh {
        /// The mesh's file.
        path: PathBuf,
        /// What is wrong.
        source: MeshError,
    },
    /// A mesh was given where a scene is needed.
    #[error("{} is a mesh, not a scene: it does not say what it is made of", path.display())]
    MeshIsNoScene {
        /// The mesh's file.
        path: PathBuf,
    },
    /// Neither the scene nor the user says where the sensor stands.
    #[error("the scene \"{scene}\" does not say where the sensor stands")]
    NoPose {
        /// The scene's name.
        scene: String,
    },
    /// There is no such material.
    #[error(transparent)]
    Material(#[from] UnknownMaterial),
    /// The processor lacks the instructions asked for.
    #[error("this processor does not have the instructions \"{0}\"")]
    Isa(Isa),
    /// The scene's materials do not cover the sensor's wavelength.
    #[error(transparent)]
    Wavelength(#[from] WorldError),
    /// No beam met anything.
    #[error("nothing stands in front of the sensor: none of {beams} beams met a surface")]
    NothingInFront {
        /// How many beams were fired.
        beams: usize,
        /// Where the sensor stood, m.
        position: [f64; 3],
    },
    /// The scan logs tell no spread.
    #[error(
        "no scan log given has a window in which the sensor stands still: there is no spread to draw"
    )]
    NothingStands,
    /// An output file's ending is not one that is written.
    #[error("cannot write {}: its ending is not one of csv, npz, pcd, ply, json, png, svg (scanning lidars also: las, laz, e57, bin, mcap)", path.display())]
    Ending {
        /// The file.
        path: PathBuf,
    },
    /// A picture cannot be made.
    #[error(transparent)]
    Picture(#[from] RenderError),
    /// The worker threads cannot be started.
    #[error("cannot start the worker threads: {0}")]
    Threads(#[from] rayon::ThreadPoolBuildError),
    /// The results cannot be printed.
    #[error("cannot print the results: {0}")]
    Print(#[from] std::io::Error),
    /// Stopped by Ctrl-C.
    #[error("stopped; nothing was written")]
    Interrupted,
}

impl Failure {
    /// What the process exits with.
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Interrupted => crate::interrupt::EXIT_CODE,
            _ => 1,
        }
    }

    fn remedy(&self) -> Option<String> {
        Some(match self {
            Self::InFile { remedy, .. } => remedy.clone(),
            Self::File(error) => error.remedy(),
            Self::Preset(_) => "`etendue sensors` lists them; a sensor file ends in .toml".into(),
            Self::Material(_) => "`etendue materials` lists them".into(),
            Self::Example(_) => {
                let names = etendue::formats::scene::examples().iter().map(|e| e.name);
                let names: Vec<_> = names.collect();
                format!("give a scene file (.toml) or one of: {}", names.join(", "))
            }
            Self::Mesh { .. } => "repair the mesh in the program that made it".into(),
            Self::MeshIsNoScene { path } => format!(
                "write a scene file that names it:\nversion = 1\n[[objects]]\nname = \"mesh\"\n\
                 shape.mesh = {{ file = \"{}\" }}\nmaterial = \"white-paint\"",
                path.display()
            ),
            Self::NoPose { .. } => {
                "give --pose x,y,z,yaw, or add a [sensor] table to the scene file".into()
            }
            Self::NothingInFront {
                position: [x, y, z],
                ..
            } => format!(
                "the sensor stands at ({x}, {y}, {z}) m: give another --pose; \
                 `etendue inspect` tells the scene's extent"
            ),
            Self::Ending { .. } => {
                "name a folder to get every format, or a file with one of these endings".into()
            }
            Self::NothingStands => {
                "give a log with 8 or more scans from one place, for example of \
                 `etendue simulate --sweeps 20`"
                    .into()
            }
            Self::NoWaveform { .. } => {
                "rings and columns count from 0; only pulsed lidars have waveforms".into()
            }
            Self::Isa(_) => "leave --isa out: the fastest are found by themselves".into(),
            Self::Threads(_) => "ask for fewer --threads".into(),
            _ => return None,
        })
    }
}

impl From<FormatError> for Failure {
    fn from(error: FormatError) -> Self {
        let Some(document) = error.document() else {
            return Self::File(error);
        };
        let name = document.path().display().to_string();
        Self::InFile {
            message: document.to_string(),
            remedy: document.remedy(),
            source_code: NamedSource::new(name, document.text().to_owned()),
            label: LabeledSpan::at(document.span(), "here"),
        }
    }
}

impl Diagnostic for Failure {
    fn help<'a>(&'a self) -> Option<Box<dyn Display + 'a>> {
        self.remedy()
            .map(|remedy| Box::new(remedy) as Box<dyn Display>)
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        match self {
            Self::InFile { source_code, .. } => Some(source_code),
            _ => None,
        }
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        match self {
            Self::InFile { label, .. } => Some(Box::new(std::iter::once(label.clone()))),
            _ => None,
        }
    }
}
