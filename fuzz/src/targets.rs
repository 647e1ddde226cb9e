//! The targets.

use crate::seeds;
use etendue_config::toml_file::Document;
use etendue_config::{camera, depth_model, fit, pose_uncertainty, profile, robot, scene, sensor};
use etendue_io::image::parse_picture;
use etendue_io::mesh::parse_mesh;
use etendue_io::packets::{PacketSource, VelodyneCalibration, parse_ouster_metadata};
use etendue_io::points::parse_points;
use etendue_io::recording::parse_recording;
use etendue_io::ros2::parse_clouds;
use etendue_io::scan_file::ScanFile;
use etendue_io::scan_log::{ScanStream, parse_scan_log};
use etendue_io::trajectory::{parse_kitti, parse_tum};
use std::path::Path;

/// A reader under test.
pub struct Target {
    /// Name, and folder of its corpus.
    pub name: &'static str,
    /// Reads an input. Errors are expected; panics, hangs and large allocations are not.
    pub run: fn(&[u8]),
    /// Small valid inputs.
    pub seeds: fn() -> Vec<Vec<u8>>,
    /// Words of the format.
    pub words: &'static [&'static str],
}

/// The target with a name.
pub fn find(name: &str) -> Option<Target> {
    targets().into_iter().find(|target| target.name == name)
}

fn points(name: &str, bytes: &[u8]) {
    let read = parse_points(Path::new(name), bytes.to_vec(), &PacketSource::default());
    let Ok(points) = read else {
        return;
    };
    // Columns have the length of their table
    for sweep in &points.sweeps {
        for column in &sweep.columns {
            assert_eq!(column.data.len(), sweep.points, "column {}", column.name);
        }
    }
    let _ = points.together();
}

/// Reads a scan, moves its points by nothing, and writes it.
fn edit(name: &str, bytes: &[u8]) {
    let path = Path::new(name);
    if let Ok(mut scan) = ScanFile::parse(path, bytes.to_vec()) {
        let points = scan.points();
        scan.set_points(&points);
        let _ = scan.bytes(path);
    }
}

fn mesh(name: &str, bytes: &[u8]) {
    let Ok(file) = parse_mesh(Path::new(name), bytes) else {
        return;
    };
    let vertices = file.mesh.vertices.len();
    let corners = file.mesh.triangles.iter().flatten();
    assert!(
        corners
            .into_iter()
            .all(|corner| (*corner as usize) < vertices)
    );
}

fn picture(name: &str, bytes: &[u8]) {
    if let Ok(picture) = parse_picture(Path::new(name), bytes) {
        assert!(picture.pixels.len().is_multiple_of(picture.width as usize));
    }
}

fn recording(name: &str, bytes: &[u8]) {
    let _ = parse_recording(
        Path::new(name),
        bytes.to_vec(),
        &PacketSource::default(),
        None,
    );
}

/// Calls a reader of text with the part of the input that is UTF-8.
fn text(bytes: &[u8], read: impl FnOnce(&str)) {
    match std::str::from_utf8(bytes) {
        Ok(text) => read(text),
        Err(error) => read(std::str::from_utf8(&bytes[..error.valid_up_to()]).unwrap_or_default()),
    }
}

fn toml(bytes: &[u8], read: impl FnOnce(&Document)) {
    text(bytes, |text| read(&Document::new("fuzz.toml", text)));
}

macro_rules! target {
    ($name:literal, $seeds:expr, $words:expr, $bytes:ident => $run:expr) => {
        Target {
            name: $name,
            run: |$bytes| $run,
            seeds: $seeds,
            words: $words,
        }
    };
}

