//! Wavefront OBJ.

use super::polygon::triangulate;
use super::{MeshFile, index_out_of_range, mtl, vertex};
use crate::text::{Field, Line, Text};
use crate::{FormatError, Place};
use std::path::Path;

pub(super) fn parse(path: &Path, bytes: &[u8]) -> Result<MeshFile, FormatError> {
    // Old exporters wrote names in other encodings; only names can suffer.
    let content = String::from_utf8_lossy(bytes);
    let mut reader = Reader {
        path,
        file: MeshFile::default(),
        looks: Vec::new(),
        part: None,
    };
    let text = Text {
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
}

impl Reader<'_> {
    fn read(&mut self, line: Line<'_>) -> Result<(), FormatError> {
        let mut words = line.words();
        let Some(keyword) = words.next() else {
            return Ok(());
        };
        match keyword.text {
            "v" => self.vertex(line, words)?,
            "f" => self.face(line, words)?,
            "usemtl" => self.part = Some(self.file.part(rest(line, "usemtl"))),
            "mtllib" => self.read_library(rest(line, "mtllib"))?,
            _ => {}
        }
        Ok(())
    }

    fn vertex<'a>(
        &mut self,
        line: Line<'a>,
        words: impl Iterator<Item = Field<'a>>,
    ) -> Result<(), FormatError> {
        let mut position = [0.0; 3];
        let mut words = words;
        for coordinate in &mut position {
            let word = words
                .next()
                .ok_or_else(|| line.cut("the third coordinate"))?;
            *coordinate = word.parse("a number")?;
        }
        let position = vertex(self.path, Place::Line(line.number), position)?;
        self.file.mesh.vertices.push(position);
        Ok(())
    }

    fn face<'a>(
        &mut self,
        line: Line<'a>,
        words: impl Iterator<Item = Field<'a>>,
    ) -> Result<(), FormatError> {
        let polygon = words
            .take_while(|word| !word.text.starts_with('#'))
            .map(|word| self.corner(line, word))
            .collect::<Result<Vec<u32>, _>>()?;
        if polygon.len() < 3 {
            return Err(line.cut("the face's third corner"));
        }
        let triangles = triangulate(&polygon, &self.file.mesh.vertices);
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

    /// `7`, `7/1`, `7//3`, `7/1/3`; counted from 1, or back from the last with a minus.
    fn corner<'a>(&self, line: Line<'a>, word: Field<'a>) -> Result<u32, FormatError> {
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
                index_out_of_range(self.path, Place::Line(line.number), number, vertices)
            })
    }

    fn read_library(&mut self, name: &str) -> Result<(), FormatError> {
        let path = self.path.with_file_name(name);
        if path.is_file() {
            self.looks.extend(mtl::read(&path)?);
            self.file.files.push(path);
        } else {
            self.file.warnings.push(format!(
                "the material library {} is not there: give the parts materials in the scene file",
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
        self.file
    }
}

/// What stands after the keyword: names may hold spaces.
fn rest<'a>(line: Line<'a>, keyword: &str) -> &'a str {
    line.text
        .trim_start()
        .strip_prefix(keyword)
        .unwrap_or_default()
        .trim()
}
