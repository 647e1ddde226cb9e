//! The experiments of Heiden et al. 2019, section IV (arXiv:1912.01652), beside registration
//! baselines: functions that return tables.
//!
//! All stand in an arena of 1.85 x 0.92 m with walls 0.28 m high and reflectance 0.8, with a Hokuyo
//! URG-04LX of 682 beams and three rays a beam. Errors of a pose are SE(2) distances
//! $\sqrt{\Delta x^2 + \Delta y^2 + \Delta\psi^2}$ with the yaw in rad.

mod baselines;
mod checkerboard;
mod localise;
mod run;
mod scene;
mod table;
mod track_mirror;
mod view;

pub use baselines::{BaselineRow, run_baselines, scan_points};
pub use checkerboard::{BoardReport, BoardRow, BoardSettings, checkerboard};
use etendue_estimate::manifold::{Value, Variable};
use etendue_estimate::model::Measured;
use etendue_physics::{Purpose, Stream};
use etendue_sensors::RangeReading;
pub use localise::{
    LocaliseRow, LocaliseSettings, NoiseRow, localise, localise_anywhere, localise_many,
    localise_noise,
};
use nalgebra::Isometry2;
pub use run::{Effort, Experiment, Outcome};
pub use scene::{Furniture, arena, upright_board, urg_04lx};
pub use table::{Cell, Curve, Table};
pub use track_mirror::{MirrorError, MirrorRow, TrackSettings, track_mirror, track_mirror_many};
pub use view::{Chart, View};

/// The readings of a noise-free prediction with normal noise of standard deviation `sigma` (m).
pub fn readings(shots: &[Measured], sigma: f64, seed: u64) -> Vec<RangeReading> {
    let reading = |(beam, shot): (u32, &Measured)| {
        let mut noise = Stream::new(seed, 0, 0, beam, Purpose::ReceiverNoise);
        shot.range().map_or(RangeReading::NoReturn, |range| {
            RangeReading::Range(range + sigma * noise.normal())
        })
    };
    (0..).zip(shots).map(reading).collect()
}

/// SE(2) distance: m and rad together.
pub fn pose_error(found: &Isometry2<f64>, truth: &Isometry2<f64>) -> f64 {
    let shift = found.translation.vector - truth.translation.vector;
    let turn = (found.rotation / truth.rotation).angle();
    shift.norm().hypot(turn)
}

/// The pose in the plane that a state's first unknown stands for.
pub fn first_pose(state: &[Variable]) -> Option<Isometry2<f64>> {
    match state.first()?.value() {
        Value::Planar(pose) => Some(pose),
        Value::Spatial(pose) => Some(etendue_estimate::model::planar(&pose)),
        Value::Number(_) => None,
    }
}
