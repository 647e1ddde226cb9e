//! From light to numbers.

use super::stage::{Stage, facing, paint, settings, shoot, still, uniform};
use etendue_physics::camera::{BayerPattern, Emva1288, Tone, Vignetting};
use etendue_scene::primitive::rectangle;
use etendue_scene::{Scene, Textures};
use etendue_sensors::camera::{
    Camera, CameraFrame, CameraWorld, Detector, Exposure, FrameSettings, LightTransport,
    WhiteBalance,
};

const DIRECT: LightTransport = LightTransport::Direct { depth: 4 };

const SENSOR: Emva1288 = Emva1288 {
    gain: 0.35,
    dark_noise: 5.0,
    dark_current: 20.0,
    full_well: 10_000.0,
    black_level: 64.0,
    bits: 12,
    prnu: 0.0,
    dsnu: 0.0,
};

fn wall() -> Scene {
    Stage::default()
        .with(
            rectangle([90.0, 90.0]).unwrap(),
            facing([1.0, 0.0, 0.0]),
            paint(1.0),
        )
        .build()
}

fn camera(exposure: f64) -> Camera {
    let mut camera = Camera::simple(64, 48, 0.5);
    camera.shutter.exposure = Exposure::Fixed(exposure);
    camera.detector = Detector::Emva(SENSOR);
    camera
}

fn mean_and_variance(frame: &CameraFrame) -> (f64, f64) {
    let n = frame.raw.len() as f64;
    let mean = frame.raw.iter().map(|value| f64::from(*value)).sum::<f64>() / n;
    let squares = frame
        .raw
        .iter()
        .map(|value| (f64::from(*value) - mean).powi(2));
    (mean, squares.sum::<f64>() / n)
}

/// A flat field of 3072 pixels: the standard error of a variance is 2.6 %.
#[test]
fn variance_is_linear_in_intensity() {
    let scene = wall();
    let camera = camera(0.01);
    let mut fit = vec![];
    for radiance in [0.0, 4e4, 1e5, 2e5, 4e5] {
        let frame = shoot(&scene, &uniform(radiance), &camera, &settings(1, DIRECT));
        let (mean, variance) = mean_and_variance(&frame);
        let band = &camera.bands[0];
        let photons = camera
            .aperture
            .photons(radiance * band.width, 0.01, band.wavelength);
        let electrons = photons * band.quantum_efficiency;
        let [expected, line] = [
            SENSOR.mean(electrons, 0.01),
            SENSOR.variance(electrons, 0.01),
        ];
        // Measured: means within 0.24, variances within 4.7 %.
        assert!(
            (mean - expected).abs() < 1.0,
            "{radiance}: {mean} {expected}"
        );
        assert!(
            (variance / line - 1.0).abs() < 0.09,
            "{radiance}: {variance} {line}"
        );
        fit.push((mean, variance));
    }
    let (dark, bright) = (fit[0], fit[4]);
    let slope = (bright.1 - dark.1) / (bright.0 - dark.0);
    assert!(
        bright.0 > 700.0 && (slope / SENSOR.gain - 1.0).abs() < 0.09,
        "{slope}"
    );
}

#[test]
fn fixed_pattern_noise_is_constant_and_temporal_noise_is_not() {
    let scene = wall();
    let mut camera = camera(0.01);
    camera.detector = Detector::Emva(Emva1288 {
        prnu: 0.05,
        dsnu: 0.0,
        ..SENSOR
    });
    let textures = Textures::default();
    let camera_world = CameraWorld::new(&scene, &uniform(3e5), &textures, &camera).unwrap();
    let mut frames = (0..2).map(|index| {
        let settings = FrameSettings {
            index,
            samples: 1,
            ..FrameSettings::default()
        };
        camera_world.expose(&camera, &settings, still).raw
    });
    let (first, second) = (frames.next().unwrap(), frames.next().unwrap());
    assert_ne!(first, second);
    let n = first.len() as f64;
    let mean = first.iter().map(|v| f64::from(*v)).sum::<f64>() / n;
    let pairs = first.iter().zip(&second);
    let covariance = pairs
        .map(|(a, b)| (f64::from(*a) - mean) * (f64::from(*b) - mean))
        .sum::<f64>()
        / n;
    let pattern = covariance.sqrt() / (mean - SENSOR.black_level);
    // Measured: 0.0487.
    assert!((pattern - 0.05).abs() < 0.004, "{pattern}");
}

#[test]
fn automatic_exposure_reaches_its_set_point() {
    let scene = wall();
    let mut camera = camera(0.01);
    camera.shutter.exposure = Exposure::Auto {
        mean: 0.25,
        limits: [1e-7, 10.0],
    };
    for radiance in [1e3, 1e6] {
        let frame = shoot(&scene, &uniform(radiance), &camera, &settings(1, DIRECT));
        let (mean, _) = mean_and_variance(&frame);
        let share = (mean - SENSOR.black_level) / (SENSOR.gain * SENSOR.saturation());
        // Measured: 0.2499, and 0.2597 where the dark current of a long exposure adds to it.
        assert!((share - 0.25).abs() < 0.01, "{radiance}: {share}");
    }
}

#[test]
fn vignetting_follows_its_law() {
    let scene = wall();
    let mut camera = camera(0.01);
    let polynomial = [-0.2, 0.0, 0.0];
    camera.vignetting = Vignetting {
        cosine_power: 4.0,
        polynomial,
    };
    let frame = shoot(&scene, &uniform(1e5), &camera, &settings(1, DIRECT));
    let corner = f64::from(frame.radiance[0]) / (1e5 * camera.bands[0].width);
    let [dx, dy] = [31.5, 23.5_f64];
    let distance2 = (dx * dx + dy * dy) / (32.0_f64.powi(2) + 24.0_f64.powi(2));
    let tan2 = (dx * dx + dy * dy) / camera.intrinsics.focal[0].powi(2);
    let expected = (1.0 + tan2).powi(-2) * (1.0 - 0.2 * distance2);
    // Measured: 2.5e-9.
    assert!((corner - expected).abs() < 1e-6, "{corner} {expected}");
}

#[test]
fn a_white_wall_is_grey_under_any_mosaic() {
    let scene = wall();
    for pattern in [BayerPattern::Rggb, BayerPattern::Gbrg] {
        let mut camera = camera(0.01).in_colour();
        camera.detector = Detector::Emva(Emva1288 {
            dark_noise: 0.0,
            ..SENSOR
        });
        camera.colour.mosaic = Some(pattern);
        camera.colour.white_balance = WhiteBalance::Scene;
        camera.tone = Tone::Linear;
        let frame = shoot(&scene, &uniform(2e5), &camera, &settings(1, DIRECT));
        assert_eq!(frame.raw.len() * 3, frame.picture.len());
        let mut sums = [0.0; 3];
        for pixel in frame.picture.chunks_exact(3) {
            for band in 0..3 {
                sums[band] += f64::from(pixel[band]);
            }
        }
        let [red, green, blue] = sums;
        // Measured: within 0.3 %.
        assert!(
            (red / green - 1.0).abs() < 0.02 && (blue / green - 1.0).abs() < 0.02,
            "{sums:?}"
        );
    }
}
