//! The first surface on the axis of each beam.

use super::shot::Shot;
use super::sweep::Simulator;
use crate::Truth;
use crate::transport::LightRay;
use etendue_scene::{CastScratch, Ray};

impl Simulator<'_, f64> {
    /// Appends the first surface on the axis of the beam of each shot, the first of which has the number
    /// `first`.
    pub fn add_axis_truths(
        &self,
        shots: &[Shot],
        first: u32,
        truths: &mut Vec<Option<Truth>>,
        scratch: &mut CastScratch,
    ) {
        // Cast the axes.
        let axis = |(shot, number): (&Shot, u32)| {
            let pose = self.world_from_sensor.at(shot.time);
            let aimed = self.jittered(shot, number);
            let direction = aimed.direction();
            let ray = LightRay {
                time: shot.time,
                ..LightRay::new(pose * aimed.origin, pose.rotation * direction)
            };
            ray.values()
        };
        let axes: Vec<Ray> = shots.iter().zip(first..).map(axis).collect();
        let mut hits = Vec::new();
        let scene = self.world.scene();
        scene.closest_hits(&axes, &mut hits, scratch);
        // Describe the surfaces.
        truths.extend(
            axes.iter()
                .zip(&hits)
                .zip(shots)
                .map(|((axis, hit), shot)| {
                    let hit = hit.as_ref()?;
                    let cos = axis.direction.dot(&hit.normal).abs();
                    Some(Truth {
                        range: self.lidar.channels[usize::from(shot.channel)].range(hit.distance),
                        object: hit.object,
                        material: scene.material_of(hit),
                        incidence: cos.min(1.0).acos(),
                    })
                }),
        );
    }
}
