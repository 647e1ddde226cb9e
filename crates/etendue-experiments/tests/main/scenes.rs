//! Scenes shared by several tests.

use etendue_estimate::model::Model;
use etendue_experiments::arena::{Furniture, arena, urg_04lx};
use etendue_physics::phase::PowerDependentBias;
use etendue_sensors::lidar::{Lidar, Receiver, ScanPattern};
use nalgebra::{Isometry3, Vector3};

/// Arena with a mirror, a pane and a box, scanned from several poses with a biased receiver.
pub fn rich_model(scans: u32) -> Model {
    let furniture = [
        Furniture::Mirror {
            name: "mirror",
            pose: [0.5, 0.1, 2.8],
            width: 0.3,
        },
        Furniture::Pane {
            name: "pane",
            pose: [0.1, -0.25, 1.4],
            width: 0.25,
        },
        Furniture::Carton {
            name: "box",
            pose: [-0.3, 0.2, 0.4],
            side: 0.12,
        },
    ];
    let mut lidar = urg_04lx();
    if let Receiver::Phase(receiver) = &mut lidar.receiver {
        receiver.bias = PowerDependentBias::Range([0.01, -0.02, 0.003]);
    }
    let pose = |scan: u32| {
        let shift = 0.07 * f64::from(scan);
        Isometry3::new(
            Vector3::new(shift, 0.03 - shift, 0.01),
            Vector3::new(0.0, 0.01, 0.1 + shift),
        )
    };
    Model::new(arena(&furniture), &lidar, (0..scans).map(pose).collect()).expect("a model")
}

/// The sensor with fewer beams over the same field of view.
pub fn small_lidar(beams: u32) -> Lidar {
    let mut lidar = urg_04lx();
    if let ScanPattern::Encoder(encoder) = &mut lidar.pattern {
        encoder.step *= f64::from(encoder.columns / beams);
        encoder.columns = beams;
    }
    lidar
}
