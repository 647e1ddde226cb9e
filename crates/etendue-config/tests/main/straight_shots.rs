//! Shots of light that comes straight back are simulated without trees of paths: the points are the
//! same, bit for bit.

use etendue_config::scene::{LoadedScene, examples, parse};
use etendue_config::sensor::{preset, presets};
use etendue_config::toml_file::Document;
use etendue_sensors::lidar::{Air, Frame, Sweep, SweepSettings, simulate};
use etendue_sensors::lidar::{Columns, Lidar, Receiver, ScanPattern};
use etendue_sensors::transport::World;
use nalgebra::{Isometry3, Vector3};

/// The pulsed presets, those that spin with few columns.
fn scanners() -> Vec<Lidar> {
    let model = |name| Some(preset(name).unwrap().lidar);
    let names = presets().iter().map(|preset| preset.name);
    let mut scanners: Vec<Lidar> = names.filter_map(model).collect();
    scanners.retain(|scanner| matches!(scanner.receiver, Receiver::Pulsed(_)));
    for scanner in &mut scanners {
        if let ScanPattern::Spinning(spinning) = &mut scanner.pattern {
            let lasers = u32::try_from(scanner.channels.len()).unwrap();
            spinning.columns = Columns::PerSweep {
                columns: 1 + 600 / lasers,
                fired: None,
            };
        }
    }
    scanners
}

/// How a sensor moves, in which frame its points are, and whether noise is left out.
type Way = (f64, Frame, bool);

const MOVING: Way = (1.0, Frame::World, false);

/// A drop that is drawn one by one makes every shot a tree, and there are no drops.
fn sweep(
    world: &World<f64>,
    scanner: &Lidar,
    drops_from: Option<f64>,
    (speed, frame, quiet): Way,
) -> Sweep {
    let run = SweepSettings {
        seed: 7,
        sweep: 3,
        frame,
        air: Air {
            drops_from,
            ..Air::default()
        },
        without_noise: quiet,
        ..SweepSettings::default()
    };
    simulate(world, scanner, &run, |time| {
        let turn = Vector3::new(0.02, -0.01, 0.4) * (speed * time);
        Isometry3::new(Vector3::new(0.3 * speed * time, 0.2, 0.1), turn)
    })
}

/// Rooms with mirrors, panes and glass: some shots of a batch are trees, the others are not. With
/// the preset's own sub-rays and with the axis alone, with noise and without, moving and still.
#[test]
fn shots_without_trees_are_those_with_trees_bit_for_bit() {
    let (mut compared, mut points) = (0, 0);
    for example in examples() {
        let loaded = parse(&example.document()).unwrap();
        for (number, scanner) in scanners().into_iter().enumerate() {
            let Ok(world) = World::at_wavelength(&loaded.scene, scanner.wavelength) else {
                continue;
            };
            let world = world.with_profiles(&loaded.profiles);
            let axis = Lidar {
                beam: scanner.beam.with_one_ray(),
                ..scanner.clone()
            };
            let frame = [Frame::Sensor, Frame::World, Frame::SweepStart][number % 3];
            for (scanner, way) in [
                (scanner, (1.0, Frame::World, number % 3 == 0)),
                (axis.clone(), MOVING),
                (axis, (0.0, frame, false)),
            ] {
                if scanner.shots(0).len() > 2000 && points > 0 && example.name != "arena" {
                    continue;
                }
                let [own, trees] =
                    [None, Some(1.0)].map(|drops| sweep(&world, &scanner, drops, way));
                assert!(own == trees, "{} in {}", scanner.name, example.name);
                assert!(own.shots.iter().eq(scanner.shots(3)), "{}", scanner.name);
                compared += 1;
                points += own.points.len();
            }
        }
    }
    println!("{compared} sweeps with {points} points");
    assert!(compared > 100 && points > 20_000, "{compared} {points}");
}

/// The same where the walls of a room are of calibrated noise, with a glare, and a shelf before them is
/// of another, or of none: also of shots that see two of them.
#[test]
fn calibrated_shots_without_trees_are_those_with_trees_bit_for_bit() {
    let (mut points, mut lost) = (0, 0);
    for shelf in ["profile = \"rplidar-a1-wood\"", ""] {
        let loaded = calibrated_room(shelf);
        for (number, scanner) in (0_u32..).zip(scanners()) {
            let world = World::at_wavelength(&loaded.scene, scanner.wavelength).unwrap();
            let world = world.with_profiles(&loaded.profiles);
            let several = scanner.beam.ray_count() > 1;
            let rings = u32::from(several && number % 2 == 1);
            let scanner = Lidar {
                beam: scanner.beam.with_rings(rings),
                ..scanner
            };
            for way in [MOVING, (0.0, Frame::Sensor, false)] {
                let [own, trees] =
                    [None, Some(1.0)].map(|drops| sweep(&world, &scanner, drops, way));
                assert!(own == trees, "{}", scanner.name);
                points += own.points.len();
                lost += own.outcomes.len() - own.points.len();
            }
        }
    }
    assert!(points > 20_000 && lost > 1000, "{points} {lost}");
}

fn calibrated_room(shelf: &str) -> LoadedScene {
    let text = format!(
        "version = 1\n[materials.wall]\nbase = \"white-paper\"\nprofile = \"rplidar-a1-metal2\"\n\
         [materials.shelf]\nbase = \"white-paper\"\n{shelf}\n\
         [[objects]]\nname = \"room\"\nshape.box = {{ size_m = [4.0, 3.0, 2.5] }}\n\
         position_m = [0.0, 0.0, -1.0]\nmaterial = \"wall\"\n\
         [[objects]]\nname = \"shelf\"\nshape.box = {{ size_m = [0.3, 2.0, 2.0] }}\n\
         position_m = [1.5, 0.0, -1.0]\nmaterial = \"shelf\"\n"
    );
    parse(&Document::new("room.toml", text)).unwrap()
}
