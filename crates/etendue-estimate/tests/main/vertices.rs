//! Derivatives by the positions of vertices, and products with the sparse Jacobian.

use crate::differences::compare;
use crate::pulsed::{against_constants, hall, pose, vlp_16};
use etendue_estimate::manifold::Manifold;
use etendue_estimate::model::{Freedom, Model};
use etendue_physics::pulse::Discriminator;
use etendue_physics::surface::{Lobe, Material};
use etendue_scene::{MeshId, SceneBuilder};
use nalgebra::{DMatrix, DVector};

/// Model of a scanner of one or more rays per beam in a hall.
fn model(parts: SceneBuilder, rays: u32) -> Model {
    let mut scanner = vlp_16(60, Discriminator::ConstantFraction { fraction: 0.5 });
    if rays == 1 {
        scanner.beam = scanner.beam.with_one_ray();
    }
    Model::new(parts, &scanner, vec![pose()]).expect("a model")
}

#[test]
fn derivatives_by_vertices_equal_central_differences() {
    for rays in [1, 7] {
        let mut model = model(hall(), rays);
        for path in ["objects.hall.vertices.*", "objects.crate.vertices.*"] {
            model.free(path, Freedom::Whole).expect("vertices");
        }
        assert_eq!(model.start().dimension(), 2 * 8 * 3);
        let (compared, jumps) = compare(&against_constants(model), 1e-6, 1e-5);
        // Measured: no jump with one ray, one of 92,160 with seven, where a ray crosses an edge.
        assert!(
            compared > 48 * 1500 && jumps * 10_000 < compared,
            "{compared} {jumps}"
        );
    }
}

/// The image of the hall in a mirror changes with the vertices of the mirror, which itself returns no light.
#[test]
fn derivatives_by_the_vertices_of_a_mirror_equal_central_differences() {
    let mut parts = hall();
    parts.materials[2].material = Material {
        lobes: vec![Lobe::mirror(0.9.into())],
    };
    let mut model = model(parts, 1);
    model
        .free("objects.screen.vertices.*", Freedom::Whole)
        .expect("vertices");
    let problem = against_constants(model);
    let gradient = problem.model.linearize(&problem.model.start());
    let steep = gradient
        .jacobian()
        .iter()
        .filter(|slope| slope.abs() > 0.1)
        .count();
    assert!(steep > 200, "{steep}");
    // A ray that leaves the mirror through the edge of a wall jumps to another wall: measured 0 of 45,000.
    let (compared, jumps) = compare(&problem, 1e-7, 1e-4);
    assert!(
        compared > 24 * 1500 && jumps * 1000 < compared,
        "{compared} {jumps}"
    );
}

/// An object whose mesh others share moves alone.
#[test]
fn the_vertices_of_a_shared_mesh_are_those_of_one_object() {
    let mut parts = hall();
    parts.objects[2].mesh = MeshId(1);
    let mut model = model(parts, 1);
    model
        .free("objects.screen.vertices.*", Freedom::Whole)
        .expect("vertices");
    let (compared, jumps) = compare(&against_constants(model), 1e-6, 1e-5);
    assert!(compared > 24 * 1500 && jumps == 0, "{compared} {jumps}");
}

#[test]
fn products_with_the_sparse_jacobian_equal_those_with_the_dense_one() {
    let mut model = model(hall(), 7);
    for path in [
        "sensor.pose",
        "objects.crate.pose",
        "materials.screen.reflectance",
        "sensor.beams.*.azimuth_offset",
        "objects.screen.facets.*.scattering",
        "objects.hall.vertices.*",
    ] {
        model.free(path, Freedom::Whole).expect("a path");
    }
    let linearized = model.linearize(&model.start());
    let (rows, columns) = (linearized.values.len(), linearized.components.len());
    let jacobian = DMatrix::from_row_slice(rows, columns, &linearized.jacobian());
    let wave = |number: usize| (1.0 + number as f64).sin();
    let (step, by_values) = (
        DVector::from_fn(columns, |i, _| wave(i)),
        DVector::from_fn(rows, |i, _| wave(i)),
    );

    let along = DVector::from(linearized.along(step.as_slice()));
    let expected = &jacobian * &step;
    let (error, largest) = ((along - &expected).amax(), expected.amax());
    assert!(error < 1e-9 && largest > 50.0, "{error} of {largest}");

    // Derivatives by values that do not exist may be NaN.
    let values = by_values.iter().zip(&linearized.valid);
    let with_gaps: Vec<f64> = values
        .map(|(by, valid)| if *valid { *by } else { f64::NAN })
        .collect();
    let gradient = DVector::from(linearized.pulled_back(&with_gaps));
    let expected = jacobian.transpose() * &by_values;
    let (error, largest) = ((gradient - &expected).amax(), expected.amax());
    assert!(error < 1e-9 && largest > 50.0, "{error} of {largest}");
}
