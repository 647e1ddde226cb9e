//! Edges of a scene and their chords through beams.

use super::cross_section::CrossSection;
use super::mirror_images::mirrors_of;
use super::ray_bundle::RayBundle;
use etendue_physics::Scalar;
use etendue_physics::beam::BeamFrame;
use etendue_scene::{Mesh, Object, Scene};
use etendue_sensors::transport::World;
use nalgebra::{Isometry3, Point3, Vector2, Vector3};
use std::collections::BTreeMap;

/// Least depth of an edge in front of the sensor, m.
const MIN_DEPTH: f64 = 1e-6;

/// Offset of the sample points on the two sides of an edge, in the unit of the cross-section.
pub(super) const SIDE_OFFSET: f64 = 1e-6;

/// Greatest 1 - cosine between the normals of coplanar faces.
const COPLANAR: f64 = 1e-12;

/// An edge in the sensor frame.
pub(super) struct Edge<S: Scalar> {
    ends: [Point3<S>; 2],
    values: [Point3<f64>; 2],
    /// Reciprocal of the number of objects that have this edge at the same position.
    pub share: f64,
}

/// Part of an edge inside the cross-section of a beam, in the unit of the cross-section.
pub(super) struct Chord {
    start: Vector2<f64>,
    end: Vector2<f64>,
    /// Fractions of the projected edge at which the chord starts and ends.
    fractions: [f64; 2],
    /// Depths of the ends of the edge, m.
    depths: [f64; 2],
    /// Unit normal of the edge, towards the axis: the smaller part of the cross-section is behind the
    /// edge.
    pub normal: Vector2<f64>,
}

impl Chord {
    /// Chord of an edge between two projected points at depths, m.
    fn new(
        [start, end]: [Vector2<f64>; 2],
        depths: [f64; 2],
        cross_section: &CrossSection,
    ) -> Option<Self> {
        let along = end - start;
        let length = along.norm();
        if length < 1e-12 {
            return None;
        }
        let [from, to] = cross_section.inside(&start, &end)?;
        let normal = Vector2::new(-along.y, along.x) / length;
        Some(Self {
            start: start + along * from,
            end: start + along * to,
            fractions: [from, to],
            depths,
            normal: if start.dot(&normal) > 0.0 {
                -normal
            } else {
                normal
            },
        })
    }

    /// A point of the chord and its fraction along the edge in space.
    pub(super) fn point(&self, part: f64) -> (Vector2<f64>, f64) {
        let [from, to] = self.fractions;
        let projected = from + (to - from) * part;
        let along = fraction_in_space(projected, self.depths);
        (self.start.lerp(&self.end, part), along)
    }
}

/// Fraction along an edge in space of a fraction along its perspective projection, with the depths of
/// its ends.
fn fraction_in_space(projected: f64, [start, end]: [f64; 2]) -> f64 {
    projected * start / (end + projected * (start - end))
}

impl<S: Scalar> Edge<S> {
    pub(super) fn new(ends: [Point3<S>; 2], share: f64) -> Self {
        let values = ends.map(|end| end.map(Scalar::value));
        Self {
            ends,
            values,
            share,
        }
    }

    /// Chord of the edge through a bundle of rays from `origin`, in the unit of the bundle at the
    /// depth where the edge is nearest to its axis; fractions are those of the edge in space.
    pub(super) fn chord(
        &self,
        frame: &BeamFrame,
        origin: &Point3<f64>,
        bundle: &RayBundle<f64>,
        cross_section: &CrossSection,
    ) -> Option<Chord> {
        let dot = |end: &Point3<f64>, axis: &Vector3<f64>| (end - origin).dot(axis);
        let depths = self.values.map(|end| dot(&end, &frame.axis));
        if depths.iter().any(|depth| *depth < MIN_DEPTH) {
            return None;
        }
        let [near, far] = [0, 1].map(|i| {
            let end = &self.values[i];
            Vector2::new(dot(end, &frame.left), dot(end, &frame.up)) / depths[i]
        });
        let along = far - near;
        let nearest = (-near.dot(&along) / along.norm_squared()).clamp(0.0, 1.0);
        let depth = depths[0] + (depths[1] - depths[0]) * fraction_in_space(nearest, depths);
        let coordinates = |slopes: Vector2<f64>| {
            let point = [slopes.x * depth, slopes.y * depth, depth];
            Vector2::from(bundle.coordinates(point))
        };
        Chord::new([coordinates(near), coordinates(far)], depths, cross_section)
    }

    /// A point of the edge in the frame of a beam from `origin`: left, up and along the axis, m.
    pub(super) fn in_beam(&self, along: f64, frame: &BeamFrame, origin: &Point3<f64>) -> [S; 3] {
        let [start, end] = &self.ends;
        let point = start + (end - start) * S::from(along);
        [&frame.left, &frame.up, &frame.axis].map(|axis| {
            let component = |k: usize| (point[k] - origin[k]) * axis[k];
            component(0) + component(1) + component(2)
        })
    }

