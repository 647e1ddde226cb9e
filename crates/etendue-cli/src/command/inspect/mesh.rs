//! Report of a mesh file.

use super::scene::write_extent;
use crate::failure::Failure;
use crate::output::{to_text, write_warnings};
use etendue::io::mesh::read_mesh;
use etendue::scene::MeshAudit;
use serde::Serialize;
use std::fmt::Write;
use std::path::Path;

/// Printed report of a mesh file.
#[derive(Serialize)]
pub struct MeshReport {
    file: String,
    vertices: usize,
    triangles: usize,
    from_m: [f64; 3],
    to_m: [f64; 3],
    connected_parts: usize,
    closed_parts: usize,
    volume_m3: f64,
    /// Names of the groups of triangles.
    groups: Vec<String>,
    findings: Vec<String>,
    warnings: Vec<String>,
}

/// Largest number of listed groups.
const LISTED: usize = 20;

/// Extent from which a mesh may be in millimetres, m.
const LARGE: f64 = 200.0;

impl MeshReport {
    /// Reads and checks a mesh.
    pub fn of(path: &Path) -> Result<Self, Failure> {
        let file = read_mesh(path)?;
        let audit = MeshAudit::of(&file.mesh).map_err(|source| Failure::Mesh {
            path: path.into(),
            source,
        })?;
        let MeshAudit {
            bounds: [from, to], ..
        } = audit;
        let mut findings: Vec<_> = audit.findings.iter().map(ToString::to_string).collect();
        if (to - from).max() > LARGE {
            let note =
                "for a file in millimetres, a scene has shape.mesh = { file = ..., scale = 0.001 }";
            findings.push(note.into());
        }
        Ok(Self {
            file: path.display().to_string(),
            vertices: audit.vertices,
            triangles: audit.triangles,
            from_m: from.into(),
            to_m: to.into(),
            connected_parts: audit.parts,
            closed_parts: audit.closed_parts,
            volume_m3: audit.volume,
            groups: file.parts.into_iter().map(|part| part.name).collect(),
            findings,
            warnings: file.warnings,
        })
    }

    /// The report as text.
    pub fn text(&self) -> String {
        to_text(|out| self.write(out))
    }

    fn write(&self, out: &mut String) -> std::fmt::Result {
        // Size and parts
        writeln!(
            out,
            "{}: mesh, {} triangles, {} vertices",
            self.file, self.triangles, self.vertices
        )?;
        write_extent(out, self.from_m, self.to_m)?;
        writeln!(
            out,
            "  {} connected parts, {} of them closed with {:.4} m³",
            self.connected_parts, self.closed_parts, self.volume_m3
        )?;

        // Groups
        if !self.groups.is_empty() {
            let listed: Vec<_> = self
                .groups
                .iter()
                .take(LISTED)
                .map(String::as_str)
                .collect();
            let more = if self.groups.len() > LISTED {
                ", ..."
            } else {
                ""
            };
            writeln!(
                out,
                "  {} groups: {}{more}",
                self.groups.len(),
                listed.join(", ")
            )?;
        }

        // Findings and warnings
        for finding in &self.findings {
            writeln!(out, "  note: {finding}")?;
        }
        write_warnings(out, &self.warnings)
    }
}
