//! `etendue view`.

use super::calibrate::profile_picture;
use super::inspect::is_ply_mesh;
use super::register::NamedCloud;
use crate::desktop;
use crate::device::LidarOptions;
use crate::failure::Failure;
use crate::folder::is_file_name;
use crate::output::{commit, print, warn};
use crate::source;
use crate::view::layers::{PanelLayer, panel};
use crate::view::scene_view;
use clap::Args;
use etendue::config::presets::{PROFILES, SCENES, SENSORS};
use etendue::config::scene;
use etendue::config::toml_file::{Document, FileKind};
use etendue::io::input::without_compression;
use etendue::io::output::OutputSet;
use etendue::io::points::PointFormat;
use etendue_plot::{Drawing, Figure, Point, palette, png, svg};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// Arguments of `etendue view`.
#[derive(Debug, Args)]
#[command(after_help = "Examples: etendue view glass-door\n          \
    etendue view scan.pcd\n          \
    etendue view drive.mcap#3 -o sweep.png\n\n\
    Scenes and meshes are drawn as a section from above, sensors as the directions of their beams, noise profiles as \
    curves, points and sweeps of recordings from above and from the side. Pictures, and the main picture of a \
    folder of results, are opened as they are. \
    `etendue simulate` draws a sensor in a scene.")]
pub struct View {
    /// File, folder of results, or name of a built-in scene, sensor or noise profile; FILE#N is a sweep of a recording
    /// [default: #0]
    file: String,
    /// Picture (.png or .svg), or a folder for NAME.png, or NAME-0003.png of a sweep [default: out/view]
    #[arg(short, long, value_name = "DIR|FILE")]
    output: Option<PathBuf>,
    /// Write the picture without opening it
    #[arg(long)]
    no_open: bool,
    #[command(flatten)]
    lidar: LidarOptions,
}

/// Main picture of the folder of results of each command.
const PICTURES: [&str; 10] = [
    "scan.png",
    "fit.png",
    "slam.png",
    "registration.png",
    "picture.png",
    "picture_0000.png",
    "street.png",
    "course.png",
    "bias-curve.png",
    "curves.png",
];

/// Endings of files other than points, which the name of their picture does not have.
const ENDINGS: [&str; 6] = ["toml", "obj", "stl", "gltf", "glb", "xyz"];

impl View {
    /// Draws the file, writes the picture, prints its path and opens it.
    pub fn run(self) -> Result<(), Failure> {
        let path = match self.existing()? {
            Some(picture) => picture,
            None => self.write(&self.drawing()?)?,
        };
        print(&format!("{}\n", path.display()))?;
        if !self.no_open {
            desktop::open(&path);
        }
        Ok(())
    }

    /// The picture that the file is, or that the folder of results has, if no output is named.
    fn existing(&self) -> Result<Option<PathBuf>, Failure> {
        if self.output.is_some() {
            return Ok(None);
        }
        let path = PathBuf::from(&self.file);
        if path.is_dir() {
            let pictures = PICTURES.iter().map(|name| path.join(name));
            return Ok(pictures.into_iter().find(|picture| picture.exists()));
        }
        if !["png", "svg"].contains(&ending(&path).as_str()) {
            return Ok(None);
        }
        if !path.exists() {
            return Err(Failure::Missing(path));
        }
        Ok(Some(path))
    }

    /// Picture of the file.
    fn drawing(&self) -> Result<Drawing, Failure> {
        let path = Path::new(&self.file);
        if source::numbered(&self.file).is_none() {
            source::check_name(path, &[SCENES, SENSORS, PROFILES])?;
        }
        match ending(&self.file).as_str() {
            "" if source::is_scene(path) => Ok(scene_view::scene(&source::scene(Some(path))?)),
            "" if source::is_sensor(path) => Ok(scene_view::sensor(&source::sensor(&self.file)?.0)),
            "" if PROFILES.find(&self.file).is_ok() => profile_picture(&self.file),
            "toml" => self.drawing_of_toml(path),
            "obj" | "stl" | "gltf" | "glb" => drawing_of_mesh(path),
            "ply" if is_ply_mesh(path) => drawing_of_mesh(path),
            _ => self.drawing_of_points(),
        }
    }

