//! What edges do to a beam as they sweep across it.
//!
//! A beam's light is an integral over its cross-section. When an edge moves, the integrand hardly
//! changes, but the border between what is seen on either side of the edge does:
//! $$\frac{\partial}{\partial\theta}\int_D g\\,w\\,\mathrm{d}A =
//! \int_D \frac{\partial g}{\partial\theta}\\,w\\,\mathrm{d}A +
//! \int_{E\cap D} (g_- - g_+)\\,w\\,v_n\\,\mathrm{d}s$$
//! with $D$ the cross-section, $w$ its irradiance, $g$ the light sent back to each frequency's
//! phasor, $E$ the edges as the beam sees them and $v_n$ the speed of an edge along its normal, from
//! the side $-$ to the side $+$. The ray tree gives the first term; this module adds the second.
//! (Reynolds' transport theorem; for images Li, Aittala, Durand, Lehtinen 2018, "Differentiable
//! Monte Carlo ray tracing through edge sampling", doi:10.1145/3272127.3275109.)
//!
//! Edges are those of the meshes, seen directly and by reflection in flat mirrors. Left out: lines
//! where objects cut through each other, edges seen through solid glass (their refraction is),
//! and images in mirrors of more than 16 facets.

mod edges;
mod images;

use crate::model::{SensorSetting, Setting, world_of};
use edges::{Edge, edges_of};
use etendue_physics::Scalar;
use etendue_physics::beam::{BeamFrame, SubRay, SubRayPattern};
use etendue_physics::cw::{Modulation, Received};
use etendue_scene::Scene;
use etendue_sensors::cw::Beam;
use etendue_sensors::transport::{LightRay, TreeSettings, World, trace_tree};
use nalgebra::{Isometry3, Point3, Vector2};
use std::f64::consts::PI;

/// How finely edges are looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EdgeSettings {
    /// Points at which an edge's chord through a beam is probed.
    pub points: u32,
    /// Reflections through which edges are seen: 0 for none, at most 2.
    pub reflections: u32,
}

impl Default for EdgeSettings {
    fn default() -> Self {
        Self {
            points: 4,
            reflections: 1,
        }
    }
}

/// Distance from an edge at which its two sides are probed, in beam radii.
const ASIDE: f64 = 1e-6;

/// The edges of a scene as one sensor pose sees them.
pub(crate) struct Boundaries<'a, S: Scalar> {
    edges: Vec<Edge<S>>,
    world: World<'a, f64>,
    beams: Vec<Beam>,
    half_tangent: S,
    pattern: SubRayPattern,
    modulation: Modulation,
    world_from_sensor: Isometry3<f64>,
    tree: TreeSettings,
    points: u32,
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
        let moving = world_of(scene, setting, lidar.wavelength);
        let mut world = World::at_wavelength(scene, lidar.wavelength)
            .expect("the model was made at this wavelength");
        for (id, material) in &setting.materials {
            world = world.with_material(*id, material.map(|x| x.value()));
        }
        Some(Self {
            edges: edges_of(&moving, &world, world_from_sensor, settings.reflections),
            world,
            beams: lidar.beams.clone(),
            half_tangent: lidar.half_tangent,
            pattern: lidar.pattern,
            modulation: lidar.receiver.modulation,
            world_from_sensor: crate::model::values(world_from_sensor),
            tree,
            points: settings.points,
        })
    }

    /// Adds to a beam's light the derivatives that moving edges give it; its value stays.
    pub(crate) fn add(&self, beam: usize, received: &mut Received<S>) {
        let beam = &self.beams[beam];
        let frame = BeamFrame::new(beam.azimuth, beam.elevation);
        for edge in &self.edges {
            let Some(chord) = edge.chord(&frame, self.half_tangent.value(), self.radius()) else {
                continue;
            };
            let line = edge.projected(&frame, self.half_tangent);
            self.add_chord(&frame, &chord, &line, edge.share, received);
        }
    }

    fn add_chord(
        &self,
        frame: &BeamFrame,
        chord: &edges::Chord,
        line: &[Vector2<S>; 2],
        share: f64,
        received: &mut Received<S>,
    ) {
        let length = chord.length() / f64::from(self.points);
        for i in 0..self.points {
            let part = (f64::from(i) + 0.5) / f64::from(self.points);
            let (at, along) = chord.point(part);
            let weight = share * length * self.irradiance(&at);
            let jump = self.jump(frame, &at, &chord.normal);
            let shift = displacement(line, along, &chord.normal) * weight;
            for (wave, change) in received.waves.iter_mut().zip(jump.waves) {
                wave.re += shift * change.re;
                wave.im += shift * change.im;
            }
            received.power += shift * jump.power;
        }
    }

    /// Light from the side that the edge leaves behind less that from the side it moves into.
    fn jump(&self, frame: &BeamFrame, at: &Vector2<f64>, normal: &Vector2<f64>) -> Received<f64> {
        let behind = self.light(frame, &(at - normal * ASIDE));
        let ahead = self.light(frame, &(at + normal * ASIDE));
        let mut jump = behind;
        for (wave, other) in jump.waves.iter_mut().zip(ahead.waves) {
            wave.re -= other.re;
            wave.im -= other.im;
        }
        jump.power -= ahead.power;
        jump
    }

    /// Light that comes back from one point of a beam's cross-section, for a beam of unit power.
    fn light(&self, frame: &BeamFrame, at: &Vector2<f64>) -> Received<f64> {
        let sub_ray = SubRay {
            left: at.x,
            up: at.y,
            weight: 1.0,
        };
        let direction = frame.direction(self.half_tangent.value(), &sub_ray);
        let origin = Point3::from(self.world_from_sensor.translation.vector);
        let ray = LightRay::new(origin, self.world_from_sensor.rotation * direction);
        let mut received = Received::nothing();
        trace_tree(&self.world, &ray, &self.tree, |echo| {
            received.add(&self.modulation, echo.optical_range, echo.power);
        });
        received
    }

    /// How far out the beam has light, in beam radii.
    fn radius(&self) -> f64 {
        match self.pattern {
            SubRayPattern::Gaussian { .. } => 1.5,
            _ => 1.0,
        }
    }

    /// Power per area of the cross-section, in beam radii.
    fn irradiance(&self, at: &Vector2<f64>) -> f64 {
        match self.pattern {
            SubRayPattern::Gaussian { .. } => {
                let within = 1.0 - (-4.5_f64).exp();
                2.0 / (PI * within) * (-2.0 * at.norm_squared()).exp()
            }
            _ => 1.0 / PI,
        }
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
