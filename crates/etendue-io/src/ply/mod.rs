//! The PLY format (Turk 1994): text and both byte orders, with any elements and properties.

mod body;
pub(crate) mod header;

use crate::FormatError;
use std::path::Path;

/// Content of a PLY file. All numbers are `f64`, which represents all PLY types exactly.
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
    /// One number per element.
    Numbers(Vec<f64>),
    /// A list of numbers per element; the list of element `i` ends at `ends[i]`.
    Lists { ends: Vec<usize>, items: Vec<f64> },
}

impl PlyFile {
    /// Reads a whole file.
    pub fn parse(path: &Path, bytes: &[u8]) -> Result<Self, FormatError> {
        let header = header::parse(path, bytes)?;
        body::parse(path, bytes, header)
    }

    /// The elements with the name.
    pub fn element(&self, name: &str) -> Option<&Element> {
        self.elements.iter().find(|element| element.name == name)
    }
}

impl Element {
    /// The numbers of the property with the name.
    pub fn numbers(&self, name: &str) -> Option<&[f64]> {
        self.properties
            .iter()
            .find_map(|property| match &property.values {
                Values::Numbers(numbers) if property.name == name => Some(&numbers[..]),
                _ => None,
            })
    }

    /// The lists of the first property with one of the names.
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
