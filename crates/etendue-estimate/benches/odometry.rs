//! Time per scan of the odometry in a process that has run before.
//!
//! `odometry REPEATS FOLDER...`: a folder has KITTI scans (`*.bin`). Each is mapped once without measurement, and
//! REPEATS times with it. Prints the median time per scan in milliseconds, one line per folder. Reading of files is
//! not measured. `RAYON_NUM_THREADS` is the number of threads.

#![expect(clippy::print_stdout, reason = "prints the times")]

use etendue_estimate::odometry::{Mapper, MapperOptions};
use etendue_physics::statistics::median;
use nalgebra::Point3;
use std::path::Path;
use std::time::Instant;

fn main() {
    // Without the name of the program, and the flag that cargo adds
    let mut arguments = std::env::args().skip(1).filter(|a| a != "--bench");
    let repeats: usize = arguments
        .next()
        .map_or(5, |a| a.parse().expect("a number of repeats"));
    for folder in arguments {
        let scans = scans_of(Path::new(&folder));
        map(&scans);
        let time = |_| median(&mut map(&scans)).expect("a scan");
        let mut times: Vec<f64> = (0..repeats).map(time).collect();
        println!("{:.3}", median(&mut times).expect("a repeat") * 1e3);
    }
}

/// Points of the scans of a folder in the order of their names, m.
fn scans_of(folder: &Path) -> Vec<Vec<Point3<f64>>> {
    let entries = std::fs::read_dir(folder).expect("a folder of scans");
    let mut files: Vec<_> = entries.map(|entry| entry.expect("a file").path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "bin"));
    files.sort();
    let coordinate =
        |bytes: &[u8]| f64::from(f32::from_le_bytes(bytes.try_into().expect("four bytes")));
    let point = |row: &[u8]| Point3::from([0, 4, 8].map(|at| coordinate(&row[at..at + 4])));
    let scan = |file| {
        std::fs::read(file)
            .expect("a scan")
            .chunks_exact(16)
            .map(point)
            .collect()
    };
    files.iter().map(scan).collect()
}

/// Times of the scans, s.
fn map(scans: &[Vec<Point3<f64>>]) -> Vec<f64> {
    let mut mapper = Mapper::new(MapperOptions::default());
    let mut add = |scan: &Vec<Point3<f64>>| {
        let start = Instant::now();
        mapper.add(scan, None).expect("a step");
        start.elapsed().as_secs_f64()
    };
    scans.iter().map(&mut add).collect()
}
