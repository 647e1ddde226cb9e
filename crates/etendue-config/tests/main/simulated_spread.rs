//! Noise of the preset, compared with recordings of the device.

use crate::recordings::recording;
use etendue_config::sensor::preset;
use etendue_io::scan_log::read_scan_log;
use etendue_physics::surface::{Lobe, Material};
use etendue_scene::{MaterialId, Mesh, MeshId, NamedMaterial, Object, Scene, SceneBuilder};
use etendue_sensors::lidar::{Lidar, SweepSettings, simulate};
use etendue_sensors::trajectory::stationary;
use etendue_sensors::transport::World;
use etendue_sensors::{Scan, ScanStatistics, StationaryWindow, StatisticsOptions};
use nalgebra::{Isometry3, Point3};

/// Diffuse reflectance of the walls at 785 nm, as assumed in the preset.
const WHITE: f64 = 0.5;

fn urg() -> Lidar {
    preset("hokuyo-urg-04lx").expect("the preset").lidar
}

/// Vertical white walls along the lines of the floor plan.
fn walls(lines: &[[Point3<f64>; 2]]) -> Scene {
    let mut mesh = Mesh::default();
    for [from, to] in lines {
        let first = u32::try_from(mesh.vertices.len()).expect("few walls");
        for (end, z) in [(from, -1.0), (to, -1.0), (to, 1.0), (from, 1.0)] {
            mesh.vertices.push(Point3::new(end.x, end.y, z));
        }
        mesh.triangles.push([first, first + 1, first + 2]);
        mesh.triangles.push([first, first + 2, first + 3]);
    }
    let reflectance = WHITE.into();
    let parts = SceneBuilder {
        materials: vec![NamedMaterial {
            name: "white".into(),
            material: Material {
                lobes: vec![Lobe::lambert(reflectance)],
            },
        }],
        meshes: vec![mesh.into()],
        objects: vec![Object {
            name: "walls".into(),
            mesh: MeshId(0),
            world_from_object: Isometry3::identity(),
            material: MaterialId(0),
            mask: u32::MAX,
        }],
        ..SceneBuilder::default()
    };
    parts.build().expect("walls")
}

/// A stationary sensor between walls, for `sweeps` sweeps.
fn stationary_window(scene: &Scene, sweeps: u32) -> StationaryWindow {
    let lidar = urg();
    let world = World::at_wavelength(scene, lidar.wavelength).expect("grey walls");
    let scans: Vec<Scan> = (0..sweeps)
        .map(|index| {
            let settings = SweepSettings {
                sweep: index,
                ..SweepSettings::default()
            };
            let pose = stationary(Isometry3::identity());
            Scan::of_sweep(&simulate(&world, &lidar, &settings, pose).first_echoes())
        })
        .collect();
    let statistics = ScanStatistics::of(&scans, &StatisticsOptions::default());
    statistics
        .stationary
        .first()
        .expect("a stationary profile")
        .clone()
}

fn spread_at(window: &StationaryWindow, range: f64) -> f64 {
    let band = window.spread.iter().find(|band| band.band.contains(&range));
    band.expect("beams in the band").median
}

/// A white room of 4.4 x 3.2 m: the recordings have 2.4 to 4.7 mm at 1 to 2 m. At 3 to 4 m they
/// have 6 to 19 mm on walls at larger incidences than in a rectangle; 4 mm is a lower bound.
#[test]
fn a_still_sensor_in_a_room_spreads_as_recorded() {
    let corners =
        [(-1.2, -1.0), (3.2, -1.0), (3.2, 2.2), (-1.2, 2.2)].map(|(x, y)| Point3::new(x, y, 0.0));
    let lines: Vec<_> = (0..4).map(|i| [corners[i], corners[(i + 1) % 4]]).collect();
    let window = stationary_window(&walls(&lines), 20);
    println!("{window:#?}");
    let near = spread_at(&window, 1.5);
    let far = spread_at(&window, 3.5);
    assert!((0.0024..0.0047).contains(&near), "{near}");
    assert!((0.004..0.019).contains(&far), "{far}");
}

/// Walls of a stationary window: lines between the median ranges of neighbouring beams that have a
/// range in every scan and are on one surface.
fn walls_of(scans: &[Scan]) -> Vec<[Point3<f64>; 2]> {
    let medians: Vec<Option<f64>> = (0..scans[0].readings.len())
        .map(|beam| {
            let ranges = scans.iter().map(|scan| scan.readings[beam].range());
            let mut ranges: Vec<f64> = ranges.collect::<Option<_>>()?;
            ranges.sort_by(f64::total_cmp);
            Some(ranges[ranges.len() / 2])
        })
        .collect();
    let point = |beam: usize| {
        let (sin, cos) = scans[0].azimuths[beam].sin_cos();
        medians[beam].map(|range| Point3::new(range * cos, range * sin, 0.0))
    };
    let line = |beam: usize| {
        let ends = [point(beam)?, point(beam + 1)?];
        let jump = (medians[beam]? - medians[beam + 1]?).abs();
        (jump < 0.1).then_some(ends)
    };
    (0..medians.len() - 1).filter_map(line).collect()
}

/// The same walls, all white, in front of a simulated sensor: bands with ten beams or more in both.
/// Measured ratios of 0.64 to 1.17 (the lowest with 14 beams at large incidences), 0.92 on average.
/// Fewer beams flicker, 52 and 28 compared with 71 and 89, because not all real walls are white,
/// and the filter of the device over neighbouring beams (codes 6 and 7) is not modelled.
#[test]
#[ignore = "needs recordings: see CONTRIBUTING.md"]
fn among_the_recorded_walls_the_spread_is_the_recorded_one() {
    let mut compared = 0;
    for name in ["exp1.dat", "exp2.dat"] {
        let path = recording(&format!("urg04lx_tinyslam/{name}"));
        let log = read_scan_log(&path).expect("the recording reads");
        // In the first and the last scans of the window of exp1 (737 to 755) the robot turned by 5 mrad.
        let scans = match name {
            "exp1.dat" => &log.scans[738..752],
            _ => &log.scans[..],
        };
        let statistics = ScanStatistics::of(scans, &StatisticsOptions::default());
        let recorded = &statistics.stationary[0];
        let scene = walls(&walls_of(&scans[recorded.scans.clone()]));
        let simulated = stationary_window(&scene, 20);
        println!(
            "{name}: {} beams flicker recorded, {} simulated",
            recorded.flickering, simulated.flickering
        );
        for theirs in &recorded.spread {
            let ours = simulated.spread.iter().find(|s| s.band == theirs.band);
            let Some(ours) = ours.filter(|ours| ours.beams.min(theirs.beams) >= 10) else {
                continue;
            };
            println!(
                "{:?} m: recorded {:.1} mm ({} beams), simulated {:.1} mm ({} beams)",
                theirs.band,
                theirs.median * 1e3,
                theirs.beams,
                ours.median * 1e3,
                ours.beams
            );
            let ratio = ours.median / theirs.median;
            assert!((0.55..1.5).contains(&ratio), "{ratio}");
            compared += 1;
        }
    }
    assert!(compared >= 5, "{compared}");
}
