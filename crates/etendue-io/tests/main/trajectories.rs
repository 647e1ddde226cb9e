//! Valid and invalid trajectory files.

use crate::recordings::recording as data;
use etendue_io::trajectory::{parse_kitti, parse_tum, read_kitti};

#[test]
fn bad_trajectories_are_refused_with_their_line() {
    let tum = |text: &str| parse_tum("t.txt".as_ref(), text).unwrap_err();
    for (text, line, expected) in [
        ("0 0 0 0 0 0 0 1\n0 1 0 0 0 0 0 1\n", 2, "not later"),
        ("# c\n1 0 0 0 0 0 0 1\n0.5 1 0 0 0 0 0 1\n", 3, "not later"),
        ("nan 0 0 0 0 0 0 1\n", 1, "not finite"),
        ("0 inf 0 0 0 0 0 1\n", 1, "not finite"),
        ("0 0 0 0 0 0 0 2\n", 1, "norm 2"),
        ("0 0 0 0 0 0 0\n", 1, "7 numbers"),
        ("0 0 0 0 0 0 0 x\n", 1, "\"x\""),
    ] {
        let error = tum(text).to_string();
        assert!(
            error.starts_with(&format!("t.txt, line {line}: ")),
            "{error}"
        );
        assert!(error.contains(expected), "{error}");
    }
    assert!(tum("").to_string().contains("no pose"));
    let error = parse_kitti("k.txt".as_ref(), "2 0 0 0 0 1 0 0 0 0 1 0\n", 0.1).unwrap_err();
    assert!(error.to_string().contains("not a rotation"), "{error}");
}

#[test]
#[ignore = "needs recordings: see CONTRIBUTING.md"]
fn a_recorded_drive_reads_as_a_smooth_trajectory() {
    let name = "ouster_sdk_samples/OS-1-128_v3.0.1_1024x10_20230216_142857_poses_kitti.txt";
    let path = data(name);
    let trajectory = read_kitti(&path, 0.1).unwrap();
    assert!((trajectory.span()[1] - 111.2).abs() < 1e-6);
    let speed = |t: f64| {
        let [a, b] = [t, t + 0.1].map(|t| trajectory.pose(t).unwrap().translation.vector);
        (b - a).norm() / 0.1
    };
    assert!((0..1100).all(|i| speed(f64::from(i) * 0.1) < 40.0));
}
