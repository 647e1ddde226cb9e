//! Recorded scan logs, compared with the results of an independent reader.

use crate::recordings::recording;
use etendue_io::FormatError;
use etendue_io::packets::PacketSource;
use etendue_io::recording::{Content, parse_recording};
use etendue_io::scan_log::{parse_scan_log, read_scan_log};
use etendue_sensors::{RangeReading, ScanLog, ScanStatistics, StatisticsOptions};
use proptest::prelude::*;

fn statistics(log: &ScanLog) -> ScanStatistics {
    ScanStatistics::of(&log.scans, &StatisticsOptions::default())
}

fn read(name: &str) -> ScanLog {
    read_scan_log(&recording(name)).expect("the recording reads")
}

fn fails(text: &str) -> FormatError {
    parse_scan_log("log.txt".as_ref(), text).expect_err("the log is bad")
}

#[test]
#[ignore = "needs recordings: see CONTRIBUTING.md"]
fn the_tinyslam_logs_have_the_known_numbers() {
    // Scans, beams with a range, path length (m), duration (s): from an independent reader of the
    // same files.
    for (name, scans, valid, way, duration) in [
        ("exp1.dat", 756, 0.45, 46.0, 74.6),
        ("exp2.dat", 641, 0.42, 44.5, 63.2),
    ] {
        let log = read(&format!("urg04lx_tinyslam/{name}"));
        let found = statistics(&log);
        println!("{name}: {found:#?}");
        assert_eq!(found.scans, scans);
        assert_eq!(found.beams_in_scan, (682, 682));
        assert!((found.valid_fraction() - valid).abs() < 0.006);
        assert!((found.path.unwrap() - way).abs() < 0.06);
        assert!((found.duration - duration).abs() < 0.06);
        assert!((found.period - 0.098).abs() < 0.001);
        assert!(found.errors.contains_key(&6) && found.errors.contains_key(&7));
    }
}

#[test]
#[ignore = "needs recordings: see CONTRIBUTING.md"]
fn the_stationary_urg_has_the_known_spread() {
    let log = read("urg04lx_tinyslam/exp1.dat");
    let found = statistics(&log);
    let [low, median, high, most] = found.ranges.unwrap();
    assert!((low - 0.461).abs() < 0.0011 && (median - 1.433).abs() < 0.0011);
    assert!(
        (high - 4.985).abs() < 0.0011 && (most - 5.562).abs() < 1e-9,
        "{high} {most}"
    );
    let window = &found.stationary[0];
    assert!((19..=20).contains(&window.scans.len()));
    assert!((71..=89).contains(&window.flickering));
    let band = window
        .spread
        .iter()
        .find(|spread| spread.band == (1.0..2.0))
        .unwrap();
    assert!((0.0024..=0.0047).contains(&band.median), "{band:?}");
}

#[test]
#[ignore = "needs recordings: see CONTRIBUTING.md"]
fn the_rplidar_logs_have_the_known_numbers() {
    for (name, scans, valid) in [
        ("rplidar_a2_akhalili/test4.csv", 117, Some(0.902)),
        ("rplidar_a2_akhalili/test6.csv", 91, Some(0.979)),
        ("rplidar_a2_akhalili/test14.csv", 236, Some(0.981)),
        ("rplidar_apollosim/wall_data.txt", 54, None),
        ("rplidar_apollosim/wood_data.txt", 39, None),
        ("rplidar_apollosim/metal_data.txt", 49, None),
        ("rplidar_apollosim/metal2_data.txt", 71, None),
        ("rplidar_apollosim/acrylic_data.txt", 60, None),
        ("rplidar_apollosim/room_24_scans.txt", 24, None),
    ] {
        let log = read(name);
        let found = statistics(&log);
        println!(
            "{name}: {} scans, valid {:.3}",
            found.scans,
            found.valid_fraction()
        );
        // The first rotation of the SDK log begins before the first mark.
        assert!(found.scans.abs_diff(scans) <= 1, "{name}: {}", found.scans);
        if let Some(valid) = valid {
            assert!((found.valid_fraction() - valid).abs() < 0.001);
        }
    }
}

#[test]
#[ignore = "needs recordings: see CONTRIBUTING.md"]
fn the_carmen_logs_have_the_known_numbers() {
    for (name, scans, beams) in [
        ("intel.clf.bz2", 13631, 180),
        ("fr079.clf.bz2", 4934, 360),
        ("mit-csail.clf.bz2", 1988, 361),
        ("aces.clf.bz2", 7374, 180),
        ("fr-clinic_robotlaser.clf.bz2", 6917, 181),
        ("corrected_ple/intel-corrected.log.gz", 910, 180),
        ("corrected_ple/belgioioso-corrected.log.gz", 395, 361),
    ] {
        let log = read(&format!("radish_2d_slam/{name}"));
        let found = statistics(&log);
        println!(
            "{name}: {} {:?} {:?}",
            log.description, found.path, log.warnings
        );
        assert_eq!(found.scans, scans, "{name}");
        assert_eq!(found.beams_in_scan.1, beams, "{name}");
        assert!(found.ranges.unwrap()[3] < 82.0 && found.path.unwrap() > 100.0);
    }
}

