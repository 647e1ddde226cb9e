//! Lenses against OpenCV, their inverses, and detectors against EMVA 1288.

use etendue_physics::camera::lens::{BrownConrady, KannalaBrandt, fov_radius};
use etendue_physics::camera::{Emva1288, FixedPattern, Intrinsics, Lens, LensError, LinearNoise};
use etendue_physics::{Dual, DualParts, Purpose, Stream};
use nalgebra::{Point2, Vector3};
use serde_json::Value;

fn golden() -> Value {
    serde_json::from_str(include_str!("../golden/lenses.json")).unwrap()
}

fn numbers(value: &Value) -> Vec<f64> {
    let list = value.as_array().unwrap();
    list.iter().map(|number| number.as_f64().unwrap()).collect()
}

fn lens_of(case: &Value) -> Lens<f64> {
    let distortion = numbers(&case["distortion"]);
    match case["model"].as_str().unwrap() {
        "pinhole" => Lens::Pinhole,
        "brown_conrady" => Lens::BrownConrady(BrownConrady::from_opencv(&distortion).unwrap()),
        "kannala_brandt" => Lens::KannalaBrandt(KannalaBrandt {
            k: distortion.try_into().unwrap(),
        }),
        other => panic!("{other}"),
    }
}

fn camera(lens: Lens<f64>) -> Intrinsics<f64> {
    let golden = golden();
    Intrinsics {
        focal: numbers(&golden["focal"]).try_into().unwrap(),
        centre: numbers(&golden["centre"]).try_into().unwrap(),
        lens,
        image_circle: None,
    }
}

fn cases() -> Vec<(Intrinsics<f64>, Vector3<f64>, Point2<f64>)> {
    let golden = golden();
    let mut cases = vec![];
    for case in golden["cases"].as_array().unwrap() {
        let pairs = case["points"].as_array().unwrap().iter();
        for (point, pixel) in pairs.zip(case["pixels"].as_array().unwrap()) {
            let (point, pixel) = (numbers(point), numbers(pixel));
            let point = Vector3::from_column_slice(&point);
            cases.push((
                camera(lens_of(case)),
                point,
                Point2::new(pixel[0], pixel[1]),
            ));
        }
    }
    assert_eq!(cases.len(), 320);
    cases
}

#[test]
fn every_lens_projects_as_opencv() {
    for (camera, point, pixel) in cases() {
        let found = camera.project(&point).unwrap();
        assert!(
            (found - pixel).norm() < 1e-9,
            "{camera:?} {point}: {found} {pixel}"
        );
    }
}

#[test]
fn unprojection_inverts_projection() {
    for (camera, point, pixel) in cases() {
        let found = camera.unproject(&pixel).unwrap();
        assert!(
            (found - point.normalize()).norm() < 1e-9,
            "{camera:?} {point}"
        );
    }
}

#[test]
fn the_fov_lens_maps_its_field_of_view_to_the_edge() {
    for degrees in [
        20.0_f64, 90.0, 114.0, 115.0, 116.0, 170.0, 180.0, 200.0, 300.0, 360.0,
    ] {
        let fov = degrees.to_radians();
        assert_eq!(fov_radius(1.0, 0.5 * fov), 1.0);
        let camera = Intrinsics::fov(640, 480, fov);
        assert_eq!(camera.check(640, 480), Ok(()));
        let edge = camera.unproject(&Point2::new(-0.5, 239.5)).unwrap();
        let angle = edge.x.atan2(edge.z).abs();
        assert!((angle - 0.5 * fov).abs() < 1e-9, "{degrees}: {angle}");
        if degrees < 170.0 {
            // Half way out the pinhole's image is where the model says.
            let half = camera
                .unproject(&Point2::new(319.5 + 160.0, 239.5))
                .unwrap();
            let pinhole = half.x / half.z / (0.5 * fov).tan();
            assert!((pinhole - fov_radius(0.5, 0.5 * fov)).abs() < 1e-12);
        }
    }
}

#[test]
fn fisheye_lenses_project_beyond_ninety_degrees() {
    let camera = camera(Lens::KannalaBrandt(KannalaBrandt {
        k: [0.02, 1e-3, 0.0, 0.0],
    }));
    let behind = Vector3::new(0.5, -0.3, -0.8).normalize();
    let pixel = camera.project(&behind).unwrap();
    assert!((camera.unproject(&pixel).unwrap() - behind).norm() < 1e-12);
}

