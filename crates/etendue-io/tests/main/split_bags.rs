//! Bags that ROS has split into several files.

use crate::readers::{bag_of_scans, moving_mcap};
use etendue_io::bag::read_topics;
use etendue_io::packets::PacketSource;
use etendue_io::points::{ReadOptions, parse_points, read_points_with};
use etendue_io::recording::{Content, read_recording};
use etendue_io::sequence::{SequenceSource, bag_files, read_sequence};
use std::path::Path;

/// The messages of an MCAP file in two: up to a time, ns, and after it.
fn split(bytes: &[u8], end: u64) -> [Vec<u8>; 2] {
    let mut parts = [(); 2].map(|()| mcap::Writer::new(std::io::Cursor::new(Vec::new())).unwrap());
    for message in mcap::MessageStream::new(bytes).unwrap() {
        let message = message.unwrap();
        let part = usize::from(message.log_time > end);
        parts[part].write(&message).unwrap();
    }
    parts.map(|mut part| {
        part.finish().unwrap();
        part.into_inner().into_inner()
    })
}

fn folder_of(files: &[(&str, &[u8])]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, bytes) in files {
        std::fs::write(folder.path().join(name), bytes).unwrap();
    }
    folder
}

fn topics_of(path: &Path) -> Vec<(String, usize, [f64; 2])> {
    let (topics, _) = read_topics(path).unwrap();
    let topics = topics.into_iter();
    topics.map(|t| (t.name, t.messages, t.times)).collect()
}

/// The points, their times and their poses are those of the whole bag. The transforms that never change are in its
/// first part only.
#[test]
fn the_parts_of_a_bag_have_the_sweeps_and_poses_of_the_whole() {
    let whole = moving_mcap(true);
    let [first, second] = split(&whole, 50_000_000);
    let source = PacketSource::default();
    let options = ReadOptions::new(&source);
    let expected = parse_points("a.mcap".as_ref(), whole.clone(), &source).unwrap();
    assert_eq!(expected.sweeps.len(), 3);
    let single = folder_of(&[("drive.mcap", &whole)]);
    // Parts of ROS 2 are sorted by their numbers
    let parts = folder_of(&[
        ("drive_9.mcap", &first),
        ("drive_10.mcap", &second),
        ("metadata.yaml", b"rosbag2_bagfile_information:\n"),
    ]);
    let files = bag_files(parts.path()).unwrap();
    assert!(
        files
            .iter()
            .map(|file| file.file_name().unwrap())
            .eq(["drive_9.mcap", "drive_10.mcap"])
    );
    for folder in [&single, &parts] {
        let points = read_points_with(folder.path(), options).unwrap();
        assert_eq!(points, expected);
    }
    assert_eq!(topics_of(parts.path()), topics_of(single.path()));

    // The same is read one sweep after another
    let sequence = |path: &Path| {
        let source = SequenceSource {
            path,
            poses: None,
            options,
        };
        read_sequence(source, &mut |_, _| {}).unwrap()
    };
    let [of_parts, of_whole] = [&parts, &single].map(|folder| sequence(folder.path()));
    assert_eq!(of_parts.scans, of_whole.scans);
    assert_eq!(of_parts.world_from_lidar, of_whole.world_from_lidar);
    assert!(of_whole.world_from_lidar.is_some());

    // The order of the parts matters to the digest of a recording
    let [of_parts, of_whole] =
        [&parts, &single].map(|folder| read_recording(folder.path(), &source, None).unwrap());
    assert_eq!(of_parts.content, of_whole.content);
    assert_ne!(of_parts.sha256, of_whole.sha256);
}

#[test]
fn the_parts_of_a_bag_of_ros_1_are_numbered_from_zero() {
    let [two, three] = [2, 3].map(bag_of_scans);
    let source = PacketSource::default();
    let parts = folder_of(&[
        ("2026-11-28-10-00-00_0.bag", &two),
        ("2026-11-28-10-05-00_1.bag", &three),
    ]);
    assert_eq!(topics_of(parts.path()), [("/scan".into(), 5, [0.0, 2.0])]);
    let recording = read_recording(parts.path(), &source, None).unwrap();
    let Content::Scans(log) = recording.content else {
        panic!("{:?}", recording.content);
    };
    assert_eq!(log.scans.len(), 5);

    // Other bags in one folder are recordings of their own
    let several = folder_of(&[("a.bag", &two), ("b.bag", &three)]);
    assert!(bag_files(several.path()).unwrap().is_empty());
    let error = read_recording(several.path(), &source, None).unwrap_err();
    assert!(
        error.to_string().contains("not exactly one .bag"),
        "{error}"
    );
}

#[test]
fn damage_of_a_part_is_reported_with_its_name() {
    let [first, second] = split(&moving_mcap(true), 50_000_000);
    let source = PacketSource::default();
    let parts = [
        ("drive_0.mcap", &first[..]),
        ("drive_1.mcap", &second[..second.len() / 4]),
    ];
    let points = read_points_with(folder_of(&parts).path(), ReadOptions::new(&source)).unwrap();
    assert_eq!(points.sweeps.len(), 1);
    let [warning, ..] = &points.warnings[..] else {
        panic!("no warning");
    };
    assert!(warning.starts_with("drive_1.mcap: "), "{warning}");

    // A part that is no bag
    let parts = [
        ("drive_0.mcap", &first[..]),
        ("drive_1.mcap", b"nothing".as_slice()),
    ];
    let folder = folder_of(&parts);
    let error = read_points_with(folder.path(), ReadOptions::new(&source)).unwrap_err();
    let error = error.to_string();
    assert!(
        error.contains("drive_1.mcap") && error.contains("not a bag"),
        "{error}"
    );
}
