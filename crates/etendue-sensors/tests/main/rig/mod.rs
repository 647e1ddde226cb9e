//! Rigs: clocks, lags, filters, and results that depend on nothing else.

mod closed_loop;
mod filters;
mod physics;
mod timing;

use etendue_physics::Spectrum;
use etendue_physics::beam::SubRayPattern;
use etendue_physics::surface::{Lobe, Material};
use etendue_scene::{
    MaterialId, MeshId, NamedMaterial, Object, Scene, SceneBuilder, primitive::cuboid,
};
use etendue_sensors::dynamics::StateTrajectory;
use etendue_sensors::rig::{Device, Environment, Event, FrameTree, Mount, Rig, RigRun, replay};
use nalgebra::Isometry3;
use std::ops::ControlFlow;

/// A room of 8 m x 6 m x 3 m with its floor at z = 0.
pub fn room() -> Scene {
    let mesh = cuboid([8.0, 6.0, 3.0]).expect("a box").inside_out();
    SceneBuilder {
        materials: vec![NamedMaterial {
            name: "wall".into(),
            material: Material {
                lobes: vec![Lobe::lambert(Spectrum::Constant(0.8))],
            },
        }],
        meshes: vec![mesh.into()],
        objects: vec![Object {
            name: "room".into(),
            mesh: MeshId(0),
            world_from_object: Isometry3::translation(0.0, 0.0, 1.5),
            material: MaterialId(0),
            mask: u32::MAX,
        }],
        ..SceneBuilder::default()
    }
    .build()
    .expect("a scene")
}

/// A sensor on the base with times in s.
pub fn mount(name: &str, rate: Option<f64>, latency: f64) -> Mount {
    Mount {
        name: name.into(),
        frame: "base".into(),
        frame_from_sensor: Isometry3::translation(0.0, 0.0, 0.5),
        rate,
        offset: 0.0,
        window: None,
        latency,
        filters: vec![],
    }
}

/// A rig of these sensors.
pub fn rig(sensors: impl IntoIterator<Item = (Mount, Device)>) -> Rig {
    let mut rig = Rig::new(FrameTree::base_only("base"));
    for (mount, device) in sensors {
        rig.mount(mount, device).expect("it fits");
    }
    rig
}

/// A planar lidar of 90 beams all round, 10 turns a second, without noise.
pub fn lidar() -> Device {
    let step = std::f64::consts::TAU / 90.0;
    let first = -std::f64::consts::PI;
    let mut lidar = crate::phase::encoder_lidar(90, first, step, SubRayPattern::Centre);
    lidar.name = "planar".into();
    lidar.limits.far = 20.0;
    Device::Lidar(Box::new(lidar))
}

/// Every event of a run along a path.
pub fn events(rig: &Rig, path: &dyn StateTrajectory, end: i64) -> Vec<Event> {
    let (scene, environment) = (room(), Environment::default());
    let mut run = RigRun::new(rig, &scene, &environment, 7, end).expect("it runs");
    let mut events = Vec::new();
    replay(&mut run, path, |event| {
        events.push(event);
        ControlFlow::Continue(())
    });
    events
}
