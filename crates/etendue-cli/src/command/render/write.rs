//! Files of rendered frames.

use super::report::Report;
use super::shot::Shot;
use super::views;
use crate::bag;
use crate::failure::Failure;
use crate::finite;
use crate::folder::is_file_name;
use crate::interrupt;
use crate::output::commit_while_writing;
use etendue::io::image::{EXR_SUPPORTED, ExrChannel, ExrData, Pixels, exr, png};
use etendue::io::output::{OpenOutput, OutputSet};
use etendue::io::ros2::FrameRecorder;
use etendue::sensors::camera::{Camera, ClassMap};
use std::fs::File;
use std::io::BufWriter;
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
            Some(ending) if is_file_name(path) => ending.to_string_lossy().to_ascii_lowercase(),
            _ => return Ok(Self::Folder(path.into())),
        };
        match ending.as_str() {
            "png" => Ok(Self::Png(path.into())),
            "exr" if EXR_SUPPORTED => Ok(Self::Exr(path.into())),
            "exr" => Err(Failure::argument(
                format!(
                    "cannot write {}: this build does not support EXR files",
                    path.display()
                ),
                "build it with `cargo build --features exr`",
            )),
            "mcap" => Ok(Self::Mcap(path.into())),
            _ => Err(Failure::argument(
                format!(
                    "cannot write {}: its extension is not one of png, exr, mcap",
                    path.display()
                ),
                "give a file with one of these extensions, or a folder for all files; a slash at the end makes it \
                 a folder",
            )),
        }
    }

    /// Whether frames are written to a recording, which is readable at any time.
    pub fn is_recording(&self) -> bool {
        matches!(self, Self::Mcap(_))
    }
}

/// Writer of frames as they are rendered. A folder or a single file is complete or not written; one
/// frame is in memory at a time.
pub struct FrameWriter<'a> {
    output: &'a Output,
    camera: &'a Camera,
    classes: &'a ClassMap,
    files: OutputSet,
    /// The recording of all frames, and its file in a folder.
    recorder: Option<(FrameRecorder<BufWriter<File>>, Option<OpenOutput>)>,
    frames: usize,
}

impl<'a> FrameWriter<'a> {
    /// A writer without frames.
    pub fn new(output: &'a Output, camera: &'a Camera, classes: &'a ClassMap) -> Self {
        Self {
            output,
            camera,
            classes,
            files: OutputSet::new(),
            recorder: None,
            frames: 0,
        }
    }

    /// Writes the next frame.
    pub fn add(&mut self, shot: &Shot) -> Result<(), Failure> {
        finite::check_frame(&shot.frame)?;
        match self.output {
            Output::Png(path) if self.frames == 0 => self.file(path, &picture(shot)?)?,
            Output::Exr(path) if self.frames == 0 => {
                self.file(path, &exr_file(shot, self.classes)?)?;
            }
            Output::Png(_) | Output::Exr(_) => {}
            Output::Mcap(path) => {
                if self.recorder.is_none() {
                    self.recorder = Some((FrameRecorder::create(path)?, None));
                }
                self.record(shot)?;
            }
            Output::Folder(folder) => self.add_to_folder(folder, shot)?,
        }
        self.frames += 1;
        Ok(())
    }

    fn file(&mut self, path: &Path, content: &[u8]) -> Result<(), Failure> {
        self.files.add(path, |file| file.write_all(content))?;
        interrupt::check()
    }

    fn add_to_folder(&mut self, folder: &Path, shot: &Shot) -> Result<(), Failure> {
        // Begin with the recording of all frames
        if self.recorder.is_none() {
            let file = self.files.open(&folder.join("frames.mcap"))?;
            let recorder = FrameRecorder::over(&folder.join("frames.mcap"), file.writer()?)?;
            self.recorder = Some((recorder, Some(file)));
        }
        // Add the files of the frame
        for (name, content) in frame_files(shot, self.classes)? {
            let (stem, ending) = name.rsplit_once('.').unwrap_or((name, ""));
            let name = format!("{stem}_{:04}.{ending}", self.frames);
            self.file(&folder.join(name), &content)?;
        }
        self.record(shot)
    }

    fn record(&mut self, shot: &Shot) -> Result<(), Failure> {
        if let Some((recorder, _)) = &mut self.recorder {
            recorder.record(
                &shot.frame,
                &shot.truth,
                self.camera,
                &shot.world_from_camera,
            )?;
        }
        Ok(())
    }

    /// Ends the recording, adds the inputs of the run to a folder, and returns the paths of all files.
    pub fn finish(mut self, report: &Report) -> Result<Vec<PathBuf>, Failure> {
        if let Some((recorder, file)) = self.recorder.take() {
            recorder.finish()?;
            if let Some(file) = file {
                self.files.close(file)?;
            }
        }
        if let Output::Folder(folder) = self.output {
            let json = finite::json(&report.json())?;
            self.file(&folder.join("run.json"), json.as_bytes())?;
        }
        let mut paths = commit_while_writing(self.files)?;
        let recording = match self.output {
            Output::Mcap(path) => {
                paths.push(path.clone());
                Some(path.clone())
            }
            Output::Folder(folder) => Some(folder.join("frames.mcap")),
            Output::Png(_) | Output::Exr(_) => None,
        };
        if let Some(path) = recording {
            paths.extend(bag::describe(&path)?);
        }
        Ok(paths)
    }

    /// Removes the recording of frames without light.
    pub fn discard(self) -> Result<(), Failure> {
        drop(self.recorder);
        match self.output {
            Output::Mcap(path) => Ok(std::fs::remove_file(path)?),
            _ => Ok(()),
        }
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
fn frame_files(shot: &Shot, numbers: &ClassMap) -> Result<Vec<(&'static str, Vec<u8>)>, Failure> {
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
    let classes = views::classes(truth, numbers);
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
        files.push(("frame.exr", exr_file(shot, numbers)?));
    }
    Ok(files)
}

/// Radiance and ground truth of a frame as an EXR file.
fn exr_file(shot: &Shot, classes: &ClassMap) -> Result<Vec<u8>, Failure> {
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
        whole("class", views::classes(truth, classes)),
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
