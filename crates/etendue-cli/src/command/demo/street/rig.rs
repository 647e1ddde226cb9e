//! The sensors of the vehicle in the town.

use super::driver::{ANTENNA, INERTIAL_PERIOD, wheel};
use crate::failure::Failure;
use etendue::config::camera;
use etendue::config::robot::preset_device;
use etendue::sensors::camera::LightTransport;
use etendue::sensors::rig::{Device, FrameTree, Mount, MountedCamera, Rig};
use nalgebra::Isometry3;

/// Topics of the sensors, in the order of mounting.
pub const TOPICS: [&str; 6] = [
    "/points",
    "/imu",
    "/fix",
    "/camera/image",
    "/left_wheel",
    "/right_wheel",
];

/// Frame rate of the camera, Hz.
const FRAME_RATE: f64 = 2.0;

/// Rig of the vehicle in the frame of the centre of its rear axle, with a lidar by preset.
pub fn rig(lidar: &str) -> Result<Rig, Failure> {
    let mut rig = Rig::new(FrameTree::base_only("base"));
    let lidar_mount = Mount {
        latency: 0.03,
        ..mount("lidar", [1.2, 0.0, 1.9])
    };
    rig.mount(lidar_mount, device(lidar)?)?;
    let imu = Mount {
        rate: Some(1.0 / INERTIAL_PERIOD),
        window: Some(INERTIAL_PERIOD),
        latency: 0.002,
        ..mount("imu", [1.0, 0.0, 0.5])
    };
    rig.mount(imu, device("adis16470")?)?;
    let gnss = Mount {
        rate: Some(5.0),
        latency: 0.1,
        ..mount("gnss", ANTENNA)
    };
    rig.mount(gnss, device("ublox-zed-f9p")?)?;
    // Behind the windscreen, looking forward
    let camera_mount = Mount {
        latency: 0.05,
        ..mount("camera", [1.6, 0.0, 1.4])
    };
    rig.mount(camera_mount, Device::Camera(Box::new(camera()?)))?;
    for (name, left) in [("left_wheel", 0.8), ("right_wheel", -0.8)] {
        let (mount, encoder) = wheel(name, left);
        rig.mount(mount, encoder)?;
    }
    Ok(rig)
}

/// Mount at a position in the frame of the vehicle, m, at the rate of its device and without
/// latency.
fn mount(name: &str, [x, y, z]: [f64; 3]) -> Mount {
    Mount {
        name: name.into(),
        frame: "base".into(),
        frame_from_sensor: Isometry3::translation(x, y, z),
        rate: None,
        offset: 0.0,
        window: None,
        latency: 0.0,
        filters: vec![],
    }
}

fn device(preset: &str) -> Result<Device, Failure> {
    preset_device(preset).ok_or_else(|| {
        Failure::argument(
            format!("unknown sensor \"{preset}\""),
            "`etendue sensors` lists them",
        )
    })
}

/// The ideal camera with half of its width and height.
fn camera() -> Result<MountedCamera, Failure> {
    let mut camera = camera::preset("ideal")?;
    camera.width /= 2;
    camera.height /= 2;
    let intrinsics = &mut camera.intrinsics;
    intrinsics.focal = intrinsics.focal.map(|focal| 0.5 * focal);
    intrinsics.centre = [camera.width, camera.height].map(|size| 0.5 * (f64::from(size) - 1.0));
    camera.frame_rate = FRAME_RATE;
    Ok(MountedCamera {
        camera,
        samples: 4,
        light: LightTransport::default(),
        depth: false,
    })
}
