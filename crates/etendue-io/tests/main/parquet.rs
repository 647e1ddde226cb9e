//! Point tables as Parquet, from this writer and from pyarrow.

use etendue_io::output::OutputSet;
use etendue_io::packets::PacketSource;
use etendue_io::points::parse_points;
use etendue_io::points::write_parquet;
use etendue_io::table::PointSweeps;
use etendue_io::table::{ColumnData, PointColumn, PointTable};
use std::cell::Cell;
use std::path::Path;

fn parse(bytes: &[u8]) -> Result<PointSweeps, String> {
    let parsed = parse_points(
        Path::new("a.parquet"),
        bytes.to_vec(),
        &PacketSource::default(),
    );
    parsed.map_err(|error| error.to_string())
}

/// Content of the three files, written by pyarrow 26: row groups of 16 with dictionaries, Snappy;
/// pages of version 2, byte stream split, Zstandard; gzip.
fn expected() -> Vec<PointColumn> {
    let all = |of: fn(u16) -> f64| (0..40).map(of).collect::<Vec<f64>>();
    vec![
        PointColumn::new(
            "x",
            ColumnData::F32((0..40_u16).map(|i| 0.25 * f32::from(i)).collect()),
        ),
        PointColumn::new("y", ColumnData::F64(all(|i| f64::from(i).sqrt()))),
        PointColumn::new(
            "z",
            ColumnData::F64(all(|i| match i % 7 {
                3 => f64::NAN,
                _ => 0.5 * f64::from(i % 5),
            })),
        ),
        PointColumn::new("ring", ColumnData::U16((0..40).map(|i| i % 4).collect())),
        PointColumn::new(
            "object",
            ColumnData::I32((0..40).map(|i| i % 3 - 1).collect()),
        ),
        PointColumn::new("stamp", ColumnData::F64(all(|i| 1.7e12 + f64::from(i)))),
        PointColumn::new(
            "count",
            ColumnData::F32(
                (0..40_u16)
                    .map(|i| if i == 5 { f32::NAN } else { f32::from(i) })
                    .collect(),
            ),
        ),
    ]
}

/// Equality of columns, with NaN equal to NaN.
fn same(a: &ColumnData, b: &ColumnData) -> bool {
    let alike = |a: f64, b: f64| a == b || a.is_nan() && b.is_nan();
    std::mem::discriminant(a) == std::mem::discriminant(b)
        && a.len() == b.len()
        && (0..a.len()).all(|i| alike(a.number(i), b.number(i)))
}

#[test]
fn files_of_another_writer_are_read_whatever_their_packing() {
    let files: [(&str, &[u8]); 3] = [
        ("snappy", include_bytes!("../golden/points_snappy.parquet")),
        ("zstd", include_bytes!("../golden/points_zstd_v2.parquet")),
        ("gzip", include_bytes!("../golden/points_gzip.parquet")),
    ];
    for (name, bytes) in files {
        let points = parse(bytes).unwrap();
        assert_eq!(
            points.warnings,
            ["the column class contains no numbers and was skipped"],
            "{name}"
        );
        let table = points.together();
        assert_eq!(table.points, 40, "{name}");
        assert_eq!(table.columns.len(), expected().len(), "{name}");
        for (own, expected) in table.columns.iter().zip(expected()) {
            assert_eq!(own.name, expected.name, "{name}");
            assert!(same(&own.data, &expected.data), "{name}: {own:?}");
        }
    }
}

#[test]
fn what_is_written_is_read_back() {
    let table = PointTable {
        points: 3,
        height: 1,
        columns: vec![
            PointColumn::new("x", ColumnData::F32(vec![1.0, 2.5, -3.0])),
            PointColumn::new("y", ColumnData::F64(vec![1e-300, f64::MAX, 0.1])),
            PointColumn::new("z", ColumnData::F32(vec![0.0, f32::NEG_INFINITY, 7.0])),
            PointColumn::new("ring", ColumnData::U16(vec![0, u16::MAX, 2])),
            PointColumn::new("column", ColumnData::U32(vec![0, u32::MAX, 2])),
            PointColumn::new("object", ColumnData::I32(vec![i32::MIN, -1, i32::MAX])),
        ],
    };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.parquet");
    let mut outputs = OutputSet::new();
    write_parquet(&mut outputs, &path, &table).unwrap();
    outputs.commit().unwrap();
    let bytes = std::fs::read(&path).unwrap();
    assert_eq!(parse(&bytes).unwrap().together(), table);
}

thread_local! {
    /// Number of panics of the thread, including caught ones.
    static PANICS: Cell<u32> = const { Cell::new(0) };
}

/// A file truncated at any position, or with any byte changed, gives an error or a table, without a
/// panic.
#[test]
fn damaged_files_are_refused() {
    let default_hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        PANICS.set(PANICS.get() + 1);
        default_hook(panic);
    }));
    let whole = include_bytes!("../golden/points_snappy.parquet");
    for length in 4..whole.len() {
        let error = parse(&whole[..length]).expect_err("it is truncated");
        assert!(error.contains("truncated"), "{error}");
    }
    let mut refused = 0;
    for place in 4..whole.len() - 4 {
        let mut bytes = whole.to_vec();
        bytes[place] ^= 0x55;
        refused += usize::from(parse(&bytes).is_err());
    }
    assert!(refused > whole.len() / 4, "{refused} of {}", whole.len());
    assert_eq!(PANICS.get(), 0);
    let without_z = b"PAR1";
    assert!(parse(without_z).is_err());
}
