//! Conditions for direct returns: pulsed lidars whose light needs no ray trees.

use crate::lidar::light_model::LightModel;
use crate::lidar::receiver::{EchoModel, PreparedPulsed, PreparedReceiver};
use crate::lidar::sweep::Simulator;
use etendue_physics::surface::PreparedMaterial;
use etendue_scene::MaterialId;

/// A pulsed lidar whose light may return directly, with the properties of the materials.
#[derive(Clone)]
pub(in crate::lidar) struct DirectReturns {
    pub pulsed: PreparedPulsed,
    /// For each material: whether paths end there, so that its light returns directly or not at all.
    pub ends: Vec<bool>,
    /// Whether paths continue at any material.
    pub any_continues: bool,
    /// For each material: whether it has a noise profile. Empty if no profile applies.
    pub calibrated: Vec<bool>,
    /// How shots are reported.
    pub report: Report,
    /// Whether any channel has a range offset.
    pub offset: bool,
}

/// How shots with direct returns are reported.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::lidar) enum Report {
    /// Sixteen at a time, of one ray each, with the closed-form receiver.
    SingleRays,
    /// Sixteen at a time, of several rays that merge to an echo, with the closed-form receiver and without noise profiles.
    MergedRays,
    /// One by one.
    OneByOne,
}

