//! What edges do to a beam that they cross.
//!
//! A beam's light is an integral over its cross-section, which rays sample. A few rays see an edge
//! jump from one to the next; the beam sees it sweep smoothly. This module puts the integral in the
//! place of the samples wherever an edge crosses a beam: with the cross-section's part $A$ on the side
//! $-$ of the edge, the part $W$ that the rays on that side stand for, and the light $g$ that each side
//! sends back to each frequency's phasor,
//! $$\int_D g\\,w\\,\mathrm{d}A \approx \sum_k w_k g_k + (A - W)(g_- - g_+).$$
//! Its derivative is that of Reynolds' transport theorem,
//! $$\frac{\partial}{\partial\theta}\int_D g\\,w\\,\mathrm{d}A =
//! \int_D \frac{\partial g}{\partial\theta}\\,w\\,\mathrm{d}A +
//! \int_{E\cap D} (g_- - g_+)\\,w\\,v_n\\,\mathrm{d}s$$
//! with $D$ the cross-section, $w$ its irradiance, $E$ the edges as the beam sees them and $v_n$ the
//! speed of an edge along its normal, from the side $-$ to the side $+$ (for images Li, Aittala, Durand,
//! Lehtinen 2018, "Differentiable Monte Carlo ray tracing through edge sampling",
//! doi:10.1145/3272127.3275109). The edge's part in the beam is cut into pieces, each with the strip of
//! the cross-section behind it; several edges that run alike add up.
//!
//! Predictions stay those of the rays where the integral's are not asked for
//! ([`EdgeSettings::integral`]): then only derivatives are added.
//!
//! Edges are those of the meshes, seen directly and by reflection in flat mirrors. Left out: lines
//! where objects cut through each other, edges seen through solid glass (their refraction is),
//! and images in mirrors of more than 16 facets.

mod cover;
mod edges;
mod images;

use crate::model::{SensorSetting, Setting, world_of};
use cover::{Cover, Strip};
use edges::{Edge, edges_of};
use etendue_physics::Scalar;
use etendue_physics::beam::BeamFrame;
use etendue_physics::cw::{Modulation, Received};
use etendue_scene::Scene;
use etendue_sensors::cw::Beam;
use etendue_sensors::transport::{LightRay, TreeSettings, World, trace_tree};
use nalgebra::{Isometry3, Point3, Vector2, Vector3};

/// How finely edges are looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EdgeSettings {
    /// Points at which an edge's chord through a beam is probed.
    pub points: u32,
    /// Reflections through which edges are seen: 0 for none, at most 2.
    pub reflections: u32,
    /// Whether predictions are those of the integral, too, instead of those of the rays: derivatives
    /// always are the integral's.
    pub integral: bool,
}

impl Default for EdgeSettings {
    fn default() -> Self {
        Self {
            points: 4,
            reflections: 1,
            integral: false,
        }
    }
}

/// Distance from an edge at which its two sides are probed, in beam radii.
const ASIDE: f64 = 1e-6;

/// The edges of a scene as one sensor pose sees them.
pub(crate) struct Boundaries<'a, S: Scalar> {
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

impl<'a, S: Scalar> Boundaries<'a, S> {
    /// None for sensors that are not of continuous wave.
    pub(crate) fn new(
        scene: &'a Scene,
        setting: &Setting<S>,
        world_from_sensor: &Isometry3<S>,
        tree: TreeSettings,
        settings: EdgeSettings,
    ) -> Option<Self> {
        let SensorSetting::ContinuousWave(lidar) = &setting.sensor else {
            return None;
        };
        let world = world_of(scene, setting, lidar.wavelength);
        Some(Self {
            edges: edges_of(&world, world_from_sensor, settings.reflections),
            world,
            beams: lidar.beams.clone(),
            half_tangent: lidar.half_tangent,
            cover: Cover::new(lidar.pattern),
            modulation: lidar.receiver.modulation,
            world_from_sensor: *world_from_sensor,
            tree,
            settings,
        })
    }

    /// Puts the integral over a beam's cross-section in the place of its samples, where edges cross
    /// it.
    pub(crate) fn add(&self, beam: usize, received: &mut Received<S>) {
        let beam = &self.beams[beam];
        let frame = BeamFrame::new(beam.azimuth, beam.elevation);
        for edge in &self.edges {
            let half_tangent = self.half_tangent.value();
            let Some(chord) = edge.chord(&frame, half_tangent, self.cover.radius()) else {
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
        chord: &edges::Chord,
        piece: u32,
        line: &[Vector2<S>; 2],
        share: f64,
        received: &mut Received<S>,
    ) {
        let part = |steps: f64| (f64::from(piece) + steps) / f64::from(self.settings.points);
        let (at, along) = chord.point(part(0.5));
        let strip = Strip::new([0.0, 1.0].map(|end| chord.point(part(end)).0), chord.normal);
        let shift = displacement(line, along, &chord.normal);
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
    ) -> Received<S> {
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
    fn light(&self, frame: &BeamFrame, [left, up]: [S; 2]) -> Received<S> {
        let (left, up) = (left * self.half_tangent, up * self.half_tangent);
        let component = |k: usize| left * frame.left[k] + up * frame.up[k] + frame.axis[k];
        let direction = Vector3::new(component(0), component(1), component(2));
        let direction = direction / direction.dot(&direction).sqrt();
        let origin = Point3::from(self.world_from_sensor.translation.vector);
        let ray = LightRay::new(origin, self.world_from_sensor.rotation * direction);
        let mut received = Received::nothing();
        trace_tree(&self.world, &ray, &self.tree, |echo| {
            received.add(&self.modulation, echo.optical_range, echo.power);
        });
        received
    }
}

/// How far the edge moves along `normal` at the fraction `along` of its length: zero, with
/// derivatives.
fn displacement<S: Scalar>(line: &[Vector2<S>; 2], along: f64, normal: &Vector2<f64>) -> S {
    let [start, end] = line;
    let component = |k: usize| start[k] * (1.0 - along) + end[k] * along;
    let moved = component(0) * normal.x + component(1) * normal.y;
    moved - moved.value()
}
