//! Edges across the beams of scanners.

use super::cover::{Cover, Strip};
use super::edges::{Chord, Edge, edges_of};
use super::{ASIDE, EdgeSettings, displacement};
use crate::model::ScannerSetting;
use etendue_physics::Scalar;
use etendue_physics::beam::BeamFrame;
use etendue_sensors::lidar::Shot;
use etendue_sensors::lidar::{BeamProfile, ExtraRay};
use etendue_sensors::transport::{LightRay, World};
use nalgebra::{Isometry3, Point3, Unit, UnitVector3, Vector2, Vector3};

/// The rays of a beam: skew, each with its place in the profile in standard deviations
/// ([`BeamRay::place`](etendue_physics::beam::BeamRay)).
#[derive(Clone, Copy)]
pub(super) struct Bundle<S> {
    /// Standard deviations of the slopes.
    slope: [S; 2],
    /// Standard deviations of the offsets at the exit, m.
    exit: [f64; 2],
}

impl<S: Scalar> Bundle<S> {
    /// The place of the ray that passes a point: left, up and along the axis, m.
    pub(super) fn place(&self, [left, up, along]: [S; 3]) -> [S; 2] {
        let [across, high] = self.slope.map(|slope| slope * along);
        let [exit_across, exit_high] = self.exit;
        let area = across * high + exit_across * exit_high;
        [
            (high * left + up * exit_across) / area,
            (across * up - left * exit_high) / area,
        ]
    }

    /// Offset at the exit to the left and upwards (m), and slope, of the ray of a place.
    fn ray(&self, [across, high]: [S; 2]) -> [[S; 2]; 2] {
        let offset = [-(high * self.exit[0]), across * self.exit[1]];
        [offset, [across * self.slope[0], high * self.slope[1]]]
    }

    fn plain(&self) -> Bundle<f64> {
        Bundle {
            slope: self.slope.map(Scalar::value),
            exit: self.exit,
        }
    }
}

/// The directions in which an edge is seen.
struct Cone {
    axis: UnitVector3<f64>,
    /// Cosine of the angle within which a beam's axis may bring light to the edge.
    cos: f64,
}

impl Cone {
    /// Of an edge; a beam leaves within `reach` (m) of the sensor's origin, and spreads by `spread`
    /// (rad) beyond that.
    fn new([start, end]: &[Point3<f64>; 2], reach: f64, spread: f64) -> Self {
        let middle = start.coords.normalize() + end.coords.normalize();
        let axis = Unit::try_new(middle, 1e-9).unwrap_or_else(Vector3::x_axis);
        let half = start.coords.angle(&axis).max(end.coords.angle(&axis));
        let nearest = distance([start, end]);
        let near = nearest <= 2.0 * reach || half > 1.2;
        let aside = half + spread + (reach / nearest).min(1.0).asin();
        let everywhere = near || aside >= std::f64::consts::PI;
        Self {
            axis,
            cos: if everywhere { -2.0 } else { aside.cos() },
        }
    }

    fn holds(&self, direction: &Vector3<f64>) -> bool {
        self.axis.dot(direction) >= self.cos
    }
}

/// Distance of a line between two points from the origin.
fn distance([start, end]: [&Point3<f64>; 2]) -> f64 {
    let way = end - start;
    let nearest = (-start.coords.dot(&way) / way.norm_squared()).clamp(0.0, 1.0);
    (start + way * nearest).coords.norm()
}

/// The edges of a scene as one pose of a scanner sees them.
pub(crate) struct Bundles<S: Scalar> {
    edges: Vec<(Cone, Edge<S>)>,
    bundle: Bundle<S>,
    cover: Cover,
    world_from_sensor: Isometry3<S>,
    settings: EdgeSettings,
}

/// A beam in its place.
struct Fired {
    origin: Point3<f64>,
    frame: BeamFrame,
    time: f64,
}

impl<S: Scalar> Bundles<S> {
    pub(super) fn new(
        world: &World<'_, S>,
        setting: &ScannerSetting<S>,
        world_from_sensor: &Isometry3<S>,
        settings: EdgeSettings,
    ) -> Self {
        let beam = setting.lidar.beam.width();
        let bundle = Bundle {
            slope: beam.divergence.sd(),
            exit: beam.exit.sd(),
        };
        let rings = match setting.lidar.beam.profile {
            BeamProfile::Elliptic { rings, .. } => rings,
            BeamProfile::Cone { .. } => 0,
        };
        let cover = Cover::of_beam(&beam.plain(), rings);
        let most = |of: [f64; 2]| of[0].max(of[1]) * cover.radius();
        let origins = setting.shots.iter().map(|shot| shot.origin.coords.norm());
        let reach = origins.fold(0.0, f64::max) + most(bundle.exit);
        let spread = most(bundle.plain().slope).atan();
        // A beam without an area has no edge across it.
        let has_area = bundle.plain().place([0.0, 0.0, 1.0])[0].is_finite();
        let edges = edges_of(world, world_from_sensor, settings.reflections);
        let seen = edges.into_iter().filter(|_| has_area);
        Self {
            edges: seen
                .map(|edge| (Cone::new(edge.values(), reach, spread), edge))
                .collect(),
            bundle,
            cover,
            world_from_sensor: *world_from_sensor,
            settings,
        }
    }

    /// Adds the rays beside the edges that cross the beam of a shot.
    pub(crate) fn add(&self, shot: &Shot, rays: &mut Vec<ExtraRay<S>>) {
        let fired = Fired {
            origin: shot.origin,
            frame: BeamFrame::new(shot.azimuth, shot.elevation),
            time: shot.time,
        };
        self.add_across(&fired, rays);
    }

