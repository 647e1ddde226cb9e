//! The vectorised pipeline gives the same returns as the plain pipeline, bit for bit: for every
//! preset and every instruction set, on one thread and on several.

use etendue_config::scene::{LoadedScene, examples, parse};
use etendue_config::sensor::{preset, presets};
use etendue_config::toml_file::Document;
use etendue_physics::atmosphere::{MM_PER_HOUR, Weather};
use etendue_scene::Scene;
use etendue_sensors::NoiseProfiles;
use etendue_sensors::lidar::{
    Air, Columns, Frame, Lidar, LightModel, Pipeline, Receiver, ScanPattern, Sweep, SweepSettings,
    simulate,
};
use etendue_sensors::transport::{PathSettings, World};
use etendue_simd::Isa;
use nalgebra::{Isometry3, Vector3};

/// The presets; rotating ones with few columns.
fn lidars() -> Vec<Lidar> {
    let names = presets().iter().map(|preset| preset.name);
    let mut lidars: Vec<Lidar> = names.map(|name| preset(name).unwrap().lidar).collect();
    for lidar in &mut lidars {
        if let ScanPattern::Spinning(spinning) = &mut lidar.pattern {
            let lasers = u32::try_from(lidar.channels.len()).unwrap();
            spinning.columns = Columns::PerSweep {
                columns: 1 + 600 / lasers,
                fired: None,
            };
        }
    }
    lidars
}

/// A sweep of a run.
#[derive(Clone)]
struct Case {
    /// Speed of the sensor, in units of a fixed twist.
    speed: f64,
    frame: Frame,
    without_noise: bool,
    /// Whether the shares of mixed returns are found; shots are then reported one by one.
    with_mixing: bool,
    air: Air,
    light: LightModel,
}

impl Case {
    fn moving() -> Self {
        Self {
            speed: 1.0,
            frame: Frame::World,
            without_noise: false,
            with_mixing: true,
            air: Air::default(),
            light: LightModel::default(),
        }
    }

    fn at_rest(frame: Frame) -> Self {
        Self {
            speed: 0.0,
            frame,
            ..Self::moving()
        }
    }

    /// The sweep by one pipeline on a number of threads.
    fn sweep(&self, room: &Room, lidar: &Lidar, pipeline: Pipeline, threads: usize) -> Sweep {
        let world = World::at_wavelength(&room.scene, lidar.wavelength).unwrap();
        let world = world.with_profiles(room.profiles);
        let settings = SweepSettings {
            seed: 7,
            sweep: 3,
            frame: self.frame,
            air: self.air.clone(),
            light: self.light,
            without_noise: self.without_noise,
            pipeline,
            with_truth: true,
            with_mixing: self.with_mixing,
            ..SweepSettings::default()
        };
        let pose = |time: f64| {
            let turn = Vector3::new(0.02, -0.01, 0.4) * (self.speed * time);
            Isometry3::new(Vector3::new(0.3 * self.speed * time, 0.2, 0.1), turn)
        };
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
        pool.build()
            .unwrap()
            .install(|| simulate(&world, lidar, &settings, pose))
    }

    /// The sweep by the plain pipeline, after comparison with the sweeps in every instruction set, with and without shares
    /// of mixed returns.
    fn compare(&self, scenes: &Scenes, lidar: &Lidar) -> Sweep {
        let plain = self.sweep(&scenes.plain, lidar, Pipeline::Reference, 1);
        let without_shares = Sweep {
            mixing: vec![],
            ..plain.clone()
        };
        for (number, (isa, scene)) in scenes.by_isa.iter().enumerate() {
            let threads = 1 + 2 * (number % 2);
            for (threads, with_mixing) in [(threads, true), (4 - threads, false)] {
                let case = Self {
                    with_mixing,
                    ..self.clone()
                };
                let fast = case.sweep(scene, lidar, Pipeline::Vectorized(*isa), threads);
                let expected = if with_mixing { &plain } else { &without_shares };
                assert!(
                    fast == *expected,
                    "{} differs in {isa} on {threads} threads",
                    lidar.name
                );
            }
        }
        plain
    }
}

/// A scene whose rays are traced in one instruction set, with its noise profiles.
struct Room<'a> {
    scene: Scene,
    profiles: &'a NoiseProfiles,
}

/// The same scene in every instruction set.
struct Scenes<'a> {
    plain: Room<'a>,
    by_isa: Vec<(Isa, Room<'a>)>,
}

impl<'a> Scenes<'a> {
    fn new(loaded: &'a LoadedScene) -> Self {
        let with = |isa| Room {
            scene: loaded.scene.clone().edit().with_isa(isa).finish(),
            profiles: &loaded.profiles,
        };
        Self {
            plain: with("plain".parse().unwrap()),
            by_isa: Isa::available()
                .into_iter()
                .map(|isa| (isa, with(isa)))
                .collect(),
        }
    }
}

