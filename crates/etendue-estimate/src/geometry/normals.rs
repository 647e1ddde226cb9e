//! Surface normals, oriented towards the sensor, and angles of incidence.

use super::{EigenDecomposition, Neighbourhood, Neighbours, covariance, mean};
use nalgebra::Vector3;
use rayon::prelude::*;

/// Local surface at a point of a scan.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LocalSurface {
    /// Unit normal, oriented towards the sensor.
    pub normal: Vector3<f64>,
    /// Angle of incidence $\gamma = \arccos(-n \cdot r)$, rad, in [0, pi/2], with the normal $n$ and
    /// the direction $r$ of the beam.
    pub incidence: f64,
    /// Ascending eigenvalues of the covariance of the neighbours, m².
    pub values: [f64; 3],
    /// Distance of the point from the plane of its neighbours, m.
    pub offset: f64,
}

/// Local surfaces at the points of a scan with the indices `at`, from planes fitted to their
/// neighbours; `None` where there are fewer than three.
///
/// Points are finite and in the lidar frame, m; `origins` are the origins of their beams, one per
/// point.
pub fn local_surfaces(
    points: &[Vector3<f64>],
    origins: &[Vector3<f64>],
    at: &[u32],
    which: Neighbourhood,
) -> Vec<Option<LocalSurface>> {
    local_surfaces_among(&Neighbours::new(points), points, origins, at, which)
}

/// [`local_surfaces`] with an existing tree over the points.
pub fn local_surfaces_among(
    neighbours: &Neighbours,
    points: &[Vector3<f64>],
    origins: &[Vector3<f64>],
    at: &[u32],
    which: Neighbourhood,
) -> Vec<Option<LocalSurface>> {
    at.par_iter()
        .map(|&i| {
            let point = points[i as usize];
            let origin = origins[i as usize];
            let near = neighbours.near(&point, which);
            let chosen = near.iter().map(|&j| points[j as usize]);
            let plane = (near.len() >= 3).then(|| {
                let centre = mean(chosen.clone());
                (
                    EigenDecomposition::of(&covariance(chosen, &centre)),
                    point - centre,
                )
            });
            plane.map(|(eigen, off)| {
                let direction = (point - origin).normalize();
                local_surface(&direction, &off, &eigen.vectors[0], eigen.values)
            })
        })
        .collect()
}

/// Local surface of a point: `direction` is that of the beam, `from_mean` the point relative to the
/// mean of its neighbours, `normal` that of their plane and `values` the eigenvalues of their covariance.
pub(super) fn local_surface(
    direction: &Vector3<f64>,
    from_mean: &Vector3<f64>,
    normal: &Vector3<f64>,
    values: [f64; 3],
) -> LocalSurface {
    let along = normal.dot(direction);
    LocalSurface {
        normal: if along > 0.0 { -normal } else { *normal },
        incidence: along.abs().min(1.0).acos(),
        values,
        offset: normal.dot(from_mean).abs(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wall_has_its_normal_and_the_angle_of_incidence() {
        let points: Vec<_> = (0..400)
            .map(|i| Vector3::new(f64::from(i / 20) * 0.1, 2.0, f64::from(i % 20) * 0.1))
            .collect();
        let origins = vec![Vector3::zeros(); points.len()];
        let at: Vec<u32> = (0..400).collect();
        let surfaces = local_surfaces(&points, &origins, &at, Neighbourhood::Radius(0.25));
        assert_eq!(surfaces.len(), 400);
        for (surface, point) in surfaces.iter().zip(&points) {
            let surface = surface.expect("it has neighbours");
            assert!((surface.normal + Vector3::y()).norm() < 1e-9);
            let expected = (2.0 / point.norm()).acos();
            assert!((surface.incidence - expected).abs() < 1e-7);
        }
    }
}
