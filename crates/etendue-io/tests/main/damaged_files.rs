//! Files whose content is damaged, or states sizes that it does not have: every reader returns an
//! error that names the file, in time and memory in proportion to the file.

use etendue_io::image::read_picture;
use etendue_io::input::read_bytes;
use etendue_io::mesh::parse_mesh;
use etendue_io::output::OutputSet;
use etendue_io::packets::PacketSource;
use etendue_io::points::{PointFormat, parse_points, write_npz};
use etendue_io::recording::read_recording;
use etendue_io::ros2::{parse_clouds, read_drive};
use etendue_io::scan_file::ScanFile;
use etendue_io::table::{ColumnData, Encoding, PointColumn, PointTable};
use etendue_io::trajectory::{parse_kitti, parse_tum};
use nalgebra::{UnitQuaternion, Vector3};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The message of the error of reading points.
fn points_error(name: &str, bytes: Vec<u8>) -> String {
    let result = parse_points(Path::new(name), bytes, &PacketSource::default());
    let message = result.unwrap_err().to_string();
    assert!(message.starts_with(name), "{message}");
    message
}

/// Writes a file of a temporary folder, which is returned first.
fn file(name: &str, bytes: &[u8]) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, bytes).unwrap();
    (folder, path)
}

/// The message of the error of reading an image.
fn picture_error(name: &str, bytes: &[u8]) -> String {
    let (_folder, path) = file(name, bytes);
    let message = read_picture(&path).unwrap_err().to_string();
    assert!(message.contains(name), "{message}");
    message
}

fn little(numbers: &[u64]) -> Vec<u8> {
    numbers.iter().flat_map(|n| n.to_le_bytes()).collect()
}

#[test]
fn an_hdr_image_is_not_larger_than_its_file_allows() {
    let head = |size: &str| format!("#?RADIANCE\n\n{size}\n").into_bytes();
    for size in ["-Y 4294967295 +X 4294967295", "-Y 4000000000 +X 4000"] {
        let message = picture_error("sky.hdr", &head(size));
        assert!(message.contains("out of proportion"), "{message}");
    }
    let message = picture_error("sky.hdr", &head("-Y 4294967295 +X 0"));
    assert!(message.contains("no pixels"), "{message}");
    // A line that ends within its mark
    for rest in [&[2_u8][..], &[2, 2], &[2, 2, 0]] {
        let bytes = [head("-Y 1 +X 8"), rest.to_vec()].concat();
        assert!(picture_error("sky.hdr", &bytes).contains("truncated"));
    }
}

#[test]
fn a_png_image_is_not_larger_than_its_file_allows() {
    // Signature and header of an image of 60,000 x 60,000 pixels, with its checksum
    let mut png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".to_vec();
    png.extend([0, 0, 0xea, 0x60, 0, 0, 0xea, 0x60, 8, 2, 0, 0, 0]);
    let mut checksum = flate2_crc(&png[12..]);
    png.append(&mut checksum);
    png.extend(b"\0\0\0\x01IDAT\0");
    let message = picture_error("a.png", &png);
    assert!(
        message.contains("out of proportion") || message.contains("60000"),
        "{message}"
    );
}

/// CRC-32 (ISO 3309) of bytes, big endian.
fn flate2_crc(bytes: &[u8]) -> Vec<u8> {
    let mut crc = u32::MAX;
    for byte in bytes {
        crc ^= u32::from(*byte);
        for _ in 0..8 {
            crc = if crc & 1 == 1 {
                crc >> 1 ^ 0xedb8_8320
            } else {
                crc >> 1
            };
        }
    }
    (!crc).to_be_bytes().to_vec()
}

#[cfg(feature = "exr")]
#[test]
fn an_exr_image_is_not_larger_than_its_file_allows() {
    use etendue_io::image::{ExrChannel, ExrData, exr};
    let data = ExrData::Float(vec![1.0; 4].into());
    let mut bytes = exr(2, 2, &[ExrChannel { name: "Y", data }]).unwrap();
    // The windows of data and display hold their corners, (0, 0) and (1, 1)
    let corners = [0_u32, 0, 1, 1].map(u32::to_le_bytes).concat();
    let large = [0_u32, 0, 60_000, 60_000].map(u32::to_le_bytes).concat();
    let mut replaced = 0;
    for at in 0..bytes.len() - corners.len() {
        if bytes[at..].starts_with(&corners) {
            bytes[at..at + corners.len()].copy_from_slice(&large);
            replaced += 1;
        }
    }
    assert_eq!(replaced, 2);
    let message = picture_error("a.exr", &bytes);
    assert!(message.contains("out of proportion"), "{message}");
}

