//! The message of a mesh: vertices, and triangles in groups of one material.

use super::columns::{Column, message};
use etendue::scene::{MaterialId, Mesh};
use serde::Serialize;

/// Header of the message.
#[derive(Serialize)]
struct Header {
    /// Groups of triangles.
    groups: Vec<Group>,
}

/// Consecutive triangles of one material.
#[derive(Serialize)]
struct Group {
    /// First triangle.
    start: usize,
    /// Number of triangles.
    count: usize,
    /// Material; `None` for that of the object.
    material: Option<u32>,
}

/// Encodes a mesh, its triangles sorted by material.
#[expect(
    clippy::cast_possible_truncation,
    reason = "the page draws in single precision"
)]
pub fn encode(mesh: &Mesh) -> Vec<u8> {
    // Sort the triangles by material
    let material = |triangle: usize| mesh.materials.get(triangle).map(|MaterialId(id)| *id);
    let mut order: Vec<usize> = (0..mesh.triangles.len()).collect();
    order.sort_by_key(|triangle| material(*triangle));

    // Group them
    let mut groups: Vec<Group> = Vec::new();
    for (place, triangle) in order.iter().enumerate() {
        let own = material(*triangle);
        match groups.last_mut() {
            Some(group) if group.material == own => group.count += 1,
            _ => groups.push(Group {
                start: place,
                count: 1,
                material: own,
            }),
        }
    }

    // Encode
    let vertices = mesh
        .vertices
        .iter()
        .flat_map(|vertex| vertex.coords.data.0[0]);
    let triangles = order.iter().flat_map(|triangle| mesh.triangles[*triangle]);
    let columns = [
        Column::f32("vertices", vertices.map(|value| value as f32)),
        Column::u32("triangles", triangles),
    ];
    message(Header { groups }, &columns)
}