    fn drawing_of_toml(&self, path: &Path) -> Result<Drawing, Failure> {
        let document = Document::read(path)?;
        match FileKind::of(&document) {
            Some(FileKind::Scene) | None => Ok(scene_view::scene(&source::scene(Some(path))?)),
            Some(FileKind::Sensor) => Ok(scene_view::sensor(&source::sensor(&self.file)?.0)),
            Some(FileKind::Profile) => profile_picture(&self.file),
            Some(kind) => Err(Failure::usage(
                format!(
                    "{} is {}, which has no picture",
                    path.display(),
                    kind.name()
                ),
                kind.usage(),
            )),
        }
    }

    /// Points from above, and from the side unless they are in one plane; of a recording, one sweep.
    fn drawing_of_points(&self) -> Result<Drawing, Failure> {
        let cloud = match NamedCloud::read(&self.file, &self.lidar) {
            Err(Failure::WhichScan { .. }) => {
                NamedCloud::read(&format!("{}#0", self.file), &self.lidar)
            }
            other => other,
        }?;
        warn(&cloud.warnings);
        let view = |title: &str, axes: [usize; 2]| {
            let project = |point: &nalgebra::Point3<f64>| axes.map(|axis| point[axis]);
            let points: Vec<Point> = cloud.points.iter().map(project).collect();
            let layer = PanelLayer::points("points", palette::INK, points);
            panel(
                title,
                axes.map(|axis| ["x, m", "y, m", "z, m"][axis]),
                &[layer],
            )
        };
        let mut figure = Figure::new(cloud.short_name()).with_plot(view("from above", [0, 1]));
        if !cloud.is_planar() {
            figure = figure.with_plot(view("from the side", [0, 2]));
        }
        Ok(figure.draw())
    }

    /// Name of the picture: that of the file without its ending, and the number of a sweep.
    fn name(&self) -> String {
        let (file, number) = match source::numbered(&self.file) {
            Some((file, number)) => (file, format!("-{number:04}")),
            None => (self.file.as_str(), String::new()),
        };
        let path = without_compression(Path::new(file));
        let is_known = ENDINGS.contains(&ending(&path).as_str())
            || PointFormat::read_endings().contains(&ending(&path).as_str());
        let name = if is_known {
            path.file_stem()
        } else {
            path.file_name()
        };
        format!("{}{number}", name.unwrap_or_default().to_string_lossy())
    }

    /// Writes the picture and returns its path.
    fn write(&self, drawing: &Drawing) -> Result<PathBuf, Failure> {
        let usual = Path::new("out/view");
        let path = self.output.as_deref().unwrap_or(usual);
        let path = if is_file_name(path) {
            path.to_owned()
        } else {
            path.join(format!("{}.png", self.name()))
        };
        let bytes = match ending(&path).as_str() {
            "svg" => svg::write(drawing).into_bytes(),
            "png" => png::render(drawing, 2.0)?,
            _ => {
                return Err(Failure::argument(
                    format!("{} is no picture", path.display()),
                    "give a file that ends in .png or .svg",
                ));
            }
        };
        let mut outputs = OutputSet::new();
        outputs.add(&path, |file| file.write_all(&bytes))?;
        commit(outputs)?;
        Ok(path)
    }
}

/// A section of a mesh file, as of a scene with this object only.
fn drawing_of_mesh(path: &Path) -> Result<Drawing, Failure> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    // A string of JSON is one of TOML.
    let quoted = serde_json::Value::from(&*name);
    let text = format!(
        "version = 1\nname = {quoted}\n[[objects]]\nname = \"mesh\"\n\
         shape.mesh = {{ file = {quoted} }}\nmaterial = \"white-paint\"\n"
    );
    let document = Document::new(path.with_extension("toml"), text);
    Ok(scene_view::scene(&scene::parse(&document)?))
}

/// The ending of a name, in lower case.
fn ending(name: impl AsRef<Path>) -> String {
    let ending = name.as_ref().extension().and_then(OsStr::to_str);
    ending.unwrap_or_default().to_ascii_lowercase()
}