fn tinyslam(lines: usize) -> String {
    let ranges = vec!["1500"; 682].join(" ");
    let head = "0 14710 29221 25178 0 0 0 170.1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1";
    vec![format!("{head} {ranges}"); lines].join("\n")
}

#[test]
fn a_cut_last_line_is_left_out_with_a_warning() {
    let text = tinyslam(3);
    let log = parse_scan_log("a.dat".as_ref(), &text[..text.len() - 10]).unwrap();
    assert_eq!(log.scans.len(), 2);
    assert_eq!(log.warnings, ["line 3 is truncated and was skipped"]);
}

#[test]
fn a_cut_line_in_the_middle_is_an_error_that_names_it() {
    let text = tinyslam(1) + "\n1 2 3\n" + &tinyslam(1);
    assert_eq!(
        fails(&text).to_string(),
        "log.txt, line 2: the line ends before its 682nd range"
    );
}

#[test]
fn a_decimal_comma_is_named_as_such() {
    let error = fails(&tinyslam(2).replacen("1500", "1,5", 1));
    assert!(
        error
            .to_string()
            .contains("line 1, column 65: \"1,5\" is not"),
        "{error}"
    );
    assert_eq!(error.remedy(), "write decimals with a point, not a comma");
}

/// Any separation of the columns, with or without a header.
#[test]
fn decimal_commas_are_named_where_they_hide_the_format() {
    for (line, text) in [
        (1, "0,314;47;-3,124\n0,313;47;-3,115\n"),
        (1, "0,314 47 -3,124\n0,313 47 -3,115\n"),
        (1, "0,314,47,-3,124\n0,313,47,-3,115\n"),
        (2, "sweep;azimuth_deg;range_m\n0;-90;1,5\n"),
    ] {
        let error = fails(text).to_string();
        assert!(error.contains("decimal commas"), "{error}");
        assert!(error.contains(&format!("line {line}")), "{error}");
    }
    let error = fails("\n\n");
    assert!(error.to_string().contains("the file is empty"), "{error}");
}

#[test]
fn carmen_refuses_nan_and_a_count_that_is_too_long() {
    let nan = fails("FLASER 2 1.0 nan 0 0 0 0 0 0 1.5 host 1.5\n");
    assert_eq!(
        nan.to_string(),
        "log.txt, line 1, column 14: \"nan\" is not a finite number"
    );
    let cut = "FLASER 9 1.0 2.0 0 0 0 0 0 0 1.5 host 1.5\n";
    assert!(fails(&format!("{cut}{cut}")).to_string().contains("line 1"));
}

#[test]
fn a_carmen_scan_keeps_remissions_and_pose() {
    let text = "RAWLASER1 0 -0.5 1 0.5 30 0.01 0 3 1 2 30 3 7 8 9 12.5 host 1\n\
                ROBOTLASER1 0 -0.5 1 0.5 30 0.01 0 3 1 2 3 0 1 2 3 4 5 6 0 0 0 0 0 13.5 host 2\n";
    let log = parse_scan_log("a.log".as_ref(), text).unwrap();
    assert_eq!(log.scans[0].readings[2], RangeReading::NoReturn);
    assert_eq!(log.scans[0].intensities, [7.0, 8.0, 9.0]);
    assert_eq!(*log.scans[0].azimuths, [-0.5, 0.0, 0.5]);
    assert_eq!(log.scans[0].time, 12.5);
    assert_eq!(log.scans[1].odom_from_robot.unwrap().translation.x, 4.0);
    assert_eq!(log.scans[1].time, 13.5);
}

#[test]
fn the_sdk_log_turns_clockwise_angles_round() {
    let text = "S  theta: 90.00 Dist: 01000.00 Q: 47\n   theta: 91.00 Dist: 00000.00 Q: 0\n";
    let log = parse_scan_log("a.csv".as_ref(), text).unwrap();
    assert_eq!(
        log.scans[0].readings,
        [RangeReading::Range(1.0), RangeReading::NoReturn]
    );
    assert!((log.scans[0].azimuths[0] + std::f64::consts::FRAC_PI_2).abs() < 1e-12);
}

