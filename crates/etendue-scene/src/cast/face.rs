//! Normals of the triangles that were met.

use super::instance::{Instance, Pose};
use super::triangle::Meeting;
use crate::{Hit, Mesh, ObjectId};
use etendue_physics::Scalar;
use nalgebra::{Point3, UnitQuaternion, Vector3};

/// A [`Hit`] without its normal.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Met {
    pub distance: f64,
    pub object: ObjectId,
    pub triangle: u32,
    pub barycentric: [f64; 2],
}

impl Met {
    pub fn new(number: usize, triangle: u32, meeting: &Meeting) -> Self {
        Self {
            distance: meeting.distance,
            object: ObjectId(number as u32),
            triangle,
            barycentric: meeting.barycentric,
        }
    }

    /// A hit without its normal.
    pub fn of(hit: &Hit) -> Self {
        Self {
            distance: hit.distance,
            object: hit.object,
            triangle: hit.triangle,
            barycentric: hit.barycentric,
        }
    }

    /// With the normal in the world.
    pub fn hit(self, normal: Vector3<f64>) -> Hit {
        Hit {
            distance: self.distance,
            object: self.object,
            triangle: self.triangle,
            barycentric: self.barycentric,
            normal,
        }
    }
}

/// Unit normal of a triangle, in the frame of its corners.
pub(crate) fn flat_normal(corners: [&Point3<f64>; 3]) -> Vector3<f64> {
    let [a, b, c] = corners;
    let [x, y, z] = across((b - a).into(), (c - a).into());
    Vector3::new(x, y, z)
}

/// The unit vector along $u \times v$.
#[inline(always)]
fn across(u: [f64; 3], v: [f64; 3]) -> [f64; 3] {
    let n = [
        u[1] * v[2] - u[2] * v[1],
        u[2] * v[0] - u[0] * v[2],
        u[0] * v[1] - u[1] * v[0],
    ];
    let length = (n[0] * n[0] + n[1] * n[1] + n[2] * n[2]).sqrt();
    n.map(|part| part / length)
}

/// $v + 2w\\,(u \times v) + 2u \times (u \times v)$ for the unit quaternion $(w, u)$ and a plain
/// vector $v$: nalgebra's generic product is several times slower for dual numbers.
pub(crate) fn turned<S: Scalar>(rotation: &UnitQuaternion<S>, v: &Vector3<f64>) -> Vector3<S> {
    let u = rotation.imag();
    let twice = Vector3::new(
        (u.y * v.z - u.z * v.y) * 2.0,
        (u.z * v.x - u.x * v.z) * 2.0,
        (u.x * v.y - u.y * v.x) * 2.0,
    );
    let across = u.cross(&twice);
    let part = |axis: usize| across[axis] + rotation.w * twice[axis] + v[axis];
    Vector3::new(part(0), part(1), part(2))
}

impl Instance {
    /// A direction of the mesh's frame in the world.
    #[inline]
    pub fn turn(&self, direction: Vector3<f64>, time: f64) -> Vector3<f64> {
        match &self.pose {
            Pose::Still { shifted: true, .. } => direction,
            Pose::Still {
                world_from_object, ..
            } => turned(&world_from_object.rotation, &direction),
            Pose::Moving(motion) => turned(&motion.at(time).rotation, &direction),
        }
    }

    /// Unit normal in the world of a triangle of the instance's mesh.
    pub fn normal(&self, mesh: &Mesh, triangle: u32, time: f64) -> Vector3<f64> {
        let corners = mesh.triangles[triangle as usize].map(|v| &mesh.vertices[v as usize]);
        self.turn(flat_normal(corners), time)
    }
}

/// Sixteen triangles: [`flat_normal`] for all at once, with the same operations and so the same
/// bits.
#[repr(C, align(64))]
pub(crate) struct Faces {
    /// From the first corner to the others, by axis and lane.
    edges: [[[f64; 16]; 3]; 2],
}

impl Faces {
    pub const NONE: Self = Self {
        edges: [[[1.0; 16]; 3]; 2],
    };

    #[inline(always)]
    pub fn put(&mut self, lane: usize, corners: [&Point3<f64>; 3]) {
        let [a, b, c] = corners;
        for axis in 0..3 {
            self.edges[0][axis][lane] = b[axis] - a[axis];
            self.edges[1][axis][lane] = c[axis] - a[axis];
        }
    }

    /// Unit normals, by axis and lane.
    #[inline(always)]
    pub fn normals(&self) -> [[f64; 16]; 3] {
        let mut normals = [[0.0; 16]; 3];
        let [u, v] = &self.edges;
        for i in 0..16 {
            let [x, y, z] = across([u[0][i], u[1][i], u[2][i]], [v[0][i], v[1][i], v[2][i]]);
            normals[0][i] = x;
            normals[1][i] = y;
            normals[2][i] = z;
        }
        normals
    }
}
