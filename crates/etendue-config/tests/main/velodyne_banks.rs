//! Packets of lidars with several groups of 32 lasers: HDL-64E and VLS-128.
#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a test counts little"
)]

use crate::convert::pcap;
use crate::recordings::recording as data;
use etendue_config::sensor::packet_source;
use etendue_io::packets::{PacketMetadata, VelodyneCalibration, read_velodyne_calibration};
use etendue_io::points::{parse_points, read_points};
use etendue_io::table::PointSweeps;
use etendue_io::table::PointTable;
use nalgebra::Point3;

/// Flags of the groups of lasers.
const MARKS: [u8; 4] = [0xee, 0xdd, 0xcc, 0xbb];

/// A calibration in ROS's YAML. Each laser has its own elevation and lateral angle.
fn calibration(lasers: usize) -> VelodyneCalibration {
    let laser = |i: usize| {
        let up = 0.2 - 0.005 * i as f64;
        let aside = 0.02 * (i % 5) as f64 - 0.04;
        format!(
            "    - {{\n        dist_correction: 1.25, laser_id: {i}, # of this one\n        \
             horiz_offset_correction: 0.026,\n        rot_correction: {aside},\n        \
             vert_correction: {up}, vert_offset_correction: 0.2,\n    }}\n"
        )
    };
    let text: String = (0..lasers).map(laser).collect();
    let text = format!("lasers:\n{text}num_lasers: {lasers}\ndistance_resolution: 0.002\n");
    VelodyneCalibration::parse("own.yaml".as_ref(), &text).unwrap()
}

/// A packet: flag, azimuth in hundredths of a degree and counts of each block; then the microsecond
/// and the two bytes at the end.
fn packet(blocks: &[(u8, u16, [u16; 32])], stamp: u32, end: [u8; 2]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(1206);
    for (mark, azimuth, counts) in blocks {
        bytes.extend([0xff, *mark]);
        bytes.extend(azimuth.to_le_bytes());
        for (laser, count) in (0_u8..).zip(counts) {
            bytes.extend(count.to_le_bytes());
            bytes.push(laser);
        }
    }
    bytes.extend(stamp.to_le_bytes());
    bytes.extend(end);
    assert_eq!(bytes.len(), 1206);
    bytes
}

fn read(packets: &[Vec<u8>], calibration: VelodyneCalibration) -> PointSweeps {
    let payloads: Vec<&[u8]> = packets.iter().map(|bytes| &bytes[..]).collect();
    let device = packet_source(PacketMetadata::Velodyne(Box::new(calibration)));
    parse_points("made.pcap".as_ref(), pcap(&payloads), &device).unwrap()
}

fn number(table: &PointTable, name: &str, point: usize) -> f64 {
    table.number(name, point).unwrap()
}

/// Six firings per packet, 57.6 µs each, at 10 rotations per second (0.2074 degrees per firing).
/// Laser i of firing f has the range 1000 + 100 i + f steps of 2 mm. Every position follows the
/// equation of the manual.
#[test]
fn an_hdl_64e_is_read_with_its_calibration() {
    let azimuth = |firing: usize| (12_000.0 + 20.736 * firing as f64).round() as u16;
    let block = |firing: usize, group: usize| {
        let count = |laser: usize| (1000 + 100 * (32 * group + laser) + firing) as u16;
        (MARKS[group], azimuth(firing), std::array::from_fn(count))
    };
    let packets: Vec<_> = (0..20)
        .map(|number| {
            let blocks: Vec<_> = (0..12).map(|i| block(6 * number + i / 2, i % 2)).collect();
            let stamp = (3_599_999_000.0 + 345.6 * number as f64) % 3.6e9;
            packet(&blocks, stamp as u32, [0x46, 0x01])
        })
        .collect();
    let own = calibration(64);
    let turns = read(&packets, own.clone());
    assert!(turns.warnings.is_empty(), "{:?}", turns.warnings);
    let table = turns.together();
    assert_eq!(table.points, 20 * 6 * 64);
    let mut worst = [0.0_f64; 2];
    for point in 0..table.points {
        let firing = point / 64;
        let laser = point % 64;
        let four = laser % 32 / 4;
        let delay = 7.2 * four as f64 + [0.0, 1.3, 2.5, 3.7][laser % 4];
        let range = 0.002 * (1000 + 100 * laser + firing % 1000) as f64 + 1.25;
        // 0.36 degrees in 100 us.
        let turned = f64::from(azimuth(firing)) / 100.0 + delay * 0.0036;
        let rotation = 0.02 * (laser % 5) as f64 - 0.04;
        let (up, level) = (0.2 - 0.005 * laser as f64).sin_cos();
        let (sin, cos) = (turned.to_radians() - rotation).sin_cos();
        let flat = range * level - 0.2 * up;
        let expected = Point3::new(
            flat * cos + 0.026 * sin,
            0.026 * cos - flat * sin,
            range * up + 0.2 * level,
        );
        let [x, y, z] = ["x", "y", "z"].map(|name| number(&table, name, point));
        worst[0] = worst[0].max((Point3::new(x, y, z) - expected).norm() / range);
        let time = 57.6e-6 * firing as f64 + delay * 1e-6;
        worst[1] = worst[1].max((number(&table, "time", point) - time).abs());
        assert_eq!(number(&table, "ring", point), (63 - laser) as f64);
    }
    // Azimuths are integer hundredths of a degree: the rate is within 0.01 of 1.2 degrees per
    // packet. Measured: 4.2e-6 of the range. Stamps are integer microseconds.
    println!("off by {:.1e} of the range, {:.1e} s", worst[0], worst[1]);
    assert!(worst[0] < 3e-5 && worst[1] < 2e-6, "{worst:?}");
}

