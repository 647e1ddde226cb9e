//! Scans with moved points.

use etendue_io::output::OutputSet;
use etendue_io::points::{write_csv, write_kitti, write_las, write_npz, write_pcd, write_ply};
use etendue_io::scan_file::ScanFile;
use etendue_io::table::{ColumnData, Encoding, PointColumn, PointTable};
use nalgebra::{Point3, Vector3};
use std::fs;

fn table() -> PointTable {
    let values =
        |f: &dyn Fn(f32) -> f32| ColumnData::F32((0..50_u8).map(|i| f(f32::from(i))).collect());
    let column = |name: &'static str, data| PointColumn {
        name: name.into(),
        data,
    };
    PointTable {
        points: 50,
        height: 1,
        columns: vec![
            column("x", values(&|i| 1.0 + 0.1 * i)),
            column("y", values(&|i| 2.0 - 0.05 * i)),
            column("z", values(&|i| 0.5 * (i * 0.3).sin())),
            column("intensity", values(&|i| 3.0 * i)),
            column("ring", ColumnData::U16((0..50).collect())),
        ],
    }
}

/// Every format stores the new positions (LAS within 0.1 mm, text within 1 um); all other content
/// is unchanged.
#[test]
fn points_move_and_nothing_else_changes() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let mut outputs = OutputSet::new();
    let table = table();
    write_pcd(&mut outputs, &path("a.pcd"), &table, Encoding::Binary).unwrap();
    write_pcd(&mut outputs, &path("t.pcd"), &table, Encoding::Ascii).unwrap();
    write_ply(&mut outputs, &path("a.ply"), &table, Encoding::Binary).unwrap();
    write_ply(&mut outputs, &path("t.ply"), &table, Encoding::Ascii).unwrap();
    write_las(&mut outputs, &path("a.las"), &table).unwrap();
    write_las(&mut outputs, &path("a.laz"), &table).unwrap();
    write_kitti(&mut outputs, &path("a.bin"), &table).unwrap();
    write_csv(&mut outputs, &path("a.csv"), &table).unwrap();
    write_npz(&mut outputs, &path("a.npz"), &table).unwrap();
    let files = outputs.commit().unwrap();
    assert_eq!(files.len(), 9);
    for file in files {
        let mut scan = ScanFile::read(&file).unwrap();
        let before = scan.points();
        assert_eq!(before.len(), 50, "{}", file.display());
        assert!((before[3] - Point3::new(1.3, 1.85, 0.5 * 0.9_f64.sin())).norm() < 1e-4);
        let unchanged = scan.bytes(&file).unwrap();
        let reread = ScanFile::parse(&file, unchanged).unwrap();
        assert_eq!(reread.points(), before);
        let moved: Vec<_> = before
            .iter()
            .map(|p| p + Vector3::new(0.01, -0.02, 0.03))
            .collect();
        scan.set_points(&moved);
        let bytes = scan.bytes(&file).unwrap();
        let back = ScanFile::parse(&file, bytes.clone()).unwrap().points();
        for (found, expected) in back.iter().zip(&moved) {
            assert!((found - expected).norm() < 1e-4, "{}", file.display());
        }
        // Binary records are edited in place; text and archives are encoded again
        let name = file.file_name().unwrap().to_string_lossy();
        if ["a.bin", "a.ply", "a.pcd"].contains(&&*name) {
            let original = fs::read(&file).unwrap();
            let same = original.iter().zip(&bytes).filter(|(a, b)| a == b).count();
            assert!(same * 10 > bytes.len() * 3, "{}", file.display());
        }
    }
}

#[test]
fn scans_without_positions_or_points_are_refused() {
    let error = |name: &str, bytes: &[u8]| {
        let parsed = ScanFile::parse(name.as_ref(), bytes.to_vec());
        parsed.err().expect("refused").to_string()
    };
    assert!(error("a.bin", &[0; 17]).contains("no whole number"));
    assert!(error("a.bin", &[]).contains("no point"));
    assert!(error("a.csv", b"a,b,c\n1,2,3\n").contains("no columns x, y and z"));
    assert!(error("a.csv", b"x,y,z\n1,2,3\n1,2\n").contains("line 3"));
    assert!(error("a.xml", b"<x/>").contains("does not support editing"));
    let truncated = "# .PCD v0.7\nVERSION 0.7\nFIELDS x y z\nSIZE 4 4 4\nTYPE F F F\nCOUNT 1 1 1\n\
               WIDTH 2\nHEIGHT 1\nPOINTS 2\nDATA binary\n123";
    assert!(error("a.pcd", truncated.as_bytes()).contains("truncated"));
}
