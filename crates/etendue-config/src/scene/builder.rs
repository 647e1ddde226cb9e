//! Conversion of scene files to scenes.

use super::ambient;
use super::cache::{AuditedMesh, SceneCache};
use super::include::{ScenePart, with_includes};
use super::lights::lighting;
use super::materials::Palette;
use super::mesh_object::{self, FileMesh, MeshFiles, MeshObject, MeshSource};
use super::repeat::Copy;
use super::shape::primitive_mesh;
use super::{
    AtmosphereTable, Classes, LoadedScene, ObjectTable, SceneFile, ScenePlacement, ScenePlaces,
    SensorSource, SensorTable, Shape,
};
use crate::ConfigError;
use crate::presets::SENSORS;
use crate::toml_file::resolve;
use crate::toml_file::{Document, DocumentError, TomlProblem};
use etendue_io::digest::sha256_of_all;
use etendue_scene::lighting::Lighting;
use etendue_scene::{
    Defect, Mapping, Mesh, MeshAudit, MeshId, Object, ObjectId, SceneBuilder, SceneError, Textures,
};
use etendue_sensors::NoiseProfiles;
use etendue_sensors::lidar::Air;
use etendue_sensors::transport::AmbientLight;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

pub(super) fn build(
    document: &Document,
    cache: &mut SceneCache,
) -> Result<LoadedScene, ConfigError> {
    let parts = with_includes(document)?;
    let [ScenePart { document, file }, included @ ..] = &parts[..] else {
        unreachable!("the scene file is the first part");
    };
    check(document, &parts)?;
    // Build the lights and the objects
    let mut assembly = Assembly {
        document,
        palette: Palette::new(&parts)?,
        files: MeshFiles {
            read: cache.files.clone(),
            files: included.iter().map(path_of).collect(),
        },
        cache,
        builder: SceneBuilder::default(),
        names: BTreeSet::new(),
        classes: Classes::default(),
        warnings: Vec::new(),
        lighting: Lighting::default(),
        textures: Textures::default(),
        places: ScenePlaces::default(),
    };
    if let Some(table) = &file.lights {
        let (lighting, files) = lighting(document, table)?;
        assembly.lighting = lighting;
        assembly.files.files.extend(files);
    }
    for part in &parts {
        assembly.document = &part.document;
        part.file
            .objects
            .iter()
            .try_for_each(|object| assembly.add(object))?;
    }
    assembly.document = document;
    assembly
        .warnings
        .extend(included.iter().filter_map(unused_light));
    // Set the pose of the sensor
    let sensor = file
        .sensor
        .as_ref()
        .map(|table| placement(document, table, &mut assembly.files.files))
        .transpose()?;
    // Convert ambient light and air
    let ambient = ambient_light(document, file)?;
    let air = file.atmosphere.air(document)?;
    let place = file.sensor.as_ref().and_then(SensorTable::span);
    assembly.places.of_sensor = place.map(|span| document.place(span.start));
    assembly.finish(file.name.clone(), sensor, ambient, air)
}

fn path_of(part: &ScenePart) -> PathBuf {
    part.document.path().to_owned()
}

/// Warning about light and air of an included file, which have no effect.
fn unused_light(part: &ScenePart) -> Option<String> {
    let file = &part.file;
    let air = &file.atmosphere;
    let has_light = file.lights.is_some() || file.ambient.is_some();
    let is_without_effect = has_light || *air != AtmosphereTable::default();
    let path = part.document.path().display();
    is_without_effect.then(|| format!("{path}: light and air of an included file have no effect"))
}

/// The light of the `[ambient]` table; without it, the daylight of cameras.
fn ambient_light(document: &Document, file: &SceneFile) -> Result<AmbientLight, DocumentError> {
    if let Some(table) = &file.ambient {
        return ambient::light(document, table);
    }
    let lights = file.lights.as_ref();
    let daylight = lights.and_then(|lights| lights.daylight.as_ref());
    Ok(daylight.map_or_else(AmbientLight::default, |table| {
        ambient::by_day(table.get_ref())
    }))
}

fn check(document: &Document, parts: &[ScenePart]) -> Result<(), DocumentError> {
    if parts.iter().all(|part| part.file.objects.is_empty()) {
        let problem = TomlProblem::value("the scene has no objects", "add [[objects]]");
        return Err(document.error(0..0, problem));
    }
    Ok(())
}

struct Assembly<'a> {
    document: &'a Document,
    palette: Palette<'a>,
    files: MeshFiles,
    cache: &'a mut SceneCache,
    builder: SceneBuilder,
    names: BTreeSet<String>,
    classes: Classes,
    warnings: Vec<String>,
    lighting: Lighting,
    textures: Textures,
    places: ScenePlaces,
}

