//! STL meshes, text and binary.

use super::{MeshFile, vertex};
use crate::text::{TextContent, TextLine};
use crate::{FileLocation, FormatError};
use nalgebra::Point3;
use std::collections::HashMap;
use std::path::Path;

/// Bytes before the triangles: 80 bytes of text and a 4-byte count.
const HEAD: usize = 84;
/// Bytes per triangle: normal, three corners, two attribute bytes.
const TRIANGLE: usize = 50;

pub(super) fn parse(path: &Path, bytes: &[u8]) -> Result<MeshFile, FormatError> {
    let mut welder = Welder {
        path,
        file: MeshFile::default(),
        numbers: HashMap::new(),
    };
    // Binary files may also begin with "solid". They are recognised by their length, or by bytes
    // that do not occur in text.
    if !is_whole_binary(bytes) && is_text(bytes) {
        parse_text(path, bytes, &mut welder)?;
    } else {
        parse_binary(path, bytes, &mut welder)?;
    }
    Ok(welder.file)
}

fn is_whole_binary(bytes: &[u8]) -> bool {
    count(bytes).and_then(|count| count.checked_mul(TRIANGLE)) == bytes.len().checked_sub(HEAD)
        && bytes.len() >= HEAD
}

fn is_text(bytes: &[u8]) -> bool {
    let head = &bytes[..bytes.len().min(512)];
    bytes.trim_ascii_start().starts_with(b"solid") && !head.contains(&0)
}

fn count(bytes: &[u8]) -> Option<usize> {
    let count = bytes.get(80..HEAD)?.try_into().ok()?;
    usize::try_from(u32::from_le_bytes(count)).ok()
}

fn parse_binary(path: &Path, bytes: &[u8], welder: &mut Welder<'_>) -> Result<(), FormatError> {
    let truncated = |message: String| {
        let remedy = "the file is truncated, or not STL: copy or export it again";
        FormatError::malformed(path, FileLocation::Byte(bytes.len()), message, remedy)
    };
    let count = count(bytes).ok_or_else(|| truncated("the file ends in its header".into()))?;
    let (triangles, rest) = bytes[HEAD..].as_chunks::<TRIANGLE>();
    if triangles.len() != count || !rest.is_empty() {
        let found = triangles.len();
        return Err(truncated(format!(
            "the header counts {count} triangles, but the file contains {found}"
        )));
    }
    for (number, triangle) in triangles.iter().enumerate() {
        let (floats, _) = triangle[12..48].as_chunks::<4>();
        let number_at = |i: usize| f64::from(f32::from_le_bytes(floats[i]));
        let corner = |i: usize| [number_at(3 * i), number_at(3 * i + 1), number_at(3 * i + 2)];
        welder.add(
            [0, 1, 2].map(corner),
            FileLocation::Element("triangle", number),
        )?;
    }
    Ok(())
}

fn parse_text(path: &Path, bytes: &[u8], welder: &mut Welder<'_>) -> Result<(), FormatError> {
    let content = String::from_utf8_lossy(bytes);
    let text = TextContent {
        path,
        content: &content,
    };
    let mut corners: Vec<[f64; 3]> = Vec::new();
    let mut ended = false;
    let mut last = 1;
    // Add a triangle at the end of each facet
    for line in text.lines() {
        last = line.number;
        match line.words().next().map_or("", |word| word.text) {
            "vertex" => corners.push(corner(line)?),
            "endfacet" => {
                let Ok(triangle) = <[[f64; 3]; 3]>::try_from(std::mem::take(&mut corners)) else {
                    return Err(line.error(
                        "the facet does not have three corners",
                        "export the file again as triangles",
                    ));
                };
                welder.add(triangle, FileLocation::Line(line.number))?;
            }
            "endsolid" => ended = true,
            _ => {}
        }
    }
    // Require the end of the solid
    if ended && corners.is_empty() {
        return Ok(());
    }
    Err(FormatError::malformed(
        path,
        FileLocation::Line(last),
        "the file ends before \"endsolid\"",
        "the file is truncated: copy or export it again",
    ))
}

fn corner(line: TextLine<'_>) -> Result<[f64; 3], FormatError> {
    let mut words = line.words().skip(1);
    let mut position = [0.0; 3];
    for coordinate in &mut position {
        let word = words
            .next()
            .ok_or_else(|| line.truncated("the third coordinate"))?;
        *coordinate = word.parse("a number")?;
    }
    Ok(position)
}

/// Merges equal vertices.
struct Welder<'a> {
    path: &'a Path,
    file: MeshFile,
    numbers: HashMap<[u64; 3], u32>,
}

impl Welder<'_> {
    fn add(&mut self, corners: [[f64; 3]; 3], place: FileLocation) -> Result<(), FormatError> {
        let mut triangle = [0; 3];
        for (index, position) in triangle.iter_mut().zip(corners) {
            let point = vertex(self.path, place, position)?;
            *index = self.number(point);
        }
        self.file.mesh.triangles.push(triangle);
        Ok(())
    }

    fn number(&mut self, point: Point3<f64>) -> u32 {
        // Adding zero maps -0 to 0, so that both are the same vertex.
        let key = [point.x, point.y, point.z].map(|coordinate| (coordinate + 0.0).to_bits());
        let vertices = &mut self.file.mesh.vertices;
        *self.numbers.entry(key).or_insert_with(|| {
            vertices.push(point);
            u32::try_from(vertices.len() - 1)
                .expect("a file in memory has fewer than 2^32 vertices")
        })
    }
}
