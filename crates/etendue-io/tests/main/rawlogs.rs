//! Rawlogs of MRPT.

use base64::Engine;
use etendue_io::packets::PacketSource;
use etendue_io::points::read_points;
use etendue_io::recording::{Content, read_recording};
use etendue_io::scan_log::{parse_scan_log, read_scan_log};
use etendue_sensors::RangeReading;
use nalgebra::{Isometry2, Vector2};
use std::f64::consts::PI;

/// Written by `carmen2rawlog -z 9` of MRPT 2.5.8 from a CARMEN log of four scans of 181 beams at [`odometry`]. Beam i of scan k has
/// the range 2 + 0.1 k + 0.05 i, and beam 3 one beyond the limit.
const OF_MRPT: &str = "\
    H4sIAAAAAAACA+3Wb0gTYRzA8WdqasvK0kxrlaWZlpY5CRrG3ek0AmOiEQi9SG0XQm7DiWBGGEksiiiSSIs0lf5QSNFfKaIoImsrw8iiPyhFGE\
    UYRhRF9F0KSmgQvbq4H2x3+zwP3IvdfbnGsnJXhcXiLHZbLFm2Yre9vLKootTpsG1wltkryqsC6gY3uJxuu39LHsc0q0GMMZ5QvmxW2+rsNfmF\
    lmrT8YGtL9jsaR7jMmnW/CLHRntBSZEj5EHKXYm9TZmjXNJsDRR/nH7pL9drfl/3XBg8k83mQFlVg2UhmjN93jCO4VgEFiU31MfIPq8Ji8XisA\
    QsCUvGUjEztgxbjmVgMpaF5WCrsFwsDyvA1mKF2DpsPVaCqVgptglzYW6sEqvCtmA1nG/Dt/O7lrUdmAfbie3CdmN7sL3YPmw/VocdwA5i9dgh\
    7DB2BGvCjmItWCt2DDuBncROYaexNuwMdhY7h53HLmKXsXbsCnYVu4Zdx25gN7Fb2G3sDtaB3cO82H2sE3uIdWGPsMfYE+wp9gx7jr3EerBe7B\
    X2GnuD9WFvsXfYe+wD1o99xAawT9hn7Av2FfuGfcd+YELxeYXSUG9QVDVA4b9WhAjCgrBxWDAWgoViodh4zIhNwMKwMGwiNgmbjIVj4dgUbCoW\
    gUVikdg0LAqbjkVj0VgMNgObiZkwEzYLm43NwWKxWGwuNg+Lw+KxeGw+loAtwBKxRCwJW4gtwpKxZCwFW4wtwVIVg8EgDFobY3dcxnA/hAjmk5\
    OrFGTnD7em8V/a1SlVR7at7N1cK/FMMO2S1tvlbxb3qzzYrOZMvVl6s7TaLJ83FVuqt2vUdvUMtat1qF0dmm/XyPcsf7v0ZunN0mqzVDUNM+vt\
    GrVdfZKxu8W1wnhJMv+aLs23a+R7lr9derP0Zmm1WUKkY+n/b7t+Al5jKe/wEgAA";

/// Pose of the robot at a scan of that log.
fn odometry(scan: u32) -> Isometry2<f64> {
    let k = f64::from(scan);
    Isometry2::new(Vector2::new(0.25 * k, 0.01 * k * k), 0.1 * k)
}

