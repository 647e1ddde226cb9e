//! Claims about planar scans.

use super::*;

/// Lidar of one channel. Its view is not zero, so that no beam is parallel to the floor.
const PLANAR_LIDAR: Lidar = Lidar {
    columns: 720,
    channels: 1,
    view: 1e-6,
    ..LIDAR
};

/// A planar lidar in a room with obstacles drives, stops, and turns by 12 degrees per scan. Its poses stay in the plane,
/// its errors are small and have the size of the stated standard deviations.
#[test]
fn planar_scans_are_mapped_in_the_plane() {
    let lidar = Lidar {
        noise: 0.005,
        seed: 3,
        ..PLANAR_LIDAR
    };
    let turn = |degrees: f64| Vector3::z() * degrees.to_radians();
    let pose = |number: u32| {
        let driven = f64::from(number.min(20));
        let turned = f64::from(number.saturating_sub(25));
        let position = Vector3::new(0.1 * driven - 2.0, 0.03 * driven, 0.0);
        let rotation = se3::rotation_exp(&turn(2.0 * driven + 12.0 * turned));
        Isometry3::from_parts(position.into(), rotation)
    };
    let mut mapper = Mapper::new(MapperOptions::planar());
    let mut squares = 0.0;
    for number in 0..40 {
        let scan = lidar.still(&furnished_room(), number, &pose(number));
        let prior = (number == 0).then(|| pose(0));
        let step = mapper.add(&scan, prior).expect("a valid scan");
        let found = step.world_from_lidar;
        // The pose is in the plane, exactly.
        let [roll, pitch, yaw] = <[f64; 3]>::from(found.rotation.euler_angles());
        assert_eq!([found.translation.z, roll, pitch], [0.0; 3], "{number}");
        // Measured: at most 1.2 mm and 0.015 degrees.
        let error = position_error(&step, &pose(number));
        assert!(error < 3e-3, "{number}: {error}");
        let of_yaw = (yaw - pose(number).rotation.euler_angles().2).to_degrees();
        assert!(of_yaw.abs() < 0.05, "{number}: {of_yaw}");
        // The height has no uncertainty, the others have.
        let quality = step.quality;
        assert_ne!(quality.verdict, ScanVerdict::Lost, "{number}: {quality:?}");
        let sd = quality.uncertainty.position_sd();
        assert_eq!(sd[2], 0.0);
        if number > 0 {
            squares += (error / sd.norm()).powi(2) / 39.0;
        }
    }
    // Measured: 0.28.
    let rms = squares.sqrt();
    assert!((0.1..1.5).contains(&rms), "{rms}");
}

/// In a bare corridor the position along its axis is degenerate, and no other direction is.
#[test]
fn planar_scans_do_not_determine_the_position_along_a_corridor() {
    let mut mapper = Mapper::new(MapperOptions::planar());
    for number in 0..6 {
        let pose = Isometry3::translation(0.1 * f64::from(number), 0.1, 0.0);
        let scan = PLANAR_LIDAR.still(&bare_corridor(), number, &pose);
        let step = mapper.add(&scan, Some(pose)).expect("a valid scan");
        if number > 0 {
            let [along] = step.quality.degenerate[..] else {
                panic!("{number}: {:?}", step.quality);
            };
            assert_eq!(along.motion, DegenerateMotion::Translation);
            assert!(along.in_world.x > 0.99, "{along:?}");
        }
    }
}

/// Odometry with errors of the height, of roll and of pitch: the poses are those of a level lidar at the height of the
/// first, and as accurate as without.
#[test]
fn planar_poses_have_the_height_of_the_first_and_no_tilt() {
    let mut draw = Stream::new(5, 0, 0, 0, Purpose::Search);
    let mut mapper = Mapper::new(MapperOptions::planar());
    for number in 0..8 {
        let pose = Isometry3::translation(0.1 * f64::from(number) - 2.0, 0.2, 0.3);
        let scan = PLANAR_LIDAR.still(&furnished_room(), number, &pose);
        let error = Vector6::from_fn(|_, _| 0.02 * draw.normal());
        let prior = if number == 0 {
            pose
        } else {
            pose * se3::exp(&error)
        };
        let step = mapper.add(&scan, Some(prior)).expect("a valid scan");
        let found = step.world_from_lidar;
        let (roll, pitch, _) = found.rotation.euler_angles();
        assert_eq!(
            [found.translation.z, roll, pitch],
            [0.3, 0.0, 0.0],
            "{number}"
        );
        let error = position_error(&step, &pose);
        assert!(error < 8e-3, "{number}: {error}");
    }
}
