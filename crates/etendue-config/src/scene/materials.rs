//! Materials of a scene by name and by number.

use super::include::ScenePart;
use crate::material::{self, MaterialFile};
use crate::profile;
use crate::toml_file::{Document, DocumentError, TomlProblem, UnknownName};
use etendue_physics::Spectrum;
use etendue_physics::profile::Profile;
use etendue_physics::surface::Material;
use etendue_scene::{MaterialId, NamedMaterial};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use toml::Spanned;

/// The materials that a scene uses, numbered in the order in which they are first used.
pub(super) struct Palette<'a> {
    own: BTreeMap<&'a str, OwnMaterial<'a>>,
    profiles: BTreeMap<&'a str, Arc<Profile>>,
    pub used: Vec<NamedMaterial>,
}

/// A material of a file of the scene.
struct OwnMaterial<'a> {
    document: &'a Document,
    material: Material<Spectrum>,
}

/// Reflectance of a material with only a noise profile.
const USUAL_REFLECTANCE: f64 = 0.5;

impl<'a> Palette<'a> {
    /// Checks all materials of the files, whether they are used or not.
    pub fn new(parts: &'a [ScenePart]) -> Result<Self, DocumentError> {
        // Convert each table: its lobes, or else the reflectance of its profile.
        let mut own = BTreeMap::new();
        let mut profiles = BTreeMap::new();
        let tables = parts.iter().flat_map(|part| {
            let tables = part.file.materials.iter();
            tables.map(|(name, file)| (&part.document, name, file))
        });
        for (document, name, file) in tables {
            let profile = profile_of(document, name, file)?;
            let material = match &profile {
                Some(profile) if has_no_lobes(file) => fitted(profile),
                _ => file.to_material().map_err(|error| {
                    let message = format!("material \"{}\": {error}", name.get_ref());
                    let remedy = "correct the material; `etendue materials` shows ready ones";
                    let problem = TomlProblem::value(message, remedy);
                    let path = ["materials", name.get_ref().as_str()];
                    document.error_at_value(&path, error.value(), name.span(), problem)
                })?,
            };
            let known = own.insert(name.get_ref().as_str(), OwnMaterial { document, material });
            if known.is_some() {
                let what = "material".into();
                let name_text = name.get_ref().clone();
                let problem = TomlProblem::Duplicate {
                    what,
                    name: name_text,
                };
                return Err(document.error(name.span(), problem));
            }
            profiles.extend(profile.map(|profile| (name.get_ref().as_str(), profile)));
        }
        // No material is in use at first.
        Ok(Self {
            own,
            profiles,
            used: Vec::new(),
        })
    }

    /// The number of the material with the name that a document has, of the scene or of the library.
    pub fn id(
        &mut self,
        document: &Document,
        name: &Spanned<String>,
    ) -> Result<MaterialId, DocumentError> {
        let requested = name.get_ref().as_str();
        let material = match (self.own.get(requested), material::find(requested)) {
            (Some(own), _) => &own.material,
            (None, Ok(ready)) => &ready.material,
            (None, Err(_)) => return Err(self.unknown(document, name)),
        };
        let material = material.clone();
        Ok(self.add(requested, material))
    }

    /// Adds a material of a mesh file and returns its number.
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

    /// Noise profiles of the used materials.
    pub fn profiles(&self) -> Vec<(MaterialId, Arc<Profile>)> {
        let number = |index: usize| {
            MaterialId(u32::try_from(index).expect("a scene has fewer materials than bytes"))
        };
        self.used
            .iter()
            .enumerate()
            .filter_map(|(index, used)| {
                let profile = self.profiles.get(used.name.as_str())?;
                Some((number(index), Arc::clone(profile)))
            })
            .collect()
    }

    /// Materials of a document that no object uses.
    pub fn unused(&self, document: &Document) -> impl Iterator<Item = &str> {
        let of_document = self
            .own
            .iter()
            .filter(move |(_, own)| std::ptr::eq(own.document, document));
        let names = of_document.map(|(name, _)| *name);
        names.filter(|name| !self.used.iter().any(|used| used.name == *name))
    }

    fn unknown(&self, document: &Document, name: &Spanned<String>) -> DocumentError {
        let own = self.own.keys().map(|name| (*name).to_owned());
        let ready = material::library()
            .iter()
            .map(|ready| ready.name.to_owned());
        let unknown = UnknownName::new("material", name.get_ref(), own.chain(ready));
        document.error(name.span(), unknown.into())
    }
}

/// The noise profile of a material: a file relative to the document's folder, or an embedded
/// profile.
fn profile_of(
    document: &Document,
    name: &Spanned<String>,
    file: &MaterialFile,
) -> Result<Option<Arc<Profile>>, DocumentError> {
    let Some(requested) = &file.profile else {
        return Ok(None);
    };
    let folder = document.path().parent().unwrap_or(Path::new(""));
    profile::resolve(requested, folder)
        .map(Some)
        .map_err(|error| {
            let message = format!("material \"{}\": {error}", name.get_ref());
            let remedy = "give a profile file (.toml), or the name of an embedded profile";
            document.error(name.span(), TomlProblem::value(message, remedy))
        })
}

fn has_no_lobes(file: &MaterialFile) -> bool {
    let without = MaterialFile {
        base: file.base.clone(),
        diffuse: file.diffuse.clone(),
        gloss: file.gloss.clone(),
        mirror: file.mirror.clone(),
        conductor: file.conductor.clone(),
        glass: file.glass.clone(),
        retro: file.retro.clone(),
        measured: file.measured.clone(),
        ..MaterialFile::default()
    };
    without == MaterialFile::default()
}

/// The fitted reflectance of a profile, at every wavelength.
fn fitted(profile: &Profile) -> Material<Spectrum> {
    let material = profile.reflectance.material(USUAL_REFLECTANCE);
    material.map(|value| Spectrum::from(*value))
}
