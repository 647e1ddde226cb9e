//! Objects from mesh files: scale, axes and materials of the parts.

use super::materials::Palette;
use super::shape::{MeshShape, UpAxis};
use crate::ConfigError;
use crate::toml_file::resolve;
use crate::toml_file::{Document, DocumentError, TomlProblem};
use etendue_io::mesh::{MeshFile, MeshPart, Up, read_mesh};
use etendue_io::{FileLocation, FormatError};
use etendue_scene::{MaterialId, Mesh, Pictures, TexturedObject};
use nalgebra::{Isometry3, UnitQuaternion, Vector3};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::f64::consts::FRAC_PI_2;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use toml::Spanned;

/// Mesh files, each read once and used by several objects.
#[derive(Default)]
pub(super) struct MeshFiles {
    /// Content of the files, also of earlier scenes.
    pub read: BTreeMap<PathBuf, Arc<MeshFile>>,
    /// All files that were read, in order.
    pub files: Vec<PathBuf>,
}

impl MeshFiles {
    pub fn get(&mut self, path: PathBuf) -> Result<Arc<MeshFile>, ConfigError> {
        let file = match self.read.get(&path) {
            Some(file) => file.clone(),
            None => Arc::new(read_mesh(&path)?),
        };
        if !self.files.contains(&path) {
            self.files.extend(file.files.iter().cloned());
        }
        self.read.insert(path, file.clone());
        Ok(file)
    }
}

/// The mesh of an object, or what it is built from.
pub(super) enum MeshSource {
    Primitive(Mesh),
    File(FileMesh),
}

/// A mesh file with the choices that make it the mesh of an object.
#[derive(Clone, Debug)]
pub(super) struct FileMesh {
    file: Arc<MeshFile>,
    up: Up,
    scale: f64,
    /// Material of each part.
    materials: Vec<MaterialId>,
    /// Whether the normals are inverted.
    pub is_flipped: bool,
}

impl PartialEq for FileMesh {
    /// Whether the meshes are equal because they have the same file, read once, and the same choices.
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.file, &other.file)
            && self.up == other.up
            && self.scale == other.scale
            && self.materials == other.materials
            && self.is_flipped == other.is_flipped
    }
}

impl FileMesh {
    /// The mesh, each triangle with the material of its part.
    pub fn mesh(&self) -> Mesh {
        let mut mesh = upright(self.file.mesh.clone(), self.up).scaled(self.scale);
        let parts = self.file.part_of_triangle.iter();
        mesh.materials = parts.map(|part| self.materials[*part as usize]).collect();
        if self.is_flipped {
            mesh = mesh.inside_out();
        }
        mesh
    }
}

/// Mesh, materials and textures of an object from a mesh file.
pub(super) struct MeshObject {
    pub mesh: MeshSource,
    /// Material of triangles without their own.
    pub material: Option<MaterialId>,
    /// Texture coordinates of each triangle's corners, if the file has them.
    pub corners: Option<Arc<Vec<[[f32; 2]; 3]>>>,
    /// Textures of the file, if its own materials are used.
    pub textured: Option<TexturedObject>,
    pub warnings: Vec<String>,
}

pub(super) fn load(
    document: &Document,
    shape: &MeshShape,
    material: Option<&Spanned<String>>,
    palette: &mut Palette<'_>,
    files: &mut MeshFiles,
) -> Result<MeshObject, ConfigError> {
    // Read the file and name its parts
    let path = resolve(document, &shape.file)?;
    let file = files.get(path)?;
    let names = part_names(document, shape, &file.parts, files)?;
    let mut warnings = file.warnings.clone();
    // Select the material of each part
    let choice = Choice {
        document,
        shape,
        material,
    };
    let chosen = choice.materials(&file.parts, &names, palette, &mut warnings)?;
    let own: Vec<bool> = names.iter().map(|name| choice.is_own(name)).collect();
    let material = material
        .map(|name| palette.id(document, name))
        .transpose()?;
    let of_first = file.part_of_triangle.first();
    let of_first = of_first.map(|part| chosen[*part as usize]);
    Ok(MeshObject {
        material: material.or(of_first),
        corners: file.texture_corners.clone(),
        textured: own_pictures(&file, &own),
        mesh: MeshSource::File(FileMesh {
            up: up(shape, &file),
            scale: scale(document, shape)?,
            materials: chosen,
            is_flipped: false,
            file,
        }),
        warnings,
    })
}

/// Textures of the parts that keep the materials of the file.
fn own_pictures(file: &MeshFile, own: &[bool]) -> Option<TexturedObject> {
    let mut textured = file.textured.clone()?;
    if let Pictures::Triangles { of_triangle, .. } = &mut textured.pictures {
        for (picture, part) in of_triangle.iter_mut().zip(&file.part_of_triangle) {
            *picture = picture.filter(|_| own[*part as usize]);
        }
        if of_triangle.iter().all(Option::is_none) {
            return None;
        }
    }
    Some(textured)
}

/// The mesh of a file with z up and in metres, by the keys of the shape.
pub(super) fn shaped(
    document: &Document,
    shape: &MeshShape,
    file: &MeshFile,
) -> Result<Mesh, DocumentError> {
    Ok(upright(file.mesh.clone(), up(shape, file)).scaled(scale(document, shape)?))
}

