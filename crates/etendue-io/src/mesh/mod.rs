//! Triangle meshes: OBJ with MTL, PLY, STL, glTF and GLB.
//!
//! | format | read | materials |
//! |---|---|---|
//! | OBJ | `v`, `f` (any polygon), `usemtl`, `mtllib`, `g`, `o` | MTL: `Kd Ks Ns Ni d Tr` |
//! | PLY | text, binary of both byte orders; `vertex` and `face` or `tristrips` | none; an integer `object_id` of the faces defines parts |
//! | STL | text and binary; equal vertices are joined | none |
//! | glTF 2.0, GLB | the default scene with its nodes' transforms, triangles of all kinds | metallic-roughness, `KHR_materials_ior`, `_specular`, `_transmission` |
//!
//! Units are metres and axes are not changed; glTF defines y as up ([`MeshFile::up`]). Texture
//! coordinates are read from OBJ (`vt`) and glTF. Textures of glTF base colours (PNG and JPEG,
//! embedded or separate) are read for cameras. Other textures, vertex colours, skins, morph targets
//! and cameras are ignored.
//!
//! Errors name the line or the element: truncated files, inconsistent counts, invalid or non-finite
//! numbers, indices out of range.

mod gltf_file;
mod look;
mod mtl;
mod obj;
mod ply_mesh;
mod polygon;
mod stl;

pub use look::MeshAppearance;

use crate::input::read_bytes;
use crate::{FileLocation, FormatError};
use etendue_scene::{Mesh, TexturedObject};
use nalgebra::Point3;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Upward axis.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Up {
    /// y up, x right, z towards the viewer (computer graphics).
    Y,
    /// z up (REP 103, robotics).
    #[default]
    Z,
}

/// A group of triangles with the same material.
#[derive(Clone, Debug, PartialEq)]
pub struct MeshPart {
    /// Name of the material in the file, or number of the object.
    pub name: String,
    /// Its appearance, if the file describes it.
    pub look: Option<MeshAppearance>,
}

/// Content of a mesh file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MeshFile {
    /// Vertices (m) and triangles, without materials.
    pub mesh: Mesh,
    /// Groups of triangles.
    pub parts: Vec<MeshPart>,
    /// Part of each triangle; empty if there are no parts.
    pub part_of_triangle: Vec<u32>,
    /// Texture coordinates of each triangle's corners, (0, 0) at the upper left corner of the
    /// image. `None` if a triangle has none.
    pub texture_corners: Option<Arc<Vec<[[f32; 2]; 3]>>>,
    /// Textures of the file, if it has any.
    pub textured: Option<TexturedObject>,
    /// The axis that the format defines as up.
    pub up: Up,
    /// All files that were read: the mesh, its materials, its buffers.
    pub files: Vec<PathBuf>,
    /// Irregularities that did not prevent reading.
    pub warnings: Vec<String>,
}

/// Reads a mesh file. The ending of its name determines the format, otherwise its content.
///
/// # Errors
/// If the file cannot be read, is damaged, or has an unknown format.
pub fn read_mesh(path: &Path) -> Result<MeshFile, FormatError> {
    parse_mesh(path, &read_bytes(path)?)
}

/// Parses a mesh file. `path` determines the format and the folder of referenced files (materials,
/// buffers); errors name it.
///
/// # Errors
/// If the content is damaged or has an unknown format, or a referenced file cannot be read.
pub fn parse_mesh(path: &Path, bytes: &[u8]) -> Result<MeshFile, FormatError> {
    let mut file = match Format::of(path, bytes) {
        Some(Format::Obj) => obj::parse(path, bytes),
        Some(Format::Ply) => ply_mesh::parse(path, bytes),
        Some(Format::Stl) => stl::parse(path, bytes),
        Some(Format::Gltf) => gltf_file::parse(path, bytes),
        None => Err(FormatError::Unsupported {
            path: path.to_owned(),
            message: "this is not a mesh of a known format".into(),
            remedy: "give an .obj, .ply, .stl, .gltf or .glb file".into(),
        }),
    }?;
    if file.mesh.triangles.is_empty() {
        return Err(FormatError::malformed(
            path,
            FileLocation::File,
            "the file has no triangles",
            "export the surface, not only points or edges",
        ));
    }
    file.files.insert(0, path.to_owned());
    Ok(file)
}

enum Format {
    Obj,
    Ply,
    Stl,
    Gltf,
}

impl Format {
    fn of(path: &Path, bytes: &[u8]) -> Option<Self> {
        let mut name = path.file_name()?.to_string_lossy().to_lowercase();
        for packing in [".gz", ".bz2"] {
            name = name.trim_end_matches(packing).to_owned();
        }
        match name.rsplit_once('.').map(|(_, ending)| ending) {
            Some("obj") => Some(Self::Obj),
            Some("ply") => Some(Self::Ply),
            Some("stl") => Some(Self::Stl),
            Some("gltf" | "glb") => Some(Self::Gltf),
            _ if bytes.starts_with(b"ply") => Some(Self::Ply),
            _ if bytes.starts_with(b"glTF") => Some(Self::Gltf),
            _ if bytes.starts_with(b"solid ") => Some(Self::Stl),
            _ => None,
        }
    }
}

impl MeshFile {
    /// The index of the part with the name. A new part is added if necessary.
    fn part(&mut self, name: &str) -> u32 {
        let found = self.parts.iter().position(|part| part.name == name);
        let index = found.unwrap_or_else(|| {
            self.parts.push(MeshPart {
                name: name.to_owned(),
                look: None,
            });
            self.parts.len() - 1
        });
        u32::try_from(index).expect("a part has a triangle, and triangles are counted in u32")
    }
}

/// A vertex, or an error if a coordinate is not finite.
fn vertex(
    path: &Path,
    place: FileLocation,
    position: [f64; 3],
) -> Result<Point3<f64>, FormatError> {
    if position.iter().all(|coordinate| coordinate.is_finite()) {
        return Ok(position.into());
    }
    Err(FormatError::malformed(
        path,
        place,
        format!("the vertex is not finite: {position:?}"),
        "correct the vertex, or delete the triangles that use it and export again",
    ))
}

fn index_out_of_range(
    path: &Path,
    place: FileLocation,
    index: impl std::fmt::Display,
    vertices: usize,
) -> FormatError {
    FormatError::malformed(
        path,
        place,
        format!("vertex {index} does not exist: the file has {vertices} vertices"),
        "the file is truncated or damaged: export it again",
    )
}
