//! FOV lens model of Devernay and Faugeras, for any field of view.

/// Pinhole radius $r_2$ of the point that the FOV lens images at the radius $r_1$, for the same
/// horizontal field of view, both in half widths of the image:
/// $$r_2 = \frac{\tan(r_1\omega)}{\tan\omega}$$
/// with $\omega$ half the field of view (`half_fov`, rad): 1 at the edge for every $\omega$. The
/// angle to the axis is $r_1\omega$, proportional to the radius, also beyond 90°, where a pinhole
/// has no image and $r_2$ is meaningless.
///
/// Devernay and Faugeras 2001, "Straight lines have to be straight",
/// doi:10.1007/PL00013269; Elmquist et al. 2021 (Chrono::Sensor) print an inner tangent,
/// $\tan(r_1\tan\omega)$, that diverges at a field of view of 115°: a misprint.
///
/// ```
/// use etendue_physics::camera::lens::fov_radius;
/// for degrees in [10.0_f64, 57.5, 89.0, 90.0, 120.0] {
///     assert_eq!(fov_radius(1.0, degrees.to_radians()), 1.0);
/// }
/// ```
pub fn fov_radius(r1: f64, half_fov: f64) -> f64 {
    (r1 * half_fov).tan() / half_fov.tan()
}