    /// The ends without derivatives.
    pub(super) fn values(&self) -> &[Point3<f64>; 2] {
        &self.values
    }
}

/// Every edge of the scene in the sensor frame, seen directly and by up to `reflections` reflections in
/// mirrors, each divided into pieces so that the pieces in front of the sensor are seen.
pub(super) fn edges_of<S: Scalar>(
    world: &World<'_, S>,
    world_from_sensor: &Isometry3<S>,
    reflections: u32,
) -> Vec<Edge<S>> {
    let sensor_from_world = world_from_sensor.inverse();
    let mirrors = if reflections > 0 {
        mirrors_of(world)
    } else {
        Vec::new()
    };
    let mut edges = Vec::new();
    for (ends, share) in in_world(world) {
        let mut add = |ends: [Point3<S>; 2]| {
            let in_sensor = ends.map(|end| sensor_from_world * end);
            edges.extend(pieces(in_sensor).map(|piece| Edge::new(piece, share)));
        };
        add(ends);
        for first in mirrors.iter().filter(|m| !m.contains(&ends)) {
            let once = first.image(&ends);
            add(once);
            for second in mirrors
                .iter()
                .filter(|m| reflections > 1 && !m.contains(&once))
            {
                add(second.image(&once));
            }
        }
    }
    edges
}

/// Eight pieces of an edge of equal length.
fn pieces<S: Scalar>(ends: [Point3<S>; 2]) -> impl Iterator<Item = [Point3<S>; 2]> {
    const PIECES: u32 = 8;
    let at = move |i: u32| {
        let part = f64::from(i) / f64::from(PIECES);
        ends[0] + (ends[1] - ends[0]) * S::from(part)
    };
    (0..PIECES).map(move |i| [at(i), at(i + 1)])
}

/// The edges in the world, each with the reciprocal of the number of objects that share it.
fn in_world<S: Scalar>(world: &World<'_, S>) -> Vec<([Point3<S>; 2], f64)> {
    let scene = world.scene();
    let mut edges = Vec::new();
    let mut counts: BTreeMap<[i64; 6], f64> = BTreeMap::new();
    for (object, pose) in scene.objects().iter().zip(world.poses()) {
        for ends in local(scene, object) {
            let ends = ends.map(|end| pose * end.map(S::from));
            *counts.entry(position_key(&ends)).or_default() += 1.0;
            edges.push(ends);
        }
    }
    edges
        .into_iter()
        .map(|ends| (ends, 1.0 / counts[&position_key(&ends)]))
        .collect()
}

/// Position of an edge regardless of its direction, to a tenth of a micrometre.
fn position_key<S: Scalar>(ends: &[Point3<S>; 2]) -> [i64; 6] {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "a saturated coordinate is still a coordinate"
    )]
    let mut rounded = ends.map(|end| [0, 1, 2].map(|k| (end[k].value() * 1e7).round() as i64));
    rounded.sort_unstable();
    let [a, b] = rounded;
    [a[0], a[1], a[2], b[0], b[1], b[2]]
}

/// The edges of an object in its own frame: borders of single faces, and edges between faces that
/// are not coplanar or have different materials.
fn local(scene: &Scene, object: &Object) -> Vec<[Point3<f64>; 2]> {
    let mesh = scene.mesh(object.mesh);
    let mut faces: BTreeMap<[[u64; 3]; 2], Vec<usize>> = BTreeMap::new();
    for (number, triangle) in mesh.triangles.iter().enumerate() {
        for (a, b) in [(0, 1), (1, 2), (2, 0)] {
            let mut key = [triangle[a], triangle[b]].map(|v| bits(&mesh.vertices[v as usize]));
            key.sort_unstable();
            faces.entry(key).or_default().push(number);
        }
    }
    let is_edge = |sides: &[usize]| match sides {
        [a, b] => !are_one_surface(mesh, *a, *b),
        _ => true,
    };
    let ends = faces.into_iter().filter(|(_, sides)| is_edge(sides));
    ends.map(|(key, _)| key.map(|end| Point3::from(end.map(f64::from_bits))))
        .collect()
}

fn bits(point: &Point3<f64>) -> [u64; 3] {
    // Adding zero turns -0 into 0.
    [0, 1, 2].map(|k| (point[k] + 0.0).to_bits())
}

/// Whether two faces are coplanar and have the same material.
fn are_one_surface(mesh: &Mesh, a: usize, b: usize) -> bool {
    let normal = |number: usize| {
        let [p, q, r] = mesh.triangles[number].map(|v| mesh.vertices[v as usize]);
        (q - p).cross(&(r - p)).normalize()
    };
    let same = mesh.materials.get(a) == mesh.materials.get(b);
    same && 1.0 - normal(a).dot(&normal(b)).abs() < COPLANAR
}

/// Displacement of a point of the cross-section along `normal`: zero, with derivatives.
pub(super) fn displacement<S: Scalar>(point: [S; 2], normal: &Vector2<f64>) -> S {
    let moved = point[0] * normal.x + point[1] * normal.y;
    moved - moved.value()
}
