//! The largest flat surface of a cloud: random planes.

use super::plane::{PanelPlane, PlaneFit, RangedDirection};
use super::sight::Sight;
use etendue_physics::{Purpose, Stream};
use nalgebra::Vector3;

/// Number of random planes per surface.
const DRAWS: u32 = 600;

/// Greatest relative difference of a range from a plane that is refined.
const NEAR: f64 = 0.08;

/// The plane with the most points among 600 random ones (RANSAC; Fischler and Bolles 1981,
/// doi:10.1145/358669.358692), refined; `None` if fewer than `least` points are near it.
pub(super) fn largest_plane(
    sights: &[Sight],
    free: &[bool],
    least: usize,
    round: u32,
) -> Option<PlaneFit> {
    // Points of the main surfaces
    let main = |(sight, free): (&Sight, &bool)| {
        let mode = sight.main_mode().filter(|_| *free)?;
        Some(RangedDirection {
            direction: sight.direction,
            range: mode.median,
        })
    };
    let points: Vec<RangedDirection> = sights.iter().zip(free).filter_map(main).collect();
    if points.len() < 3 {
        return None;
    }

    // Keep the random plane with the most points
    let places: Vec<Vector3<f64>> = points.iter().map(|p| p.direction * p.range).collect();
    let mut stream = Stream::new(0, 0, 0, round, Purpose::Search);
    let draws = (0..DRAWS).filter_map(|_| {
        let plane = random_plane(&places, &mut stream)?;
        let tolerance = 0.012 * plane.distance + 0.002;
        let is_on =
            |point: &&Vector3<f64>| (plane.normal.dot(point) - plane.distance).abs() < tolerance;
        Some((places.iter().filter(is_on).count(), plane))
    });
    let (count, rough) = draws.max_by_key(|(count, _)| *count)?;
    if count < least {
        return None;
    }

    // Fit the plane to the points near it
    let is_near = |p: &&RangedDirection| (p.range / rough.range(&p.direction) - 1.0).abs() < NEAR;
    let near: Vec<RangedDirection> = points.iter().filter(is_near).copied().collect();
    Some(rough.refined(&near, false))
}

/// The plane through three random points.
fn random_plane(points: &[Vector3<f64>], stream: &mut Stream) -> Option<PanelPlane> {
    let mut pick = || {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a draw below 1 of a number of points"
        )]
        let drawn = (stream.uniform() * points.len() as f64) as usize;
        points[drawn.min(points.len() - 1)]
    };
    PanelPlane::through(&[pick(), pick(), pick()], false)
}
