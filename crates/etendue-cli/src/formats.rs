//! Lists of point formats for help texts.

use etendue::io::points::PointFormat;

/// Endings as in ".pcd, .ply, .csv".
fn dotted(endings: &[&str]) -> String {
    let endings: Vec<String> = endings.iter().map(|ending| format!(".{ending}")).collect();
    endings.join(", ")
}

/// Endings of the point formats that are read.
pub fn read() -> String {
    dotted(&PointFormat::read_endings())
}

/// Endings of the point formats that are written.
pub fn written() -> String {
    dotted(&PointFormat::written_endings())
}

/// Endings of files that always contain points.
pub fn points_only() -> String {
    let formats = PointFormat::ALL
        .into_iter()
        .filter(|format| format.holds_points_only());
    let endings: Vec<&str> = formats.flat_map(PointFormat::endings).copied().collect();
    dotted(&endings)
}