    fn add_across(&self, fired: &Fired, rays: &mut Vec<ExtraRay<S>>) {
        let bundle = self.bundle.plain();
        for (cone, edge) in &self.edges {
            if !cone.holds(&fired.frame.axis) {
                continue;
            }
            let chord = edge.chord_in(&fired.frame, &fired.origin, &bundle, &self.cover);
            if let Some(chord) = chord {
                for piece in 0..self.settings.points {
                    self.add_piece(fired, edge, &chord, piece, rays);
                }
            }
        }
    }

    /// Adds a ray on either side of one piece of an edge's chord, for what the piece and the strip
    /// behind it change.
    fn add_piece(
        &self,
        fired: &Fired,
        edge: &Edge<S>,
        chord: &Chord,
        piece: u32,
        rays: &mut Vec<ExtraRay<S>>,
    ) {
        let part = |steps: f64| (f64::from(piece) + steps) / f64::from(self.settings.points);
        let (_, along) = chord.point(part(0.5));
        let strip = Strip::new([0.0, 1.0].map(|end| chord.point(part(end)).0), chord.normal);
        // The chord is straight, the edge that a bundle of skew rays sees only nearly so.
        let place = self
            .bundle
            .place(edge.in_beam(along, &fired.frame, &fired.origin));
        let at = Vector2::from(place.map(Scalar::value));
        let shift = displacement(place, &chord.normal);
        let unseen = if self.settings.integral {
            self.cover.area(&strip) - self.cover.sampled(&strip)
        } else {
            0.0
        };
        let excess = shift * (strip.length() * self.cover.irradiance(&at)) + unseen;
        for (aside, sign) in [(-ASIDE, 1.0), (ASIDE, -1.0)] {
            let place = [0, 1].map(|k| (shift + aside) * chord.normal[k] + at[k]);
            rays.push(ExtraRay {
                ray: self.ray(fired, place),
                share: excess * (edge.share * sign),
            });
        }
    }

    /// The ray of a place in a beam, in the world.
    fn ray(&self, fired: &Fired, place: [S; 2]) -> LightRay<S> {
        let frame = &fired.frame;
        let [offset, slope] = self.bundle.ray(place);
        let aside = |[left, up]: [S; 2]| {
            let component = |k: usize| left * frame.left[k] + up * frame.up[k];
            Vector3::new(component(0), component(1), component(2))
        };
        let origin = Point3::from(aside(offset) + fired.origin.coords.map(S::from));
        let direction = aside(slope) + frame.axis.map(S::from);
        let direction = direction / direction.dot(&direction).sqrt();
        let pose = &self.world_from_sensor;
        LightRay {
            time: fired.time,
            ..LightRay::new(pose * origin, pose.rotation * direction)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use etendue_physics::beam::{BeamShape, BeamWidth, Divergence, DivergenceAt};
    use etendue_physics::{Dual, DualParts};

    fn beam() -> BeamWidth {
        let widths = |horizontal, vertical| Divergence {
            horizontal,
            vertical,
            at: DivergenceAt::InverseESquared,
        };
        BeamWidth {
            shape: BeamShape::Gaussian,
            divergence: widths(23e-3, 16e-3),
            exit: widths(12.7e-3, 9.5e-3),
        }
    }

    /// The shares of the rays behind an edge between two points, the first moved by the third.
    fn share<S: Scalar>(start: [f64; 3], end: [f64; 3], moved: [S; 3]) -> S {
        let beam = beam();
        let ends = [start, end].map(|at| Point3::from([0, 1, 2].map(|k| moved[k] + at[k])));
        let edge = Edge::new(ends, 1.0);
        let bundles = Bundles {
            edges: vec![(Cone::new(edge.values(), 0.03, 0.02), edge)],
            bundle: Bundle {
                slope: beam.divergence.sd().map(S::from),
                exit: beam.exit.sd(),
            },
            cover: Cover::of_beam(&beam, 1),
            world_from_sensor: Isometry3::identity(),
            settings: EdgeSettings {
                points: 16,
                integral: true,
                ..EdgeSettings::default()
            },
        };
        let mut rays = Vec::new();
        let fired = Fired {
            origin: Point3::origin(),
            frame: BeamFrame::new(0.0, 0.0),
            time: 0.0,
        };
        bundles.add_across(&fired, &mut rays);
        assert!(!rays.is_empty());
        rays.iter()
            .step_by(2)
            .fold(S::zero(), |sum, ray| sum + ray.share)
    }

    #[test]
    fn shares_behind_an_edge_change_as_their_derivatives_say() {
        let mut compared = 0;
        for (start, end) in [
            ([3.0, 0.01, -0.5], [3.0, 0.01, 0.6]),
            ([3.0, -0.5, 0.02], [3.4, 0.6, 0.01]),
            ([2.0, 0.2, 0.12], [4.0, -0.3, -0.2]),
        ] {
            for k in 0..3 {
                let only = |i: usize, by: f64| if i == k { by } else { 0.0 };
                let dual = std::array::from_fn(|i| Dual::<1> {
                    re: 0.0,
                    eps: [only(i, 1.0)],
                });
                let slope = share(start, end, dual).gradient()[0];
                let at = |by: f64| share(start, end, std::array::from_fn(|i| only(i, by)));
                let difference = (at(1e-5) - at(-1e-5)) / 2e-5;
                compared += usize::from(slope.abs() > 1.0);
                // Measured: 7e-3, the steps of the strip's area.
                let off = (slope - difference).abs();
                assert!(off < 0.01 * slope.abs() + 1e-3, "{k}: {slope} {difference}");
            }
        }
        assert!(compared >= 4, "{compared}");
    }
}