/// A rawlog that MRPT wrote is read from its compressed file by every reader.
#[test]
fn a_rawlog_of_mrpt_is_read() {
    let bytes = base64::engine::general_purpose::STANDARD
        .decode(OF_MRPT)
        .unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("made.rawlog");
    std::fs::write(&path, bytes).unwrap();
    let log = read_scan_log(&path).unwrap();
    assert_eq!(log.scans.len(), 4);
    assert!(
        log.warnings[0].contains("the same time"),
        "{:?}",
        log.warnings
    );
    for (k, scan) in (0_u32..).zip(&log.scans) {
        for (i, reading) in (0_u32..).zip(&scan.readings) {
            let expected = 2.0 + 0.1 * f64::from(k) + 0.05 * f64::from(i);
            match reading {
                // Single precision
                RangeReading::Range(range) => assert!((range - expected).abs() < 1e-6 * expected),
                other => assert_eq!((i, *other), (3, RangeReading::NoReturn)),
            }
        }
        // MRPT takes beams of FLASER messages to be half a degree wide
        let half = 0.25 * 181.0_f64.to_radians();
        assert!((scan.azimuths[0] + half).abs() < 1e-6 && (scan.azimuths[180] - half).abs() < 1e-6);
        let pose = scan.odom_from_robot.unwrap();
        assert!((pose.inverse() * odometry(k)).translation.vector.norm() < 1e-6);
        assert!((pose.rotation.angle() - 0.1 * f64::from(k)).abs() < 1e-6);
    }
    let device = PacketSource::default();
    let points = read_points(&path, &device).unwrap();
    assert_eq!((points.sweeps.len(), points.sweeps[0].points), (4, 180));
    let Content::Scans(recorded) = read_recording(&path, &device, None).unwrap().content else {
        panic!("no scans");
    };
    assert_eq!(recorded.scans, log.scans);
}

/// Serialised objects, as the sources of MRPT describe them.
#[derive(Clone, Default)]
struct Object(Vec<u8>);

impl Object {
    fn new(class: &str, version: u8) -> Self {
        let length = u8::try_from(class.len()).unwrap();
        Self([&[0x80 | length], class.as_bytes(), &[version]].concat())
    }

    fn add(mut self, bytes: impl AsRef<[u8]>) -> Self {
        self.0.extend(bytes.as_ref());
        self
    }

    fn numbers<const N: usize>(self, numbers: [f64; N]) -> Self {
        numbers
            .iter()
            .fold(self, |object, number| object.add(number.to_le_bytes()))
    }

    fn singles<const N: usize>(self, numbers: [f32; N]) -> Self {
        numbers
            .iter()
            .fold(self, |object, number| object.add(number.to_le_bytes()))
    }

    fn count(self, count: u32) -> Self {
        self.add(count.to_le_bytes())
    }

    fn label(self, label: &str) -> Self {
        self.count(u32::try_from(label.len()).unwrap()).add(label)
    }

    /// A time, s after that of the first scan, as MRPT stores it.
    fn time(self, seconds: f64) -> Self {
        #[expect(clippy::cast_possible_truncation, reason = "whole ticks")]
        let ticks = ((11_644_473_600.0 + 1.6e9 + seconds) * 1e7).round() as i64;
        self.add(ticks.to_le_bytes())
    }

    fn end(self) -> Vec<u8> {
        self.add([0x88]).0
    }
}

/// A scan of three beams from right to left over half a turn, of a version.
fn scan(version: u8, seconds: f64, label: &str) -> Vec<u8> {
    let pose = match version {
        7 => Object::new("mrpt::poses::CPose3D", 3).numbers([0.0; 12]),
        _ => Object::new("CPose3D", 2).numbers([0.0; 7]),
    };
    let mut object = Object::new(
        if version == 7 {
            "mrpt::obs::CObservation2DRangeScan"
        } else {
            "CObservation2DRangeScan"
        },
        version,
    )
    .singles([std::f32::consts::PI])
    .add([1])
    .singles([30.0])
    .add(pose.end());
    if version < 6 {
        let matrix = Object::new("CMatrix", 0)
            .count(2)
            .count(3)
            .singles([0.0; 6]);
        object = object.add(matrix.end());
    }
    object = object
        .count(3)
        .singles([1.0, 2.0, 3.0])
        .add([1, 0, 1])
        .singles([0.01]);
    if version >= 3 {
        object = object.time(seconds);
    }
    if version >= 4 {
        object = object.singles([0.004]);
    }
    if version >= 5 {
        object = object.label(label).numbers([0.0]);
    }
    if version >= 7 {
        object = object.add([1]).count(7).count(8).count(9);
    }
    object.end()
}

fn odometry_object(seconds: f64, x: f64) -> Vec<u8> {
    let pose = Object::new("CPose2D", 1).numbers([x, 0.0, 0.0]);
    let object = Object::new("CObservationOdometry", 2)
        .add(pose.end())
        .label("ODO")
        .time(seconds);
    object.add([0, 0]).end()
}

