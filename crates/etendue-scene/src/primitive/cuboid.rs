//! A box.

use super::check::{PrimitiveError, check_lengths};
use etendue_raycast::Mesh;
use nalgebra::Point3;

/// Corner numbers of each face, anticlockwise from outside. Numbers have bit 0 set at +x, bit 1 at +y, bit 2 at +z.
const FACES: [[u32; 4]; 6] = [
    [0, 4, 6, 2],
    [1, 3, 7, 5],
    [0, 1, 5, 4],
    [2, 6, 7, 3],
    [0, 2, 3, 1],
    [4, 5, 7, 6],
];

/// A box of `size` (m) about the origin, 12 triangles.
///
/// Triangles come in pairs, one pair a face, in the order -x, +x, -y, +y, -z, +z.
///
/// ```
/// use etendue_scene::primitive::cuboid;
/// let room = cuboid([4.0, 3.0, 2.5])?.inside_out();
/// assert_eq!(room.triangles.len(), 12);
/// # Ok::<(), etendue_scene::primitive::PrimitiveError>(())
/// ```
///
/// # Errors
/// Where a length is not above zero.
pub fn cuboid(size: [f64; 3]) -> Result<Mesh, PrimitiveError> {
    let [x, y, z] = size;
    check_lengths("box", &[("length", x), ("width", y), ("height", z)])?;
    let corner = |number: u32| {
        let side = |bit: u32, length: f64| {
            if number >> bit & 1 == 1 {
                0.5 * length
            } else {
                -0.5 * length
            }
        };
        Point3::new(side(0, x), side(1, y), side(2, z))
    };
    Ok(Mesh {
        vertices: (0..8).map(corner).collect(),
        triangles: FACES
            .iter()
            .flat_map(|&[a, b, c, d]| [[a, b, c], [a, c, d]])
            .collect(),
        materials: Vec::new(),
    })
}
