//! Wavefront OBJ.

use super::polygon::triangulate;
use super::{MeshFile, index_out_of_range, mtl, vertex};
use crate::precision::single;
use crate::text::{TextContent, TextField, TextLine};
use crate::{FileLocation, FormatError};
use std::path::Path;

pub(super) fn parse(path: &Path, bytes: &[u8]) -> Result<MeshFile, FormatError> {
    // Names may have other encodings; invalid UTF-8 only affects names.
    let content = String::from_utf8_lossy(bytes);
    let mut reader = Reader {
        path,
        file: MeshFile::default(),
        looks: Vec::new(),
        part: None,
        coordinates: Vec::new(),
        corners: Vec::new(),
    };
    let text = TextContent {
        path,
        content: &content,
    };
    for line in text.lines() {
        reader.read(line)?;
    }
    Ok(reader.finish())
}

struct Reader<'a> {
    path: &'a Path,
    file: MeshFile,
    looks: mtl::Library,
    part: Option<u32>,
    /// Texture coordinates of the file, and those of each triangle's corners.
    coordinates: Vec<[f32; 2]>,
    corners: Vec<[[f32; 2]; 3]>,
}

impl Reader<'_> {
    fn read(&mut self, line: TextLine<'_>) -> Result<(), FormatError> {
        let mut words = line.words();
        let Some(keyword) = words.next() else {
            return Ok(());
        };
        match keyword.text {
            "v" => self.vertex(line, words)?,
            "vt" => self.coordinate(line, words)?,
            "f" => self.face(line, words)?,
            "usemtl" => self.part = Some(self.file.part(rest(line, "usemtl"))),
            "mtllib" => self.read_library(rest(line, "mtllib"))?,
            _ => {}
        }
        Ok(())
    }

    fn vertex<'a>(
        &mut self,
        line: TextLine<'a>,
        words: impl Iterator<Item = TextField<'a>>,
    ) -> Result<(), FormatError> {
        let mut position = [0.0; 3];
        let mut words = words;
        for coordinate in &mut position {
            let word = words
                .next()
                .ok_or_else(|| line.truncated("the third coordinate"))?;
            *coordinate = word.parse("a number")?;
        }
        let position = vertex(self.path, FileLocation::Line(line.number), position)?;
        self.file.mesh.vertices.push(position);
        Ok(())
    }

    /// Texture coordinates begin at the lower left corner in OBJ, at the upper left corner in
    /// [`MeshFile`].
    fn coordinate<'a>(
        &mut self,
        line: TextLine<'a>,
        mut words: impl Iterator<Item = TextField<'a>>,
    ) -> Result<(), FormatError> {
        let mut next = || -> Result<f64, FormatError> {
            let word = words
                .next()
                .ok_or_else(|| line.truncated("the second coordinate"))?;
            word.parse("a number")
        };
        let u = next()?;
        let v = next()?;
        self.coordinates.push([single(u), single(1.0 - v)]);
        Ok(())
    }

    fn face<'a>(
        &mut self,
        line: TextLine<'a>,
        words: impl Iterator<Item = TextField<'a>>,
    ) -> Result<(), FormatError> {
        let words: Vec<TextField> = words
            .take_while(|word| !word.text.starts_with('#'))
            .collect();
        let corners = words.iter().map(|word| self.corner(line, *word));
        let polygon = corners.collect::<Result<Vec<u32>, _>>()?;
        if polygon.len() < 3 {
            return Err(line.truncated("the face's third corner"));
        }
        let triangles = triangulate(&polygon, &self.file.mesh.vertices);
        self.texture(&words, &polygon, &triangles);
        let part = match self.part {
            Some(part) => part,
            None => self.file.part("default"),
        };
        self.file
            .part_of_triangle
            .extend(vec![part; triangles.len()]);
        self.file.mesh.triangles.extend(triangles);
        Ok(())
    }

    /// Stores the texture coordinates of a face's triangles if all corners have them.
    fn texture(&mut self, words: &[TextField], polygon: &[u32], triangles: &[[u32; 3]]) {
        let of_word = |word: &TextField| {
            let number: i64 = word.text.split('/').nth(1)?.parse().ok()?;
            let distance = usize::try_from(number.unsigned_abs()).ok()?;
            let index = if number < 0 {
                self.coordinates.len().checked_sub(distance)?
            } else {
                distance.checked_sub(1)?
            };
            self.coordinates.get(index).copied()
        };
        let Some(coordinates) = words.iter().map(of_word).collect::<Option<Vec<_>>>() else {
            return;
        };
        let of_vertex = |vertex: &u32| {
            let place = polygon.iter().position(|corner| corner == vertex);
            place.map_or([0.0; 2], |place| coordinates[place])
        };
        let corners = triangles
            .iter()
            .map(|triangle| triangle.each_ref().map(of_vertex));
        self.corners.extend(corners.collect::<Vec<_>>());
    }

    /// Parses `7`, `7/1`, `7//3` or `7/1/3`; indices begin at 1, negative ones are relative to the
    /// last vertex.
    fn corner<'a>(&self, line: TextLine<'a>, word: TextField<'a>) -> Result<u32, FormatError> {
        let text = word.text.split('/').next().unwrap_or_default();
        let number: i64 = line.field(text).parse("a vertex number")?;
        let vertices = self.file.mesh.vertices.len();
        let distance = usize::try_from(number.unsigned_abs()).unwrap_or(usize::MAX);
        let index = if number < 0 {
            vertices.checked_sub(distance)
        } else {
            distance.checked_sub(1)
        };
        index
            .filter(|index| *index < vertices)
            .and_then(|index| u32::try_from(index).ok())
            .ok_or_else(|| {
                index_out_of_range(self.path, FileLocation::Line(line.number), number, vertices)
            })
    }

    fn read_library(&mut self, name: &str) -> Result<(), FormatError> {
        let path = self.path.with_file_name(name);
        if path.is_file() {
            self.looks.extend(mtl::read(&path)?);
            self.file.files.push(path);
        } else {
            self.file.warnings.push(format!(
                "the material library {} does not exist: add materials for the parts to the scene file",
                path.display()
            ));
        }
        Ok(())
    }

    fn finish(mut self) -> MeshFile {
        for part in &mut self.file.parts {
            let found = self.looks.iter().rev().find(|(name, _)| *name == part.name);
            part.look = found.map(|(_, look)| *look);
        }
        if self.corners.len() == self.file.mesh.triangles.len() && !self.corners.is_empty() {
            self.file.texture_corners = Some(self.corners.into());
        }
        self.file
    }
}

/// The rest of a line after the keyword; names may contain spaces.
fn rest<'a>(line: TextLine<'a>, keyword: &str) -> &'a str {
    line.text
        .trim_start()
        .strip_prefix(keyword)
        .unwrap_or_default()
        .trim()
}