impl Assembly<'_> {
    fn add(&mut self, object: &ObjectTable) -> Result<(), ConfigError> {
        let name = object.name.get_ref();
        // Choose the mesh and its materials
        let MeshObject {
            mesh,
            material,
            mut corners,
            mut textured,
            warnings,
        } = self.mesh_object(object)?;
        let Some(material) = material else {
            let problem = TomlProblem::value(
                format!("the object \"{name}\" has no material"),
                "add material = \"...\"; `etendue materials` lists ready ones",
            );
            return Err(self.document.error(object.name.span(), problem).into());
        };
        // Flip the normals of textures
        if object.flip_normals {
            corners = corners.map(|corners| with_flipped_winding(&corners));
            if let Some(Mapping::Corners(own)) = textured.as_mut().map(|own| &mut own.mapping) {
                *own = with_flipped_winding(own);
            }
        }

        // Build the mesh, and audit that of a file
        let AuditedMesh { mesh, oddities } = match mesh {
            MeshSource::Primitive(mesh) => AuditedMesh {
                mesh: Arc::new(if object.flip_normals {
                    mesh.inside_out()
                } else {
                    mesh
                }),
                oddities: None,
            },
            MeshSource::File(mut source) => {
                source.is_flipped = object.flip_normals;
                self.audited(object, source)?
            }
        };
        let warnings = warnings.into_iter().chain(oddities);
        self.warnings
            .extend(warnings.map(|warning| format!("{name}: {warning}")));

        // Apply the object's texture, or else the textures of the mesh file
        if let Some(table) = &object.texture {
            let (chosen, file) = table.textured(self.document, corners)?;
            textured = Some(chosen);
            self.files.files.push(file);
        }

        // Add the mesh and its deformation
        let mesh_id = u32::try_from(self.builder.meshes.len()).expect("fewer objects than bytes");
        self.builder.meshes.push(mesh);
        self.add_deformation(object, MeshId(mesh_id))?;

        // Add the object, or its copies
        let world_from_object = object.placement().pose(self.document)?;
        let copies = match &object.repeat {
            Some(table) => table.get_ref().copies(self.document, table.span())?,
            None => vec![Copy::default()],
        };
        for copy in copies {
            let world_from_object = copy.offset * world_from_object;
            let name = copy.name_of(name);
            if !self.names.insert(name.clone()) {
                let what = "object".into();
                let problem = TomlProblem::Duplicate { what, name };
                return Err(self.document.error(object.name.span(), problem).into());
            }
            let number =
                u32::try_from(self.builder.objects.len()).expect("fewer objects than bytes");
            if let Some(textured) = &textured {
                self.textures.put(ObjectId(number), textured.clone());
            }
            if let Some(table) = &object.motion {
                let motion =
                    table.motion(self.document, &world_from_object, &mut self.files.files)?;
                self.builder.motions.push((ObjectId(number), motion.into()));
            }
            self.classes.add(object.class.as_ref());
            let place = self.document.place(object.name.span().start);
            self.places.of_object.push(place);
            self.builder.objects.push(Object {
                name,
                mesh: MeshId(mesh_id),
                world_from_object,
                material,
                mask: object.mask.unwrap_or(u32::MAX),
            });
        }
        Ok(())
    }

    fn add_deformation(&mut self, object: &ObjectTable, mesh: MeshId) -> Result<(), ConfigError> {
        let Some(table) = &object.deformation else {
            return Ok(());
        };
        let Shape::Mesh(shape) = &object.shape else {
            let problem = TomlProblem::value(
                "deformation requires a mesh file",
                "use shape.mesh for the object",
            );
            return Err(self.document.error(table.span(), problem).into());
        };
        let deformation = table
            .get_ref()
            .deformation(self.document, shape, &mut self.files)?;
        self.builder.deformations.push((mesh, deformation.into()));
        Ok(())
    }

    /// The mesh of a file with its defects, from the cache where it has an equal one.
    fn audited(
        &mut self,
        object: &ObjectTable,
        source: FileMesh,
    ) -> Result<AuditedMesh, ConfigError> {
        if let Some(known) = self.cache.audit(&source) {
            return Ok(known);
        }
        let mesh = Arc::new(source.mesh());
        let oddities = self.oddities(object, &mesh)?;
        let audited = AuditedMesh { mesh, oddities };
        self.cache.keep_audit(source, audited.clone());
        Ok(audited)
    }

    /// Defects of the triangles of a mesh file, in one line. Open edges are no defects, because
    /// most models of rooms have them. Inward normals are no defects if the scene file flips them.
    fn oddities(&self, object: &ObjectTable, mesh: &Mesh) -> Result<Option<String>, ConfigError> {
        let audit = MeshAudit::of(mesh).map_err(|source| ConfigError::Scene {
            path: self.document.path().to_owned(),
            source: SceneError::Mesh {
                object: object.name.get_ref().clone(),
                source,
            },
        })?;
        let findings = audit.findings.iter().filter(|found| match found.defect {
            Defect::DegenerateTriangle
            | Defect::DuplicateTriangle
            | Defect::InconsistentWinding => true,
            Defect::InsideOutPart => !object.flip_normals,
            _ => false,
        });
        let findings: Vec<_> = findings.map(ToString::to_string).collect();
        Ok((!findings.is_empty()).then(|| findings.join("; ")))
    }

    fn mesh_object(&mut self, object: &ObjectTable) -> Result<MeshObject, ConfigError> {
        let material = object.material.as_ref();
        if let Shape::Mesh(shape) = &object.shape {
            return mesh_object::load(
                self.document,
                shape,
                material,
                &mut self.palette,
                &mut self.files,
            );
        }
        let mesh = primitive_mesh(self.document, &object.shape, &mut self.palette)?;
        let material = material.or(object.shape.own_material());
        Ok(MeshObject {
            mesh: MeshSource::Primitive(mesh.expect("every shape but a mesh file is a primitive")),
            material: material
                .map(|name| self.palette.id(self.document, name))
                .transpose()?,
            corners: None,
            textured: None,
            warnings: Vec::new(),
        })
    }

    fn finish(
        mut self,
        name: Option<String>,
        sensor: Option<ScenePlacement>,
        ambient: AmbientLight,
        air: Air,
    ) -> Result<LoadedScene, ConfigError> {
        // Warn of unused materials
        let unused = self
            .palette
            .unused(self.document)
            .map(|name| format!("no object uses the material \"{name}\""));
        self.warnings.extend(unused);
        // Assign the noise profiles to the materials
        let mut profiles = NoiseProfiles::default();
        for (material, profile) in self.palette.profiles() {
            profiles.set(material, profile);
        }
        self.builder.materials = self.palette.used;
        // Build the scene with its motions and deformations
        let path = self.document.path();
        let scene_error = |source| ConfigError::Scene {
            path: path.to_owned(),
            source,
        };
        let scene = match &self.cache.scene {
            Some(previous) => self.builder.build_reusing(previous),
            None => self.builder.build(),
        };
        let scene = scene.map_err(scene_error)?;
        self.cache.scene = Some(scene.clone());
        self.cache.keep_files(self.files.read);

        // Record the source files
        let stem = || {
            path.file_stem()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned()
        };
        Ok(LoadedScene {
            name: name.unwrap_or_else(stem),
            scene,
            profiles,
            ambient,
            sensor,
            lighting: self.lighting,
            textures: self.textures,
            classes: self.classes,
            air,
            sha256: hash(self.document, &self.files.files, self.cache)?,
            files: std::iter::once(path.to_owned())
                .chain(self.files.files)
                .collect(),
            places: self.places,
            warnings: self.warnings,
        })
    }
}

