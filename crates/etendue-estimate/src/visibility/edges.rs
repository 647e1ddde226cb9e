//! The edges of a scene, and where they cross a beam.

use super::cover::Cover;
use super::images::mirrors_of;
use super::scanner::Bundle;
use etendue_physics::Scalar;
use etendue_physics::beam::BeamFrame;
use etendue_scene::{Mesh, Object, Scene};
use etendue_sensors::transport::World;
use nalgebra::{Isometry3, Point3, Vector2, Vector3};
use std::collections::BTreeMap;

/// Nearer than this in front of the sensor an edge is cut off, m.
const NEAREST: f64 = 1e-6;

/// Two faces whose normals differ by less than this (1 - cosine) are one surface.
const FLAT: f64 = 1e-12;

/// An edge in the sensor's frame.
pub(super) struct Edge<S: Scalar> {
    ends: [Point3<S>; 2],
    values: [Point3<f64>; 2],
    /// One over the number of objects that have this edge in the same place.
    pub share: f64,
}

/// The part of an edge inside a beam's cross-section, in the cross-section's own unit.
pub(super) struct Chord {
    start: Vector2<f64>,
    end: Vector2<f64>,
    /// Fractions of the whole edge at which the chord starts and ends.
    fractions: [f64; 2],
    /// How deep the edge's ends are, m, where fractions are wanted of the edge in space.
    depths: Option<[f64; 2]>,
    /// At right angles to the edge, from it to the axis: the smaller part of the cross-section is
    /// behind.
    pub normal: Vector2<f64>,
}

impl Chord {
    /// Of an edge that the beam sees between two points.
    fn new([start, end]: [Vector2<f64>; 2], cover: &Cover) -> Option<Self> {
        let way = end - start;
        let length = way.norm();
        if length < 1e-12 {
            return None;
        }
        let [from, to] = cover.inside(&start, &end)?;
        let normal = Vector2::new(-way.y, way.x) / length;
        Some(Self {
            start: start + way * from,
            end: start + way * to,
            fractions: [from, to],
            depths: None,
            normal: if start.dot(&normal) > 0.0 {
                -normal
            } else {
                normal
            },
        })
    }

    /// A point of the chord, and the fraction of the whole edge it lies at.
    pub(super) fn point(&self, part: f64) -> (Vector2<f64>, f64) {
        let [from, to] = self.fractions;
        let seen = from + (to - from) * part;
        let along = self.depths.map_or(seen, |depths| in_space(seen, depths));
        (self.start.lerp(&self.end, part), along)
    }
}

/// The fraction of an edge in space that is seen at a fraction of what is seen of it, its ends at
/// these depths.
fn in_space(seen: f64, [start, end]: [f64; 2]) -> f64 {
    seen * start / (end + seen * (start - end))
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

    /// Where the edge crosses a round beam's cross-section, if it does.
    pub(super) fn chord(
        &self,
        frame: &BeamFrame,
        half_tangent: f64,
        cover: &Cover,
    ) -> Option<Chord> {
        let depths = self.values.map(|end| end.coords.dot(&frame.axis));
        if depths.iter().any(|depth| *depth < NEAREST) {
            return None;
        }
        Chord::new(
            self.values.map(|end| section(&end, frame, half_tangent)),
            cover,
        )
    }

    /// Where the edge crosses a bundle of rays from `origin`, if it does, in standard deviations of
    /// the bundle where the edge is nearest to its axis; fractions are those of the edge in space.
    pub(super) fn chord_in(
        &self,
        frame: &BeamFrame,
        origin: &Point3<f64>,
        bundle: &Bundle<f64>,
        cover: &Cover,
    ) -> Option<Chord> {
        let dot = |end: &Point3<f64>, axis: &Vector3<f64>| (end - origin).dot(axis);
        let depths = self.values.map(|end| dot(&end, &frame.axis));
        if depths.iter().any(|depth| *depth < NEAREST) {
            return None;
        }
        let [near, far] = [0, 1].map(|i| {
            let end = &self.values[i];
            Vector2::new(dot(end, &frame.left), dot(end, &frame.up)) / depths[i]
        });
        let way = far - near;
        let nearest = (-near.dot(&way) / way.norm_squared()).clamp(0.0, 1.0);
        let depth = depths[0] + (depths[1] - depths[0]) * in_space(nearest, depths);
        let place = |angles: Vector2<f64>| {
            let [across, up] = bundle.place([angles.x * depth, angles.y * depth, depth]);
            Vector2::new(across, up)
        };
        let mut chord = Chord::new([place(near), place(far)], cover)?;
        chord.depths = Some(depths);
        Some(chord)
    }

    /// A point of the edge in the frame of a beam from `origin`: left, up, along the axis, m.
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

    /// The edge's ends in the cross-section, with derivatives.
    pub(super) fn projected(&self, frame: &BeamFrame, half_tangent: S) -> [Vector2<S>; 2] {
        self.ends.map(|end| section(&end, frame, half_tangent))
    }
}

