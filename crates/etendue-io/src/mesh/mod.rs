//! Triangle meshes: OBJ with MTL, PLY, STL, glTF and GLB.
//!
//! | format | read | materials |
//! |---|---|---|
//! | OBJ | `v`, `f` (any polygon), `usemtl`, `mtllib`, `g`, `o` | MTL: `Kd Ks Ns Ni d Tr` |
//! | PLY | text, binary of both byte orders; `vertex` and `face` or `tristrips` | none; an integer `object_id` of the faces makes parts |
//! | STL | text and binary; equal vertices are joined | none |
//! | glTF 2.0, GLB | the default scene with its nodes' transforms, triangles of all kinds | metallic-roughness, `KHR_materials_ior`, `_specular`, `_transmission` |
//!
//! Units are metres and axes are taken as they are; glTF is defined with y up, which [`MeshFile::up`]
//! gives. Texture coordinates are read from OBJ (`vt`) and glTF, and the pictures of glTF's base colours
//! (PNG and JPEG, in the file or next to it), which cameras see; its other textures, colours of
//! vertices, skins, morph targets and cameras are passed over.
//!
//! What is wrong in a file (a truncated file, a count that does not fit, a number that is none or not
//! finite, an index that is out of range) is an error that names the line or the element.

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

/// Which axis points up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Up {
    /// As in a computer screen's frame: x right, y up, z towards the viewer.
    Y,
    /// As in a robot's frame (REP 103).
    #[default]
    Z,
}

/// A group of a mesh's triangles that share a material.
#[derive(Clone, Debug, PartialEq)]
pub struct MeshPart {
    /// The material's name in the file, or the number of the object.
    pub name: String,
    /// Its appearance, if the file describes it.
    pub look: Option<MeshAppearance>,
}

/// A mesh file's content.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MeshFile {
    /// Vertices, m, and triangles; its own list of materials is empty.
    pub mesh: Mesh,
    /// Groups of triangles.
    pub parts: Vec<MeshPart>,
    /// The part of each triangle, or empty where there are no parts.
    pub part_of_triangle: Vec<u32>,
    /// Texture coordinates of each triangle's corners, (0, 0) the picture's upper left corner;
    /// `None` where the file gives them for some triangles only, or none.
    pub texture_corners: Option<Arc<Vec<[[f32; 2]; 3]>>>,
    /// The file's own pictures on its triangles, if it has any.
    pub textured: Option<TexturedObject>,
    /// The axis that the format defines as up.
    pub up: Up,
    /// Every file that was read: the mesh, its materials, its buffers.
    pub files: Vec<PathBuf>,
    /// Irregularities that did not prevent reading.
    pub warnings: Vec<String>,
}

/// Reads a mesh file; the ending of its name determines the format, else its content.
///
/// # Errors
/// If the file cannot be read, is damaged, or is of no known format.
pub fn read_mesh(path: &Path) -> Result<MeshFile, FormatError> {
    parse_mesh(path, &read_bytes(path)?)
}

/// Reads the content of a mesh file; `path` determines the format, is named in errors, and is where
/// the files that it names (materials, buffers) are looked for.
///
/// # Errors
/// If the content is damaged or of no known format, or a file that it names cannot be read.
pub fn parse_mesh(path: &Path, bytes: &[u8]) -> Result<MeshFile, FormatError> {
    let mut file = match Format::of(path, bytes) {
        Some(Format::Obj) => obj::parse(path, bytes),
        Some(Format::Ply) => ply_mesh::parse(path, bytes),
        Some(Format::Stl) => stl::parse(path, bytes),
        Some(Format::Gltf) => gltf_file::parse(path, bytes),
        None => Err(FormatError::Unsupported {
            path: path.to_owned(),
            message: "this is no mesh of a known format".into(),
            remedy: "give an .obj, .ply, .stl, .gltf or .glb file".into(),
        }),
    }?;
    if file.mesh.triangles.is_empty() {
        return Err(FormatError::malformed(
            path,
            FileLocation::File,
            "the file holds no triangle",
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
    /// The number of the part of that name, which is made if it is not there.
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

/// A vertex, refused where it is not finite.
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
        format!("vertex {index} is used, the file has {vertices}"),
        "the file is truncated or damaged: export it again",
    )
}
