//! Extra rays of a beam, on both sides of the edges that cross it.

use super::cross_section::{CrossSection, Strip};
use super::edges::{Chord, Edge, SIDE_OFFSET, displacement, edges_of};
use super::ray_bundle::RayBundle;
use super::settings::EdgeSettings;
use etendue_physics::Scalar;
use etendue_physics::beam::BeamFrame;
use etendue_sensors::lidar::{Beam, ExtraRay, Shot};
use etendue_sensors::transport::{LightRay, World};
use nalgebra::{Isometry3, Point3, Unit, UnitVector3, Vector2, Vector3};

/// Bounding cone of the directions to an edge from the exits of the beams.
struct Cone {
    axis: UnitVector3<f64>,
    /// Cosine of the greatest angle between the axis of the cone and that of a beam that may hit the
    /// edge.
    cos: f64,
}

impl Cone {
    /// Cone of an edge for beams that exit within `reach` (m) of the origin of the sensor and diverge
    /// by `spread` (rad).
    fn new([start, end]: &[Point3<f64>; 2], reach: f64, spread: f64) -> Self {
        // Bound the edge from the origin of the sensor.
        let middle = start.coords.normalize() + end.coords.normalize();
        let axis = Unit::try_new(middle, 1e-9).unwrap_or_else(Vector3::x_axis);
        let half = start.coords.angle(&axis).max(end.coords.angle(&axis));
        // Widen the cone by the parallax of the exits and the divergence.
        let nearest = distance([start, end]);
        let is_near = nearest <= 2.0 * reach || half > 1.2;
        let angle = half + spread + (reach / nearest).min(1.0).asin();
        let everywhere = is_near || angle >= std::f64::consts::PI;
        Self {
            axis,
            cos: if everywhere { -2.0 } else { angle.cos() },
        }
    }

    /// Whether a beam in a direction may hit the edge.
    fn contains(&self, direction: &Vector3<f64>) -> bool {
        self.axis.dot(direction) >= self.cos
    }
}

/// Distance of a line segment from the origin, m.
fn distance([start, end]: [&Point3<f64>; 2]) -> f64 {
    let along = end - start;
    let nearest = (-start.coords.dot(&along) / along.norm_squared()).clamp(0.0, 1.0);
    (start + along * nearest).coords.norm()
}

/// Edges of a scene in the frame of one pose of a lidar, as a source of extra rays.
pub(crate) struct EdgeRays<S: Scalar> {
    edges: Vec<(Cone, Edge<S>)>,
    bundle: RayBundle<S>,
    cross_section: CrossSection,
    world_from_sensor: Isometry3<S>,
    settings: EdgeSettings,
}

/// Axis of a beam in the sensor frame, with the time of its shot (s).
struct BeamAxis {
    origin: Point3<f64>,
    frame: BeamFrame,
    time: f64,
}

impl<S: Scalar> EdgeRays<S> {
    /// Edges of a world for the beams of the shots of a lidar at a pose.
    pub(crate) fn new(
        world: &World<'_, S>,
        world_from_sensor: &Isometry3<S>,
        beam: &Beam<S>,
        shots: &[Shot],
        settings: EdgeSettings,
    ) -> Self {
        // Describe the beam.
        let bundle = RayBundle::of_beam(beam);
        let cross_section = CrossSection::of_beam(beam);
        // Bound the region in which beams may hit an edge.
        let most = |of: [f64; 2]| of[0].max(of[1]) * cross_section.radius();
        let origins = shots.iter().map(|shot| shot.origin.coords.norm());
        let reach = origins.fold(0.0, f64::max) + most(bundle.exit);
        let spread = most(bundle.values().slope).atan();
        // Collect the edges; a beam without an area has none.
        let has_area = bundle.values().coordinates([0.0, 0.0, 1.0])[0].is_finite();
        let edges = edges_of(world, world_from_sensor, settings.reflections);
        let hit = edges.into_iter().filter(|_| has_area);
        Self {
            edges: hit
                .map(|edge| (Cone::new(edge.values(), reach, spread), edge))
                .collect(),
            bundle,
            cross_section,
            world_from_sensor: *world_from_sensor,
            settings,
        }
    }

    /// Adds rays on both sides of the edges that cross the beam of a shot.
    pub(crate) fn add(&self, shot: &Shot, rays: &mut Vec<ExtraRay<S>>) {
        let axis = BeamAxis {
            origin: shot.origin,
            frame: shot.frame(),
            time: shot.time,
        };
        self.add_edges(&axis, rays);
    }

