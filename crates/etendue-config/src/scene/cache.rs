//! Parts of loaded scenes that the next load uses again.

use etendue_io::mesh::MeshFile;
use etendue_scene::{Mesh, Scene};
use std::collections::BTreeMap;
use std::path::PathBuf;
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
    /// Audited meshes, and whether their normals were flipped.
    audits: Vec<(AuditedMesh, bool)>,
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
    /// The audit of an equal mesh.
    pub(super) fn audit(&self, mesh: &Mesh, is_flipped: bool) -> Option<AuditedMesh> {
        let mut audits = self.audits.iter();
        let known = audits.find(|(known, flipped)| *flipped == is_flipped && *known.mesh == *mesh);
        known.map(|(known, _)| known.clone())
    }

    /// Keeps an audit in place of the oldest.
    pub(super) fn keep_audit(&mut self, audited: AuditedMesh, is_flipped: bool) {
        if self.audits.len() == MAX_AUDITS {
            self.audits.remove(0);
        }
        self.audits.push((audited, is_flipped));
    }
}
