//! Claims about scans with few points on planes.

use super::*;

/// Shrubs of 30 leaves of 5 to 30 cm each, on flat ground; other places for each seed.
fn shrubs(seed: u64) -> Place {
    let mut draw = Stream::new(seed, 0, 0, 0, Purpose::Search);
    let mut uniform = |low: f64, high: f64| low + (high - low) * draw.uniform();
    let mut obstacles = Vec::new();
    for _ in 0..60 {
        let centre = [uniform(-20.0, 20.0), uniform(-20.0, 20.0), 0.0];
        if centre[0].hypot(centre[1]) < 3.0 {
            continue;
        }
        for _ in 0..30 {
            let low = centre.map(|c| c + uniform(-1.2, 1.2));
            let high = low.map(|c| c + uniform(0.05, 0.3));
            obstacles.push(Cuboid { low, high });
        }
    }
    Place {
        room: Cuboid {
            low: [-100.0, -100.0, -1.2],
            high: [100.0, 100.0, 60.0],
        },
        obstacles,
    }
}

/// Lidar of 64 channels over 40 degrees, 10 mm of noise.
const LIDAR_AMONG_SHRUBS: Lidar = Lidar {
    columns: 1024,
    channels: 64,
    view: 40.0,
    noise: 0.01,
    seed: 6,
};

/// Pose of a scan of a robot that turns and tilts by 15 degrees from scan to scan.
fn on_rough_ground(number: u32) -> Isometry3<f64> {
    let turned = [0.0, 10.0, 2.0, -8.0, 3.0, 0.0][number as usize % 6];
    let tilt = [0.0, 8.0, -3.0, 5.0, -6.0, 2.0][number as usize % 6];
    let degrees = Vector3::new(tilt, -0.7 * tilt, turned);
    let position = Vector3::new(0.25 * f64::from(number), 0.1, 0.02 * tilt);
    Isometry3::from_parts(
        position.into(),
        se3::rotation_exp(&degrees.map(f64::to_radians)),
    )
}

/// The ground determines the height and the tilt only, and the leaves the other directions.
#[test]
fn shrubs_are_registered_by_their_points() {
    let poses: Vec<_> = (0..6).map(on_rough_ground).collect();
    let steps = mapped(&shrubs(11), &LIDAR_AMONG_SHRUBS, &poses);
    // The first scan has its true pose as prior.
    for (step, truth) in steps.iter().zip(&poses).skip(1) {
        // Measured: at most 8 mm, 2.2 stated standard deviations, and 0.08 degrees. With planes only, 1.7 m and 10 degrees; with points
        // only where fewer than three pairs determine a direction, 33 mm and 0.34 degrees; with dense points only, 15 mm and 0.13 degrees.
        let error = position_error(step, truth);
        assert!(error < 0.03, "{error}");
        let angle = truth.rotation.angle_to(&step.world_from_lidar.rotation);
        assert!(angle.to_degrees() < 0.2, "{}", angle.to_degrees());
        // Measured: 3 to 6 mm.
        let sd = step.quality.uncertainty.position.sd;
        assert!(error < 3.0 * sd && sd < 0.02, "{sd}");
        assert_eq!(step.quality.verdict, ScanVerdict::Good);
    }
    assert_same_on_any_threads(&shrubs(11), &LIDAR_AMONG_SHRUBS, &poses[..3]);
}

/// A narrow view sees other parts of the ground after the lidar tilts: few samples on planes agree with the map. The leaves do.
#[test]
fn the_overlap_of_a_tilted_narrow_view_is_that_of_its_leaves() {
    let lidar = Lidar {
        channels: 32,
        view: 14.0,
        ..LIDAR_AMONG_SHRUBS
    };
    let poses: Vec<_> = (0..2).map(on_rough_ground).collect();
    for seed in [11, 12] {
        let steps = mapped(&shrubs(seed), &lidar, &poses);
        // Measured: 6 and 7 mm; overlaps of 0.53 and 0.49, on planes alone 0.30 and 0.26.
        let error = position_error(&steps[1], &poses[1]);
        assert!(error < 0.02, "{error}");
        let overlap = steps[1].quality.overlap.expect("a registered scan");
        assert!(overlap > 0.4, "{overlap}");
        assert_eq!(steps[1].quality.verdict, ScanVerdict::Good);
    }
}

