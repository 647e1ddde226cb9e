//! Names of materials into numbers.

use crate::material::{self, MaterialFile};
use crate::toml_file::{Document, DocumentError, Problem};
use etendue_physics::Spectrum;
use etendue_physics::surface::Material;
use etendue_scene::{MaterialId, NamedMaterial};
use std::collections::BTreeMap;
use toml::Spanned;

/// The materials that a scene uses, numbered in the order in which they are first used.
pub(super) struct Palette<'a> {
    document: &'a Document,
    own: BTreeMap<&'a str, Material<Spectrum>>,
    pub used: Vec<NamedMaterial>,
}

impl<'a> Palette<'a> {
    /// The file's own materials, checked, whether they are used or not.
    pub fn new(
        document: &'a Document,
        files: &'a BTreeMap<Spanned<String>, MaterialFile>,
    ) -> Result<Self, DocumentError> {
        let mut own = BTreeMap::new();
        for (name, file) in files {
            let material = file.to_material().map_err(|error| {
                let message = format!("material \"{}\": {error}", name.get_ref());
                let remedy = "correct the material; `etendue materials` shows ready ones";
                document.error(name.span(), Problem::value(message, remedy))
            })?;
            own.insert(name.get_ref().as_str(), material);
        }
        Ok(Self {
            document,
            own,
            used: Vec::new(),
        })
    }

    /// The number of the material of that name: the file's own, else the library's.
    pub fn id(&mut self, name: &Spanned<String>) -> Result<MaterialId, DocumentError> {
        let wanted = name.get_ref().as_str();
        let material = match (self.own.get(wanted), material::find(wanted)) {
            (Some(own), _) => own,
            (None, Ok(ready)) => &ready.material,
            (None, Err(_)) => return Err(self.unknown(name)),
        };
        let material = material.clone();
        Ok(self.add(wanted, material))
    }

    /// The number of a material that a mesh file describes.
    pub fn add(&mut self, name: &str, material: Material<Spectrum>) -> MaterialId {
        let same = |known: &NamedMaterial| known.name == name && known.material == material;
        let index = self.used.iter().position(same).unwrap_or_else(|| {
            self.used.push(NamedMaterial {
                name: name.to_owned(),
                material,
            });
            self.used.len() - 1
        });
        MaterialId(u32::try_from(index).expect("a scene has fewer materials than bytes"))
    }

    /// Own materials that no object uses.
    pub fn unused(&self) -> impl Iterator<Item = &str> {
        let is_used = |name: &str| self.used.iter().any(|used| used.name == name);
        self.own.keys().copied().filter(move |name| !is_used(name))
    }

    fn unknown(&self, name: &Spanned<String>) -> DocumentError {
        let own = self.own.keys().map(|name| (*name).to_owned());
        let ready = material::library()
            .iter()
            .map(|ready| ready.name.to_owned());
        self.document.error(
            name.span(),
            Problem::UnknownName {
                what: "material".into(),
                name: name.get_ref().clone(),
                known: own.chain(ready).collect(),
            },
        )
    }
}
