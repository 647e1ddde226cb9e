//! Sixteen poses of a sensor and their first-order changes, with derivatives.
#![expect(
    clippy::inline_always,
    reason = "loops over sixteen lanes become the caller's vector instructions"
)]

use crate::scalar_tile::{LaneScalar, ScalarTile};
use nalgebra::Isometry3;

/// Sixteen poses of a sensor, one per lane.
#[derive(Clone, Copy)]
pub(crate) struct PoseTile<S: LaneScalar> {
    /// Components i, j, k and w of the unit quaternions.
    rotation: [S::Tile; 4],
    /// Translations, m.
    translation: [S::Tile; 3],
}

/// First-order changes of sixteen poses, as derivatives with the value zero.
#[derive(Clone, Copy)]
pub(crate) struct TwistTile<S: LaneScalar> {
    /// Origins of the sensor in the world, m.
    pub centre: [[f64; 16]; 3],
    /// Change $\delta o$ of the origin, m.
    pub translation: [S::Tile; 3],
    /// Rotation vector $\omega$, rad: a direction $d$ changes by $\omega\times d$.
    pub rotation: [S::Tile; 3],
}

/// First-order change of one pose of a sensor.
#[derive(Clone, Copy)]
pub(crate) struct Twist<S> {
    /// Origin of the sensor in the world, m, in each lane.
    pub centre: [[f64; 16]; 3],
    /// Change of the origin (m) and rotation vector (rad), as of [`TwistTile`].
    pub motion: [S; 6],
}

impl<S: LaneScalar> Twist<S> {
    /// The change of a pose.
    pub fn of(pose: &Isometry3<S>) -> Self {
        let mut poses = PoseTile::<S>::identity();
        (0..16).for_each(|lane| poses.put(lane, pose));
        let twist = poses.twist();
        let [x, y, z] = twist.translation.map(|part| part.lane(0));
        let [u, v, w] = twist.rotation.map(|part| part.lane(0));
        Self {
            centre: twist.centre,
            motion: [x, y, z, u, v, w],
        }
    }
}

impl<S: LaneScalar> PoseTile<S> {
    /// The identity in every lane.
    pub fn identity() -> Self {
        let [zero, one] = [0.0, 1.0].map(|number| S::Tile::plain([number; 16]));
        Self {
            rotation: [zero, zero, zero, one],
            translation: [zero; 3],
        }
    }

    /// Replaces the pose of a lane.
    #[inline(always)]
    pub fn put(&mut self, lane: usize, pose: &Isometry3<S>) {
        for (own, part) in self.rotation.iter_mut().zip(pose.rotation.coords.iter()) {
            own.put(lane, *part);
        }
        let parts = pose.translation.vector.iter();
        for (own, part) in self.translation.iter_mut().zip(parts) {
            own.put(lane, *part);
        }
    }

    /// Origins of the sensor in the world, m.
    #[inline(always)]
    pub fn origin(&self) -> [[f64; 16]; 3] {
        let [x, y, z] = &self.translation;
        [*x.values(), *y.values(), *z.values()]
    }

    /// Rotates directions of the sensor's frame into the world:
    /// $v + 2w\,(u \times v) + 2u \times (u \times v)$ for the quaternion $(w, u)$, in the order of
    /// operations of nalgebra's product, so that the results are bit-equal.
    #[inline(always)]
    pub fn rotate(&self, v: &[[f64; 16]; 3]) -> [[f64; 16]; 3] {
        let [ui, uj, uk, w] = self.rotation.each_ref().map(ScalarTile::values);
        let mut out = [[0.0; 16]; 3];
        for i in 0..16 {
            let u = [ui[i], uj[i], uk[i]];
            let v = [v[0][i], v[1][i], v[2][i]];
            let twice = cross(&u, &v).map(|part| part * 2.0);
            let across = cross(&u, &twice);
            for axis in 0..3 {
                out[axis][i] = twice[axis] * w[i] + across[axis] + v[axis];
            }
        }
        out
    }

    /// First-order changes of the poses; the rotation vector is $2\,\mathrm{Im}(\delta q\,q^*)$.
    #[inline(always)]
    pub fn twist(&self) -> TwistTile<S> {
        let [di, dj, dk, dw] = self.rotation.each_ref();
        let [i, j, k, w] = self.rotation.each_ref().map(ScalarTile::values);
        let one = &[1.0; 16];
        TwistTile {
            centre: self.origin(),
            translation: (self.translation.each_ref())
                .map(|part| S::Tile::chained([0.0; 16], [(part, one)])),
            rotation: [
                rotation_about::<S>([di, dj, dk, dw], [i, j, k, w]),
                rotation_about::<S>([dj, dk, di, dw], [j, k, i, w]),
                rotation_about::<S>([dk, di, dj, dw], [k, i, j, w]),
            ],
        }
    }
}

/// Component of the rotation vector along the first of three cyclic axes, rad, from the changes of the
/// quaternions and their components.
#[inline(always)]
fn rotation_about<S: LaneScalar>(
    [d, dl, dm, dw]: [&S::Tile; 4],
    [u, l, m, w]: [&[f64; 16]; 4],
) -> S::Tile {
    let twice = |part: &[f64; 16], sign: f64| part.map(|own| 2.0 * sign * own);
    let parts = [
        (d, &twice(w, 1.0)),
        (dw, &twice(u, -1.0)),
        (dl, &twice(m, -1.0)),
        (dm, &twice(l, 1.0)),
    ];
    S::Tile::chained([0.0; 16], parts)
}

/// Cross product of two vectors of plain numbers.
#[inline(always)]
pub(super) fn cross(a: &[f64; 3], b: &[f64; 3]) -> [f64; 3] {
    [
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    ]
}