const TOML: &[&str] = &[
    "version = 1\n",
    " = ",
    "[[",
    "]]",
    "{ ",
    " }",
    "nan",
    "inf",
    "-1",
    "1e308",
    "1e-308",
    "0",
    "\"\"",
];
const PCD: &[&str] = &[
    "# .PCD v0.7\n",
    "VERSION 0.7\n",
    "FIELDS x y z\n",
    "SIZE 4 4 4\n",
    "TYPE F F F\n",
    "COUNT 1 1 1\n",
    "WIDTH 2\n",
    "HEIGHT 1\n",
    "POINTS 2\n",
    "DATA ascii\n",
    "DATA binary\n",
    "DATA binary_compressed\n",
];
const PLY: &[&str] = &[
    "ply\n",
    "format ascii 1.0\n",
    "format binary_little_endian 1.0\n",
    "format binary_big_endian 1.0\n",
    "element vertex 3\n",
    "element face 1\n",
    "property float x\n",
    "property list uchar int vertex_indices\n",
    "element tristrips 1\n",
    "property int object_id\n",
    "end_header\n",
    "double",
    "uint8",
];
const NPZ: &[&str] = &[
    "PK\x03\x04",
    "PK\x01\x02",
    "PK\x05\x06",
    "'descr': '<f8'",
    "'fortran_order': False",
    "'shape': (2, 3)",
];
const MCAP: &[&str] = &[
    "MCAP0\r\n",
    "ros2",
    "cdr",
    "sensor_msgs/msg/PointCloud2",
    "sensor_msgs/msg/LaserScan",
    "zstd",
    "lz4",
];
const GLTF: &[&str] = &[
    "\"accessors\"",
    "\"bufferViews\"",
    "\"buffers\"",
    "\"meshes\"",
    "\"nodes\"",
    "\"scenes\"",
    "\"children\"",
    "\"matrix\"",
    "\"byteStride\"",
    "\"byteOffset\"",
    "\"count\"",
    "\"componentType\"",
    "\"type\"",
    "\"sparse\"",
    "\"indices\"",
    "5126",
    "5125",
];