#[test]
fn damaged_gltf_files_are_errors_that_name_the_file() {
    let glb = |length: u32| {
        let mut bytes = b"glTF".to_vec();
        for number in [2, length] {
            bytes.extend(number.to_le_bytes());
        }
        bytes
    };
    let base = r#""asset":{"version":"2.0"},"scenes":[{"nodes":[0]}],"nodes":[{"mesh":0}]"#;
    let primitive = |rest: &str| {
        let text = r#""meshes":[{"primitives":[{"attributes":{"POSITION":0},"material":0}]}]"#;
        format!("{{{base},{text},{rest}}}").into_bytes()
    };
    let image = r#""materials":[{"pbrMetallicRoughness":{"baseColorTexture":{"index":0}}}],
        "textures":[{"source":0}],"images":[{}]"#;
    for (case, bytes) in [
        ("a length below that of the header", glb(0)),
        (
            "an accessor that does not exist",
            primitive(r#""materials":[{}]"#),
        ),
        ("an image without a source", primitive(image)),
    ] {
        let error = parse_mesh(Path::new("a.glb"), &bytes).expect_err(case);
        assert!(error.to_string().starts_with("a.glb"), "{case}: {error}");
    }
}

#[test]
fn a_chain_of_gltf_nodes_does_not_exhaust_the_stack() {
    let count = 100_000;
    let children: Vec<String> = (1..count)
        .map(|i| format!(r#"{{"children":[{i}]}}"#))
        .collect();
    let text = format!(
        r#"{{"asset":{{"version":"2.0"}},"scenes":[{{"nodes":[0]}}],"nodes":[{},{{}}]}}"#,
        children.join(",")
    );
    let error = parse_mesh(Path::new("a.gltf"), text.as_bytes()).unwrap_err();
    assert!(error.to_string().contains("no triangles"), "{error}");
}

#[test]
fn las_files_do_not_have_more_points_than_bytes() {
    let mut las = vec![0; 227];
    las[..4].copy_from_slice(b"LASF");
    las[24..26].copy_from_slice(&[1, 2]);
    las[94..96].copy_from_slice(&227_u16.to_le_bytes());
    las[96..100].copy_from_slice(&227_u32.to_le_bytes());
    las[105..107].copy_from_slice(&20_u16.to_le_bytes());
    las[107..111].copy_from_slice(&u32::MAX.to_le_bytes());
    for axis in 0..3 {
        las[131 + 8 * axis..139 + 8 * axis].copy_from_slice(&0.01_f64.to_le_bytes());
    }
    let message = points_error("a.las", las.clone());
    assert!(message.contains("out of proportion"), "{message}");
    let Err(error) = ScanFile::parse(Path::new("a.las"), las.clone()) else {
        panic!("a scan without points");
    };
    assert!(error.to_string().contains("out of proportion"), "{error}");
    // Records that overflow the end of the points
    las[24..26].copy_from_slice(&[1, 4]);
    las.resize(375, 0);
    las[94..96].copy_from_slice(&375_u16.to_le_bytes());
    las[96..100].copy_from_slice(&375_u32.to_le_bytes());
    las[107..111].fill(0);
    las[247..255].copy_from_slice(&u64::MAX.to_le_bytes());
    points_error("a.las", las);
}

/// A LAZ file of four points, whose layers follow the first point.
fn laz() -> Vec<u8> {
    let column = |name: &'static str, scale| {
        let values = (0..4).map(|number| f64::from(number) * scale).collect();
        PointColumn::new(name, ColumnData::F64(values))
    };
    let table = PointTable {
        points: 4,
        height: 1,
        columns: vec![column("x", 1.0), column("y", 2.0), column("z", 0.5)],
    };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.laz");
    let mut outputs = OutputSet::new();
    PointFormat::Las
        .write(&mut outputs, &path, &table, Encoding::Binary)
        .unwrap();
    outputs.commit().unwrap();
    std::fs::read(&path).unwrap()
}

#[test]
fn laz_chunks_do_not_have_larger_layers_than_bytes() {
    let whole = laz();
    let points = parse_points(Path::new("a.laz"), whole.clone(), &PacketSource::default());
    assert_eq!(points.unwrap().together().points, 4);
    let number = |at: usize| u32::from_le_bytes(*whole[at..].first_chunk().unwrap()) as usize;
    let start = number(96) + 8;
    // The size of each layer follows the first point of 30 bytes and the number of points
    for layer in 0..9 {
        let mut bytes = whole.clone();
        let at = start + 30 + 4 + 4 * layer;
        bytes[at..at + 4].copy_from_slice(&u32::MAX.to_le_bytes());
        let message = points_error("a.laz", bytes);
        assert!(message.contains("inconsistent with the size"), "{message}");
    }
    // The number of chunks follows the version of the chunk table
    let mut bytes = whole.clone();
    let at = number(start - 8) + 4;
    bytes[at..at + 4].copy_from_slice(&u32::MAX.to_le_bytes());
    points_error("a.laz", bytes);
    // Without its end, a file has no chunk table
    points_error("a.laz", whole[..number(start - 8)].to_vec());
}

#[test]
fn extended_las_records_are_not_larger_than_the_file() {
    let mut bytes = laz();
    let at = bytes.len();
    bytes.extend([0; 60]);
    bytes[235..243].copy_from_slice(&(at as u64).to_le_bytes());
    bytes[243..247].copy_from_slice(&1_u32.to_le_bytes());
    bytes[at + 20..at + 28].copy_from_slice(&(1_u64 << 40).to_le_bytes());
    let message = points_error("a.laz", bytes);
    assert!(message.contains("inconsistent with the size"), "{message}");
}

#[test]
fn e57_files_do_not_have_larger_pages_than_bytes() {
    for (xml, page) in [(u64::MAX, 1024), (100, u64::MAX), (1 << 40, 1 << 40)] {
        let mut bytes = b"ASTM-E57\x01\0\0\0\0\0\0\0".to_vec();
        bytes.extend(little(&[48, 48, xml, page]));
        let message = points_error("a.e57", bytes);
        assert!(message.contains("out of proportion"), "{message}");
    }
}

#[test]
fn mcap_records_that_exceed_the_file_end_it() {
    let mut bytes = b"\x89MCAP0\r\n".to_vec();
    for opcode in [1_u8, 5, 6, 15] {
        for length in [u64::MAX, u64::MAX - 8, 1 << 62, 1 << 40, 0, 3] {
            bytes.truncate(8);
            bytes.push(opcode);
            bytes.extend(length.to_le_bytes());
            bytes.extend([7; 64]);
            let (_folder, path) = file("a.mcap", &bytes);
            let count = std::cell::Cell::new(0);
            let drive = read_drive(&path, |_| count.set(count.get() + 1));
            assert!(drive.is_err() && count.get() == 0, "{opcode} {length}");
            if let Ok(recording) = parse_clouds(&path, &bytes) {
                assert!(recording.clouds.is_empty() && !recording.warnings.is_empty());
            }
            assert!(read_recording(&path, &PacketSource::default(), None).is_err());
        }
    }
}

#[test]
fn compressed_files_expand_to_a_multiple_of_their_size() {
    let zeros = vec![0; 1 << 20];
    let mut packed = zstd::stream::Encoder::new(Vec::new(), 3).unwrap();
    for _ in 0..100 {
        packed.write_all(&zeros).unwrap();
    }
    let packed = packed.finish().unwrap();
    assert!(packed.len() < 20_000);
    let (_folder, path) = file("a.pcd.zst", &packed);
    let error = read_bytes(&path).unwrap_err();
    assert!(error.to_string().contains("larger than 6"), "{error}");
    assert!(error.remedy().contains("decompress"), "{}", error.remedy());
}

#[test]
fn text_scans_that_are_not_utf_8_are_cut_at_their_bytes() {
    // A replacement character has three bytes, the invalid byte one
    let bytes = b"# \xff\xff\xff\xff\n# \xff\nx y z\n".to_vec();
    let Err(error) = ScanFile::parse(Path::new("a.csv"), bytes) else {
        panic!("a scan without points");
    };
    assert!(error.to_string().starts_with("a.csv"), "{error}");
}

#[test]
fn records_that_overlap_are_not_multiplied() {
    let header = b"# .PCD v0.7\nFIELDS x y z\nSIZE 4 4 4\nTYPE F F F\n";
    for rest in [
        "WIDTH 4294967295\nHEIGHT 4294967295\nPOINTS 18446744073709551615\nDATA binary\n",
        "COUNT 1 1 18446744073709551615\nPOINTS 0\nDATA binary_compressed\n\0\0\0\0\0\0\0\0",
        "POINTS 300000000\nDATA binary_compressed\n\x01\0\0\0\0\u{35}\u{24}\u{56}x",
    ] {
        points_error("a.pcd", [&header[..], rest.as_bytes()].concat());
    }
    let npy = b"\x93NUMPY\x01\0\x76\0{'descr': '<f8', 'fortran_order': False, 'shape': \
        (4611686018427387904, 4611686018427387904, 3), }";
    let mut zip = Vec::from(*b"PK\x03\x04\x14\0\0\0\0\0\0\0\0\0\0\0\0\0");
    zip.extend(npy);
    points_error("a.npz", zip);
}

/// The archive of an NPZ has a checksum of each array.
#[test]
fn an_npz_with_changed_numbers_is_damaged() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.npz");
    let values = ColumnData::F32(vec![1.0; 100]);
    let table = PointTable {
        points: 100,
        height: 1,
        columns: ["x", "y", "z"]
            .map(|name| PointColumn::new(name, values.clone()))
            .into(),
    };
    let mut outputs = OutputSet::new();
    write_npz(&mut outputs, &path, &table).unwrap();
    outputs.commit().unwrap();
    let mut bytes = std::fs::read(&path).unwrap();
    parse_points(&path, bytes.clone(), &PacketSource::default()).unwrap();
    let number = 1.0_f32.to_le_bytes();
    let place = bytes.windows(4).position(|window| window == number);
    bytes[place.unwrap() + 2] ^= 0x40;
    points_error("a.npz", bytes);
}

/// An SQLite file whose pages are their own children: a tree of 40 levels of 100 pages.
#[test]
fn pages_of_a_bag_are_read_once() {
    let mut page = vec![0; 4096];
    page[..16].copy_from_slice(b"SQLite format 3\0");
    page[16..18].copy_from_slice(&4096_u16.to_be_bytes());
    page[100] = 5;
    page[103..105].copy_from_slice(&100_u16.to_be_bytes());
    for cell in 0..100 {
        page[112 + 2 * cell..114 + 2 * cell].copy_from_slice(&2000_u16.to_be_bytes());
    }
    page[108..112].copy_from_slice(&1_u32.to_be_bytes());
    page[2000..2004].copy_from_slice(&1_u32.to_be_bytes());
    let (_folder, path) = file("a.db3", &page);
    let start = Instant::now();
    let error = read_recording(&path, &PacketSource::default(), None).unwrap_err();
    assert!(error.to_string().contains("a.db3"), "{error}");
    assert!(start.elapsed() < Duration::from_secs(5));
}

/// Chunks within chunks, 100,000 levels deep.
#[test]
fn chunks_of_a_bag_contain_no_chunks() {
    let block = |bytes: &[u8]| {
        let length = u32::try_from(bytes.len()).unwrap();
        [&length.to_le_bytes(), bytes].concat()
    };
    let header = block(&block(b"op=\x05"));
    let mut bag = b"#ROSBAG V2.0\n".to_vec();
    let levels = 100_000;
    for level in (0..levels).rev() {
        bag.extend(&header);
        let inner = u32::try_from(level * (header.len() + 4)).unwrap();
        bag.extend(inner.to_le_bytes());
    }
    let (_folder, path) = file("a.bag", &bag);
    assert!(read_recording(&path, &PacketSource::default(), None).is_err());
}

#[test]
fn poses_are_finite_numbers() {
    for number in ["nan", "inf", "-inf", "1e999"] {
        let kitti = format!("1 0 0 {number} 0 1 0 0 0 0 1 0\n");
        let error = parse_kitti(Path::new("a.txt"), &kitti, 0.1).unwrap_err();
        assert!(error.to_string().contains("line 1") && error.to_string().contains("finite"));
        let tum = format!("0 0 {number} 0 0 0 0 1\n");
        let error = parse_tum(Path::new("a.tum"), &tum).unwrap_err();
        assert!(error.to_string().contains("line 1") && error.to_string().contains("finite"));
    }
}

/// Matrices within the tolerance of a rotation, whose nearest rotation the search reaches within a
/// digit: it ends at the rotation by the same angle.
#[test]
fn the_search_for_the_nearest_rotation_ends() {
    for step in 0..500_u32 {
        let angle = f64::from(step) * std::f64::consts::PI / 250.0;
        let [c, s] = [angle.cos() * 1.0004, angle.sin() * 0.9996];
        let line = format!("{c} {} 0 0 {s} {c} 0 0 0 0 1 0\n", -s);
        let trajectory = parse_kitti(Path::new("a.txt"), &line, 0.1).unwrap();
        let rotation = trajectory.pose(0.0).unwrap().rotation;
        let error = rotation.angle_to(&UnitQuaternion::from_axis_angle(&Vector3::z_axis(), angle));
        assert!(error < 5e-4, "{angle}: {error}, measured: 4e-4");
    }
}
