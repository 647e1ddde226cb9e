//! Normals turned to the sensor, and incidences.

use super::{Eigen, Neighbourhood, Neighbours, covariance, mean};
use nalgebra::Vector3;
use rayon::prelude::*;

/// How a scan's point sees its surface.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SurfaceView {
    /// Unit normal, turned to the sensor.
    pub normal: Vector3<f64>,
    /// Between the normal and the way back to the sensor, rad, in [0, pi/2] (equation 2):
    /// $\gamma = \arccos(-n \cdot r)$.
    pub incidence: f64,
    /// Eigenvalues of the neighbours' covariance, in rising order, m²: how flat and how round.
    pub values: [f64; 3],
    /// Distance of the point from the plane of its neighbours, m.
    pub offset: f64,
}

/// The view of the surface at each of the points numbered `at` in a scan, from the plane through
/// its neighbours in that scan; `None` where there are fewer than three.
///
/// Points in the lidar's frame, m, all finite; `origins` where their beams start, one a point.
pub fn surface_views(
    points: &[Vector3<f64>],
    origins: &[Vector3<f64>],
    at: &[u32],
    which: Neighbourhood,
) -> Vec<Option<SurfaceView>> {
    views_among(&Neighbours::new(points), (points, origins), at, which)
}

/// The same over neighbours that are known.
pub(in crate::depth) fn views_among(
    neighbours: &Neighbours,
    (points, origins): (&[Vector3<f64>], &[Vector3<f64>]),
    at: &[u32],
    which: Neighbourhood,
) -> Vec<Option<SurfaceView>> {
    at.par_iter()
        .map(|&i| {
            let (point, origin) = (points[i as usize], origins[i as usize]);
            let near = neighbours.near(&point, which);
            let chosen = near.iter().map(|&j| points[j as usize]);
            let plane = (near.len() >= 3).then(|| {
                let centre = mean(chosen.clone());
                (Eigen::of(&covariance(chosen, &centre)), point - centre)
            });
            plane.map(|(eigen, off)| view(&(point - origin).normalize(), &off, &eigen))
        })
        .collect()
}

pub(super) fn view(direction: &Vector3<f64>, off: &Vector3<f64>, eigen: &Eigen) -> SurfaceView {
    let normal = eigen.vectors[0];
    let along = normal.dot(direction);
    SurfaceView {
        normal: if along > 0.0 { -normal } else { normal },
        incidence: along.abs().min(1.0).acos(),
        values: eigen.values,
        offset: normal.dot(off).abs(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wall_is_seen_at_the_angle_it_stands_at() {
        let points: Vec<_> = (0..400)
            .map(|i| Vector3::new(f64::from(i / 20) * 0.1, 2.0, f64::from(i % 20) * 0.1))
            .collect();
        let origins = vec![Vector3::zeros(); points.len()];
        let at: Vec<u32> = (0..400).collect();
        let views = surface_views(&points, &origins, &at, Neighbourhood::Radius(0.25));
        assert_eq!(views.len(), 400);
        for (view, point) in views.iter().zip(&points) {
            let view = view.expect("it has neighbours");
            assert!((view.normal + Vector3::y()).norm() < 1e-9);
            let expected = (2.0 / point.norm()).acos();
            assert!((view.incidence - expected).abs() < 1e-7);
        }
    }
}
