//! Edges across the round beams of continuous-wave lidars.

use super::cover::{Cover, Strip};
use super::edges::{Chord, Edge, edges_of};
use super::{ASIDE, EdgeSettings, displacement};
use etendue_physics::Scalar;
use etendue_physics::beam::BeamFrame;
use etendue_physics::phase::{Modulation, PhaseSignal};
use etendue_sensors::cw::{Beam, CwLidar};
use etendue_sensors::transport::{LightRay, TreeSettings, World, trace_tree};
use nalgebra::{Isometry3, Point3, Vector2, Vector3};

/// The edges of a scene as one pose of a continuous-wave lidar sees them.
pub(crate) struct RoundBeams<'a, S: Scalar> {
    edges: Vec<Edge<S>>,
    world: World<'a, S>,
    beams: Vec<Beam>,
    half_tangent: S,
    cover: Cover,
    modulation: Modulation,
    world_from_sensor: Isometry3<S>,
    tree: TreeSettings,
    settings: EdgeSettings,
}

impl<'a, S: Scalar> RoundBeams<'a, S> {
    pub(super) fn new(
        world: World<'a, S>,
        lidar: &CwLidar<S>,
        world_from_sensor: &Isometry3<S>,
        tree: TreeSettings,
        settings: EdgeSettings,
    ) -> Self {
        Self {
            edges: edges_of(&world, world_from_sensor, settings.reflections),
            world,
            beams: lidar.beams.clone(),
            half_tangent: lidar.half_tangent,
            cover: Cover::of_pattern(lidar.pattern),
            modulation: lidar.receiver.modulation,
            world_from_sensor: *world_from_sensor,
            tree,
            settings,
        }
    }

    /// Puts the integral over a beam's cross-section in the place of its samples, where edges cross
    /// it.
    pub(crate) fn add(&self, beam: usize, received: &mut PhaseSignal<S>) {
        let beam = &self.beams[beam];
        let frame = BeamFrame::new(beam.azimuth, beam.elevation);
        for edge in &self.edges {
            let half_tangent = self.half_tangent.value();
            let Some(chord) = edge.chord(&frame, half_tangent, &self.cover) else {
                continue;
            };
            let line = edge.projected(&frame, self.half_tangent);
            for piece in 0..self.settings.points {
                self.add_piece(&frame, &chord, piece, &line, edge.share, received);
            }
        }
    }

    /// What one piece of an edge's chord, and the strip behind it, adds.
    fn add_piece(
        &self,
        frame: &BeamFrame,
        chord: &Chord,
        piece: u32,
        line: &[Vector2<S>; 2],
        share: f64,
        received: &mut PhaseSignal<S>,
    ) {
        let part = |steps: f64| (f64::from(piece) + steps) / f64::from(self.settings.points);
        let (at, along) = chord.point(part(0.5));
        let strip = Strip::new([0.0, 1.0].map(|end| chord.point(part(end)).0), chord.normal);
        let [start, end] = line;
        let point = [0, 1].map(|k| start[k] * (1.0 - along) + end[k] * along);
        let shift = displacement(point, &chord.normal);
        let unseen = if self.settings.integral {
            self.cover.area(&strip) - self.cover.sampled(&strip)
        } else {
            0.0
        };
        let excess = shift * (strip.length() * self.cover.irradiance(&at)) + unseen;
        let jump = self.jump(frame, &at, &chord.normal, shift);
        let excess = excess * share;
        for (wave, change) in received.waves.iter_mut().zip(jump.waves) {
            wave.re += excess * change.re;
            wave.im += excess * change.im;
        }
        received.power += excess * jump.power;
    }

    /// Light from the side that the edge leaves behind less that from the side it moves into, both
    /// where the edge is `shift` further along its normal.
    fn jump(
        &self,
        frame: &BeamFrame,
        at: &Vector2<f64>,
        normal: &Vector2<f64>,
        shift: S,
    ) -> PhaseSignal<S> {
        let moved = |aside: f64| [0, 1].map(|k| (shift + aside) * normal[k] + at[k]);
        let behind = self.light(frame, moved(-ASIDE));
        let ahead = self.light(frame, moved(ASIDE));
        let mut jump = behind;
        for (wave, other) in jump.waves.iter_mut().zip(ahead.waves) {
            wave.re -= other.re;
            wave.im -= other.im;
        }
        jump.power -= ahead.power;
        jump
    }

    /// Light that comes back from one point of a beam's cross-section, for a beam of unit power.
    fn light(&self, frame: &BeamFrame, [left, up]: [S; 2]) -> PhaseSignal<S> {
        let (left, up) = (left * self.half_tangent, up * self.half_tangent);
        let component = |k: usize| left * frame.left[k] + up * frame.up[k] + frame.axis[k];
        let direction = Vector3::new(component(0), component(1), component(2));
        let direction = direction / direction.dot(&direction).sqrt();
        let origin = Point3::from(self.world_from_sensor.translation.vector);
        let ray = LightRay::new(origin, self.world_from_sensor.rotation * direction);
        let mut received = PhaseSignal::nothing();
        trace_tree(&self.world, &ray, &self.tree, |echo| {
            received.add(&self.modulation, echo.optical_range, echo.power);
        });
        received
    }
}
