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
#[inline]
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

/// [`turned`] for sixteen vectors at once, with the same operations and so the same bits.
#[inline(always)]
pub(crate) fn turned_lanes(rotation: &UnitQuaternion<f64>, v: &[[f64; 16]; 3]) -> [[f64; 16]; 3] {
    let u = rotation.imag();
    let mut result = [[0.0; 16]; 3];
    for i in 0..16 {
        let [x, y, z] = [v[0][i], v[1][i], v[2][i]];
        let [tx, ty, tz] = [
            (u.y * z - u.z * y) * 2.0,
            (u.z * x - u.x * z) * 2.0,
            (u.x * y - u.y * x) * 2.0,
        ];
        result[0][i] = (u.y * tz - u.z * ty) + rotation.w * tx + x;
        result[1][i] = (u.z * tx - u.x * tz) + rotation.w * ty + y;
        result[2][i] = (u.x * ty - u.y * tx) + rotation.w * tz + z;
    }
    result
}

impl Instance {
    /// [`Instance::turn`] of a direction at each of sixteen times.
    #[inline(always)]
    pub fn turn_lanes(&self, directions: &mut [[f64; 16]; 3], times: &[f64; 16]) {
        match &self.pose {
            Pose::Still { shifted: true, .. } => {}
            Pose::Still {
                world_from_object, ..
            } => *directions = turned_lanes(&world_from_object.rotation, directions),
            Pose::Moving(_) => {
                for lane in 0..16 {
                    let direction = Vector3::from(directions.map(|axis| axis[lane]));
                    let turned = self.turn(direction, times[lane]);
                    for (axis, part) in directions.iter_mut().zip(turned.iter()) {
                        axis[lane] = *part;
                    }
                }
            }
        }
    }

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
