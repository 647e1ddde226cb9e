//! The derivatives by the pose of the sensor in factors: products with them, batches of large scans, memory that is used
//! again, and threads.

use crate::pulsed::{against_constants, hall, pose, vlp_16};
use etendue_estimate::model::{Freedom, LinearizedMeasurements, Model};
use etendue_estimate::solve::LeastSquares;
use etendue_physics::pulse::Discriminator;
use etendue_physics::surface::{Lobe, Material};
use rayon::ThreadPoolBuilder;

/// A scan of one ray per beam in a hall whose screen is a mirror: some rays have other light than direct returns.
fn model(columns: u32) -> Model {
    let mut parts = hall();
    parts.materials[2].material = Material {
        lobes: vec![Lobe::mirror(0.9.into())],
    };
    let mut scanner = vlp_16(columns, Discriminator::ConstantFraction { fraction: 0.5 });
    scanner.beam = scanner.beam.with_one_ray();
    Model::new(parts, &scanner, vec![pose()]).expect("a model")
}

/// The same with a free pose of the sensor.
fn of_pose(columns: u32, freedom: Freedom) -> Model {
    let mut model = model(columns);
    model.free("sensor.pose", freedom).expect("a pose");
    model
}

fn wave(number: usize) -> f64 {
    (1.0 + number as f64).sin()
}

/// Two whole batches of a large scan and a part of one, and small batches.
#[test]
fn factors_equal_the_rows_of_the_jacobian() {
    for (columns, freedom) in [(2300, Freedom::Whole), (150, Freedom::Planar)] {
        let model = of_pose(columns, freedom);
        let state = model.start();
        let linearized = model.linearize(&state);
        let jacobian = linearized.jacobian();
        let width = linearized.components.len();

        // The rows that fits use.
        let rows = against_constants(model).linearize(&state);
        let numbers = (0..linearized.valid.len()).filter(|number| linearized.valid[*number]);
        let [mut compared, mut error, mut largest] = [0.0_f64; 3];
        let mut products = vec![0.0; width];
        for ((number, row), residual) in numbers.zip(rows.rows()).zip(&rows.residuals.values) {
            let constant = [1.0, 10.0][number % 2];
            assert_eq!(linearized.values[number] - constant, *residual);
            let own = &jacobian[number * width..][..width];
            for ((own, row), product) in own.iter().zip(row).zip(&mut products) {
                error = error.max((own - row).abs());
                largest = largest.max(row.abs());
                *product += wave(number) * row;
            }
            compared += 1.0;
        }
        // Measured 73,598 and 4,800 rows, and an error of 0 of 106 and 51.
        let beams = f64::from(16 * columns);
        assert!(
            compared > 1.5 * beams && largest > 50.0,
            "{compared} {largest}"
        );
        assert!(error < 1e-11, "{error} of {largest}");

        // Products with the Jacobian; derivatives by values that do not exist may be NaN.
        let by = |number: usize| {
            if linearized.valid[number] {
                wave(number)
            } else {
                f64::NAN
            }
        };
        let by: Vec<f64> = (0..linearized.valid.len()).map(by).collect();
        for (gradient, product) in linearized.pulled_back(&by).iter().zip(&products) {
            let apart = (gradient - product).abs();
            assert!(apart < 1e-9 * (1.0 + product.abs()), "{gradient} {product}");
        }
        let step: Vec<f64> = (0..width).map(wave).collect();
        let change = linearized.along(&step);
        for (change, row) in change.iter().zip(jacobian.chunks(width)) {
            let product: f64 = row
                .iter()
                .zip(&step)
                .map(|(slope, step)| slope * step)
                .sum();
            assert!((change - product).abs() < 1e-9 * (1.0 + product.abs()));
        }
    }
}

/// Values and gradient as bits.
fn bits(linearized: &LinearizedMeasurements) -> (Vec<u64>, Vec<u64>) {
    let by: Vec<f64> = (0..linearized.valid.len()).map(wave).collect();
    let gradient = linearized.pulled_back(&by);
    let [values, gradient] = [&linearized.values, &gradient]
        .map(|numbers| numbers.iter().map(|number| number.to_bits()).collect());
    (values, gradient)
}

#[test]
fn memory_of_other_measurements_and_threads_change_no_bit() {
    let model = of_pose(2300, Freedom::Whole);
    let state = model.start();
    let expected = bits(&model.linearize(&state));
    assert!(expected.1.iter().all(|slope| f64::from_bits(*slope) != 0.0));

    // Memory of another scan with more parameters, and of the same.
    let mut other = of_pose(700, Freedom::Whole);
    for path in [
        "materials.crate.reflectance",
        "sensor.beams.*.range_offset",
        "objects.hall.vertices.*",
    ] {
        other.free(path, Freedom::Whole).expect("parameters");
    }
    let memory = other.linearize(&other.start());
    let again = model.linearize_into(&state, memory);
    assert_eq!(bits(&again), expected);
    assert_eq!(bits(&model.linearize_into(&state, again)), expected);

    // Numbers of threads.
    for threads in [1, 3] {
        let pool = ThreadPoolBuilder::new().num_threads(threads).build();
        let pool = pool.expect("threads");
        assert_eq!(pool.install(|| bits(&model.linearize(&state))), expected);
    }
}
