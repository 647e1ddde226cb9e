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
//! A scanner's beam is a bundle of skew rays, which has a width where it leaves. Its cross-section is the
//! place of a ray in the bundle, and what a ray on either side of an edge brings back joins the light
//! of the beam's own rays before the receiver merges it into echoes: ranges and intensities of echoes
//! from both sides of an edge change smoothly with it.
//!
//! Predictions stay those of the rays where the integral's are not asked for
//! ([`EdgeSettings::integral`]): then only derivatives are added.
//!
//! Edges are those of the meshes, seen directly and by reflection in flat mirrors. Left out: lines
//! where objects cut through each other, edges seen through solid glass (their refraction is),
//! and images in mirrors of more than 16 facets.

mod continuous_wave;
mod cover;
mod edges;
mod images;
mod scanner;

use crate::model::{SensorSetting, Setting};
use etendue_physics::Scalar;
use etendue_scene::Scene;
use etendue_sensors::transport::TreeSettings;
use nalgebra::{Isometry3, Vector2};

pub(crate) use continuous_wave::RoundBeams;
pub(crate) use scanner::Bundles;

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
pub(crate) enum Boundaries<'a, S: Scalar> {
    /// By the round beams of a continuous-wave lidar.
    ContinuousWave(RoundBeams<'a, S>),
    /// By the bundles of rays of a scanner.
    Scanner(Bundles<S>),
}

impl<'a, S: Scalar> Boundaries<'a, S> {
    pub(crate) fn new(
        scene: &'a Scene,
        setting: &Setting<S>,
        world_from_sensor: &Isometry3<S>,
        wavelength: f64,
        tree: TreeSettings,
        settings: EdgeSettings,
    ) -> Self {
        let world = crate::model::world_of(scene, setting, wavelength);
        let pose = world_from_sensor;
        match &setting.sensor {
            SensorSetting::ContinuousWave(lidar) => {
                Self::ContinuousWave(RoundBeams::new(world, lidar, pose, tree, settings))
            }
            SensorSetting::Scanner(scanner) => {
                Self::Scanner(Bundles::new(&world, scanner, pose, settings))
            }
        }
    }
}

/// How far a point of the cross-section moves along `normal`: zero, with derivatives.
fn displacement<S: Scalar>(point: [S; 2], normal: &Vector2<f64>) -> S {
    let moved = point[0] * normal.x + point[1] * normal.y;
    moved - moved.value()
}
