//! What filters do to data.

use super::{events, lidar, mount, rig};
use etendue_physics::ambient::Barometer;
use etendue_physics::inertial::{Imu, Triad};
use etendue_sensors::dynamics::{CircularTrajectory, StateTrajectory, Stationary};
use etendue_sensors::filter::{Filter, FilterContext, FilterRun, UserFilter};
use etendue_sensors::rig::{
    Cloud, Data, DataKind, Device, FrameTree, Mount, Rig, RigError, SECOND,
};
use nalgebra::Isometry3;
use std::sync::Arc;

fn filtered(filters: Vec<Filter>) -> Mount {
    Mount {
        filters,
        ..mount("lidar", None, 0.0)
    }
}

fn clouds(filters: Vec<Filter>, path: &dyn StateTrajectory) -> Vec<(usize, Cloud)> {
    let rig = rig([(filtered(filters), lidar())]);
    let events = events(&rig, path, SECOND / 2).into_iter();
    events
        .filter_map(|event| match event.data {
            Data::Cloud(cloud) => Some((event.output, cloud)),
            _ => None,
        })
        .collect()
}

/// Greatest distance of the points from the walls of the room at a pose, m.
fn off_walls(cloud: &Cloud, world_from_sensor: &Isometry3<f64>) -> f64 {
    let off = cloud.points.iter().map(|point| {
        let at = world_from_sensor * point.position;
        (at.x.abs() - 4.0).abs().min((at.y.abs() - 3.0).abs())
    });
    off.fold(0.0, f64::max)
}

/// At 2 m/s a turn of 0.1 s is bent by up to 0.2 m; compensated, points are on the walls (to
/// 1e-6 m measured: what is left is the receiver's rounding).
#[test]
fn motion_compensated_points_are_on_the_walls_and_others_are_not() {
    let drive = CircularTrajectory {
        start: Isometry3::translation(0.0, -1.5, 0.0),
        radius: 1.5,
        speed: 2.0,
    };
    let filters = vec![
        Filter::ToCloud,
        Filter::Tap { name: "raw".into() },
        Filter::Compensate { at: 0.0 },
    ];
    let mut seen = [0, 0];
    for (number, (output, cloud)) in clouds(filters, &drive).iter().enumerate() {
        let start = (number / 2) as f64 * 0.1;
        let base = drive.state(start).world_from_body;
        let off = off_walls(cloud, &(base * Isometry3::translation(0.0, 0.0, 0.5)));
        assert!(cloud.points.len() > 80);
        if *output == 0 {
            assert!(off < 1e-5, "{off}");
        } else {
            assert!(off > 0.05, "{off}");
        }
        seen[*output] += 1;
    }
    assert_eq!(seen, [5, 5]);
}

#[test]
fn points_are_cropped_by_distance_and_merged_by_voxel() {
    let still = Stationary(Isometry3::identity());
    let of = |filters: Vec<Filter>| {
        let filters = [vec![Filter::ToCloud], filters].concat();
        clouds(filters, &still).swap_remove(0).1.points
    };
    let all = of(vec![]);
    let near = of(vec![Filter::Distance { limits: [0.0, 3.5] }]);
    assert!(!near.is_empty() && near.len() < all.len());
    assert!(near.iter().all(|point| point.position.coords.norm() <= 3.5));
    // No face of a cube lies in a wall: there the last digit of a range would say which cube.
    let size = 1.1;
    let merged = of(vec![Filter::Voxels { size }]);
    assert!(merged.len() < all.len() / 2);
    for point in &merged {
        let near = |other: &etendue_sensors::rig::CloudPoint| {
            (other.position - point.position).norm() < size
        };
        assert!(all.iter().any(near), "{point:?}");
    }
}

/// White noise of sd 1 through a filter at 5 Hz, sampled at 100 Hz: sd sqrt(a/(2-a)) with
/// a = 1 - exp(-2 pi 5/100): 0.396.
#[test]
fn a_low_pass_filter_reduces_noise_by_its_closed_form() {
    let imu = Imu {
        gyroscope: Triad {
            density: 0.1,
            ..Triad::default()
        },
        ..Imu::default()
    };
    let mounted = Mount {
        filters: vec![Filter::LowPass { cutoff: 5.0 }],
        ..mount("imu", Some(100.0), 0.0)
    };
    let rig = rig([(mounted, Device::Imu(Box::new(imu)))]);
    let events = events(&rig, &Stationary(Isometry3::identity()), 100 * SECOND);
    let squares = events.iter().map(|event| match &event.data {
        Data::Imu(reading) => reading.angular_velocity.norm_squared() / 3.0,
        _ => f64::NAN,
    });
    let sd = (squares.sum::<f64>() / events.len() as f64).sqrt();
    assert!((sd / 0.396 - 1.0).abs() < 0.05, "{sd}");
}

/// Counts what went through it.
#[derive(Debug)]
struct Counted;

impl UserFilter for Counted {
    fn name(&self) -> &'static str {
        "counted"
    }

    fn output(&self, input: DataKind) -> Option<DataKind> {
        (input == DataKind::Height).then_some(DataKind::WheelCounts)
    }

    fn start(&self) -> Box<dyn FilterRun> {
        let mut count = 0;
        Box::new(move |_: Data, _: &FilterContext| {
            count += 1;
            Data::WheelCounts(count)
        })
    }
}

#[test]
fn user_defined_filters_are_checked_and_applied() {
    let mounted = |filters| Mount {
        filters,
        ..mount("barometer", Some(10.0), 0.0)
    };
    let device = || Device::Barometer(Barometer::default());
    let fits = rig([(
        mounted(vec![Filter::ToHeight, Filter::User(Arc::new(Counted))]),
        device(),
    )]);
    let events = events(&fits, &Stationary(Isometry3::identity()), SECOND);
    assert_eq!(events[9].data, Data::WheelCounts(10));
    let mut rig = Rig::new(FrameTree::base_only("base"));
    let error = rig.mount(mounted(vec![Filter::User(Arc::new(Counted))]), device());
    assert_eq!(
        error.expect_err("a pressure is no height").to_string(),
        "the sensor \"barometer\": filter 0, counted, does not accept pressures"
    );
}

#[test]
fn sensors_that_cannot_be_mounted_are_refused_by_name() {
    let mut rig = Rig::new(FrameTree::base_only("base"));
    let imu = || Device::Imu(Box::default());
    let mut error = |mount: Mount, device| {
        let error = rig.mount(mount, device).expect_err("refused");
        error.to_string()
    };
    let lost = Mount {
        frame: "mast".into(),
        ..mount("imu", Some(10.0), 0.0)
    };
    assert!(error(lost, imu()).contains("\"mast\", which does not exist"));
    assert!(error(mount("imu", Some(0.0), 0.0), imu()).contains("the rate is 0 Hz"));
    assert!(error(mount("imu", Some(10.0), -0.1), imu()).contains("the latency is -0.1 s"));
    assert!(error(mount("imu", None, 0.0), imu()).contains("has no rate"));
    assert!(
        error(mount("lidar", Some(20.0), 0.0), lidar()).contains("is given by its description")
    );
    let twice = Mount {
        filters: vec![Filter::Tap { name: "imu".into() }],
        ..mount("imu", Some(10.0), 0.0)
    };
    assert!(error(twice, imu()).contains("two outputs are named \"imu\""));
    let empty = Mount {
        filters: vec![Filter::LowPass { cutoff: 0.0 }],
        ..mount("imu", Some(10.0), 0.0)
    };
    let problem = rig.mount(empty, imu()).expect_err("refused");
    assert!(matches!(problem, RigError::Graph { .. }));
}