impl DirectReturns {
    /// The direct returns of a pulsed lidar; none if the receiver is not pulsed, or if detections have
    /// other causes than the direct light of surfaces: ambient light, backscatter, path tracing, objects
    /// with poses of their own, pointing jitter, or false alarms.
    pub fn new(plain: &Simulator<f64>) -> Option<Self> {
        // Exclude light and noise without a vectorised form.
        let PreparedReceiver::Pulsed(pulsed) = &plain.receiver else {
            return None;
        };
        let other_light = plain.ambient.is_some() || plain.air.is_detected();
        let other_paths = !plain.world.has_poses_of_scene()
            || matches!(plain.settings.light, LightModel::Paths(_));
        let other_rays = plain.lidar.beam.azimuth_jitter > 0.0;
        if pulsed.receiver.false_alarms || other_light || other_paths || other_rays {
            return None;
        }
        // Tabulate the properties of the materials.
        let profiles = plain.world.profiles();
        let with_profiles = !plain.settings.without_noise && !profiles.is_empty();
        let materials = plain.world.materials();
        let ends: Vec<bool> = materials.iter().map(PreparedMaterial::ends_paths).collect();
        let numbers = (0..).zip(materials).filter(|_| with_profiles);
        let analytic = pulsed.receiver.echoes == EchoModel::Analytic;
        let per_shot = plain.beam_rays.count();
        let channels = &plain.lidar.channels;
        Some(Self {
            pulsed: *pulsed,
            any_continues: ends.contains(&false),
            ends,
            calibrated: numbers
                .map(|(number, _)| profiles.profile(MaterialId(number)).is_some())
                .collect(),
            report: match per_shot {
                1 if analytic => Report::SingleRays,
                _ if analytic && !with_profiles => Report::MergedRays,
                _ => Report::OneByOne,
            },
            offset: channels.iter().any(|channel| channel.range_offset != 0.0),
        })
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use crate::lidar::air::Air;
    use crate::lidar::beam::Beam;
    use crate::lidar::channel::Channel;
    use crate::lidar::correlated_noise::CorrelatedNoise;
    use crate::lidar::description::Lidar;
    use crate::lidar::hooks::Hooks;
    use crate::lidar::intensity::Intensity;
    use crate::lidar::pattern::{Columns, ScanPattern, Spinning};
    use crate::lidar::range_limits::RangeLimits;
    use crate::lidar::receiver::{PulsedReceiver, Receiver, Sensitivity};
    use crate::lidar::settings::SweepSettings;
    use crate::lidar::trace::trace_of;
    use crate::transport::World;
    use etendue_physics::beam::{BeamShape, BeamWidth, Divergence, DivergenceAt};
    use etendue_physics::pulse::{Discriminator, IntensityResponse, Pulse, ReturnMode};
    use etendue_physics::surface::{Lobe, Material};
    use etendue_scene::{MeshId, NamedMaterial, Object, Scene, SceneBuilder, primitive};
    use nalgebra::Isometry3;

    /// A spinning lidar of one channel with a single-ray beam and the closed-form receiver.
    fn scanner(false_alarms: bool) -> Lidar {
        // Sensitivity and beam width.
        let sensitivity = Sensitivity {
            reflectance: 0.1,
            range: 40.0,
            probability: 0.9,
            threshold_over_noise: 5.0,
        };
        let (threshold, detector) = sensitivity.analogue(1e4, 0.0);
        let narrow = Divergence {
            horizontal: 1e-3,
            vertical: 1e-3,
            at: DivergenceAt::HalfMaximum,
        };
        // The lidar.
        Lidar {
            name: "test".into(),
            source: "none".into(),
            wavelength: 905e-9,
            channels: vec![Channel::default()],
            pattern: ScanPattern::Spinning(Spinning {
                rate: 10.0,
                clockwise: true,
                start: 0.0,
                columns: Columns::Period { seconds: 1e-3 },
                nod: None,
            }),
            beam: Beam::elliptic(
                BeamWidth {
                    shape: BeamShape::Gaussian,
                    divergence: narrow,
                    exit: narrow,
                },
                0,
            ),
            receiver: Receiver::Pulsed(PulsedReceiver {
                pulse: Pulse::gaussian(5e-9),
                discriminator: Discriminator::Peak,
                returns: ReturnMode::Strongest,
                threshold,
                reference: threshold,
                detector,
                interval: 1e-9,
                bits: None,
                jitter: 0.0,
                echoes: EchoModel::Analytic,
                window: None,
                false_alarms,
                full_overlap: 0.0,
            }),
            limits: RangeLimits {
                near: 0.1,
                far: 100.0,
                step: 0.0,
            },
            noise: CorrelatedNoise::default(),
            intensity: Intensity {
                response: IntensityResponse::Power { counts: 1.0 },
                top: None,
            },
        }
    }

    /// Whether [`DirectReturns`] apply to a lidar in air with drops simulated from `drops_from` (m) on.
    fn is_direct(scene: &Scene, scanner: &Lidar, drops_from: Option<f64>) -> bool {
        let settings = SweepSettings {
            air: Air {
                drops_from,
                ..Air::default()
            },
            ..SweepSettings::default()
        };
        let world = World::at_wavelength(scene, scanner.wavelength).unwrap();
        let at_rest = |_: f64| Isometry3::identity();
        let hooks = Hooks::default();
        let plain = Simulator::new(
            &world,
            scanner,
            &settings,
            &at_rest,
            hooks,
            trace_of(&settings.light, &scanner.receiver),
        );
        DirectReturns::new(&plain).is_some()
    }

    /// Other tests enable drops in clear air to compare the plain and the vectorised pipeline: drops must
    /// select the plain one.
    #[test]
    fn drops_and_false_alarms_need_trees_and_clear_air_does_not() {
        let mesh = primitive::cuboid([4.0; 3]).unwrap();
        let scene = SceneBuilder {
            meshes: vec![mesh.into()],
            materials: vec![NamedMaterial {
                name: "paint".into(),
                material: Material {
                    lobes: vec![Lobe::lambert(0.5.into())],
                },
            }],
            objects: vec![Object {
                name: "room".into(),
                mesh: MeshId(0),
                world_from_object: Isometry3::identity(),
                material: MaterialId(0),
                mask: u32::MAX,
            }],
            ..SceneBuilder::default()
        };
        let scene = scene.build().unwrap();
        assert!(is_direct(&scene, &scanner(false), None));
        assert!(!is_direct(&scene, &scanner(false), Some(1.0)));
        assert!(!is_direct(&scene, &scanner(true), None));
    }
}