fn placement(
    document: &Document,
    table: &SensorTable,
    files: &mut Vec<PathBuf>,
) -> Result<ScenePlacement, ConfigError> {
    // Find the sensor
    let sensor = match (&table.preset, &table.file) {
        (Some(preset), None) => {
            let known = SENSORS.find(preset.get_ref());
            let known = known.map_err(|unknown| document.error(preset.span(), unknown.into()))?;
            Some(SensorSource::Preset(known.name.to_owned()))
        }
        (None, Some(file)) => Some(SensorSource::File(resolve(document, file)?)),
        (None, None) => None,
        (Some(_), Some(file)) => {
            let problem = TomlProblem::value(
                "the sensor is defined twice",
                "give preset or file, not both",
            );
            return Err(document.error(file.span(), problem).into());
        }
    };
    // Convert its pose and its motion
    let placed = table.placement().pose(document)?;
    let motion = table.motion.as_ref();
    let motion = motion.map(|table| table.motion(document, &placed, files));
    let motion = motion.transpose()?;
    Ok(ScenePlacement {
        sensor,
        world_from_sensor: motion.as_ref().map_or(placed, |motion| motion.at(0.0)),
        motion,
    })
}

/// SHA-256 of the text of the scene file and of the digests of its referenced files.
fn hash(
    document: &Document,
    files: &[PathBuf],
    cache: &mut SceneCache,
) -> Result<String, ConfigError> {
    let digests = files.iter().map(|file| cache.digest(file));
    let digests = digests.collect::<Result<Vec<_>, _>>()?;
    let digests = digests.iter().map(String::as_bytes);
    let text = document.text().as_bytes();
    Ok(sha256_of_all(std::iter::once(text).chain(digests)))
}

/// Texture coordinates of triangles with exchanged second and third corners.
fn with_flipped_winding(corners: &[[[f32; 2]; 3]]) -> Arc<Vec<[[f32; 2]; 3]>> {
    corners
        .iter()
        .map(|&[a, b, c]| [a, c, b])
        .collect::<Vec<_>>()
        .into()
}
