//! Meshes whose vertices move during a sweep.

use super::scenes::{Wall, scene_at};
use super::{encoder_lidar, measure};
use etendue_physics::beam::SubRayPattern;
use etendue_scene::{Deformation, MeshId, VertexFrame};
use etendue_sensors::lidar::SweepSettings;
use etendue_sensors::trajectory::stationary;
use etendue_sensors::transport::World;
use nalgebra::{Isometry3, Vector3};

/// A wall ahead whose vertices recede at 2 m/s. Four beams (1.5 ms from the first to the last) see
/// them as half way between: off by at most 1.5 mm over the cosine of the incidence, 1.73.
/// To beams that saw it as at time zero the wall would be 0.6 m nearer.
#[test]
fn each_beam_meets_vertices_where_they_are_at_its_time() {
    let wall = Wall::between([4.0, -8.0], [4.0, 8.0], 0.5);
    let scene = scene_at(&[wall], Isometry3::identity());
    let rest = scene.mesh(MeshId(0)).vertices.clone();
    let frame = |time: f64| VertexFrame {
        time,
        vertices: { rest.iter() }
            .map(|vertex| vertex + Vector3::x() * (2.0 * time))
            .collect(),
    };
    let deformation = Deformation::new(vec![frame(0.0), frame(1.0)], false).expect("a deformation");
    let edit = scene.edit().with_deformation(MeshId(0), deformation.into());
    let scene = edit.expect("the number of vertices agrees").finish();
    let sixth = std::f64::consts::TAU / 6.0;
    let lidar = encoder_lidar(200, -0.5 * sixth, sixth / 200.0, SubRayPattern::THREE);
    let start = 0.3;
    let settings = SweepSettings {
        start: Some(start),
        ..SweepSettings::default()
    };
    let world = World::at_wavelength(&scene, 785e-9).expect("grey walls");
    let pose = stationary(Isometry3::identity());
    let measured = measure(&world, &lidar, &settings, pose);
    let (mut worst, mut frozen) = (0.0_f64, f64::INFINITY);
    for (measured, shot) in measured.iter().zip(lidar.shots(0)) {
        let truth = measured.truth.expect("the wall is met").range;
        let at = |time: f64| (4.0 + 2.0 * time) / shot.azimuth.cos();
        worst = worst.max((truth - at(start + shot.time)).abs());
        frozen = frozen.min(truth - at(0.0));
    }
    assert!(worst < 1.75e-3, "{worst}");
    assert!(frozen > 0.5, "{frozen}");
}
