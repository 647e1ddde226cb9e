//! Parquet without the feature `parquet`: errors that name it.

use etendue_io::output::OutputSet;
use etendue_io::packets::PacketSource;
use etendue_io::points::{parse_points, write_parquet};
use etendue_io::table::PointTable;

#[test]
fn a_build_without_the_feature_names_it() {
    let path = "a.parquet".as_ref();
    let bytes = include_bytes!("../golden/points_snappy.parquet").to_vec();
    let read = parse_points(path, bytes, &PacketSource::default()).unwrap_err();
    let written = write_parquet(&mut OutputSet::new(), path, &PointTable::default()).unwrap_err();
    for error in [read, written] {
        assert!(error.to_string().starts_with("a.parquet: "), "{error}");
        assert_eq!(
            error.remedy(),
            "build it with `cargo build --features parquet`"
        );
    }
}
