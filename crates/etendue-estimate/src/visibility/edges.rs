//! Edges of a scene, and their chords through beams.

use super::cross_section::CrossSection;
use super::mirror_images::mirrors_of;
use super::ray_bundle::RayBundle;
use etendue_physics::Scalar;
use etendue_physics::beam::BeamFrame;
use etendue_scene::{Mesh, Object, ObjectId, Scene};
use etendue_sensors::transport::World;
use nalgebra::{Isometry3, Point3, Vector2, Vector3};
use std::collections::BTreeMap;

/// Minimum depth of the ends of an edge along the axis of a beam, m.
const MIN_DEPTH: f64 = 1e-6;

/// Distance of the sample points from the edge on both sides, in the unit of the cross-section.
pub(super) const SIDE_OFFSET: f64 = 1e-6;

/// Maximum of 1 - cosine of the angle between the normals of coplanar faces.
const COPLANAR: f64 = 1e-12;

/// Edge in the sensor frame.
pub(super) struct Edge<S: Scalar> {
    /// Ends, m.
    ends: [Point3<S>; 2],
    /// Ends without derivatives, m.
    values: [Point3<f64>; 2],
    /// Reciprocal of the number of objects with an edge at this position.
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
    /// Unit normal of the edge, oriented towards the axis of the beam: the part of the cross-section
    /// without the axis is behind the edge.
    pub normal: Vector2<f64>,
}

impl Chord {
    /// Chord of an edge between two projected points at given depths, m; `None` outside the
    /// cross-section.
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

    /// Point at a fraction of the chord, and its fraction along the edge in space.
    pub(super) fn point(&self, part: f64) -> (Vector2<f64>, f64) {
        let [from, to] = self.fractions;
        let projected = from + (to - from) * part;
        let along = fraction_in_space(projected, self.depths);
        (self.start.lerp(&self.end, part), along)
    }
}

/// Fraction along an edge in space from the fraction along its perspective projection and the depths of
/// its ends (perspective-correct interpolation).
fn fraction_in_space(projected: f64, [start, end]: [f64; 2]) -> f64 {
    projected * start / (end + projected * (start - end))
}

impl<S: Scalar> Edge<S> {
    /// Edge between two points in the sensor frame, m.
    pub(super) fn new(ends: [Point3<S>; 2], share: f64) -> Self {
        let values = ends.map(|end| end.map(Scalar::value));
        Self {
            ends,
            values,
            share,
        }
    }

    /// Chord of the edge through the beam of a bundle of rays from `origin`; `None` where they do not
    /// intersect.
    ///
    /// The chord is in the coordinates of the bundle at the depth where the edge is nearest to the
    /// axis.
    pub(super) fn chord(
        &self,
        frame: &BeamFrame,
        origin: &Point3<f64>,
        bundle: &RayBundle<f64>,
        cross_section: &CrossSection,
    ) -> Option<Chord> {
        // Project the edge onto the plane at unit depth.
        let dot = |end: &Point3<f64>, axis: &Vector3<f64>| (end - origin).dot(axis);
        let depths = self.values.map(|end| dot(&end, &frame.axis));
        if depths.iter().any(|depth| *depth < MIN_DEPTH) {
            return None;
        }
        let [near, far] = [0, 1].map(|i| {
            let end = &self.values[i];
            Vector2::new(dot(end, &frame.left), dot(end, &frame.up)) / depths[i]
        });
        // Find the depth at which it is nearest to the axis.
        let along = far - near;
        let nearest = (-near.dot(&along) / along.norm_squared()).clamp(0.0, 1.0);
        let depth = depths[0] + (depths[1] - depths[0]) * fraction_in_space(nearest, depths);
        // Intersect it with the cross-section at that depth.
        let coordinates = |slopes: Vector2<f64>| {
            let point = [slopes.x * depth, slopes.y * depth, depth];
            Vector2::from(bundle.coordinates(point))
        };
        Chord::new([coordinates(near), coordinates(far)], depths, cross_section)
    }

    /// Point at a fraction of the edge, in the frame of a beam from `origin`: left, up and along the
    /// axis, m.
    pub(super) fn in_beam(&self, along: f64, frame: &BeamFrame, origin: &Point3<f64>) -> [S; 3] {
        let [start, end] = &self.ends;
        let point = start + (end - start) * S::from(along);
        [&frame.left, &frame.up, &frame.axis].map(|axis| {
            let component = |k: usize| (point[k] - origin[k]) * axis[k];
            component(0) + component(1) + component(2)
        })
    }