/// All versions of scans, among objects of other classes.
#[test]
fn all_versions_of_scans_are_read() {
    for version in 2..=7 {
        let other = Object::new("CObservationImage", 9)
            .add([1, 2, 3, 0x88, 0x97])
            .end();
        let frame = Object::new("CSensoryFrame", 2).count(2);
        let bytes = [
            other.clone(),
            frame.0,
            scan(version, 0.0, "LASER"),
            other,
            vec![0x88],
        ]
        .concat();
        let log = parse_scan_log("a.rawlog".as_ref(), &bytes).unwrap();
        let scan = &log.scans[0];
        let readings = [
            RangeReading::Range(1.0),
            RangeReading::NoReturn,
            RangeReading::Range(3.0),
        ];
        assert_eq!(scan.readings, readings);
        for (azimuth, expected) in scan.azimuths.iter().zip([-0.5 * PI, 0.0, 0.5 * PI]) {
            assert!((azimuth - expected).abs() < 1e-6);
        }
        let intensities: &[f32] = if version == 7 { &[7.0, 8.0, 9.0] } else { &[] };
        assert_eq!(scan.intensities, intensities);
        assert!(version < 3 || (scan.time - 1.6e9).abs() < 1e-6);
        assert_eq!(scan.odom_from_robot, None);
    }
}

/// The odometry is interpolated between the readings before and after a scan; movements are added up.
#[test]
fn scans_have_the_odometry_at_their_times() {
    let x = |bytes: &[u8]| {
        let log = parse_scan_log("a.rawlog".as_ref(), bytes).unwrap();
        log.scans
            .iter()
            .map(|scan| scan.odom_from_robot.map(|p| p.translation.x))
            .collect::<Vec<_>>()
    };
    let bytes = [
        scan(7, 0.0, "L"),
        odometry_object(0.1, 1.0),
        scan(7, 0.15, "L"),
        odometry_object(0.2, 2.0),
        scan(7, 0.25, "L"),
        scan(7, 9.0, "L"),
    ];
    let found = x(&bytes.concat());
    assert_eq!([found[0], found[2], found[3]], [None, Some(2.0), None]);
    // Times have a resolution of 100 ns
    assert!((found[1].unwrap() - 1.5).abs() < 1e-5, "{found:?}");
    let movement = |x: f64| {
        let pose = Object::new("CPose2D", 1).numbers([x, 0.0, 0.0]).end();
        let action = Object::new("CActionRobotMovement2D", 6).count(0).add(pose);
        Object::new("CActionCollection", 0)
            .count(1)
            .add(action.0)
            .end()
    };
    let bytes = [
        movement(0.5),
        scan(7, 0.0, "L"),
        movement(0.25),
        scan(7, 0.1, "L"),
    ];
    assert_eq!(x(&bytes.concat()), [Some(0.5), Some(0.75)]);
}

#[test]
fn rawlogs_that_do_not_determine_a_log_are_errors() {
    let error = |bytes: &[u8]| {
        parse_scan_log("a.rawlog".as_ref(), bytes)
            .unwrap_err()
            .to_string()
    };
    let several = error(&[scan(7, 0.0, "front"), scan(7, 0.1, "rear")].concat());
    assert!(
        several.contains("several sensors: front, rear"),
        "{several}"
    );
    let none = error(&odometry_object(0.0, 1.0));
    assert!(none.contains("no planar scan"), "{none}");
    // A matrix of 2^64 numbers
    let matrix = [
        &b"\x87CMatrix\x00"[..],
        &2_u32.to_le_bytes(),
        &3_u32.to_le_bytes(),
    ]
    .concat();
    let mut large = scan(2, 0.0, "L");
    let at = large
        .windows(matrix.len())
        .position(|window| window == matrix)
        .unwrap();
    large[at + 9..at + 17].fill(0xff);
    assert!(error(&large).contains("no planar scan"));
    // A truncated file gives its whole scans
    let whole = [scan(7, 0.0, "L"), scan(7, 0.1, "L")].concat();
    for end in scan(7, 0.0, "L").len() + 40..whole.len() {
        let log = parse_scan_log("a.rawlog".as_ref(), &whole[..end]).unwrap();
        assert_eq!((log.scans.len(), log.warnings.len()), (1, 1), "{end}");
    }
}
