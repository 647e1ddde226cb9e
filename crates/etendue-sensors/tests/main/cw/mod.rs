//! Sweeps of continuous-wave lidars through small scenes.

mod ambient;
mod deforming;
mod derivatives;
mod golden;
mod moving;
mod one_pipeline;
mod physics;
mod scenes;

use etendue_physics::beam::SubRayPattern;
use etendue_physics::phase::{
    Ambiguity, AutomaticGain, Bias, Combination, Modulation, Noise, SamplingScheme,
};
use etendue_sensors::cw::{Beam, CwLidar};
use etendue_sensors::lidar::{PhaseMethod, PhaseReceiver};

/// A lidar without noise, rounding or thresholds with beams at these azimuths (degrees).
pub fn ideal(azimuths_deg: &[f64], pattern: SubRayPattern) -> CwLidar<f64> {
    let beams = azimuths_deg.iter().map(|azimuth| Beam {
        azimuth: azimuth.to_radians(),
        elevation: 0.0,
        time: 0.0,
    });
    CwLidar {
        beams: beams.collect(),
        turn_time: 0.1,
        wavelength: 785e-9,
        half_tangent: 0.005,
        pattern,
        azimuth_jitter: 0.0,
        resolution: None,
        receiver: PhaseReceiver {
            modulation: Modulation::URG_04LX,
            sampling: SamplingScheme::Pair,
            converter_bits: None,
            gain: AutomaticGain {
                target: 0.5,
                strongest: 1e9,
                weakest: 1e-9,
            },
            noise: Noise::default(),
            window: None,
            detectable: 0.0,
            sufficient: 0.0,
            ambiguity: Ambiguity {
                nearest: 0.0,
                farthest: 5.6,
                slack: 0.1,
                gate: 1.0,
                combination: Combination::Mean,
            },
            bias: Bias::None,
            method: PhaseMethod::ClosedForm,
            full_overlap: 0.0,
        },
    }
}

/// The fan of the URG-04LX.
fn fan() -> Vec<Beam> {
    let step = std::f64::consts::TAU / 1024.0;
    Beam::fan(682, -340.0 * step, step, 0.1)
}
