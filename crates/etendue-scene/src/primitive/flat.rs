//! Flat panels in the x-y plane, normal +z.

use super::check::{PrimitiveError, check_count, check_lengths};
use etendue_raycast::{MaterialId, Mesh};
use nalgebra::Point3;

/// A rectangle of `size` (m) along x and y about the origin.
///
/// # Errors
/// Where a length is not above zero.
pub fn rectangle(size: [f64; 2]) -> Result<Mesh, PrimitiveError> {
    check_lengths("rectangle", &[("length", size[0]), ("width", size[1])])?;
    Ok(grid([1, 1], size))
}

/// A checkerboard about the origin: `cells` along x and y, squares of side `cell` (m), with alternating
/// materials, the first in the corner of least x and y.
///
/// # Errors
/// Where there is no cell, there are too many, or the side is not above zero.
pub fn checkerboard(
    cells: [u32; 2],
    cell: f64,
    materials: [MaterialId; 2],
) -> Result<Mesh, PrimitiveError> {
    panel("checkerboard", cells, [cell, cell], materials)
}

/// Stripes along x, each `size` (m) along x and y, about the origin, with materials that repeat from
/// least x.
///
/// # Errors
/// Where there is no stripe, there are too many, or a length is not above zero.
pub fn stripes(
    count: u32,
    size: [f64; 2],
    materials: [MaterialId; 2],
) -> Result<Mesh, PrimitiveError> {
    panel("stripe panel", [count, 1], size, materials)
}

fn panel(
    shape: &'static str,
    cells: [u32; 2],
    cell: [f64; 2],
    materials: [MaterialId; 2],
) -> Result<Mesh, PrimitiveError> {
    let [columns, rows] = cells;
    check_lengths(shape, &[("cell length", cell[0]), ("cell width", cell[1])])?;
    check_count(shape, 2.0 * f64::from(columns) * f64::from(rows))?;
    if columns == 0 || rows == 0 {
        return Err(PrimitiveError::NoCells {
            shape,
            columns,
            rows,
        });
    }
    let mut mesh = grid(cells, cell);
    mesh.materials = (0..rows)
        .flat_map(|row| (0..columns).map(move |column| (row + column) % 2))
        .flat_map(|turn| [materials[turn as usize]; 2])
        .collect();
    Ok(mesh)
}

/// Cells row by row, two triangles each.
fn grid([columns, rows]: [u32; 2], cell: [f64; 2]) -> Mesh {
    // Corners of the cells.
    let place = |number: u32, count: u32, length: f64| {
        (f64::from(number) - 0.5 * f64::from(count)) * length
    };
    let corner = |row, column| {
        Point3::new(
            place(column, columns, cell[0]),
            place(row, rows, cell[1]),
            0.0,
        )
    };
    // Triangles of a cell.
    let width = columns + 1;
    let split = |row: u32, column: u32| {
        let first = row * width + column;
        let [a, b, c, d] = [first, first + 1, first + width + 1, first + width];
        [[a, b, c], [a, c, d]]
    };
    Mesh {
        vertices: (0..=rows)
            .flat_map(|row| (0..=columns).map(move |column| corner(row, column)))
            .collect(),
        triangles: (0..rows)
            .flat_map(|row| (0..columns).flat_map(move |column| split(row, column)))
            .collect(),
        materials: Vec::new(),
    }
}
