//! Bias of wide beams on inclined walls.

use etendue_config::scene::parse;
use etendue_config::sensor::preset;
use etendue_config::toml_file::Document;
use etendue_sensors::lidar::{EchoModel, Lidar, Receiver, SweepSettings, simulate};
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
         position_m = [{:?}, {:?}, 0.0]\nrotation_deg = {{ yaw = {:?} }}\nmaterial = \"white-paper\"\n",
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

/// The LMS111 (15 mrad, 4 ns) at 8.6 m. Moments of the Gaussian beam on the plane, which seven rays have exactly: -77.1
/// mm at 80 degrees and -146.6 mm at 83. A fine quadrature of the waveform: -79.0 and -152.1 mm. Ranges are rounded
/// to 1 mm.
#[test]
fn sub_rays_converge_to_the_bias_of_a_gaussian_beam() {
    let lidar = preset("sick-lms-111").unwrap().lidar;
    let mut sampled = lidar.clone();
    if let Receiver::Pulsed(receiver) = &mut sampled.receiver {
        receiver.echoes = EchoModel::Waveform;
        receiver.interval = 0.1e-9;
    }
    for (incidence, by_moments, by_waveform) in [(80.0, -77.1, -79.0), (83.0, -146.6, -152.1)] {
        let with_rings = |lidar: &Lidar, rings: u32| {
            let beam = lidar.beam.with_rings(rings);
            bias(
                &Lidar {
                    beam,
                    ..lidar.clone()
                },
                incidence,
            )
        };
        assert!(with_rings(&lidar, 0).abs() < 0.6);
        let closed = [1, 2, 6].map(|rings| with_rings(&lidar, rings));
        let waveforms = [2, 6, 12].map(|rings| with_rings(&sampled, rings));
        println!("{incidence}: {closed:?}, waveforms {waveforms:?}");
        for found in closed.into_iter().chain([bias(&lidar, incidence)]) {
            assert!((found - by_moments).abs() < 1.0, "{closed:?}");
        }
        assert!((waveforms[2] - by_waveform).abs() < 1.5, "{waveforms:?}");
        assert!((waveforms[1] - waveforms[2]).abs() < 1.1, "{waveforms:?}");
    }
}