/// The header of simulated beams, with one column renamed: an error that names the missing one and its place.
#[test]
fn a_csv_with_a_renamed_column_is_refused() {
    let header = "sweep,beam,time_s,azimuth_rad,elevation_rad,reading,range_m,error_code,power_per_m2_sr,returns,\
                  true_range_m,true_object,true_material,true_incidence_rad,sensor_x_m,sensor_y_m,sensor_yaw_rad";
    let text = |header: &str| {
        format!("{header}\n0,0,0,-2.08,0,range,0.523,,0.79,1,0.52,room,wall,0.5,0,0,0\n")
    };
    parse_scan_log("a.csv".as_ref(), &text(header)).unwrap();
    for (known, other) in [
        ("azimuth_rad", "azimuth_deg"),
        ("azimuth_rad", "angle"),
        ("range_m", "range_mm"),
        ("reading", "kind"),
        ("error_code", "code"),
        ("sweep", "scan"),
    ] {
        let renamed = header.replacen(known, other, 1);
        let error = fails(&text(&renamed)).to_string();
        let words = format!("there is no column {known}, but a column {other}");
        assert!(
            error.contains(&words) && error.contains("line 1"),
            "{error}"
        );
    }
    // Columns may be left out, and others added
    let left_out = text(header)
        .replace(",true_range_m", "")
        .replace("1,0.52,", "1,");
    parse_scan_log("a.csv".as_ref(), &left_out).unwrap();
    let added = text(&format!("{header},note")).replace("0,0,0\n", "0,0,0,wet\n");
    parse_scan_log("a.csv".as_ref(), &added).unwrap();
}

#[test]
fn a_csv_with_a_negative_range_is_refused() {
    let error = fails("azimuth_rad,range_m\n0,1.5\n0.1,-1.5\n").to_string();
    assert!(error.contains("line 3, column 5"), "{error}");
    assert!(error.contains("the range -1.5 is negative"), "{error}");
}

#[test]
fn a_csv_with_a_wrong_line_is_refused() {
    let error = fails("sweep,azimuth_deg,range_m\n0,0,1\n0,1,2,5\n0,2,1\n");
    assert_eq!(
        error.to_string(),
        "log.txt, line 3: the line has 4 columns, but the header has 3"
    );
}

#[test]
fn an_unknown_text_is_an_error_that_lists_the_known_logs() {
    let error = fails("hello world\n");
    assert!(
        error
            .to_string()
            .contains("not a scan log of a known format")
    );
    assert!(error.remedy().contains("CARMEN"));
}

fn samples() -> Vec<String> {
    vec![
        tinyslam(2),
        "FLASER 2 1.0 2.0 0 0 0 0 0 0 1.5 host 1.5\n".repeat(2),
        "RAWLASER1 0 -0.5 1 0.5 30 0.01 0 3 1 2 30 3 7 8 9 12.5 host 1\n".repeat(2),
        "S  theta: 90.00 Dist: 01000.00 Q: 47\n   theta: 91.00 Dist: 00000.00 Q: 0\n".into(),
        "0.3,47,-3.1\n0.3,47,-3.0\n0.3,47,-3.1\n".into(),
        "Timestamp: 1.5\nstart_angle: 0\nangle_increment: 0.1\nranges: array('f', [inf, 2.5])\n"
            .into(),
        "sweep,time_s,azimuth_rad,reading,range_m,error_code\n0,0,0,range,1,\n0,0,1,error,,7\n"
            .into(),
    ]
}

proptest! {
    #[test]
    fn a_damaged_log_never_panics(
        sample in 0..7_usize,
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
        cut in any::<prop::sample::Index>(),
    ) {
        let mut bytes = samples()[sample].clone().into_bytes();
        for (at, byte) in damage {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        bytes.truncate(cut.index(bytes.len()) + 1);
        let text = String::from_utf8_lossy(&bytes);
        let _ = parse_scan_log("a".as_ref(), &*text);
    }
}

/// A beam of range 2 m at 30 degrees above the horizon ends 1 m above the sensor.
#[test]
fn beams_with_an_elevation_have_points_in_space() {
    let text = "sweep,azimuth_deg,elevation_deg,range_m\n0,90,30,2.0\n0,0,0,1.5\n0,0,-30,\n";
    let log = parse_scan_log("beams.csv".as_ref(), text).unwrap();
    let scan = &log.scans[0];
    assert!(!scan.is_planar());
    let point = scan.point(0).unwrap();
    assert!((point - nalgebra::Point3::new(0.0, 3f64.sqrt(), 1.0)).norm() < 1e-12);
    assert_eq!(scan.point(1), Some([1.5, 0.0, 0.0].into()));
    assert_eq!(scan.point(2), None);

    // As a recording of a standing lidar, beams without a return are points that are not finite
    let lidar = PacketSource::default();
    let found = parse_recording("beams.csv".as_ref(), text.into(), &lidar, None).unwrap();
    let Content::Clouds(clouds) = found.content else {
        panic!("beams in space are a planar scan");
    };
    assert_eq!(clouds[0].0.len(), 3);
    assert!((clouds[0].0[0] - point).norm() == 0.0 && clouds[0].0[2].x.is_nan());

    // Elevations of zero are a planar scan
    let level = text.replace(",30,", ",0,").replace(",-30,", ",0,");
    let log = parse_scan_log("beams.csv".as_ref(), &level).unwrap();
    assert!(log.scans[0].is_planar());
}
