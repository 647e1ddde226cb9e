//! Edges in the round beams of a continuous-wave lidar.

use super::boundaries::EdgeView;
use super::cross_section::{CrossSection, Strip};
use super::edges::{Chord, Edge, SIDE_OFFSET, displacement, edges_of};
use super::settings::EdgeSettings;
use etendue_physics::Scalar;
use etendue_physics::beam::BeamFrame;
use etendue_physics::phase::{Modulation, PhaseSignal};
use etendue_sensors::cw::{Beam, CwLidar};
use etendue_sensors::transport::{LightRay, TreeSettings, World, trace_tree};
use nalgebra::{Isometry3, Point3, Vector2, Vector3};

/// The edges of a scene as seen from one pose of a continuous-wave lidar.
pub(crate) struct RoundBeams<'a, S: Scalar> {
    edges: Vec<Edge<S>>,
    world: World<'a, S>,
    beams: Vec<Beam>,
    half_tangent: S,
    cross_section: CrossSection,
    modulation: Modulation,
    world_from_sensor: Isometry3<S>,
    tree: TreeSettings,
    settings: EdgeSettings,
}

impl<'a, S: Scalar> RoundBeams<'a, S> {
    pub(super) fn new(view: &EdgeView<'_, 'a, S>, lidar: &CwLidar<S>) -> Self {
        let reflections = view.settings.reflections;
        Self {
            edges: edges_of(view.world, view.world_from_sensor, reflections),
            world: view.world.clone(),
            beams: lidar.beams.clone(),
            half_tangent: lidar.half_tangent,
            cross_section: CrossSection::of_pattern(lidar.pattern),
            modulation: lidar.receiver.modulation,
            world_from_sensor: *view.world_from_sensor,
            tree: view.tree,
            settings: view.settings,
        }
    }

    /// Replaces the samples of a beam by the integral over its cross-section where edges cross it.
    pub(crate) fn add(&self, beam: usize, received: &mut PhaseSignal<S>) {
        let beam = &self.beams[beam];
        let frame = BeamFrame::new(beam.azimuth, beam.elevation);
        for edge in &self.edges {
            let half_tangent = self.half_tangent.value();
            let Some(chord) = edge.chord(&frame, half_tangent, &self.cross_section) else {
                continue;
            };
            let line = edge.projected(&frame, self.half_tangent);
            for piece in 0..self.settings.points {
                self.add_piece(&frame, &chord, piece, &line, edge.share, received);
            }
        }
    }

    /// Adds the contribution of one piece of the chord of an edge and of the strip behind it.
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
        let unsampled = if self.settings.integral {
            self.cross_section.power(&strip) - self.cross_section.sampled_power(&strip)
        } else {
            0.0
        };
        let excess = shift * (strip.length() * self.cross_section.irradiance(&at)) + unsampled;
        let jump = self.jump(frame, &at, &chord.normal, shift);
        let excess = excess * share;
        for (wave, change) in received.waves.iter_mut().zip(jump.waves) {
            wave.re += excess * change.re;
            wave.im += excess * change.im;
        }
        received.power += excess * jump.power;
    }

    /// Light from the side behind the edge less that from the side ahead of it, with the edge moved by
    /// `shift` along its normal.
    fn jump(
        &self,
        frame: &BeamFrame,
        at: &Vector2<f64>,
        normal: &Vector2<f64>,
        shift: S,
    ) -> PhaseSignal<S> {
        let moved = |offset: f64| [0, 1].map(|k| (shift + offset) * normal[k] + at[k]);
        let behind = self.light(frame, moved(-SIDE_OFFSET));
        let ahead = self.light(frame, moved(SIDE_OFFSET));
        let mut jump = behind;
        for (wave, other) in jump.waves.iter_mut().zip(ahead.waves) {
            wave.re -= other.re;
            wave.im -= other.im;
        }
        jump.power -= ahead.power;
        jump
    }

    /// Light of a ray through a point of the cross-section, for a beam of unit power.
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
