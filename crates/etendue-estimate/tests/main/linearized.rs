//! The derivatives by the pose of the sensor in factors: products with them, batches of large scans, memory that is used
//! again, and threads.

use crate::pulsed::{against_constants, hall, pose, vlp_16};
use etendue_estimate::model::{BeamMeasurement, Freedom, LinearizedMeasurements, Model};
use etendue_estimate::solve::LeastSquares;
use etendue_physics::pulse::Discriminator;
use etendue_physics::surface::{Lobe, Material};
use etendue_sensors::lidar::{Columns, ScanPattern};
use nalgebra::Isometry3;
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

/// The columns of a clock that runs on from sweep to sweep: 100, 99 and 100 of them in three sweeps, in other directions.
#[test]
fn each_scan_has_the_shots_of_its_own_sweep() {
    // A turn of 100 ms is 99.5 firings.
    let mut scanner = vlp_16(100, Discriminator::ConstantFraction { fraction: 0.5 });
    let ScanPattern::Spinning(spinning) = &mut scanner.pattern else {
        unreachable!("it spins");
    };
    let seconds = 1.0 / (spinning.rate * 99.5);
    spinning.columns = Columns::Period { seconds };
    let poses = [
        pose(),
        pose() * Isometry3::translation(0.3, 0.1, 0.0),
        pose(),
    ];
    let sweeps = [1, 0, 2];

    // A model of three scans, and one of each scan.
    let linearized = |poses: &[Isometry3<f64>], sweeps: &[u32]| {
        let model = Model::new(hall(), &scanner, poses.to_vec()).expect("a model");
        let mut model = model.in_sweeps(|scan| sweeps[scan]);
        for path in [
            "materials.screen.reflectance",
            "sensor.channels.3.azimuth_offset",
        ] {
            model.free(path, Freedom::Whole).expect("a parameter");
        }
        let scans = model.predict(&model.start());
        let ranges: Vec<_> = scans.iter().flatten().map(BeamMeasurement::range).collect();
        (model.linearize(&model.start()), ranges)
    };
    let (together, ranges) = linearized(&poses, &sweeps);
    let jacobian = together.jacobian();
    let (mut beams, mut quantities) = (Vec::new(), 0);
    for (pose, sweep) in poses.iter().zip(sweeps) {
        let (alone, own_ranges) = linearized(&[*pose], &[sweep]);
        let of_scan = quantities..quantities + alone.valid.len();
        assert_eq!(together.valid[of_scan.clone()], alone.valid);
        assert_eq!(ranges[of_scan.start / 2..of_scan.end / 2], own_ranges);
        assert_eq!(
            jacobian[2 * of_scan.start..2 * of_scan.end],
            alone.jacobian()
        );
        beams.push(own_ranges.len());
        quantities = of_scan.end;
    }
    assert_eq!(beams, [16 * 99, 16 * 100, 16 * 100]);
    assert_eq!(quantities, together.valid.len());
    assert!(jacobian.iter().any(|slope| slope.abs() > 1.0));
    // The same pose in two sweeps: the directions of their beams differ.
    let [first, third] = [&ranges[..1584], &ranges[3184..]];
    assert!(first.iter().zip(third).any(|(a, b)| a != b));
}
