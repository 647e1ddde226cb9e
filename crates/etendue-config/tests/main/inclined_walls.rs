//! Bias of wide beams on inclined walls.

use etendue_config::scene::parse;
use etendue_config::sensor::preset;
use etendue_config::toml_file::Document;
use etendue_sensors::lidar::{Lidar, SweepSettings, simulate};
use etendue_sensors::transport::World;
use nalgebra::Isometry3;

/// Range of the beam along x minus its distance of 8.6 m to a wall with an incidence (degrees), mm.
fn bias(lidar: &Lidar, incidence: f64) -> f64 {
    // A wall of 40 m through (8.6, 0, 0): a box of 0.1 m.
    let yaw = (90.0 - incidence).to_radians();
    let (sin, cos) = yaw.sin_cos();
    let centre = [8.6 + 12.0 * cos + 0.05 * sin, 12.0 * sin - 0.05 * cos];
    let text = format!(
        "version = 1\n[[objects]]\nname = \"wall\"\nshape.box = {{ size_m = [40.0, 0.1, 4.0] }}\n\
         position_m = [{:?}, {:?}, -2.0]\nrotation_deg = {{ yaw = {:?} }}\nmaterial = \"white-paper\"\n",
        centre[0],
        centre[1],
        yaw.to_degrees()
    );
    let scene = parse(&Document::new("wall.toml", text)).unwrap().scene;
    let world = World::at_wavelength(&scene, lidar.wavelength).unwrap();
    let settings = SweepSettings {
        without_noise: true,
        ..SweepSettings::default()
    };
    let sweep = simulate(&world, lidar, &settings, |_| Isometry3::identity());
    let ahead = |shot: &etendue_sensors::lidar::Shot| shot.azimuth.abs() < 1e-6;
    let shot = sweep.shots.iter().position(|shot| ahead(&shot)).unwrap();
    1e3 * (sweep.points_of(shot)[0].range - 8.6)
}

/// The LMS111 (15 mrad) against a fine quadrature over its Gaussian beam, -79.0 mm at 80 degrees and -152.1 mm
/// at 83. Ranges are rounded to 1 mm.
#[test]
fn sub_rays_converge_to_the_bias_of_a_gaussian_beam() {
    let lidar = preset("sick-lms-111").unwrap().lidar;
    for (incidence, expected) in [(80.0, -79.0), (83.0, -152.1)] {
        let by_rings = [1, 2, 3, 6, 12].map(|rings| {
            let beam = lidar.beam.with_rings(rings);
            bias(
                &Lidar {
                    beam,
                    ..lidar.clone()
                },
                incidence,
            )
        });
        println!("{incidence}: {by_rings:?}");
        assert!((by_rings[4] - expected).abs() < 1.5, "{by_rings:?}");
        assert!((by_rings[3] - by_rings[4]).abs() < 1.5, "{by_rings:?}");
        // The preset.
        let own = bias(&lidar, incidence);
        assert!(
            (own - expected).abs() < 0.05 * expected.abs(),
            "{own} {expected}"
        );
    }
}
