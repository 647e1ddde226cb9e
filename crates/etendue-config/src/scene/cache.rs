//! Parts of loaded scenes that the next load uses again.

use super::mesh_object::FileMesh;
use etendue_io::FormatError;
use etendue_io::digest::sha256;
use etendue_io::mesh::MeshFile;
use etendue_scene::{Mesh, Scene};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Mesh files, audits and acceleration structures of the scenes that [`parse_reusing`](super::parse_reusing) has
/// loaded.
///
/// A scene of a few changed numbers loads in milliseconds, and is equal to that of [`parse`](super::parse). Mesh
/// files are read once: a changed file needs a new cache.
#[derive(Debug, Default)]
pub struct SceneCache {
    /// Content of the mesh files.
    pub(super) files: BTreeMap<PathBuf, Arc<MeshFile>>,
    /// SHA-256 of each of these files and of the files that they reference, in hexadecimal.
    pub(super) digests: BTreeMap<PathBuf, String>,
    /// Audited meshes, with what they are built from.
    audits: Vec<(FileMesh, AuditedMesh)>,
    /// The last scene.
    pub(super) scene: Option<Scene>,
}

/// A mesh of a file with the description of its defects.
#[derive(Clone, Debug)]
pub(super) struct AuditedMesh {
    pub mesh: Arc<Mesh>,
    pub oddities: Option<String>,
}

/// Maximum number of kept audits; scenes with more mesh objects audit the others again.
const MAX_AUDITS: usize = 256;

impl SceneCache {
    /// Keeps the mesh files of a scene in place of those of the scene before.
    pub(super) fn keep_files(&mut self, files: BTreeMap<PathBuf, Arc<MeshFile>>) {
        self.files = files;
        let kept = self.files.values().flat_map(|file| &file.files);
        let kept: BTreeSet<_> = kept.collect();
        self.digests.retain(|path, _| kept.contains(path));
    }

    /// SHA-256 of a file, in hexadecimal. The digest of a mesh file is that of its kept content.
    pub(super) fn digest(&mut self, path: &Path) -> Result<String, FormatError> {
        if let Some(known) = self.digests.get(path) {
            return Ok(known.clone());
        }
        let content =
            std::fs::read(path).map_err(|source| FormatError::cannot_read(path, source))?;
        let digest = sha256(&content);
        let of_mesh = |file: &Arc<MeshFile>| file.files.iter().any(|own| own == path);
        if self.files.values().any(of_mesh) {
            self.digests.insert(path.to_owned(), digest.clone());
        }
        Ok(digest)
    }

    /// The audited mesh of the same file and choices. Meshes are not compared, which would take longer than the rest
    /// of an edit.
    pub(super) fn audit(&self, source: &FileMesh) -> Option<AuditedMesh> {
        let mut audits = self.audits.iter();
        let known = audits.find(|(known, _)| known == source);
        known.map(|(_, audited)| audited.clone())
    }

    /// Keeps an audit in place of the oldest.
    pub(super) fn keep_audit(&mut self, source: FileMesh, audited: AuditedMesh) {
        if self.audits.len() == MAX_AUDITS {
            self.audits.remove(0);
        }
        self.audits.push((source, audited));
    }
}
