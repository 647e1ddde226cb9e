//! The PLY format (Turk 1994): text and both byte orders, any elements and properties.

mod body;
pub(crate) mod header;

use crate::FormatError;
use std::path::Path;

/// A PLY file's content, every number as `f64` (which holds all PLY types exactly).
#[derive(Debug)]
pub(crate) struct PlyFile {
    pub elements: Vec<Element>,
}

/// All elements of one kind.
#[derive(Debug)]
pub(crate) struct Element {
    pub name: String,
    pub properties: Vec<Property>,
}

/// One property of all elements of a kind.
#[derive(Debug)]
pub(crate) struct Property {
    pub name: String,
    pub values: Values,
}

/// The values of a property.
#[derive(Debug)]
pub(crate) enum Values {
    /// One number an element.
    Numbers(Vec<f64>),
    /// Several numbers an element: those of element `i` end at `ends[i]`.
    Lists { ends: Vec<usize>, items: Vec<f64> },
}

impl PlyFile {
    /// Reads a whole file.
    pub fn parse(path: &Path, bytes: &[u8]) -> Result<Self, FormatError> {
        let header = header::parse(path, bytes)?;
        body::parse(path, bytes, header)
    }

    /// The elements of that kind.
    pub fn element(&self, name: &str) -> Option<&Element> {
        self.elements.iter().find(|element| element.name == name)
    }
}

impl Element {
    /// The numbers of that property.
    pub fn numbers(&self, name: &str) -> Option<&[f64]> {
        self.properties
            .iter()
            .find_map(|property| match &property.values {
                Values::Numbers(numbers) if property.name == name => Some(&numbers[..]),
                _ => None,
            })
    }

    /// The lists of the first property that has one of those names.
    pub fn lists(&self, names: &[&str]) -> Option<Vec<&[f64]>> {
        self.properties
            .iter()
            .find_map(|property| match &property.values {
                Values::Lists { ends, items } if names.contains(&property.name.as_str()) => {
                    let starts = std::iter::once(0).chain(ends.iter().copied());
                    Some(
                        starts
                            .zip(ends)
                            .map(|(start, end)| &items[start..*end])
                            .collect(),
                    )
                }
                _ => None,
            })
    }
}
