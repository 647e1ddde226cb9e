//! Report of rendered frames.

use super::shot::Shot;
use crate::failure::Failure;
use crate::output::{print, print_json, warn};
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
    /// Frames.
    pub shots: &'a [Shot],
    /// Settings of the first frame.
    pub settings: &'a FrameSettings,
    /// Warnings.
    pub warnings: &'a [String],
}

impl Report<'_> {
    /// Prints the summary.
    pub fn print(&self, seconds: f64, files: &[PathBuf], as_json: bool) -> Result<(), Failure> {
        let pixels = f64::from(self.camera.width) * f64::from(self.camera.height);
        let rays = pixels * f64::from(self.settings.samples) * self.shots.len() as f64;
        eprintln!(
            "{} frames in {seconds:.3} s: {:.2} million camera rays/s",
            self.shots.len(),
            rays / seconds * 1e-6
        );
        warn(self.warnings);
        if as_json {
            return print_json(&self.json());
        }
        print(&self.text(files))
    }

    fn text(&self, files: &[PathBuf]) -> String {
        let mut text = String::new();
        let Camera {
            name,
            width,
            height,
            ..
        } = self.camera;
        let _ = writeln!(text, "camera     {name}, {width} x {height}");
        let _ = writeln!(text, "scene      {}", self.scene.name);
        let frame = &self.shots[0].frame;
        let _ = writeln!(text, "exposure   {:.3} ms", frame.exposure * 1e3);
        let white = f64::from((1_u32 << frame.bits) - 1);
        let mean = frame.raw.iter().map(|v| f64::from(*v)).sum::<f64>() / frame.raw.len() as f64;
        let _ = writeln!(text, "mean       {mean:.1} of {white} digital numbers");
        let truth = &self.shots[0].truth;
        let seen = truth.depth.iter().filter(|depth| depth.is_finite()).count();
        let share = 100.0 * seen as f64 / truth.depth.len() as f64;
        let _ = writeln!(text, "surfaces   in {share:.1} % of the pixels");
        let names: Vec<String> = files
            .iter()
            .map(|file| file.display().to_string())
            .collect();
        match &names[..] {
            [only] => writeln!(text, "written    {only}"),
            [first, ..] => writeln!(text, "written    {} files, {first} ...", names.len()),
            [] => Ok(()),
        }
        .unwrap_or_default();
        text
    }

    /// Inputs of the run, and the meanings of instance and class numbers.
    pub fn json(&self) -> Value {
        let objects: Vec<&str> = self
            .scene
            .scene
            .objects()
            .iter()
            .map(|o| o.name.as_str())
            .collect();
        let frames: Vec<Value> = self
            .shots
            .iter()
            .map(|shot| {
                let pose = &shot.world_from_camera;
                let position: [f64; 3] = pose.translation.vector.into();
                let rotation = pose.rotation.quaternion();
                json!({
                    "start_s": shot.frame.start,
                    "exposure_s": shot.frame.exposure,
                    "position_m": position,
                    "rotation_wxyz": [rotation.w, rotation.i, rotation.j, rotation.k],
                })
            })
            .collect();
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
            "light": match self.settings.light {
                LightTransport::Direct { .. } => "direct",
                LightTransport::Paths { .. } => "paths",
            },
            "samples": self.settings.samples,
            "seed": self.settings.seed,
            "frames": frames,
            "instances": std::iter::once("nothing").chain(objects).collect::<Vec<_>>(),
            "classes": self.classes.names,
            "warnings": self.warnings,
        })
    }
}
