//! Report of rendered frames.

use super::shot::{FramePose, Shot};
use crate::failure::Failure;
use crate::output::{counted, print, print_json, remark, warn};
use etendue::config::scene::LoadedScene;
use etendue::sensors::camera::{Camera, ClassMap, FrameSettings, LightTransport};
use serde_json::{Value, json};
use std::fmt::Write;
use std::path::PathBuf;

/// Rendered frames with their inputs.
pub struct Report<'a> {
    /// Scene.
    pub scene: &'a LoadedScene,
    /// Camera.
    pub camera: &'a Camera,
    /// Semantic classes of the scene.
    pub classes: &'a ClassMap,
    /// First frame.
    pub first: &'a Shot,
    /// Exposure and pose of each frame.
    pub frames: &'a [FramePose],
    /// Number of frames.
    pub count: usize,
    /// Settings of the first frame.
    pub settings: &'a FrameSettings,
    /// Warnings.
    pub warnings: &'a [String],
}

impl Report<'_> {
    /// Prints the summary.
    pub fn print(&self, seconds: f64, files: &[PathBuf], as_json: bool) -> Result<(), Failure> {
        let pixels = f64::from(self.camera.width) * f64::from(self.camera.height);
        let rays = pixels * f64::from(self.settings.samples) * self.count as f64;
        remark(format_args!(
            "{} in {seconds:.3} s: {:.2} million camera rays/s",
            counted(self.count, "frame"),
            rays / seconds * 1e-6
        ));
        warn(self.warnings);
        if as_json {
            return print_json(&self.json());
        }
        print(&self.text(files))
    }

    fn text(&self, files: &[PathBuf]) -> String {
        let Shot { frame, truth, .. } = self.first;
        let mut text = String::new();

        // Inputs
        let Camera {
            name,
            width,
            height,
            ..
        } = self.camera;
        let _ = writeln!(text, "camera     {name}, {width} x {height}");
        let _ = writeln!(text, "scene      {}", self.scene.name);

        // Exposure of the first frame
        let white = f64::from((1_u32 << frame.bits) - 1);
        let mean = frame.raw.iter().map(|v| f64::from(*v)).sum::<f64>() / frame.raw.len() as f64;
        let _ = writeln!(text, "exposure   {:.3} ms", frame.exposure * 1e3);
        let _ = writeln!(text, "mean       {mean:.1} of {white} digital numbers");

        // Share of its pixels that show a surface
        let seen = truth.depth.iter().filter(|depth| depth.is_finite()).count();
        let share = 100.0 * seen as f64 / truth.depth.len() as f64;
        let _ = writeln!(text, "surfaces   in {share:.1} % of the pixels");

        // Files
        let _ = match files {
            [only] => writeln!(text, "written    {}", only.display()),
            [first, ..] => writeln!(
                text,
                "written    {} files, {} ...",
                files.len(),
                first.display()
            ),
            [] => Ok(()),
        };
        text
    }

    /// Inputs of the run, and the meanings of instance and class numbers.
    pub fn json(&self) -> Value {
        // Names of the instances
        let objects = self.scene.scene.objects().iter();
        let object_names = objects.map(|object| object.name.as_str());
        let instances: Vec<&str> = std::iter::once("nothing").chain(object_names).collect();

        // Scene, camera and settings
        let light = match self.settings.light {
            LightTransport::Direct { .. } => "direct",
            LightTransport::Paths { .. } => "paths",
        };
        let intrinsics = &self.camera.intrinsics;
        json!({
            "etendue": env!("CARGO_PKG_VERSION"),
            "scene": { "name": self.scene.name, "sha256": self.scene.sha256 },
            "camera": {
                "name": self.camera.name,
                "width": self.camera.width,
                "height": self.camera.height,
                "focal_px": intrinsics.focal,
                "centre_px": intrinsics.centre,
                "lens": format!("{:?}", intrinsics.lens),
            },
            "light": light,
            "samples": self.settings.samples,
            "seed": self.settings.seed,
            "frames": self.frames.iter().map(FramePose::json).collect::<Vec<_>>(),
            "instances": instances,
            "classes": self.classes.names,
            "warnings": self.warnings,
        })
    }
}