/// With two echoes, four blocks are one firing; a block that repeats the only echo adds no point.
#[test]
fn two_echoes_of_an_hdl_64e_are_one_shot_of_two_returns() {
    let block = |firing: u16, group: usize, echo: u16| {
        let counts = std::array::from_fn(|laser| 2000 + 500 * echo * u16::from(laser % 2 == 0));
        (MARKS[group], 100 + 21 * firing, counts)
    };
    let packets: Vec<_> = (0..2_u16)
        .map(|number| {
            let block = |i: u16| block(3 * number + i / 4, usize::from(i % 2), i / 2 % 2);
            let blocks: Vec<_> = (0..12).map(block).collect();
            packet(&blocks, 173 * u32::from(number), [0, 0])
        })
        .collect();
    let table = read(&packets, calibration(64)).together();
    // Every second laser has a second echo, one metre behind.
    assert_eq!(table.points, 2 * 3 * (64 + 32));
    let seconds = (0..table.points).filter(|i| number(&table, "return_number", *i) == 2.0);
    let ranges: Vec<f64> = seconds.map(|i| number(&table, "range", i)).collect();
    assert_eq!(ranges.len(), 2 * 3 * 32);
    assert!(ranges.iter().all(|range| (range - 6.25).abs() < 1e-6));
    let last = number(&table, "column", table.points - 1);
    assert_eq!(last, 5.0);
}

/// Three firings of 128 lasers per packet, and one firing with two echoes and four empty blocks.
#[test]
fn a_vls_128_is_read_with_its_calibration() {
    for (end, firings) in [([0x37, 0xa1], 3), ([0x39, 0xa1], 1)] {
        let block = |firing: u16, i: usize| {
            let dual = firings == 1;
            let (group, echo) = if dual { (i / 2, i % 2) } else { (i % 4, 0) };
            if group > 3 {
                return (0xff, 0, [0; 32]);
            }
            let counts =
                std::array::from_fn(|laser| (500 + 10 * (32 * group + laser) + 5000 * echo) as u16);
            (MARKS[group], 35_900 + 20 * firing, counts)
        };
        let packets: Vec<_> = (0..4_u16)
            .map(|number| {
                let first = number * firings;
                let firing = |i: usize| first + if firings == 1 { 0 } else { i as u16 / 4 };
                let blocks: Vec<_> = (0..12).map(|i| block(firing(i), i)).collect();
                packet(&blocks, 55 * u32::from(first), end)
            })
            .collect();
        let mut own = calibration(128);
        own.lasers.iter_mut().for_each(|laser| laser.distance = 0.0);
        let table = read(&packets, own).together();
        let echoes = if firings == 1 { 2 } else { 1 };
        assert_eq!(table.points, 4 * usize::from(firings) * 128 * echoes);
        for point in (0..table.points).step_by(7 * echoes) {
            let firing = point / echoes / 128;
            let laser = point / echoes % 128;
            let range = 0.004 * (500 + 10 * laser) as f64;
            assert!((number(&table, "range", point) - range).abs() < 1e-6);
            let delay = 2.665e-6 * (laser / 8 + laser / 64) as f64;
            let time = 55e-6 * firing as f64 + delay;
            let off = number(&table, "time", point) - time;
            assert!(off.abs() < 1e-9, "{point}: {off}");
        }
    }
}