fn up(shape: &MeshShape, file: &MeshFile) -> Up {
    match (shape.up, file.up) {
        (Some(UpAxis::Y), _) | (None, Up::Y) => Up::Y,
        (Some(UpAxis::Z), _) | (None, Up::Z) => Up::Z,
    }
}

fn scale(document: &Document, shape: &MeshShape) -> Result<f64, DocumentError> {
    let Some(given) = &shape.scale else {
        return Ok(1.0);
    };
    let scale = *given.get_ref();
    if scale.is_finite() && scale > 0.0 {
        return Ok(scale);
    }
    let problem = TomlProblem::value(
        format!("the scale is {scale}"),
        "write the unit of the file in metres, for example 0.001",
    );
    Err(document.error(given.span(), problem))
}

fn upright(mesh: Mesh, up: Up) -> Mesh {
    match up {
        Up::Z => mesh,
        Up::Y => {
            let rotation = UnitQuaternion::from_axis_angle(&Vector3::x_axis(), FRAC_PI_2);
            mesh.moved(&Isometry3::from_parts(
                nalgebra::Translation3::identity(),
                rotation,
            ))
        }
    }
}

/// Entry of a list of part names.
#[derive(Deserialize)]
struct PartName {
    id: i64,
    name: String,
}

/// The name of each part; the companion list has priority.
fn part_names(
    document: &Document,
    shape: &MeshShape,
    parts: &[MeshPart],
    files: &mut MeshFiles,
) -> Result<Vec<String>, ConfigError> {
    let mut names: Vec<String> = parts.iter().map(|part| part.name.clone()).collect();
    if let Some(given) = &shape.part_names {
        let path = resolve(document, given)?;
        let list = read_part_names(&path)?;
        for name in &mut names {
            if let Some(entry) = list.iter().find(|entry| entry.id.to_string() == *name) {
                name.clone_from(&entry.name);
            }
        }
        files.files.push(path);
    }
    Ok(names)
}

fn read_part_names(path: &Path) -> Result<Vec<PartName>, FormatError> {
    let text = etendue_io::input::read_text(path)?;
    serde_json::from_str(&text).map_err(|error| {
        FormatError::malformed(
            path,
            FileLocation::LineColumn(error.line(), error.column()),
            format!("invalid list of part names: {error}"),
            "write [{\"id\": 0, \"name\": \"Window_01\"}, ...]",
        )
    })
}

/// Selection of the material of each part, by priority: the material of its name, of the object, of
/// the mesh file.
struct Choice<'a> {
    document: &'a Document,
    shape: &'a MeshShape,
    material: Option<&'a Spanned<String>>,
}

impl Choice<'_> {
    fn materials(
        &self,
        parts: &[MeshPart],
        names: &[String],
        palette: &mut Palette<'_>,
        warnings: &mut Vec<String>,
    ) -> Result<Vec<MaterialId>, DocumentError> {
        for (pattern, material) in &self.shape.materials {
            palette.id(self.document, material)?;
            if !names.iter().any(|name| fits(pattern.get_ref(), name)) {
                let pattern = pattern.get_ref();
                let file = self.shape.file.get_ref();
                warnings.push(format!("no part of {file} is named \"{pattern}\""));
            }
        }
        parts
            .iter()
            .zip(names)
            .map(|(part, name)| self.material(part, name, palette))
            .collect()
    }

    /// Whether a part keeps the material of the file.
    fn is_own(&self, name: &str) -> bool {
        self.material.is_none() && self.given(name).is_none()
    }

    /// The material that the scene file assigns to a part. Exact names precede patterns, longer
    /// patterns precede shorter ones.
    fn given(&self, name: &str) -> Option<&Spanned<String>> {
        let materials = self.shape.materials.iter();
        let fitting = materials.filter(|(pattern, _)| fits(pattern.get_ref(), name));
        let longest = fitting.max_by_key(|(pattern, _)| {
            let pattern = pattern.get_ref();
            (pattern == name, pattern.len())
        });
        longest.map(|(_, material)| material)
    }

    fn material(
        &self,
        part: &MeshPart,
        name: &str,
        palette: &mut Palette<'_>,
    ) -> Result<MaterialId, DocumentError> {
        match (self.given(name), self.material, &part.look) {
            (Some(material), _, _) | (None, Some(material), _) => {
                palette.id(self.document, material)
            }
            (None, None, Some(look)) => Ok(palette.add(name, look.material())),
            (None, None, None) => Err(self.document.error(
                self.shape.file.span(),
                TomlProblem::value(
                    format!("the part \"{name}\" of this file has no material"),
                    "add a material to the object, or one for the part under materials",
                ),
            )),
        }
    }
}

/// Whether the name of a part matches a pattern with a `*` at either end.
fn fits(pattern: &str, name: &str) -> bool {
    match (pattern.strip_prefix('*'), pattern.strip_suffix('*')) {
        (Some(_), Some(_)) => name.contains(pattern.trim_matches('*')),
        (Some(end), None) => name.ends_with(end),
        (None, Some(beginning)) => name.starts_with(beginning),
        (None, None) => name == pattern,
    }
}

#[cfg(test)]
mod tests {
    use super::fits;

    #[test]
    fn a_star_matches_anything_at_either_end() {
        assert!(fits("Window*", "Window_01") && !fits("Window*", "ShopWindow_01"));
        assert!(fits("*Window*", "ShopWindow_01") && fits("*", "anything"));
        assert!(fits("*_01", "Window_01") && !fits("Window", "Window_01"));
    }
}
