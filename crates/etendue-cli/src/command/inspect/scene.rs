//! Report of a scene.

use crate::output::{counted, to_text, write_warnings};
use etendue::config::scene::{LoadedScene, ScenePlacement};
use etendue::physics::atmosphere::Weather;
use etendue::scene::{Object, Scene};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::Write;

/// Printed report of a scene.
#[derive(Serialize)]
pub struct SceneReport {
    name: String,
    sha256: String,
    files: Vec<String>,
    from_m: [f64; 3],
    to_m: [f64; 3],
    triangles: usize,
    objects: Vec<ObjectReport>,
    /// Number of triangles of each material.
    materials: BTreeMap<String, usize>,
    sensor_position_m: Option<[f64; 3]>,
    /// Weather.
    air: Vec<String>,
    warnings: Vec<String>,
}

#[derive(Serialize)]
struct ObjectReport {
    name: String,
    triangles: usize,
    material: String,
}

/// Largest number of listed objects.
const LISTED: usize = 30;

impl SceneReport {
    /// Report of a loaded scene.
    pub fn of(loaded: LoadedScene) -> Self {
        // Objects and their extent
        let scene = &loaded.scene;
        let [from, to] = scene.bounds();
        let objects: Vec<_> = scene
            .objects()
            .iter()
            .map(|object| ObjectReport::of(scene, object))
            .collect();

        // Air and sensor
        let weather = loaded.air.atmosphere.weather.iter();
        let position =
            |placement: &ScenePlacement| placement.world_from_sensor.translation.vector.into();
        Self {
            from_m: from.into(),
            to_m: to.into(),
            triangles: objects.iter().map(|object| object.triangles).sum(),
            materials: triangles_of_materials(scene),
            sensor_position_m: loaded.sensor.as_ref().map(position),
            air: weather.map(Weather::to_string).collect(),
            objects,
            name: loaded.name,
            sha256: loaded.sha256,
            files: loaded
                .files
                .iter()
                .map(|file| file.display().to_string())
                .collect(),
            warnings: loaded.warnings,
        }
    }

    /// The report as text.
    pub fn text(&self) -> String {
        to_text(|out| self.write(out))
    }

    fn write(&self, out: &mut String) -> std::fmt::Result {
        // Size, sensor and air
        writeln!(
            out,
            "{}: scene, {} of {} triangles",
            self.name,
            counted(self.objects.len(), "object"),
            self.triangles
        )?;
        write_extent(out, self.from_m, self.to_m)?;
        if let Some([x, y, z]) = self.sensor_position_m {
            writeln!(out, "  sensor at ({x}, {y}, {z}) m")?;
        }
        if !self.air.is_empty() {
            writeln!(out, "  air: {}", self.air.join(", "))?;
        }

        // Materials and objects
        for (material, triangles) in self.materials.iter().filter(|(_, count)| **count > 0) {
            writeln!(out, "  material {material}: {triangles} triangles")?;
        }
        for object in self.objects.iter().take(LISTED) {
            writeln!(
                out,
                "  object {}: {} triangles, {}",
                object.name, object.triangles, object.material
            )?;
        }
        if self.objects.len() > LISTED {
            writeln!(out, "  and {} more objects", self.objects.len() - LISTED)?;
        }

        // Files
        writeln!(
            out,
            "  read {}, sha256 {}",
            counted(self.files.len(), "file"),
            self.sha256
        )?;
        write_warnings(out, &self.warnings)
    }
}

impl ObjectReport {
    fn of(scene: &Scene, object: &Object) -> Self {
        let mesh = scene.mesh(object.mesh);
        let material = if mesh.materials.is_empty() {
            scene.materials()[object.material.0 as usize].name.clone()
        } else {
            "material by triangle".into()
        };
        Self {
            name: object.name.clone(),
            triangles: mesh.triangles.len(),
            material,
        }
    }
}

fn triangles_of_materials(scene: &Scene) -> BTreeMap<String, usize> {
    let mut counts = vec![0; scene.materials().len()];
    for object in scene.objects() {
        let mesh = scene.mesh(object.mesh);
        if mesh.materials.is_empty() {
            counts[object.material.0 as usize] += mesh.triangles.len();
        }
        for material in &mesh.materials {
            counts[material.0 as usize] += 1;
        }
    }
    let names = scene
        .materials()
        .iter()
        .map(|material| material.name.clone());
    names.zip(counts).collect()
}

/// Writes the size and the corners of a bounding box.
pub fn write_extent(out: &mut String, from: [f64; 3], to: [f64; 3]) -> std::fmt::Result {
    let [x, y, z] = std::array::from_fn(|axis| to[axis] - from[axis]);
    let corner = |[x, y, z]: [f64; 3]| format!("({x:.3}, {y:.3}, {z:.3})");
    writeln!(
        out,
        "  extent {x:.3} x {y:.3} x {z:.3} m, from {} to {} m",
        corner(from),
        corner(to)
    )
}
