//! Procedural courses.

use crate::demo::WorldPart;
use etendue_physics::{Purpose, Stream};
use etendue_scene::Mesh;
use etendue_scene::primitive::{PrimitiveError, rectangle};
use nalgebra::{Isometry3, Point2, Point3, Vector2, Vector3};
use std::f64::consts::TAU;
use thiserror::Error;

/// Closed course around the origin between two barriers, driven anticlockwise.
#[derive(Clone, Debug, PartialEq)]
pub struct Course {
    /// Middle line between the barriers, m.
    pub middle: Vec<Point2<f64>>,
    /// Inner and outer barrier, m.
    pub barriers: [Vec<Point2<f64>>; 2],
    /// Distance between the barriers, m.
    pub width: f64,
}

/// Every course of a seed has a curve that is too tight.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
#[error("all of {tried} courses of seed {seed} have a curve that is too tight")]
pub struct NoCourse {
    /// Seed.
    pub seed: u64,
    /// Number of drawn courses.
    pub tried: u32,
}

/// Mean radius of a course, m.
const RADIUS: f64 = 6.0;
/// Distance between the barriers, m.
const WIDTH: f64 = 1.3;
/// Smallest radius of curvature of the middle line, m.
const TIGHTEST: f64 = 1.3;
/// Height of the barriers, m.
const HEIGHT: f64 = 0.3;
/// Number of points of a closed line.
const POINTS: usize = 1200;
/// Largest number of drawn courses.
const ATTEMPTS: u32 = 400;

impl Course {
    /// Course of a seed: $r(\varphi) = R\left(1+\sum_{k=2}^5 a_k\cos(k\varphi+\psi_k)\right)$ with random
    /// amplitudes and phases, the first without a tight curve.
    ///
    /// # Errors
    /// If all drawn courses have a tight curve; none of a thousand tested seeds fails.
    pub fn generate(seed: u64) -> Result<Self, NoCourse> {
        (0..ATTEMPTS)
            .find_map(|attempt| Self::draw(seed, attempt))
            .ok_or(NoCourse {
                seed,
                tried: ATTEMPTS,
            })
    }

    fn draw(seed: u64, attempt: u32) -> Option<Self> {
        // Middle line
        let mut stream = Stream::new(seed, 0, attempt, 0, Purpose::World);
        let waves = [2.0, 3.0, 4.0, 5.0].map(|k| {
            let amplitude = (0.4 + 0.8 * stream.uniform()) / (k * k);
            (k, amplitude, TAU * stream.uniform())
        });
        let middle: Vec<Point2<f64>> = (0..POINTS)
            .map(|i| {
                let angle = TAU * i as f64 / POINTS as f64;
                let deviations = waves
                    .iter()
                    .map(|(k, a, phase)| a * (k * angle + phase).cos());
                let radius = RADIUS * (1.0 + deviations.sum::<f64>());
                Point2::new(radius * angle.cos(), radius * angle.sin())
            })
            .collect();

        // Reject tight curves
        let tight = (0..POINTS).any(|i| {
            let [a, b, c] = [0, 1, 2].map(|k| middle[(i + k) % POINTS]);
            let u = b - a;
            let v = c - b;
            let turn = u.perp(&v).atan2(u.dot(&v)).abs();
            turn * TIGHTEST > v.norm()
        });
        if tight {
            return None;
        }

        // Barriers on both sides
        let left = |i: usize| {
            let along = middle[(i + 1) % POINTS] - middle[(i + POINTS - 1) % POINTS];
            Vector2::new(-along.y, along.x).normalize()
        };
        let offset = |by: f64| -> Vec<Point2<f64>> {
            (0..POINTS).map(|i| middle[i] + left(i) * by).collect()
        };
        Some(Self {
            barriers: [offset(0.5 * WIDTH), offset(-0.5 * WIDTH)],
            middle,
            width: WIDTH,
        })
    }

    /// Pose of the car at the start: on the middle line, along it.
    pub fn start(&self) -> Isometry3<f64> {
        let along = self.middle[1] - self.middle[0];
        let at = self.middle[0];
        Isometry3::new(
            Vector3::new(at.x, at.y, 0.0),
            Vector3::z() * along.y.atan2(along.x),
        )
    }

    /// Length of the middle line, m.
    pub fn length(&self) -> f64 {
        let next = self.middle.iter().cycle().skip(1);
        let steps = self.middle.iter().zip(next).map(|(a, b)| (b - a).norm());
        steps.sum()
    }

    /// Smallest distance between a box on the car (two corners, m) and the points of the barriers, 3 cm
    /// apart, m; zero on contact.
    pub fn distance(&self, world_from_car: &Isometry3<f64>, corners: [[f64; 2]; 2]) -> f64 {
        let points = self.barriers.iter().flatten();
        let distances = points.map(|point| {
            let at = world_from_car.inverse_transform_point(&Point3::new(point.x, point.y, 0.0));
            let outside = |axis: usize| {
                (corners[0][axis] - at[axis])
                    .max(at[axis] - corners[1][axis])
                    .max(0.0)
            };
            outside(0).hypot(outside(1))
        });
        distances.fold(f64::INFINITY, f64::min)
    }

    /// Barriers and floor.
    ///
    /// # Errors
    /// None: the size of the floor is fixed.
    pub fn parts(&self) -> Result<Vec<WorldPart>, PrimitiveError> {
        let [inner, outer] = [0, 1].map(|i| wall(&self.barriers[i], i == 0));
        let part = |name: &str, mesh: Mesh, material| WorldPart {
            name: name.into(),
            mesh: mesh.into(),
            world_from_part: Isometry3::identity(),
            material,
        };
        Ok(vec![
            part("inner barrier", inner, "white-paint"),
            part("outer barrier", outer, "white-paint"),
            part("floor", rectangle([3.6 * RADIUS; 2])?, "concrete"),
        ])
    }
}

/// Vertical wall along a closed line, facing outwards or inwards.
fn wall(line: &[Point2<f64>], outwards: bool) -> Mesh {
    let count = u32::try_from(line.len()).unwrap_or(u32::MAX);
    let at = |height: f64| line.iter().map(move |p| Point3::new(p.x, p.y, height));
    let triangles = (0..count).flat_map(|i| {
        let next = (i + 1) % count;
        [[i, next, next + count], [i, next + count, i + count]]
    });
    let mesh = Mesh {
        vertices: at(0.0).chain(at(HEIGHT)).collect(),
        triangles: triangles.collect(),
        materials: vec![],
    };
    if outwards { mesh } else { mesh.inside_out() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_seed_has_a_course_of_its_own_without_tight_curves() {
        let courses: Vec<Course> = (0..40)
            .map(|seed| Course::generate(seed).expect("a course"))
            .collect();
        for course in &courses {
            assert!(
                (38.0..60.0).contains(&course.length()),
                "{}",
                course.length()
            );
            let on_middle = course.distance(&course.start(), [[0.0; 2]; 2]);
            assert!((on_middle - 0.65).abs() < 0.01, "{on_middle}");
        }
        assert!(courses.windows(2).all(|pair| pair[0] != pair[1]));
    }

    #[test]
    fn a_car_across_the_course_touches() {
        let course = Course::generate(1).expect("a course");
        let across = [[-0.2, -0.9], [0.2, 0.9]];
        assert_eq!(course.distance(&course.start(), across), 0.0);
    }
}
