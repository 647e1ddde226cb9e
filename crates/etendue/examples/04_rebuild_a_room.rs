//! The planes measured by a recorded, stationary lidar, as a scene: run with
//! `cargo run --example 04_rebuild_a_room [CAPTURE] [ROTATION] [FOLDER]`.
//!
//! Writes `scene.toml` with an OBJ file per plane, and `rotation.pcd` (the recorded rotation), into FOLDER
//! (default `out/room`):
//! `etendue simulate FOLDER/scene.toml --frame sensor -o sim.pcd` simulates a lidar at the pose of
//! the real one, and `etendue compare FOLDER/rotation.pcd sim.pcd` compares both. Without
//! arguments it reads a VLP-16 in a small room from `ETENDUE_DATA`.
#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "points and cells of a room are few"
)]

use etendue::config::sensor::packet_source;
use etendue::io::output::OutputSet;
use etendue::io::packets::PacketMetadata;
use etendue::io::points::read_points;
use etendue::io::points::write_pcd;
use etendue::io::table::{Encoding, PointTable};
use etendue::physics::{Purpose, Stream};
use nalgebra::{Matrix3, Point3, Vector3};
use std::collections::BTreeSet;
use std::error::Error;
use std::fmt::Write;
use std::path::PathBuf;

/// Largest distance of a point from its plane, m.
const INLIER_DISTANCE: f64 = 0.03;
/// Least fraction of the points on a plane; the other points are furniture.
const MIN_FRACTION: f64 = 0.02;
/// Least distance of a plane from the sensor, m.
const CLEAR: f64 = 0.3;
const MOST_PLANES: u32 = 14;
const DRAWS: u32 = 400;

const HEADER: &str = r#"version = 1
name = "rebuilt room"

[sensor]
preset = "velodyne-vlp-16"
position_m = [0, 0, 0]
"#;

/// Side of the grid cells of a plane, m.
const CELL: f64 = 0.12;

/// The observed region of a plane: a point, the axes (the last is the normal, towards the
/// sensor), the grid cells along the first two, and the median reflectivity of the points.
struct Panel {
    point: Point3<f64>,
    axes: Matrix3<f64>,
    cells: BTreeSet<Cell>,
    reflectance: f64,
    points: usize,
}

type Cell = [i32; 2];

/// A point with its reflectivity, 0 to 1.
type MeasuredPoint = (Point3<f64>, f64);

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let capture = arguments.next().map_or_else(default_capture, PathBuf::from);
    let number: usize = arguments
        .next()
        .map_or(Ok(1), |argument| argument.parse())?;
    let folder = arguments.next().map_or("out/room".into(), PathBuf::from);
    if !capture.is_file() {
        eprintln!("skipped: no recordings ({})", capture.display());
        return Ok(());
    }
    let mut rotations = read_points(&capture, &packet_source(PacketMetadata::InPackets))?.sweeps;
    let rotation = rotations.swap_remove(number);
    let points = points(&rotation);
    let panels = panels(points.clone());
    assert!(panels.len() > 3, "{} planes found", panels.len());
    let fraction =
        panels.iter().map(|panel| panel.points).sum::<usize>() as f64 / points.len() as f64;
    eprintln!(
        "{} planes with {:.0} % of {} points, in {}",
        panels.len(),
        100.0 * fraction,
        points.len(),
        folder.display()
    );
    let mut outputs = OutputSet::new();
    let scene = scene(&panels)?;
    outputs.add(&folder.join("scene.toml"), |file| {
        file.write_all(scene.as_bytes())
    })?;
    for (number, panel) in panels.iter().enumerate() {
        let mesh = mesh(panel)?;
        let path = folder.join(format!("panel-{number}.obj"));
        outputs.add(&path, |file| file.write_all(mesh.as_bytes()))?;
    }
    write_pcd(
        &mut outputs,
        &folder.join("rotation.pcd"),
        &rotation,
        Encoding::Binary,
    )?;
    outputs.commit()?;
    Ok(())
}

fn default_capture() -> PathBuf {
    let data = std::env::var_os("ETENDUE_DATA").map_or("../shared/data".into(), PathBuf::from);
    data.join("mrpt_velodyne_pcap/sample_velodyne_vlp16_gps.pcap")
}

/// The points with their reflectivities; Velodyne values up to 100 are percent of diffuse reflectance.
fn points(rotation: &PointTable) -> Vec<MeasuredPoint> {
    let number = |name, point| rotation.number(name, point).unwrap_or(f64::NAN);
    let one = |p| {
        let position = Point3::new(number("x", p), number("y", p), number("z", p));
        (position, number("intensity", p) / 100.0)
    };
    (0..rotation.points).map(one).collect()
}

/// The planes with the most points, extracted one after the other (Fischler, Bolles 1981, "RANSAC",
/// doi:10.1145/358669.358692).
fn panels(mut remaining: Vec<MeasuredPoint>) -> Vec<Panel> {
    let least = (MIN_FRACTION * remaining.len() as f64) as usize;
    let mut panels = Vec::new();
    for number in 0..MOST_PLANES {
        let Some(plane) = best_plane(&remaining, number) else {
            break;
        };
        let (on, off): (Vec<MeasuredPoint>, Vec<MeasuredPoint>) = remaining
            .iter()
            .partition(|measured| is_inlier(&plane, measured));
        remaining = off;
        if on.len() < least {
            break;
        }
        let (panel, outside) = panel(&on);
        remaining.extend(outside);
        if panel.points >= least {
            panels.push(panel);
        }
    }
    panels
}

/// A point and a normal.
type Plane = (Point3<f64>, Vector3<f64>);

