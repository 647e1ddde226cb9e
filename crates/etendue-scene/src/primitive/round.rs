//! Solids of revolution about z.

use super::check::{PrimitiveError, check_count, check_lengths};
use etendue_raycast::Mesh;
use nalgebra::Point3;
use std::f64::consts::{PI, SQRT_2, TAU};

/// A sphere of `radius` (m) about the origin, its mesh within `sagitta` (m) of it.
///
/// # Errors
/// Where a length is not above zero, or the mesh would be too large.
pub fn sphere(radius: f64, sagitta: f64) -> Result<Mesh, PrimitiveError> {
    check_lengths("sphere", &[("radius", radius), ("tolerance", sagitta)])?;
    // A cell of the grid with sides s is deepest in its middle, s / sqrt(2) from its corners.
    let side = SQRT_2 * half_angle(radius, sagitta);
    let rings = (PI / side).ceil().max(2.0);
    let segments = (TAU / side).ceil().max(3.0);
    check_count("sphere", 2.0 * rings * segments)?;
    let rings = count(rings);
    let profile = (0..=rings).map(|ring| {
        let elevation = PI * (f64::from(ring) / f64::from(rings) - 0.5);
        [radius * elevation.cos(), radius * elevation.sin()]
    });
    Ok(lathe(&profile.collect::<Vec<_>>(), count(segments)))
}

/// A cylinder of `radius` and `length` (m) along z about the origin, closed, its mesh within
/// `sagitta` (m) of it.
///
/// # Errors
/// Where a length is not above zero, or the mesh would be too large.
pub fn cylinder(radius: f64, length: f64, sagitta: f64) -> Result<Mesh, PrimitiveError> {
    let lengths = [
        ("radius", radius),
        ("length", length),
        ("tolerance", sagitta),
    ];
    check_lengths("cylinder", &lengths)?;
    let segments = segments(radius, sagitta);
    check_count("cylinder", 4.0 * segments)?;
    let end = 0.5 * length;
    let profile = [[0.0, -end], [radius, -end], [radius, end], [0.0, end]];
    Ok(lathe(&profile, count(segments)))
}

/// A cone with its base of `radius` (m) in the x-y plane and its tip at z = `height` (m), closed,
/// its mesh within `sagitta` (m) of it.
///
/// # Errors
/// Where a length is not above zero, or the mesh would be too large.
pub fn cone(radius: f64, height: f64, sagitta: f64) -> Result<Mesh, PrimitiveError> {
    let lengths = [
        ("radius", radius),
        ("height", height),
        ("tolerance", sagitta),
    ];
    check_lengths("cone", &lengths)?;
    let segments = segments(radius, sagitta);
    check_count("cone", 2.0 * segments)?;
    Ok(lathe(
        &[[0.0, 0.0], [radius, 0.0], [0.0, height]],
        count(segments),
    ))
}

/// Half the angle of an arc whose chord is `sagitta` inside it: $s = r(1 - \cos\alpha)$.
fn half_angle(radius: f64, sagitta: f64) -> f64 {
    // s = 2 r sin^2(a/2) is precise for small s.
    2.0 * (0.5 * sagitta / radius).sqrt().min(1.0).asin()
}

fn segments(radius: f64, sagitta: f64) -> f64 {
    (PI / half_angle(radius, sagitta)).ceil().max(3.0)
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "whole, positive and checked to be small"
)]
fn count(whole: f64) -> u32 {
    whole as u32
}

/// The solid of revolution of a profile of [radius, z] about z. The profile starts and ends on the axis,
/// is off the axis between, and runs anticlockwise with the axis on its left.
fn lathe(profile: &[[f64; 2]], segments: u32) -> Mesh {
    // Vertices: the two poles, then the rings.
    let bottom = profile[0][1];
    let top = profile[profile.len() - 1][1];
    let rings = &profile[1..profile.len() - 1];
    let around = |&[radius, z]: &[f64; 2]| {
        (0..segments).map(move |segment| {
            let (sin, cos) = (TAU * f64::from(segment) / f64::from(segments)).sin_cos();
            Point3::new(radius * cos, radius * sin, z)
        })
    };
    let mut vertices = vec![Point3::new(0.0, 0.0, bottom), Point3::new(0.0, 0.0, top)];
    vertices.extend(rings.iter().flat_map(around));

    // Triangles: fans around the poles, and strips between the rings.
    let number = |ring: u32, segment: u32| 2 + ring * segments + segment % segments;
    let last = count(rings.len() as f64) - 1;
    let mut triangles = Vec::new();
    for segment in 0..segments {
        let next = segment + 1;
        triangles.push([0, number(0, next), number(0, segment)]);
        for ring in 0..last {
            let a = number(ring, segment);
            let b = number(ring, next);
            let c = number(ring + 1, next);
            let d = number(ring + 1, segment);
            triangles.extend([[a, b, c], [a, c, d]]);
        }
        triangles.push([1, number(last, segment), number(last, next)]);
    }
    Mesh {
        vertices,
        triangles,
        materials: Vec::new(),
    }
}
