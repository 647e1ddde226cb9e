//! The planes that a recorded, standing lidar saw, as a scene: run with
//! `cargo run --example 04_rebuild_a_room [CAPTURE] [TURN] [FOLDER]`.
//!
//! Writes `scene.toml` and `turn.pcd` (the recorded turn) into FOLDER (default `out/room`):
//! `etendue simulate FOLDER/scene.toml --frame sensor -o sim.pcd` puts a simulated lidar where the
//! real one stood, and `etendue compare FOLDER/turn.pcd sim.pcd` says how alike they are. Without
//! arguments it takes a VLP-16 in a small room from `ETENDUE_DATA`.

use etendue::formats::output::{Encoding, OutputSet, PointTable, write_pcd};
use etendue::formats::packets::Device;
use etendue::formats::points::read_points;
use etendue::physics::{Purpose, Stream};
use nalgebra::{Matrix3, Point3, UnitQuaternion, Vector3};
use std::error::Error;
use std::fmt::Write;
use std::path::PathBuf;

/// Points this near to a plane are of it, m.
const NEAR: f64 = 0.03;
/// Planes with fewer of the points than this share are furniture.
const LEAST_SHARE: f64 = 0.02;
const MOST_PLANES: u32 = 14;
const DRAWS: u32 = 400;

const HEADER: &str = r#"version = 1
name = "rebuilt room"

[sensor]
preset = "velodyne-vlp-16"
position_m = [0, 0, 0]
"#;

/// A rectangle that was seen: its middle, its axes (the last is the normal, to the sensor), its
/// size along the first two, and the median reflectivity of its points.
struct Panel {
    middle: Point3<f64>,
    axes: Matrix3<f64>,
    size: [f64; 2],
    reflectance: f64,
    points: usize,
}

/// A point with its reflectivity, 0 to 1.
type Seen = (Point3<f64>, f64);

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let capture = arguments.next().map_or_else(default_capture, PathBuf::from);
    let number: usize = arguments.next().map_or(Ok(1), |turn| turn.parse())?;
    let folder = arguments.next().map_or("out/room".into(), PathBuf::from);
    if !capture.is_file() {
        eprintln!("skipped: no recordings ({})", capture.display());
        return Ok(());
    }
    let mut turns = read_points(&capture, &Device::Unknown)?.sweeps;
    let turn = turns.swap_remove(number);
    let seen = points(&turn);
    let panels = panels(seen.clone());
    assert!(panels.len() > 3, "the turn shows {} planes", panels.len());
    let share = panels.iter().map(|panel| panel.points).sum::<usize>() as f64 / seen.len() as f64;
    eprintln!(
        "{} planes with {:.0} % of {} points, in {}",
        panels.len(),
        100.0 * share,
        seen.len(),
        folder.display()
    );
    let mut outputs = OutputSet::new();
    let scene = scene(&panels)?;
    outputs.add(&folder.join("scene.toml"), |file| {
        file.write_all(scene.as_bytes())
    })?;
    write_pcd(
        &mut outputs,
        &folder.join("turn.pcd"),
        &turn,
        Encoding::Binary,
    )?;
    outputs.commit()?;
    Ok(())
}

fn default_capture() -> PathBuf {
    let data = std::env::var_os("ETENDUE_DATA").map_or("../shared/data".into(), PathBuf::from);
    data.join("mrpt_velodyne_pcap/sample_velodyne_vlp16_gps.pcap")
}

/// The points; Velodyne's reflectivities up to 100 are the percent of a diffuse surface.
fn points(turn: &PointTable) -> Vec<Seen> {
    let number = |name, point| turn.number(name, point).unwrap_or(f64::NAN);
    let one = |p| {
        let position = Point3::new(number("x", p), number("y", p), number("z", p));
        (position, number("intensity", p) / 100.0)
    };
    (0..turn.points).map(one).collect()
}

/// The planes with the most points, one after the other (Fischler, Bolles 1981, "RANSAC",
/// doi:10.1145/358669.358692).
fn panels(mut left: Vec<Seen>) -> Vec<Panel> {
    let least = (LEAST_SHARE * left.len() as f64) as usize;
    let mut panels = Vec::new();
    for number in 0..MOST_PLANES {
        let Some(plane) = best_plane(&left, number) else {
            break;
        };
        let (on, off): (Vec<Seen>, Vec<Seen>) = left.iter().partition(|seen| near(&plane, seen));
        left = off;
        if on.len() < least {
            break;
        }
        panels.push(panel(&on));
    }
    panels
}

