//! Meshes in PLY files.

use super::polygon::triangulate;
use super::{MeshFile, index_out_of_range, vertex};
use crate::ply::{Element, PlyFile};
use crate::precision::index_below;
use crate::{FileLocation, FormatError};
use nalgebra::Point3;
use std::collections::HashMap;
use std::path::Path;

const LIST_NAMES: &[&str] = &["vertex_indices", "vertex_index"];

pub(super) fn parse(path: &Path, bytes: &[u8]) -> Result<MeshFile, FormatError> {
    let ply = PlyFile::parse(path, bytes)?;
    let mut file = MeshFile::default();
    file.mesh.vertices = vertices(path, &ply)?;
    if let Some(faces) = ply.element("face") {
        add_faces(path, faces, &mut file)?;
    }
    if let Some(strips) = ply.element("tristrips") {
        add_strips(path, strips, &mut file)?;
    }
    Ok(file)
}

pub(crate) fn vertices(path: &Path, ply: &PlyFile) -> Result<Vec<Point3<f64>>, FormatError> {
    let coordinates = ply
        .element("vertex")
        .map(|element| ["x", "y", "z"].map(|axis| element.numbers(axis)))
        .and_then(|[x, y, z]| Some((x?, y?, z?)));
    let Some((x, y, z)) = coordinates else {
        return Err(FormatError::malformed(
            path,
            FileLocation::File,
            "there is no element \"vertex\" with the properties x, y and z",
            "export the file again with positions",
        ));
    };
    let positions = x.iter().zip(y).zip(z).map(|((x, y), z)| [*x, *y, *z]);
    positions
        .enumerate()
        .map(|(number, position)| vertex(path, FileLocation::Element("vertex", number), position))
        .collect()
}

fn add_faces(path: &Path, faces: &Element, file: &mut MeshFile) -> Result<(), FormatError> {
    let lists = indices(path, faces, "face")?;
    let objects = faces.numbers("object_id");
    let mut parts: HashMap<u64, u32> = HashMap::new();
    for (number, list) in lists.into_iter().enumerate() {
        let polygon = polygon(path, FileLocation::Element("face", number), list, file)?;
        if polygon.len() < 3 {
            file.warnings.push(format!(
                "face {number} has {} corners and was skipped",
                polygon.len()
            ));
            continue;
        }
        let triangles = triangulate(&polygon, &file.mesh.vertices);
        if let Some(objects) = objects {
            let object = objects[number];
            let part = *parts
                .entry(object.to_bits())
                .or_insert_with(|| file.part(&object.to_string()));
            file.part_of_triangle.extend(vec![part; triangles.len()]);
        }
        file.mesh.triangles.extend(triangles);
    }
    Ok(())
}

fn add_strips(path: &Path, strips: &Element, file: &mut MeshFile) -> Result<(), FormatError> {
    for (number, list) in indices(path, strips, "tristrips")?.into_iter().enumerate() {
        let place = FileLocation::Element("tristrip", number);
        for strip in list.split(|index| *index < 0.0) {
            let strip = polygon(path, place, strip, file)?;
            let triangles = strip.windows(3).enumerate().map(|(i, three)| match i % 2 {
                0 => [three[0], three[1], three[2]],
                _ => [three[1], three[0], three[2]],
            });
            // A repeated corner only reverses the winding of the strip.
            let real = triangles.filter(|[a, b, c]| a != b && b != c && a != c);
            file.mesh.triangles.extend(real);
        }
    }
    Ok(())
}

fn indices<'a>(
    path: &Path,
    element: &'a Element,
    kind: &str,
) -> Result<Vec<&'a [f64]>, FormatError> {
    element.lists(LIST_NAMES).ok_or_else(|| {
        FormatError::malformed(
            path,
            FileLocation::File,
            format!("element \"{kind}\" has no list \"vertex_indices\""),
            "export the file again with faces",
        )
    })
}

fn polygon(
    path: &Path,
    place: FileLocation,
    list: &[f64],
    file: &MeshFile,
) -> Result<Vec<u32>, FormatError> {
    let vertices = file.mesh.vertices.len();
    list.iter()
        .map(|index| {
            index_below(*index, vertices)
                .ok_or_else(|| index_out_of_range(path, place, *index, vertices))
        })
        .collect()
}