/// Whether a point is within [`INLIER_DISTANCE`] of a plane.
fn is_inlier((point, normal): &Plane, (position, _): &MeasuredPoint) -> bool {
    (position - point).dot(normal).abs() < INLIER_DISTANCE
}

/// The plane with the most inliers among [`DRAWS`] planes through three random points, fitted to its inliers.
fn best_plane(points: &[MeasuredPoint], number: u32) -> Option<Plane> {
    let mut stream = Stream::new(1, 0, number, 0, Purpose::LightPath);
    let mut best: Option<(usize, Plane)> = None;
    for _ in 0..DRAWS {
        let mut draw = || points[(stream.uniform() * points.len() as f64) as usize].0;
        let [a, b, c] = [draw(), draw(), draw()];
        let Some(normal) = (b - a).cross(&(c - a)).try_normalize(1e-6) else {
            continue;
        };
        // The points of one ring are on a cone, which resembles a plane through the sensor.
        if normal.dot(&a.coords).abs() < CLEAR {
            continue;
        }
        // Every tenth point is sufficient.
        let count = points
            .iter()
            .step_by(10)
            .filter(|measured| is_inlier(&(a, normal), measured))
            .count();
        if best.as_ref().is_none_or(|(most, _)| count > *most) {
            best = Some((count, (a, normal)));
        }
    }
    let (_, plane) = best?;
    let on: Vec<MeasuredPoint> = points
        .iter()
        .filter(|measured| is_inlier(&plane, measured))
        .copied()
        .collect();
    (on.len() > 3).then(|| fitted(&on))
}

/// The least-squares plane.
fn fitted(on: &[MeasuredPoint]) -> Plane {
    let sum: Vector3<f64> = on.iter().map(|(point, _)| point.coords).sum();
    let middle = Point3::from(sum / on.len() as f64);
    let spread: Matrix3<f64> = on
        .iter()
        .map(|(point, _)| (point - middle) * (point - middle).transpose())
        .sum();
    let eigen = spread.symmetric_eigen();
    (
        middle,
        eigen.eigenvectors.column(eigen.eigenvalues.imin()).into(),
    )
}

/// The largest connected region of a plane, with its front towards the sensor, and the remaining
/// points.
fn panel(on: &[MeasuredPoint]) -> (Panel, Vec<MeasuredPoint>) {
    let (point, normal) = fitted(on);
    let normal = if normal.dot(&point.coords) > 0.0 {
        -normal
    } else {
        normal
    };
    let level = Vector3::z().cross(&normal).try_normalize(0.1);
    let across = level.unwrap_or_else(|| normal.cross(&Vector3::x()).cross(&normal).normalize());
    let axes = Matrix3::from_columns(&[across, normal.cross(&across), normal]);
    let cell = |(position, _): &MeasuredPoint| {
        let local = axes.tr_mul(&(position - point));
        [local.x, local.y].map(|x| (x / CELL).floor() as i32)
    };
    let cells = largest_component(on.iter().map(cell).collect());
    let (inside, outside): (Vec<MeasuredPoint>, Vec<MeasuredPoint>) = on
        .iter()
        .partition(|measured| cells.contains(&cell(measured)));
    let mut reflectances: Vec<f64> = inside.iter().map(|measured| measured.1).collect();
    reflectances.sort_by(f64::total_cmp);
    let panel = Panel {
        point,
        axes,
        cells,
        reflectance: reflectances[reflectances.len() / 2].clamp(0.02, 0.95),
        points: inside.len(),
    };
    (panel, outside)
}

/// The largest set of cells connected by their sides.
fn largest_component(mut cells: BTreeSet<Cell>) -> BTreeSet<Cell> {
    let mut largest = BTreeSet::new();
    while let Some(first) = cells.pop_first() {
        let mut component = BTreeSet::from([first]);
        let mut frontier = vec![first];
        while let Some([i, j]) = frontier.pop() {
            for neighbour in [[i - 1, j], [i + 1, j], [i, j - 1], [i, j + 1]] {
                if cells.remove(&neighbour) {
                    component.insert(neighbour);
                    frontier.push(neighbour);
                }
            }
        }
        if component.len() > largest.len() {
            largest = component;
        }
    }
    largest
}

/// Two triangles per cell.
fn mesh(panel: &Panel) -> Result<String, std::fmt::Error> {
    let mut text = String::new();
    for (number, cell) in panel.cells.iter().enumerate() {
        for [i, j] in [[0, 0], [1, 0], [1, 1], [0, 1]] {
            let local = [cell[0] + i, cell[1] + j].map(|x| f64::from(x) * CELL);
            let corner = panel.point + panel.axes * Vector3::new(local[0], local[1], 0.0);
            writeln!(text, "v {:.5} {:.5} {:.5}", corner.x, corner.y, corner.z)?;
        }
        let first = 4 * number + 1;
        writeln!(text, "f {first} {} {}", first + 1, first + 2)?;
        writeln!(text, "f {first} {} {}", first + 2, first + 3)?;
    }
    Ok(text)
}

fn scene(panels: &[Panel]) -> Result<String, std::fmt::Error> {
    let mut text = HEADER.to_owned();
    for (number, panel) in panels.iter().enumerate() {
        writeln!(
            text,
            "\n[materials.panel-{number}]\ndiffuse = {{ reflectance = {:.3} }}\n\
             source = \"median reflectivity of {} points\"\n\n\
             [[objects]]\nname = \"panel {number}\"\nmaterial = \"panel-{number}\"\n\
             shape.mesh = {{ file = \"panel-{number}.obj\" }}",
            panel.reflectance, panel.points
        )?;
    }
    Ok(text)
}
