//! Files of rendered frames.

use super::report::Report;
use super::shot::Shot;
use super::views;
use crate::failure::Failure;
use crate::interrupt;
use crate::output::warn;
use etendue::io::image::{EXR_SUPPORTED, ExrChannel, ExrData, Pixels, exr, png};
use etendue::io::output::OutputSet;
use etendue::io::ros2::FrameRecorder;
use std::path::{Path, PathBuf};

/// Files to write.
pub enum Output {
    /// All files in a folder.
    Folder(PathBuf),
    /// Picture of the first frame.
    Png(PathBuf),
    /// Radiance and ground truth of the first frame.
    Exr(PathBuf),
    /// Recording of all frames.
    Mcap(PathBuf),
}

impl Output {
    /// Files for a path: all of them for a folder or a path without an ending.
    pub fn of(path: &Path) -> Result<Self, Failure> {
        let ending = match path.extension() {
            Some(ending) if !path.is_dir() => ending.to_string_lossy().to_ascii_lowercase(),
            _ => return Ok(Self::Folder(path.into())),
        };
        match ending.as_str() {
            "png" => Ok(Self::Png(path.into())),
            "exr" if EXR_SUPPORTED => Ok(Self::Exr(path.into())),
            "exr" => Err(Failure::Usage {
                message: format!(
                    "cannot write {}: this build does not support EXR files",
                    path.display()
                ),
                remedy: "build it with `cargo build --features exr`".into(),
            }),
            "mcap" => Ok(Self::Mcap(path.into())),
            _ => Err(Failure::usage(
                format!(
                    "cannot write {}: its extension is not one of png, exr, mcap",
                    path.display()
                ),
                "give a folder for all files, or a file with one of these extensions",
            )),
        }
    }

    /// Writes all files or none, and returns their paths.
    pub fn write(&self, report: &Report) -> Result<Vec<PathBuf>, Failure> {
        let _guard = interrupt::writing();
        let mut files = Files::default();
        match self {
            Self::Png(path) => files.add(path, &picture(&report.shots[0])?)?,
            Self::Exr(path) => files.add(path, &exr_file(&report.shots[0], report)?)?,
            Self::Mcap(path) => files.add(path, &recording(report)?)?,
            Self::Folder(folder) => {
                if !EXR_SUPPORTED {
                    warn(["no .exr files are written: build with `cargo build --features exr`"]);
                }
                files.add_folder(folder, report)?;
            }
        }
        Ok(files.0.commit()?)
    }
}

#[derive(Default)]
struct Files(OutputSet);

impl Files {
    fn add(&mut self, path: &Path, content: &[u8]) -> Result<(), Failure> {
        self.0.add(path, |file| file.write_all(content))?;
        interrupt::check()
    }

    /// Adds the files of each frame, the recording of all and the inputs of the run.
    fn add_folder(&mut self, folder: &Path, report: &Report) -> Result<(), Failure> {
        for (index, shot) in report.shots.iter().enumerate() {
            for (name, content) in frame_files(shot, report)? {
                let (stem, ending) = name.rsplit_once('.').unwrap_or((name, ""));
                let name = format!("{stem}_{index:04}.{ending}");
                self.add(&folder.join(name), &content)?;
            }
        }
        self.add(&folder.join("frames.mcap"), &recording(report)?)?;
        let json = serde_json::to_string_pretty(&report.json()).map_err(std::io::Error::from)?;
        self.add(&folder.join("run.json"), (json + "\n").as_bytes())
    }
}

fn picture(shot: &Shot) -> Result<Vec<u8>, Failure> {
    let frame = &shot.frame;
    let pixels = if frame.bands == 1 {
        Pixels::Grey8(&frame.picture)
    } else {
        Pixels::Colour8(&frame.picture)
    };
    Ok(png(frame.width, frame.height, pixels)?)
}

/// All files of a frame by name.
fn frame_files(shot: &Shot, report: &Report) -> Result<Vec<(&'static str, Vec<u8>)>, Failure> {
    let frame = &shot.frame;
    let truth = &shot.truth;
    let save = |pixels| png(frame.width, frame.height, pixels);

    // Pixels as read from the sensor
    let is_mosaic = frame.raw.len() == truth.depth.len();
    let raw = if is_mosaic {
        Pixels::Grey16(&frame.raw)
    } else {
        Pixels::Colour16(&frame.raw)
    };

    // Pictures
    let instances = views::instances(truth);
    let classes = views::classes(truth, report.classes);
    let mut files = vec![
        ("picture.png", picture(shot)?),
        ("raw.png", save(raw)?),
        ("depth.png", save(Pixels::Grey8(&views::depth(truth)))?),
        (
            "depth_mm.png",
            save(Pixels::Grey16(&views::depth_millimetres(truth)))?,
        ),
        (
            "normals.png",
            save(Pixels::Colour8(&views::normals(truth)))?,
        ),
        (
            "instances.png",
            save(Pixels::Colour8(&views::coloured(&instances)))?,
        ),
        (
            "classes.png",
            save(Pixels::Colour8(&views::coloured(&classes)))?,
        ),
        ("class_numbers.png", save(Pixels::Grey16(&classes))?),
        ("flow.png", save(Pixels::Colour8(&views::flow(truth)))?),
    ];

    // Numbers
    if EXR_SUPPORTED {
        files.push(("frame.exr", exr_file(shot, report)?));
    }
    Ok(files)
}

/// Radiance and ground truth of a frame as an EXR file.
fn exr_file(shot: &Shot, report: &Report) -> Result<Vec<u8>, Failure> {
    let frame = &shot.frame;
    let truth = &shot.truth;

    // Radiance
    let names: &[&str] = if frame.bands == 1 {
        &["Y"]
    } else {
        &["R", "G", "B"]
    };
    let pixels = frame.radiance.chunks_exact(frame.bands);
    let named = names.iter().enumerate();
    let mut channels: Vec<ExrChannel> = named
        .map(|(band, name)| float(name, pixels.clone().map(|pixel| pixel[band]).collect()))
        .collect();

    // Ground truth
    let normal = |i: usize| truth.normal.iter().map(|normal| normal[i]).collect();
    let flow = |i: usize| truth.flow.iter().map(|flow| flow[i]).collect();
    channels.extend([
        float("Z", truth.depth.clone()),
        float("range", truth.range.clone()),
        float("normal.X", normal(0)),
        float("normal.Y", normal(1)),
        float("normal.Z", normal(2)),
        float("flow.X", flow(0)),
        float("flow.Y", flow(1)),
        whole("instance", views::instances(truth)),
        whole("class", views::classes(truth, report.classes)),
    ]);
    Ok(exr(frame.width, frame.height, &channels)?)
}

/// Channel of floating-point numbers.
fn float(name: &'static str, values: Vec<f32>) -> ExrChannel<'static> {
    ExrChannel {
        name,
        data: ExrData::Float(values.into()),
    }
}

/// Channel of whole numbers.
fn whole(name: &'static str, values: Vec<u16>) -> ExrChannel<'static> {
    let values: Vec<u32> = values.into_iter().map(u32::from).collect();
    ExrChannel {
        name,
        data: ExrData::Uint(values.into()),
    }
}

fn recording(report: &Report) -> Result<Vec<u8>, Failure> {
    let mut recorder = FrameRecorder::new()?;
    for shot in report.shots {
        let pose = &shot.world_from_camera;
        recorder.record(&shot.frame, &shot.truth, report.camera, pose)?;
    }
    Ok(recorder.into_bytes()?)
}
