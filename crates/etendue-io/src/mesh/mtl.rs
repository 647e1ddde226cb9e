//! Wavefront MTL: the materials of OBJ files.
//!
//! `Kd` is the base colour. `Ks` and `Ns` (Phong exponent) describe the specular component: the
//! microfacet width of a lobe of equal width is $\alpha = \sqrt{2/(N_s + 2)}$ (Walter et al. 2007,
//! eq. 8.1), and the roughness is its square root. A bright `Ks` with a black `Kd` is a metal. `Ni`
//! is the refractive index; `d` (or `1 - Tr`) is the opaque fraction of the area. The physically
//! based extension `Pr` and `Pm` (roughness, metallic) has priority.

use super::MeshAppearance;
use super::look::luminance;
use crate::FormatError;
use crate::input::read_bytes;
use crate::text::{TextContent, TextLine};
use std::path::Path;

/// Appearances by name, in file order.
pub(super) type Library = Vec<(String, MeshAppearance)>;

/// A diffuse colour darker than this with a specular colour brighter than [`METAL_GLOSS`] is a
/// metal.
const METAL_BASE: f64 = 0.05;
const METAL_GLOSS: f64 = 0.3;

pub(super) fn read(path: &Path) -> Result<Library, FormatError> {
    let bytes = read_bytes(path)?;
    let content = String::from_utf8_lossy(&bytes);
    let text = TextContent {
        path,
        content: &content,
    };
    let mut entries: Vec<Entry> = Vec::new();
    for line in text.lines() {
        let keyword = line.words().next().map_or("", |word| word.text);
        if keyword == "newmtl" {
            let name = line.text.trim_start().trim_start_matches("newmtl").trim();
            entries.push(Entry::named(name));
        } else if let Some(entry) = entries.last_mut() {
            entry.read(keyword, line)?;
        }
    }
    Ok(entries.into_iter().map(Entry::finish).collect())
}

struct Entry {
    name: String,
    diffuse: [f64; 3],
    gloss: [f64; 3],
    exponent: f64,
    index: Option<f64>,
    opaque: f64,
    roughness: Option<f64>,
    metallic: Option<f64>,
}

impl Entry {
    fn named(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            diffuse: [0.8; 3],
            gloss: [0.0; 3],
            exponent: 0.0,
            index: None,
            opaque: 1.0,
            roughness: None,
            metallic: None,
        }
    }

    fn read(&mut self, keyword: &str, line: TextLine<'_>) -> Result<(), FormatError> {
        match keyword {
            "Kd" => self.diffuse = color(line)?,
            "Ks" => self.gloss = color(line)?,
            "Ns" => self.exponent = number(line, 0.0..=f64::INFINITY)?,
            // Some exporters write 0 for a missing value.
            "Ni" => self.index = Some(number(line, 0.0..=10.0)?).filter(|index| *index >= 1.0),
            "d" => self.opaque = number(line, 0.0..=1.0)?,
            "Tr" => self.opaque = 1.0 - number(line, 0.0..=1.0)?,
            "Pr" => self.roughness = Some(number(line, 0.0..=1.0)?),
            "Pm" => self.metallic = Some(number(line, 0.0..=1.0)?),
            _ => {}
        }
        Ok(())
    }

    fn finish(self) -> (String, MeshAppearance) {
        let gloss = luminance(self.gloss);
        let is_metal = luminance(self.diffuse) < METAL_BASE && gloss > METAL_GLOSS;
        let metallic = self.metallic.unwrap_or(f64::from(u8::from(is_metal)));
        let phong_roughness = (2.0 / (self.exponent + 2.0)).sqrt().sqrt();
        let glossy = gloss > 0.0 || self.roughness.is_some();
        let look = MeshAppearance {
            picture: [1.0; 3],
            base_color: if is_metal { self.gloss } else { self.diffuse },
            metallic,
            roughness: self.roughness.unwrap_or(phong_roughness),
            // An index of 1 would have no specular component, but exporters write it by default.
            index: self
                .index
                .filter(|index| *index > 1.0)
                .unwrap_or(MeshAppearance::default().index),
            specular: f64::from(u8::from(glossy)),
            transmission: 1.0 - self.opaque,
        };
        (self.name, look)
    }
}

/// Parses three numbers, or one for all.
fn color(line: TextLine<'_>) -> Result<[f64; 3], FormatError> {
    let words: Vec<_> = line.words().skip(1).take(3).collect();
    match words[..] {
        [grey] => Ok([grey.number()?; 3]),
        [red, green, blue] => {
            let color = [red.number()?, green.number()?, blue.number()?];
            if color.iter().all(|part| (0.0..=1.0).contains(part)) {
                Ok(color)
            } else {
                Err(red.error("a colour is outside [0, 1]", "write colours from 0 to 1"))
            }
        }
        _ => Err(line.truncated("three numbers")),
    }
}

fn number(line: TextLine<'_>, domain: std::ops::RangeInclusive<f64>) -> Result<f64, FormatError> {
    let mut words = line.words().skip(1).filter(|word| word.text != "-halo");
    let word = words.next().ok_or_else(|| line.truncated("a number"))?;
    let value = word.number()?;
    if domain.contains(&value) {
        return Ok(value);
    }
    Err(word.error(
        format!("{value} is outside {} to {}", domain.start(), domain.end()),
        "write a value in this range",
    ))
}