/// The db.xml of Velodyne, in degrees and centimetres, is the same calibration.
#[test]
fn the_makers_calibration_is_read_like_that_of_ros() {
    let text = "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\" ?>\n\
        <!DOCTYPE boost_serialization>\n<boost_serialization><DB><points_><count>1</count>\n\
        <item><px class_id=\"9\"><id_>0</id_><rotCorrection_>-4.5</rotCorrection_>\n\
        <vertCorrection_>-8.8</vertCorrection_><distCorrection_>125.5</distCorrection_>\n\
        <distCorrectionX_>126</distCorrectionX_><distCorrectionY_>127</distCorrectionY_>\n\
        <vertOffsetCorrection_>20</vertOffsetCorrection_>\n\
        <horizOffsetCorrection_>2.6</horizOffsetCorrection_></px></item>\n\
        </points_></DB></boost_serialization>";
    let path = "db.xml".as_ref();
    let read = VelodyneCalibration::parse(path, text).unwrap();
    let laser = read.lasers[0];
    let close = |a: f64, b: f64| (a - b).abs() < 1e-12;
    assert!(close(laser.rotation.to_degrees(), -4.5));
    assert!(close(laser.elevation.to_degrees(), -8.8));
    assert!(close(laser.distance, 1.255) && close(laser.vertical_offset, 0.2));
    assert!(close(laser.horizontal_offset, 0.026));
    let [x, y] = laser.distance_near.unwrap();
    assert!(close(x, 1.26) && close(y, 1.27));
    // At 25.04 m ahead, the common correction applies; at 1.93 m ahead, the near correction.
    let level = laser.elevation.cos();
    let ahead = |reading: f64| {
        let (_, point) = laser.point(laser.rotation, reading);
        point.x + laser.vertical_offset * laser.elevation.sin()
    };
    let far = (25.04 + laser.vertical_offset * laser.elevation.sin()) / level - 1.255;
    assert!(close(ahead(far), (far + 1.255) * level));
    let near = (1.93 + laser.vertical_offset * laser.elevation.sin()) / level - 1.255;
    assert!(close(ahead(near), (near + 1.27) * level));
    for (from, to, message) in [
        ("-4.5", "none", "\"none\" is not a number"),
        ("<id_>0</id_>", "", "laser 0"),
        ("<id_>0", "<id_>3", "laser 3 of 1"),
    ] {
        let error = VelodyneCalibration::parse(path, &text.replace(from, to)).unwrap_err();
        assert!(error.to_string().contains(message), "{error}");
    }
    let error = VelodyneCalibration::parse(path, "lasers: none").unwrap_err();
    assert!(error.remedy().contains("db.xml"), "{error}");
}

/// Without a calibration, or with that of another lidar, the error names the lidar.
#[test]
fn a_lidar_without_its_calibration_is_named() {
    let block = |mark| (mark, 0, [1000; 32]);
    let hdl: Vec<_> = (0..12).map(|i| block(MARKS[i % 2])).collect();
    let vls: Vec<_> = (0..12).map(|i| block(MARKS[i % 4])).collect();
    for (blocks, end, model) in [(hdl, [0, 0], "HDL-64E"), (vls, [0x37, 0xa1], "VLS-128")] {
        let file = pcap(&[&packet(&blocks, 0, end)]);
        let calibrated = PacketMetadata::Velodyne(Box::new(calibration(32)));
        for metadata in [PacketMetadata::InPackets, calibrated] {
            let device = packet_source(metadata);
            let error = parse_points("a.pcap".as_ref(), file.clone(), &device).unwrap_err();
            assert!(error.to_string().contains(model), "{error}");
            assert!(error.remedy().contains("--metadata"), "{}", error.remedy());
        }
    }
}

/// Recorded packets of a VLS-128 with their calibration: five similar sweeps, all rings used, the
/// ground (the lowest ring) below the sensor.
#[test]
#[ignore = "needs recordings: see CONTRIBUTING.md"]
fn real_packets_of_a_vls_128_make_turns() {
    let folder = data("nebula_lidar_packets/vls128");
    let own = data("nebula_lidar_packets/calibration/VLS128.yaml");
    let device = packet_source(PacketMetadata::Velodyne(Box::new(
        read_velodyne_calibration(&own).unwrap(),
    )));
    let entries = std::fs::read_dir(&folder).unwrap();
    let mut paths = entries.map(|entry| entry.unwrap().path());
    // The bag is in a folder of its own
    let bag = paths.find(|path| path.is_dir()).unwrap();
    let turns = read_points(&bag, &device).unwrap();
    let sizes: Vec<usize> = turns.sweeps.iter().map(|turn| turn.points).collect();
    println!("{sizes:?}");
    // The first and the last sweep are partial.
    let whole = &turns.sweeps[1..turns.sweeps.len() - 1];
    assert!(whole.len() >= 2, "{sizes:?}");
    for turn in whole {
        let mut rings = [0_usize; 128];
        let mut range = Vec::new();
        for point in 0..turn.points {
            rings[number(turn, "ring", point) as usize] += 1;
            range.push(number(turn, "range", point));
        }
        let used = rings.iter().filter(|count| **count > 100).count();
        assert!(used > 100, "{used} rings");
        range.sort_by(f64::total_cmp);
        let median = range[range.len() / 2];
        println!("{used} rings, median range {median:.2} m");
        let span = number(turn, "time", turn.points - 1) - number(turn, "time", 0);
        assert!((0.08..0.12).contains(&span), "{span}");
    }
}