/// All targets.
#[rustfmt::skip]
pub fn targets() -> Vec<Target> {
    vec![
        // Points
        target!("points-pcd", seeds::pcd, PCD, bytes => points("a.pcd", bytes)),
        target!("points-ply", seeds::ply, PLY, bytes => points("a.ply", bytes)),
        target!("points-npz", seeds::npz, NPZ, bytes => points("a.npz", bytes)),
        target!("points-las", seeds::las, &["LASF", "laszip encoded"], bytes => points("a.las", bytes)),
        target!("points-e57", seeds::e57, &["ASTM-E57", "<?xml", "recordCount", "<prototype", "minimum", "maximum"], bytes => points("a.e57", bytes)),
        target!("points-kitti", seeds::kitti, &[], bytes => points("a.bin", bytes)),
        target!("points-mcap", seeds::mcap, MCAP, bytes => points("a.mcap", bytes)),
        target!("points-parquet", seeds::parquet, &["PAR1"], bytes => points("a.parquet", bytes)),
        target!("points-vtk", seeds::vtk, &["# vtk DataFile Version 3.0\n", "ASCII\n", "POINTS 2 float\n"], bytes => points("a.vtk", bytes)),
        target!("points-capture", seeds::captures, &[], bytes => points("a.pcap", bytes)),
        target!("points-csv", seeds::csv, &["x,y,z,intensity\n", ",", "\n"], bytes => points("a.csv", bytes)),
        // Scans with editable positions
        target!("edit-pcd", seeds::pcd, PCD, bytes => edit("a.pcd", bytes)),
        target!("edit-ply", seeds::ply, PLY, bytes => edit("a.ply", bytes)),
        target!("edit-npz", seeds::npz, NPZ, bytes => edit("a.npz", bytes)),
        target!("edit-las", seeds::las, &["LASF"], bytes => edit("a.las", bytes)),
        target!("edit-text", seeds::csv, &["x y z\n", "#", "\n"], bytes => edit("a.csv", bytes)),
        target!("edit-kitti", seeds::kitti, &[], bytes => edit("a.bin", bytes)),
        // Meshes
        target!("mesh-obj", seeds::obj, &["v ", "vt ", "f ", "usemtl ", "mtllib ", "/", "-1", "\n"], bytes => mesh("a.obj", bytes)),
        target!("mesh-ply", seeds::ply_mesh, PLY, bytes => mesh("a.ply", bytes)),
        target!("mesh-stl", seeds::stl, &["solid ", "facet normal ", "outer loop\n", "vertex ", "endloop\n", "endfacet\n", "endsolid\n"], bytes => mesh("a.stl", bytes)),
        target!("mesh-gltf", seeds::gltf, GLTF, bytes => mesh("a.gltf", bytes)),
        // Images
        target!("image-png", seeds::png, &["IHDR", "IDAT", "IEND", "PLTE", "tRNS"], bytes => picture("a.png", bytes)),
        target!("image-jpeg", seeds::jpeg, &["JFIF"], bytes => picture("a.jpg", bytes)),
        target!("image-hdr", seeds::hdr, &["#?RADIANCE\n", "FORMAT=32-bit_rle_rgbe\n", "-Y 2 +X 8\n", "\x02\x02\x00\x08"], bytes => picture("a.hdr", bytes)),
        target!("image-exr", seeds::exr, &["channels", "compression", "dataWindow", "displayWindow", "tiles"], bytes => picture("a.exr", bytes)),
        // Recordings and messages
        target!("recording-mcap", seeds::mcap, MCAP, bytes => recording("a.mcap", bytes)),
        target!("recording-ros1", seeds::ros1, &["#ROSBAG V2.0\n", "op=", "conn=", "topic=", "compression=none", "type=sensor_msgs/LaserScan"], bytes => recording("a.bag", bytes)),
        target!("recording-sqlite", seeds::sqlite, &["SQLite format 3\0", "table", "topics", "messages"], bytes => recording("a.db3", bytes)),
        target!("recording-text", seeds::scan_logs, &["FLASER ", "ROBOTLASER1 ", ",", "\n"], bytes => recording("a.log", bytes)),
        target!("clouds-mcap", seeds::mcap, MCAP, bytes => { let _ = parse_clouds(Path::new("a.mcap"), bytes); }),
        target!("scan-log", seeds::scan_logs, &["FLASER ", "ROBOTLASER1 ", ",", "\n"], bytes => { let _ = parse_scan_log(Path::new("a.log"), bytes); }),
        target!("rawlog", seeds::rawlogs, &["\u{88}", "CPose3D", "CObservationOdometry"], bytes => { let _ = parse_scan_log(Path::new("a.rawlog"), bytes); }),
        target!("scan-stream", seeds::scan_logs, &["FLASER ", ",", "\n"], bytes => {
            let mut stream = ScanStream::new("a.log", bytes);
            while stream.next_scans(1).is_ok_and(|scans| !scans.is_empty()) {}
        }),
        // Metadata of lidars
        target!("ouster-metadata", seeds::ouster, &["\"beam_altitude_angles\"", "\"lidar_mode\"", "\"data_format\"", "[]", "1e308"], bytes => text(bytes, |text| { let _ = parse_ouster_metadata(Path::new("a.json"), text); })),
        target!("velodyne-calibration", seeds::velodyne, &["<item>", "<vertCorrection_>", "lasers:", "vert_correction: "], bytes => text(bytes, |text| { let _ = VelodyneCalibration::parse(Path::new("a.xml"), text); })),
        // Trajectories and robots
        target!("trajectory-tum", seeds::tum, &["\n", " ", "nan", "1e308"], bytes => text(bytes, |text| { let _ = parse_tum(Path::new("a.tum"), text); })),
        target!("trajectory-kitti", seeds::kitti_poses, &["\n", " ", "nan", "1e308"], bytes => text(bytes, |text| { let _ = parse_kitti(Path::new("a.txt"), text, 0.1); })),
        target!("urdf", seeds::urdf, &["<robot>", "<link name=\"a\"/>", "<joint ", "<origin xyz=\"0 0 0\"/>", "<inertial>"], bytes => text(bytes, |text| { let _ = robot::Urdf::parse(Path::new("a.urdf"), text); })),
        // TOML files
        target!("toml-scene", seeds::scenes, TOML, bytes => toml(bytes, |file| { let _ = scene::parse(file); })),
        target!("toml-sensor", seeds::sensors, TOML, bytes => toml(bytes, |file| { let _ = sensor::parse(file); })),
        target!("toml-camera", seeds::cameras, TOML, bytes => toml(bytes, |file| { let _ = camera::parse(file); })),
        target!("toml-robot", seeds::robots, TOML, bytes => toml(bytes, |file| { let _ = robot::parse(file); })),
        target!("toml-fit", seeds::fits, TOML, bytes => toml(bytes, |file| { let _ = fit::parse(file); })),
        target!("toml-profile", seeds::profiles, TOML, bytes => toml(bytes, |file| { let _ = profile::parse(file); })),
        target!("toml-depth-model", seeds::depth_models, TOML, bytes => toml(bytes, |file| { let _ = depth_model::parse(file); })),
        target!("toml-pose-uncertainty", seeds::pose_uncertainties, TOML, bytes => toml(bytes, |file| { let _ = pose_uncertainty::parse(file); })),
    ]
}
