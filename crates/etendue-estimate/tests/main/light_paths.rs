//! Predictions with light that several rough surfaces reflect.

use crate::pulsed::{hall, pose, vlp_16};
use etendue_estimate::model::{Freedom, Model, ModelError};
use etendue_physics::pulse::Discriminator;
use etendue_sensors::lidar::{Lidar, LightModel};
use rayon::ThreadPoolBuilder;

/// A scanner of 640 beams whose receiver accepts light from everywhere.
fn scanner() -> Lidar {
    let mut scanner = vlp_16(40, Discriminator::ConstantFraction { fraction: 0.5 });
    scanner.beam = scanner.beam.with_one_ray();
    scanner
}

fn model(light: LightModel) -> Model {
    let model = Model::new(hall(), &scanner(), vec![pose()]).expect("a model");
    model.in_light(light).expect("no unknown")
}

/// The paths of a beam depend on nothing but its number.
#[test]
fn predictions_by_paths_are_the_same_on_any_number_of_threads() {
    let mut model = model(LightModel::with_paths(16));
    model.free("sensor.pose", Freedom::Whole).expect("a pose");
    let start = model.start();
    let of_threads = |count| {
        let threads = ThreadPoolBuilder::new().num_threads(count).build();
        threads.expect("threads").install(|| {
            let linearized = model.linearize(&start);
            (model.predict(&start), linearized.jacobian())
        })
    };
    let [one, two] = [1, 2].map(of_threads);
    assert_eq!(one, two);
    let trees = self::model(LightModel::default()).predict(&[]);
    assert_ne!(one.0, trees);
}

#[test]
fn parameters_of_triangles_are_refused_with_paths() {
    for path in [
        "objects.screen.facets.0.scattering",
        "objects.screen.vertices.0.x",
    ] {
        let mut by_paths = model(LightModel::with_paths(16));
        let refused = by_paths.free(path, Freedom::Whole);
        assert!(
            matches!(refused, Err(ModelError::TriangleAlongPaths { .. })),
            "{refused:?}"
        );
        let mut by_trees = model(LightModel::default());
        by_trees.free(path, Freedom::Whole).expect("a parameter");
        let refused = by_trees.in_light(LightModel::with_paths(16));
        assert!(matches!(
            refused,
            Err(ModelError::TriangleAlongPaths { .. })
        ));
    }
}
