//! The walls measured by a recorded, stationary sensor, as a scene: run with
//! `cargo run --example 03_rebuild_a_recording [RECORDING] [FOLDER]`.
//!
//! Writes `walls.obj` and `scene.toml` into FOLDER (default `out/rebuilt`): `etendue simulate
//! FOLDER/scene.toml` simulates a sensor at the pose of the real one. Without arguments it reads
//! the first tinySLAM log under `ETENDUE_DATA`.

use etendue::io::scan_log::read_scan_log;
use etendue::sensors::{Scan, ScanStatistics, StatisticsOptions};
use std::error::Error;
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// Largest difference of ranges of neighbouring beams on one wall, m.
const JUMP: f64 = 0.1;

const SCENE: &str = r#"version = 1
name = "rebuilt walls"

[sensor]
preset = "hokuyo-urg-04lx"
position_m = [0, 0, 0]

[materials.white]
diffuse = { reflectance = 0.85 }
source = "assumed: white walls, which the recording does not determine"

[[objects]]
name = "walls"
shape.mesh = { file = "walls.obj" }
material = "white"
"#;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let recording = arguments
        .next()
        .map_or_else(default_recording, PathBuf::from);
    let folder = arguments
        .next()
        .map_or_else(|| PathBuf::from("out/rebuilt"), PathBuf::from);
    if !recording.is_file() {
        eprintln!("skipped: no recordings ({})", recording.display());
        return Ok(());
    }
    let log = read_scan_log(&recording)?;
    let statistics = ScanStatistics::of(&log.scans, &StatisticsOptions::default());
    let window = statistics
        .stationary
        .first()
        .ok_or("the sensor is never stationary")?;
    let walls = walls(&log.scans[window.scans.clone()]);
    assert!(
        walls.len() > 50,
        "the window has {} wall segments",
        walls.len()
    );
    write(&folder, &walls)?;
    eprintln!(
        "scans {:?} of {}: {} wall segments in {}",
        window.scans,
        recording.display(),
        walls.len(),
        folder.display()
    );
    Ok(())
}

fn default_recording() -> PathBuf {
    let data = std::env::var_os("ETENDUE_DATA").unwrap_or_else(|| "../shared/data".into());
    Path::new(&data).join("urg04lx_tinyslam/exp1.dat")
}

/// A wall segment in the horizontal plane: two points, m.
type WallSegment = [[f64; 2]; 2];

/// Segments between the median ranges of neighbouring beams that have a range in every scan.
fn walls(scans: &[Scan]) -> Vec<WallSegment> {
    let points: Vec<_> = (0..scans[0].readings.len())
        .map(|beam| {
            let range = median_range(scans, beam)?;
            let (sin, cos) = scans[0].azimuths[beam].sin_cos();
            Some((range, [range * cos, range * sin]))
        })
        .collect();
    let neighbours = points.windows(2).filter_map(|pair| pair[0].zip(pair[1]));
    neighbours
        .filter(|(one, other)| (one.0 - other.0).abs() < JUMP)
        .map(|(one, other)| [one.1, other.1])
        .collect()
}

fn median_range(scans: &[Scan], beam: usize) -> Option<f64> {
    let ranges = scans.iter().map(|scan| scan.readings[beam].range());
    let mut ranges: Vec<f64> = ranges.collect::<Option<_>>()?;
    ranges.sort_by(f64::total_cmp);
    Some(ranges[ranges.len() / 2])
}

/// Vertical walls, 2 m high, centred on the scan plane.
fn write(folder: &Path, walls: &[WallSegment]) -> Result<(), Box<dyn Error>> {
    let mut obj = String::new();
    for (number, [from, to]) in walls.iter().enumerate() {
        for ([x, y], z) in [(from, -1.0), (to, -1.0), (to, 1.0), (from, 1.0)] {
            writeln!(obj, "v {x} {y} {z}")?;
        }
        let v = 4 * number + 1;
        writeln!(obj, "f {v} {} {} {}", v + 1, v + 2, v + 3)?;
    }
    std::fs::create_dir_all(folder)?;
    std::fs::write(folder.join("walls.obj"), obj)?;
    std::fs::write(folder.join("scene.toml"), SCENE)?;
    Ok(())
}