    /// Adds rays on both sides of the edges that cross a beam.
    fn add_edges(&self, axis: &BeamAxis, rays: &mut Vec<ExtraRay<S>>) {
        let bundle = self.bundle.values();
        for (cone, edge) in &self.edges {
            if !cone.contains(&axis.frame.axis) {
                continue;
            }
            let chord = edge.chord(&axis.frame, &axis.origin, &bundle, &self.cross_section);
            if let Some(chord) = chord {
                for piece in 0..self.settings.points {
                    self.add_piece(axis, edge, &chord, piece, rays);
                }
            }
        }
    }

    /// Adds a ray on each side of one piece of the chord of an edge.
    ///
    /// The weights are $\pm(A - W)$ for integrals, and zero with the derivatives of $\pm A$
    /// otherwise, with the power $A$ of the strip behind the piece and the weight $W$ of the sample
    /// rays in it.
    fn add_piece(
        &self,
        axis: &BeamAxis,
        edge: &Edge<S>,
        chord: &Chord,
        piece: u32,
        rays: &mut Vec<ExtraRay<S>>,
    ) {
        // Locate the piece on the chord, and the point of the edge at its middle.
        let part = |steps: f64| (f64::from(piece) + steps) / f64::from(self.settings.points);
        let (_, along) = chord.point(part(0.5));
        let strip = Strip::new([0.0, 1.0].map(|end| chord.point(part(end)).0), chord.normal);
        // In the coordinates of skew rays the edge is curved, and the chord is its approximation.
        let point = edge.in_beam(along, &axis.frame, &axis.origin);
        let coordinates = self.bundle.coordinates(point);
        let at = Vector2::from(coordinates.map(Scalar::value));
        let shift = displacement(coordinates, &chord.normal);
        // Weigh the change of the power behind the edge.
        let unsampled = if self.settings.integral {
            self.cross_section.power(&strip) - self.cross_section.sampled_power(&strip)
        } else {
            0.0
        };
        let excess = shift * (strip.length() * self.cross_section.irradiance(&at)) + unsampled;
        // Add the rays.
        for (offset, sign) in [(-SIDE_OFFSET, 1.0), (SIDE_OFFSET, -1.0)] {
            let coordinates = [0, 1].map(|k| (shift + offset) * chord.normal[k] + at[k]);
            rays.push(ExtraRay {
                ray: self.ray(axis, coordinates),
                share: excess * (edge.share * sign),
            });
        }
    }

    /// Ray of given coordinates in a beam, in the world frame.
    fn ray(&self, axis: &BeamAxis, coordinates: [S; 2]) -> LightRay<S> {
        let frame = &axis.frame;
        let [offset, slope] = self.bundle.ray(coordinates);
        let transverse = |[left, up]: [S; 2]| {
            let component = |k: usize| left * frame.left[k] + up * frame.up[k];
            Vector3::new(component(0), component(1), component(2))
        };
        let origin = Point3::from(transverse(offset) + axis.origin.coords.map(S::from));
        let direction = transverse(slope) + frame.axis.map(S::from);
        let direction = direction / direction.dot(&direction).sqrt();
        let pose = &self.world_from_sensor;
        LightRay {
            time: axis.time,
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

    /// Sum of the weights of the rays behind an edge between two points, both displaced by `moved`.
    fn share<S: Scalar>(start: [f64; 3], end: [f64; 3], moved: [S; 3]) -> S {
        // Edge and beam
        let beam = beam();
        let ends = [start, end].map(|at| Point3::from([0, 1, 2].map(|k| moved[k] + at[k])));
        let edge = Edge::new(ends, 1.0);
        let bundles = EdgeRays {
            edges: vec![(Cone::new(edge.values(), 0.03, 0.02), edge)],
            bundle: RayBundle {
                slope: beam.divergence.sd().map(S::from),
                exit: beam.exit.sd(),
            },
            cross_section: CrossSection::of_beam(&Beam::elliptic(beam, 1)),
            world_from_sensor: Isometry3::identity(),
            settings: EdgeSettings {
                points: 16,
                integral: true,
                ..EdgeSettings::default()
            },
        };
        // Rays on both sides; the even ones are behind the edge.
        let mut rays = Vec::new();
        let axis = BeamAxis {
            origin: Point3::origin(),
            frame: BeamFrame::new(0.0, 0.0),
            time: 0.0,
        };
        bundles.add_edges(&axis, &mut rays);
        assert!(!rays.is_empty());
        rays.iter()
            .step_by(2)
            .fold(S::zero(), |sum, ray| sum + ray.share)
    }

    #[test]
    fn weights_behind_an_edge_change_by_their_derivatives() {
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
                // Measured: 7e-3, by the quadrature of the strip.
                let off = (slope - difference).abs();
                assert!(off < 0.01 * slope.abs() + 1e-3, "{k}: {slope} {difference}");
            }
        }
        assert!(compared >= 4, "{compared}");
    }
}