/// Where a point of the sensor's frame lies in a beam's cross-section, in beam radii.
fn section<S: Scalar>(point: &Point3<S>, frame: &BeamFrame, half_tangent: S) -> Vector2<S> {
    let dot = |axis: &Vector3<f64>| point.x * axis.x + point.y * axis.y + point.z * axis.z;
    let radius = dot(&frame.axis) * half_tangent;
    Vector2::new(dot(&frame.left) / radius, dot(&frame.up) / radius)
}

/// Every edge of the scene in the sensor's frame, seen directly and in up to `reflections` mirrors.
///
/// An edge that reaches behind the sensor is cut into pieces, so that the pieces in front are seen.
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
        let mut see = |ends: [Point3<S>; 2]| {
            let seen = ends.map(|end| sensor_from_world * end);
            edges.extend(pieces(seen).map(|piece| Edge::new(piece, share)));
        };
        see(ends);
        for first in mirrors.iter().filter(|m| !m.holds(&ends)) {
            let once = first.image(&ends);
            see(once);
            for second in mirrors
                .iter()
                .filter(|m| reflections > 1 && !m.holds(&once))
            {
                see(second.image(&once));
            }
        }
    }
    edges
}

/// An edge as it is where all of it is far from the sensor's plane of view, else in eight pieces.
fn pieces<S: Scalar>(ends: [Point3<S>; 2]) -> impl Iterator<Item = [Point3<S>; 2]> {
    const PIECES: u32 = 8;
    let at = move |i: u32| {
        let part = f64::from(i) / f64::from(PIECES);
        ends[0] + (ends[1] - ends[0]) * S::from(part)
    };
    (0..PIECES).map(move |i| [at(i), at(i + 1)])
}

/// The edges in the world, with one over how many objects share each.
fn in_world<S: Scalar>(world: &World<'_, S>) -> Vec<([Point3<S>; 2], f64)> {
    let scene = world.scene();
    let mut edges = Vec::new();
    let mut places: BTreeMap<[i64; 6], f64> = BTreeMap::new();
    for (object, pose) in scene.objects().iter().zip(world.poses()) {
        for ends in local(scene, object) {
            let ends = ends.map(|end| pose * end.map(S::from));
            *places.entry(place(&ends)).or_default() += 1.0;
            edges.push(ends);
        }
    }
    edges
        .into_iter()
        .map(|ends| (ends, 1.0 / places[&place(&ends)]))
        .collect()
}

/// Where an edge is, whichever way it runs, to a tenth of a micrometre.
fn place<S: Scalar>(ends: &[Point3<S>; 2]) -> [i64; 6] {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "a saturated place is still a place"
    )]
    let mut rounded = ends.map(|end| [0, 1, 2].map(|k| (end[k].value() * 1e7).round() as i64));
    rounded.sort_unstable();
    let [a, b] = rounded;
    [a[0], a[1], a[2], b[0], b[1], b[2]]
}

/// The edges of an object in its own frame: where one face ends, or two faces meet at an angle or
/// with different materials.
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
        [a, b] => !continues(mesh, *a, *b),
        _ => true,
    };
    let ends = faces.into_iter().filter(|(_, sides)| is_edge(sides));
    ends.map(|(key, _)| key.map(|end| Point3::from(end.map(f64::from_bits))))
        .collect()
}

fn bits(point: &Point3<f64>) -> [u64; 3] {
    // Adding zero makes -0 and 0 the same place.
    [0, 1, 2].map(|k| (point[k] + 0.0).to_bits())
}

fn continues(mesh: &Mesh, a: usize, b: usize) -> bool {
    let normal = |number: usize| {
        let [p, q, r] = mesh.triangles[number].map(|v| mesh.vertices[v as usize]);
        (q - p).cross(&(r - p)).normalize()
    };
    let same = mesh.materials.get(a) == mesh.materials.get(b);
    same && 1.0 - normal(a).dot(&normal(b)).abs() < FLAT
}