/// Few points of sixteen rings have other rings within 0.6 m: these determine the pose coarsely, and all points determine it well.
#[test]
fn sixteen_rings_among_shrubs_are_registered_by_all_points() {
    let lidar = Lidar {
        columns: 1800,
        channels: 16,
        view: 30.0,
        ..LIDAR_AMONG_SHRUBS
    };
    let poses: Vec<_> = (0..2).map(on_rough_ground).collect();
    for seed in [12, 13] {
        let steps = mapped(&shrubs(seed), &lidar, &poses);
        let error = position_error(&steps[1], &poses[1]);
        // Measured: 25 and 31 mm, 0.4 and 1.2 stated standard deviations.
        assert!(error < 0.06, "{error}");
        let sd = steps[1].quality.uncertainty.position.sd;
        assert!(error < 3.0 * sd && sd < 0.1, "{sd}");
        assert_eq!(steps[1].quality.verdict, ScanVerdict::Good);
    }
}

/// An error of 50 mm that all corrected ranges have displaces a scan and the points of the last scans alike: it adds little to the
/// deviation of a pose.
#[test]
fn a_common_error_of_corrected_ranges_cancels_between_points_off_planes() {
    let position_sd = |error: f64| {
        let mut mapper = Mapper::new(MapperOptions::default());
        mapper = mapper.with_correction_errors(move |_, _| [error, 0.0]);
        let mut last = None;
        for number in 0..3 {
            let pose = on_rough_ground(number);
            let scan = LIDAR_AMONG_SHRUBS.still(&shrubs(11), number, &pose);
            let prior = (number == 0).then_some(pose);
            last = Some(mapper.add(&scan, prior).expect("a valid scan"));
        }
        let step = last.expect("three scans");
        step.quality.uncertainty.position_sd()
    };
    let [with, without] = [0.05, 0.0].map(position_sd);
    let squares = with.component_mul(&with) - without.component_mul(&without);
    // Measured: 1.1 mm; 8 mm where the error is that of the last scan only.
    let added = squares.amax().sqrt();
    assert!(added < 2e-3, "{added}");
}

mod long_tests {
    use super::*;

    /// Robots that turn, tilt and step aside at random from scan to scan, each among other shrubs. Where the shrubs determine the poses, errors
    /// are small and the scans good; where they do not, the stated standard deviations are those of the motion.
    #[test]
    #[ignore = "60 s on two cores: just long"]
    fn errors_among_shrubs_are_within_three_stated_deviations() {
        let mut good = 0;
        for seed in 0..16 {
            let mut draw = Stream::new(seed, 0, 0, 0, Purpose::ReceiverNoise);
            let pose = |number: u32| {
                let is_later = f64::from(number.min(1));
                let degrees = Vector3::new(1.8, 1.2, 2.4).map(|sd| is_later * sd * draw.normal());
                let [y, z] = [0.1, 0.02].map(|sd| sd * draw.normal());
                let position = Vector3::new(0.25 * f64::from(number), y, z);
                let rotation = se3::rotation_exp(&degrees.map(f64::to_radians));
                Isometry3::from_parts(position.into(), rotation)
            };
            let poses: Vec<_> = (0..8).map(pose).collect();
            let lidar = Lidar {
                columns: 512,
                channels: 32,
                view: 40.0,
                noise: 0.01,
                seed,
            };
            let steps = mapped(&shrubs(seed), &lidar, &poses);
            // The first scan has its true pose as prior.
            for (step, truth) in steps.iter().zip(&poses).skip(1) {
                // Measured: at most 2.6 deviations per axis, in 16 drives of seven scans; 58 mm in good scans.
                let error = step.world_from_lidar.translation.vector - truth.translation.vector;
                let ratio = error.component_div(&step.quality.uncertainty.position_sd());
                assert!(ratio.amax() < 3.0, "{seed}: {error}");
                if step.quality.verdict == ScanVerdict::Good {
                    assert!(error.norm() < 0.1, "{seed}: {error}");
                    good += 1;
                }
            }
        }
        // Measured: 108 of 112.
        assert!(good >= 95, "{good}");
    }
}
