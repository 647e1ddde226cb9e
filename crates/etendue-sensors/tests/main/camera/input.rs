//! What is refused.

use super::stage::{Stage, facing, paint, uniform};
use etendue_physics::Spectrum;
use etendue_physics::camera::lens::BrownConrady;
use etendue_physics::camera::{Lens, LensError};
use etendue_physics::surface::Lobe;
use etendue_scene::lighting::{Environment, Lighting};
use etendue_scene::primitive::rectangle;
use etendue_scene::{Scene, Textures};
use etendue_sensors::camera::{Camera, CameraError, CameraWorld, CameraWorldError, Exposure};

fn wall(lobes: Vec<Lobe<Spectrum>>) -> Scene {
    Stage::default()
        .with(
            rectangle([9.0, 9.0]).unwrap(),
            facing([1.0, 0.0, 0.0]),
            lobes,
        )
        .build()
}

fn refused(change: impl Fn(&mut Camera)) -> String {
    let mut camera = Camera::simple(64, 48, 0.8);
    assert_eq!(camera.check(), Ok(()));
    change(&mut camera);
    camera.check().unwrap_err().to_string()
}

#[test]
fn values_outside_their_domain_are_refused() {
    let message = refused(|camera| camera.frame_rate = 0.0);
    assert_eq!(
        message,
        "the frame rate, 1/s, is 0: it has to be above zero"
    );
    assert!(refused(|camera| camera.aperture.f_number = -1.0).contains("f-number is -1"));
    assert!(refused(|camera| camera.shutter.line_time = -1e-6).contains("line time"));
    assert!(refused(|camera| camera.shutter.exposure = Exposure::Fixed(f64::NAN)).contains("NaN"));
    assert!(refused(|camera| camera.bands.clear()).contains("one band or three"));
    assert!(refused(|camera| camera.width = 0).contains("no area"));
}

#[test]
fn a_lens_without_an_inverse_is_refused_with_the_pixel() {
    let lens = BrownConrady::from_opencv(&[-2.0, 0.0, 0.0, 0.0]).unwrap();
    let mut camera = Camera::simple(640, 480, 1.2);
    camera.intrinsics.lens = Lens::BrownConrady(lens);
    let error = camera.check().unwrap_err();
    let CameraError::Lens(LensError::NotInvertible { radius, .. }) = error else {
        panic!("{error}");
    };
    assert!(radius < 400.0, "{radius}");
}

#[test]
fn data_that_do_not_cover_a_band_are_named() {
    let textures = Textures::default();
    let camera = Camera::simple(64, 48, 0.8);
    let infrared = Spectrum::Table(vec![(785e-9, 0.5), (905e-9, 0.5)]);
    let scene = wall(vec![Lobe::lambert(infrared.clone())]);
    let error = CameraWorld::new(&scene, &uniform(1.0), &textures, &camera)
        .err()
        .unwrap();
    assert!(error.to_string().contains("\"material 0\""), "{error}");
    assert!(error.to_string().contains("540 nm"), "{error}");
    let lighting = Lighting {
        lights: vec![],
        environment: Environment::Uniform(infrared),
    };
    let error = CameraWorld::new(&wall(paint(0.5)), &lighting, &textures, &camera)
        .err()
        .unwrap();
    assert!(
        matches!(
            error,
            CameraWorldError::Light {
                light: "environment",
                ..
            }
        ),
        "{error}"
    );
}