    /// Ends without derivatives, m.
    pub(super) fn values(&self) -> &[Point3<f64>; 2] {
        &self.values
    }
}

/// Edges of a scene in the sensor frame, with their images by up to `reflections` reflections in
/// mirrors.
///
/// Each edge is divided into pieces, because edges that extend behind a beam have no chord.
pub(super) fn edges_of<S: Scalar>(
    world: &World<'_, S>,
    world_from_sensor: &Isometry3<S>,
    reflections: u32,
) -> Vec<Edge<S>> {
    // Find the mirrors.
    let sensor_from_world = world_from_sensor.inverse();
    let mirrors = if reflections > 0 {
        mirrors_of(world)
    } else {
        Vec::new()
    };
    let mut edges = Vec::new();
    for (ends, share) in in_world(world) {
        // Add the edge.
        let mut add = |ends: [Point3<S>; 2]| {
            let in_sensor = ends.map(|end| sensor_from_world * end);
            edges.extend(pieces(in_sensor).map(|piece| Edge::new(piece, share)));
        };
        add(ends);
        // Add its images after one and two reflections.
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

/// Division of an edge into eight pieces of equal length.
fn pieces<S: Scalar>(ends: [Point3<S>; 2]) -> impl Iterator<Item = [Point3<S>; 2]> {
    const PIECES: u32 = 8;
    let at = move |i: u32| {
        let part = f64::from(i) / f64::from(PIECES);
        ends[0] + (ends[1] - ends[0]) * S::from(part)
    };
    (0..PIECES).map(move |i| [at(i), at(i + 1)])
}

/// Edges in the world frame of the objects at rest, each with the reciprocal of the number of objects that share it.
fn in_world<S: Scalar>(world: &World<'_, S>) -> Vec<([Point3<S>; 2], f64)> {
    let scene = world.scene();
    let mut edges = Vec::new();
    let mut counts: BTreeMap<[i64; 6], f64> = BTreeMap::new();
    let objects = (0..).map(ObjectId).zip(scene.objects());
    for ((id, object), pose) in objects.zip(world.poses()) {
        if scene.motion(id).is_some() {
            continue;
        }
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

/// Position of an edge regardless of its direction, in units of 0.1 µm.
fn position_key<S: Scalar>(ends: &[Point3<S>; 2]) -> [i64; 6] {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "a saturated coordinate is still a valid key"
    )]
    let mut rounded = ends.map(|end| [0, 1, 2].map(|k| (end[k].value() * 1e7).round() as i64));
    rounded.sort_unstable();
    let [a, b] = rounded;
    [a[0], a[1], a[2], b[0], b[1], b[2]]
}

/// Edges of an object in the object frame: borders of the mesh, and sides between faces that are not
/// coplanar or have different materials.
fn local(scene: &Scene, object: &Object) -> Vec<[Point3<f64>; 2]> {
    // Collect the faces at each side.
    let mesh = scene.mesh(object.mesh);
    let mut faces: BTreeMap<[[u64; 3]; 2], Vec<usize>> = BTreeMap::new();
    for (number, triangle) in mesh.triangles.iter().enumerate() {
        for (a, b) in [(0, 1), (1, 2), (2, 0)] {
            let mut key = [triangle[a], triangle[b]].map(|v| bits(&mesh.vertices[v as usize]));
            key.sort_unstable();
            faces.entry(key).or_default().push(number);
        }
    }
    // Select the sides that are edges.
    let is_edge = |sides: &[usize]| match sides {
        [a, b] => !are_one_surface(mesh, *a, *b),
        _ => true,
    };
    let ends = faces.into_iter().filter(|(_, sides)| is_edge(sides));
    ends.map(|(key, _)| key.map(|end| Point3::from(end.map(f64::from_bits))))
        .collect()
}

/// Bit patterns of the coordinates, equal for equal points.
fn bits(point: &Point3<f64>) -> [u64; 3] {
    // Adding zero converts -0 to 0.
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

/// Displacement of a point of the cross-section along `normal`: the value zero with derivatives.
pub(super) fn displacement<S: Scalar>(point: [S; 2], normal: &Vector2<f64>) -> S {
    let moved = point[0] * normal.x + point[1] * normal.y;
    moved - moved.value()
}