/// A point and a normal.
type Plane = (Point3<f64>, Vector3<f64>);

fn near((point, normal): &Plane, (position, _): &Seen) -> bool {
    (position - point).dot(normal).abs() < NEAR
}

fn best_plane(seen: &[Seen], number: u32) -> Option<Plane> {
    let mut stream = Stream::new(1, 0, number, 0, Purpose::LightPath);
    let mut best: Option<(usize, Plane)> = None;
    for _ in 0..DRAWS {
        let mut draw = || seen[(stream.uniform() * seen.len() as f64) as usize].0;
        let [a, b, c] = [draw(), draw(), draw()];
        let Some(normal) = (b - a).cross(&(c - a)).try_normalize(1e-6) else {
            continue;
        };
        // Every tenth point tells enough.
        let count = seen
            .iter()
            .step_by(10)
            .filter(|one| near(&(a, normal), one))
            .count();
        if best.as_ref().is_none_or(|(most, _)| count > *most) {
            best = Some((count, (a, normal)));
        }
    }
    let (_, plane) = best?;
    let on: Vec<Seen> = seen
        .iter()
        .filter(|one| near(&plane, one))
        .copied()
        .collect();
    (on.len() > 3).then(|| fitted(&on))
}

/// The plane of least squares.
fn fitted(on: &[Seen]) -> Plane {
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

/// The rectangle around the points of a plane, one axis as level as can be, its front to the
/// sensor; a hundredth of the points may stand beyond each edge.
fn panel(on: &[Seen]) -> Panel {
    let (point, normal) = fitted(on);
    let normal = if normal.dot(&point.coords) > 0.0 {
        -normal
    } else {
        normal
    };
    let level = Vector3::z().cross(&normal).try_normalize(0.1);
    let across = level.unwrap_or_else(|| normal.cross(&Vector3::x()).cross(&normal).normalize());
    let axes = Matrix3::from_columns(&[across, normal.cross(&across), normal]);
    let extent = |axis: usize| {
        let along = on
            .iter()
            .map(|(position, _)| (position - point).dot(&axes.column(axis)));
        let mut along: Vec<f64> = along.collect();
        along.sort_by(f64::total_cmp);
        let edge = along.len() / 100;
        [along[edge], along[along.len() - 1 - edge]]
    };
    let [u, v] = [extent(0), extent(1)];
    let mut reflectances: Vec<f64> = on.iter().map(|seen| seen.1).collect();
    reflectances.sort_by(f64::total_cmp);
    Panel {
        middle: point + axes * Vector3::new(u[0] + u[1], v[0] + v[1], 0.0) * 0.5,
        axes,
        size: [u[1] - u[0], v[1] - v[0]],
        reflectance: reflectances[reflectances.len() / 2].clamp(0.02, 0.95),
        points: on.len(),
    }
}

fn scene(panels: &[Panel]) -> Result<String, std::fmt::Error> {
    let mut text = HEADER.to_owned();
    for (number, panel) in panels.iter().enumerate() {
        let Point3 { coords: m, .. } = panel.middle;
        let turn = UnitQuaternion::from_matrix(&panel.axes);
        let (w, q) = (turn.w, turn.imag());
        writeln!(
            text,
            "\n[materials.panel-{number}]\ndiffuse = {{ reflectance = {:.3} }}\n\
             source = \"median reflectivity of {} points\"\n\n\
             [[objects]]\nname = \"panel {number}\"\nmaterial = \"panel-{number}\"\n\
             shape.plane = {{ size_m = [{:.3}, {:.3}] }}\n\
             position_m = [{:.4}, {:.4}, {:.4}]\n\
             rotation_wxyz = [{w:.6}, {:.6}, {:.6}, {:.6}]",
            panel.reflectance,
            panel.points,
            panel.size[0],
            panel.size[1],
            m.x,
            m.y,
            m.z,
            q.x,
            q.y,
            q.z
        )?;
    }
    Ok(text)
}