/// Rooms with mirrors, panes and glass: some shots of a batch need ray trees, the others do not.
/// With the sub-rays of the preset and with the axis only, with and without noise, moving and at
/// rest.
#[test]
fn every_preset_is_the_same_in_lanes_bit_for_bit() {
    let mut compared = 0;
    let mut points = 0;
    let mut mixed = 0;
    for example in examples() {
        let loaded = parse(&example.document()).unwrap();
        let scenes = Scenes::new(&loaded);
        for (number, lidar) in lidars().into_iter().enumerate() {
            if World::at_wavelength(&loaded.scene, lidar.wavelength).is_err() {
                continue;
            }
            let axis = Lidar {
                beam: lidar.beam.with_one_ray(),
                ..lidar.clone()
            };
            let frame = [Frame::Sensor, Frame::World, Frame::SweepStart][number % 3];
            let noise_or_not = Case {
                without_noise: number % 3 == 0,
                ..Case::moving()
            };
            for (lidar, case) in [
                (lidar, noise_or_not),
                (axis.clone(), Case::moving()),
                (axis, Case::at_rest(frame)),
            ] {
                if lidar.shots(0).len() > 2000 && points > 0 && example.name != "arena" {
                    continue;
                }
                let sweep = case.compare(&scenes, &lidar);
                assert!(sweep.shots.iter().eq(lidar.shots(3)), "{}", lidar.name);
                compared += 1;
                points += sweep.points.len();
                mixed += sweep.mixing.iter().filter(|share| **share > 0.0).count();
            }
        }
    }
    println!("{compared} sweeps with {points} points, {mixed} of them mixed");
    assert!(compared > 100 && points > 20_000, "{compared} {points}");
    assert!(mixed > 100, "{mixed}");
}

/// The same with a noise profile with glare on the walls of a room, and another or no profile on a
/// shelf in front of them, including shots that hit both.
#[test]
fn noise_profiles_are_the_same_in_lanes_bit_for_bit() {
    let mut points = 0;
    let mut lost = 0;
    for shelf in ["profile = \"rplidar-a1-wood\"", ""] {
        let loaded = calibrated_room(shelf);
        let scenes = Scenes::new(&loaded);
        for (number, lidar) in (0_u32..).zip(lidars()) {
            let several = lidar.beam.ray_count() > 1;
            let rings = u32::from(several && number % 2 == 1);
            let lidar = Lidar {
                beam: lidar.beam.with_rings(rings),
                ..lidar
            };
            for case in [Case::moving(), Case::at_rest(Frame::Sensor)] {
                let sweep = case.compare(&scenes, &lidar);
                points += sweep.points.len();
                lost += sweep.outcomes.len() - sweep.points.len();
            }
        }
    }
    assert!(points > 20_000 && lost > 1000, "{points} {lost}");
}

/// Fog, rain with sampled drops, and haze too thin for echoes: phase lidars in all of them, the
/// others in one each.
#[test]
fn weather_is_the_same_in_lanes_bit_for_bit() {
    let loaded = calibrated_room("");
    let scenes = Scenes::new(&loaded);
    let weathers = [
        Weather::Fog { visibility: 30.0 },
        Weather::Rain {
            rate: 20.0 * MM_PER_HOUR,
        },
        Weather::Haze { visibility: 9e3 },
    ];
    let mut points = 0;
    for (number, lidar) in lidars().into_iter().enumerate() {
        let one = number % weathers.len();
        let own = match lidar.receiver {
            Receiver::Phase(_) => &weathers[..],
            _ => &weathers[one..=one],
        };
        for weather in own {
            let case = Case {
                air: Air::of(vec![*weather]),
                ..Case::moving()
            };
            points += case.compare(&scenes, &lidar).points.len();
        }
    }
    assert!(points > 5000, "{points}");
}

/// Random light paths add light of several rough surfaces to every receiver, identical in lanes and
/// on any number of threads.
#[test]
fn every_receiver_gets_the_light_of_paths() {
    let loaded = calibrated_room("");
    let scenes = Scenes::new(&loaded);
    let tree = Case {
        without_noise: true,
        ..Case::at_rest(Frame::Sensor)
    };
    let paths = Case {
        light: LightModel::Paths(PathSettings {
            paths: 4,
            ..PathSettings::default()
        }),
        ..tree.clone()
    };
    let mut receivers = Vec::new();
    for lidar in lidars() {
        let kind = match lidar.receiver {
            Receiver::Pulsed(_) => "pulsed",
            Receiver::Triangulation(_) => "triangulation",
            Receiver::Fmcw(_) => "fmcw",
            _ => "phase",
        };
        if receivers.contains(&kind) {
            continue;
        }
        receivers.push(kind);
        let [by_tree, by_paths] =
            [&tree, &paths].map(|case| case.sweep(&scenes.plain, &lidar, Pipeline::default(), 1));
        assert!(by_paths != by_tree, "{kind}");
        assert!(by_paths == paths.compare(&scenes, &lidar), "{kind}");
    }
    assert!(receivers.len() >= 2, "{receivers:?}");
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
