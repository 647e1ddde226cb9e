//! Feather tables, written by pyarrow.

use etendue_io::packets::PacketSource;
use etendue_io::points::{ReadOptions, parse_points};
use etendue_io::sequence::{SequenceSource, read_sequence};
use etendue_io::table::PointSweeps;
use std::path::Path;

fn parse(bytes: &[u8]) -> Result<PointSweeps, String> {
    let path = Path::new("a.feather");
    let parsed = parse_points(path, bytes.to_vec(), &PacketSource::default());
    parsed.map_err(|error| error.to_string())
}

const LZ4: &[u8] = include_bytes!("../golden/points_lz4.feather");

/// Three batches with LZ4, one with Zstandard, and one without compression. The columns are those of Argoverse 2, with halves of 16 bits,
/// bytes, nanoseconds in `offset_ns`, numbers of lasers, nulls, 64-bit integers and text.
#[test]
fn files_of_pyarrow_are_read_whatever_their_packing() {
    let files: [(&str, &[u8]); 3] = [
        ("lz4", LZ4),
        ("zstd", include_bytes!("../golden/points_zstd.feather")),
        ("plain", include_bytes!("../golden/points_plain.feather")),
    ];
    for (name, bytes) in files {
        let points = parse(bytes).unwrap();
        assert_eq!(
            points.warnings,
            ["the column name contains no numbers and was skipped"],
            "{name}"
        );
        let table = points.together();
        let names: Vec<&str> = table.columns.iter().map(|column| &*column.name).collect();
        let expected = ["x", "y", "z", "intensity", "ring", "time", "object"];
        assert_eq!(names, expected, "{name}");
        assert_eq!(table.points, 40, "{name}");
        for i in 0..40_u16 {
            let number = f64::from(i);
            let row = [
                0.25 * number,
                f64::from(f32::from(i).sqrt()),
                if i % 7 == 3 {
                    f64::NAN
                } else {
                    0.5 * f64::from(i % 5)
                },
                number,
                f64::from(i % 4),
                2.5e-3 * number,
                f64::from(i % 3) - 1.0,
            ];
            for (column, expected) in table.columns.iter().zip(row) {
                let value = column.data.number(usize::from(i));
                // Times are products of nanoseconds
                let is_same =
                    (value - expected).abs() < 1e-15 || value.is_nan() && expected.is_nan();
                assert!(is_same, "{name}, {}: {value} {expected}", column.name);
            }
        }
    }
}

/// A folder of files is a sequence of scans.
#[test]
fn a_folder_of_files_is_a_sequence() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["1.feather", "2.feather"] {
        std::fs::write(folder.path().join(name), LZ4).unwrap();
    }
    let lidar = PacketSource::default();
    let source = SequenceSource {
        path: folder.path(),
        poses: None,
        options: ReadOptions::new(&lidar),
    };
    let sequence = read_sequence(source, &mut |_, _| {}).unwrap();
    let lengths: Vec<usize> = sequence.scans.iter().map(Vec::len).collect();
    assert_eq!(lengths, [40, 40]);
    assert_eq!(sequence.point_times.unwrap()[1][39], 2.5e-3 * 39.0);
}

/// A file truncated at any position is an error; one with a changed byte is an error or a table.
#[test]
fn damaged_files_are_refused() {
    for length in 6..LZ4.len() {
        let error = parse(&LZ4[..length]).expect_err("it is truncated");
        assert!(error.contains("truncated"), "{error}");
    }
    let mut refused = 0;
    for place in 6..LZ4.len() {
        let mut bytes = LZ4.to_vec();
        bytes[place] ^= 0x55;
        refused += usize::from(parse(&bytes).is_err());
    }
    assert!(refused > LZ4.len() / 8, "{refused} of {}", LZ4.len());
}

/// A compressed buffer begins with the size of its content. One that is out of proportion to the file is refused before its memory
/// is allocated.
#[test]
fn stated_sizes_out_of_proportion_are_refused() {
    let magic = [0x04, 0x22, 0x4d, 0x18];
    let frame = LZ4.windows(4).position(|bytes| bytes == magic).unwrap();
    let mut bytes = LZ4.to_vec();
    bytes[frame - 8..frame].copy_from_slice(&(1_i64 << 40).to_le_bytes());
    let error = parse(&bytes).expect_err("a terabyte");
    assert!(error.contains("out of proportion"), "{error}");
}