#[test]
fn a_non_monotonic_distortion_is_refused_with_its_position() {
    let folding = |k1: f64| {
        let lens = BrownConrady::from_opencv(&[k1, 0.0, 0.0, 0.0]).unwrap();
        Intrinsics {
            focal: [400.0; 2],
            centre: [319.5, 239.5],
            lens: Lens::BrownConrady(lens),
            image_circle: None,
        }
    };
    assert_eq!(folding(-0.12).check(640, 480), Ok(()));
    let error = folding(-0.3).check(640, 480).unwrap_err();
    let LensError::NotInvertible { radius, .. } = error else {
        panic!("{error}");
    };
    // r (1 + k1 r^2) turns at r = 1 / sqrt(-3 k1), where the image is 2/3 of that.
    let turn = 400.0 * 2.0 / 3.0 / (0.9_f64).sqrt();
    // Found in strides of 1/64 of the way: measured 281.17 for 281.09.
    assert!(radius >= turn && radius < turn * 1.03, "{radius} {turn}");
    assert!(error.to_string().contains("folds the image"), "{error}");
    // A smaller image of the same lens is fine, and so is an image circle.
    assert_eq!(
        Intrinsics {
            centre: [99.5, 99.5],
            ..folding(-0.3)
        }
        .check(200, 200),
        Ok(())
    );
    let circle = Intrinsics {
        image_circle: Some(250.0),
        ..folding(-0.3)
    };
    assert_eq!(circle.check(640, 480), Ok(()));
    assert!(circle.unproject(&Point2::new(0.0, 0.0)).is_none());
    let fisheye = camera(Lens::KannalaBrandt(KannalaBrandt {
        k: [-0.4, 0.0, 0.0, 0.0],
    }));
    assert!(matches!(
        fisheye.check(640, 480),
        Err(LensError::NotInvertible { .. })
    ));
    let nothing = Intrinsics {
        focal: [0.0, 400.0],
        ..folding(0.0)
    };
    assert!(matches!(
        nothing.check(640, 480),
        Err(LensError::Parameter { .. })
    ));
    assert!(matches!(
        folding(0.0).check(0, 480),
        Err(LensError::NoPixels { .. })
    ));
}

#[test]
fn projection_carries_derivatives() {
    let camera = camera(Lens::KannalaBrandt(KannalaBrandt {
        k: [-0.013, 0.021, -0.011, 0.0024],
    }));
    let lens: Lens<Dual<3>> = Lens::KannalaBrandt(KannalaBrandt {
        k: [-0.013, 0.021, -0.011, 0.0024].map(Dual::from),
    });
    let lifted = Intrinsics {
        focal: camera.focal.map(Dual::from),
        centre: camera.centre.map(Dual::from),
        lens,
        image_circle: None,
    };
    let place = Vector3::new(0.4, -0.2, 1.1);
    let dual = Vector3::from_fn(|i, _| Dual::<3>::variable(place[i], i));
    let gradient = lifted.project(&dual).unwrap().x.gradient();
    for axis in 0..3 {
        let step = Vector3::ith(axis, 1e-6);
        let [up, down] = [place + step, place - step].map(|p| camera.project(&p).unwrap().x);
        let difference = (up - down) / 2e-6;
        // Measured: 7e-8 of some hundred.
        assert!(
            (gradient[axis] - difference).abs() < 1e-5,
            "{gradient:?} {difference}"
        );
    }
}

const SENSOR: Emva1288 = Emva1288 {
    gain: 0.37,
    dark_noise: 6.6,
    dark_current: 12.0,
    full_well: 10_500.0,
    black_level: 60.0,
    bits: 12,
    prnu: 0.0,
    dsnu: 0.0,
};

fn moments(electrons: u32) -> (f64, f64) {
    let count = 40_000;
    let mut stream = Stream::new(3, 0, 0, electrons, Purpose::PixelNoise);
    let draws: Vec<f64> = (0..count)
        .map(|_| {
            SENSOR.read(
                f64::from(electrons),
                0.02,
                &FixedPattern::default(),
                &mut stream,
            )
        })
        .collect();
    let mean = draws.iter().sum::<f64>() / f64::from(count);
    let variance = draws.iter().map(|d| (d - mean).powi(2)).sum::<f64>() / f64::from(count);
    (mean, variance)
}

/// 40,000 draws: standard error of a variance 0.7 %.
#[test]
fn the_variance_of_a_detector_is_linear_as_in_emva_1288() {
    for count in [20, 300, 2000, 8000] {
        let (mean, variance) = moments(count);
        let electrons = f64::from(count);
        let [expected, line] = [
            SENSOR.mean(electrons, 0.02),
            SENSOR.variance(electrons, 0.02),
        ];
        // Measured: means within 0.2, variances within 1 %.
        assert!(
            (mean - expected).abs() < 0.3,
            "{electrons}: {mean} {expected}"
        );
        assert!(
            (variance / line - 1.0).abs() < 0.03,
            "{electrons}: {variance} {line}"
        );
    }
    // The slope of variance over mean is the gain.
    let ([low, high], [a, b]) = ([500, 8000], [moments(500), moments(8000)]);
    let slope = (b.1 - a.1) / (b.0 - a.0);
    assert!(
        (slope / SENSOR.gain - 1.0).abs() < 0.03,
        "{slope} between {low} and {high}"
    );
}

#[test]
fn a_full_well_gives_the_maximum_value() {
    let mut stream = Stream::new(3, 0, 0, 0, Purpose::PixelNoise);
    let full = SENSOR.saturation() * 10.0;
    let read = SENSOR.read(full, 0.02, &FixedPattern::default(), &mut stream);
    assert!(read > 0.9 * (SENSOR.gain * SENSOR.full_well) && read <= SENSOR.white_level());
}

#[test]
fn linear_noise_has_the_stated_variance() {
    let noise = LinearNoise {
        shot: 0.05,
        floor: 0.01,
    };
    for intensity in [0.0, 0.2, 0.9] {
        let mut stream = Stream::new(4, 0, 0, 1, Purpose::PixelNoise);
        let count = 40_000;
        let misses = (0..count).map(|_| noise.read(intensity, &mut stream) - intensity);
        let variance = misses.map(|miss| miss * miss).sum::<f64>() / f64::from(count);
        let line = 0.0025 * intensity + 1e-4;
        // Measured: within 1 %.
        assert!(
            (variance / line - 1.0).abs() < 0.03,
            "{intensity}: {variance} {line}"
        );
    }
}
