//! Sweeps on the device are those of the CPU, with noise from the same draws.

use crate::echoes::fmcw_lidar;
use crate::opened::{device, device_with};
use etendue_config::scene::{LoadedScene, example, parse};
use etendue_config::sensor::{preset, presets};
use etendue_config::toml_file::Document;
use etendue_gpu::{GpuCaster, GpuDevice, GpuError, GpuLidar, GpuSweepError, ShaderChecks};
use etendue_physics::atmosphere::Weather;
use etendue_physics::phase::{Combination, PowerDependentBias};
use etendue_scene::ObjectId;
use etendue_sensors::lidar::{
    Air, Columns, DirectReceiver, DirectSweep, Frame, Lidar, LightModel, NotDirect, Outcome,
    PhaseMethod, PhaseReceiver, Receiver, Return, ScanPattern, Sweep, SweepSettings, simulate,
};
use etendue_sensors::transport::{PathSettings, World};
use nalgebra::{Isometry3, Vector3};

/// A street with traffic, a sign, and boards of two materials per mesh, without glass.
const STREET: &str = include_str!("../street.toml");

pub fn street() -> LoadedScene {
    parse(&Document::new("street.toml", STREET)).unwrap()
}

/// A pose at rest, or a motion with a rotation.
fn pose(speed: f64) -> impl Fn(f64) -> Isometry3<f64> + Sync {
    move |time| {
        let turn = Vector3::new(0.02, -0.01, 0.4) * (speed * time);
        Isometry3::new(Vector3::new(9.0 * speed * time, 0.2, 1.8), turn)
    }
}

/// Leaves every other column of a VLP-16: 14,464 shots, of which tests allow another result of one in ten thousand.
pub fn every_other_column(lidar: &mut Lidar) {
    let ScanPattern::Spinning(pattern) = &mut lidar.pattern else {
        panic!("a spinning lidar");
    };
    let Columns::Period { seconds } = &mut pattern.columns else {
        panic!("columns that follow a clock");
    };
    *seconds *= 2.0;
}

/// Changes the number of columns of a spinning lidar.
pub fn set_columns(lidar: &mut Lidar, columns: u32) {
    let ScanPattern::Spinning(pattern) = &mut lidar.pattern else {
        panic!("a spinning lidar");
    };
    pattern.columns = Columns::PerSweep {
        columns,
        fired: None,
    };
}

pub fn settings() -> SweepSettings {
    SweepSettings {
        seed: 7 << 34 | 5,
        sensor: 3,
        sweep: 2,
        frame: Frame::World,
        with_truth: true,
        ..SweepSettings::default()
    }
}

/// The sweeps of a device and of the CPU.
pub struct Compared {
    pub differences: Differences,
    /// Number of shots that the host simulated.
    pub on_host: usize,
    /// Why the host applied the receiver, if it did.
    pub receiver_on_host: Option<NotDirect>,
    /// The outcomes of the shots of the CPU.
    pub outcomes: Vec<Outcome>,
}

/// Differences of two sweeps.
#[derive(Clone, Copy, Debug, Default)]
pub struct Differences {
    pub shots: usize,
    pub returns: usize,
    /// Shots with several returns.
    pub several: usize,
    /// Returns of the air, drops or noise.
    pub without_surface: usize,
    /// Shots with an echo in one sweep only, or with another surface.
    others: usize,
    /// Returns whose rounded range differs.
    other_steps: usize,
    /// Largest difference of the other ranges, m, and number of those that differ by a micrometre or more.
    pub range: f64,
    pub beyond: usize,
    /// Returns whose intensity differs by a count.
    other_counts: usize,
    /// Largest relative difference of the power.
    power: f64,
    /// Largest relative difference of the width.
    width: f64,
    /// Largest difference of the radial velocity, and largest velocity, m/s.
    velocity: f64,
    pub fastest: f64,
    /// Largest relative difference of the power of the ambient light, and largest power of it.
    ambient: f64,
    pub brightest: f64,
    /// Largest difference of the distance of the first surface, m.
    truth: f64,
    /// Shots of phase receivers with another number of surfaces.
    other_surfaces: usize,
    /// Largest relative difference of the power of all light of a shot of a phase receiver.
    light: f64,
}

impl Differences {
    fn add(&mut self, expected: &Sweep, found: &Sweep, lidar: &Lidar) {
        assert!(expected.shots == found.shots && expected.rings == found.rings);
        assert_eq!(expected.axis_truths.len(), found.axis_truths.len());
        for (expected, found) in expected.axis_truths.iter().zip(&found.axis_truths) {
            match (expected, found) {
                (Some(expected), Some(found)) => {
                    assert_eq!(
                        (expected.object, expected.material),
                        (found.object, found.material)
                    );
                    self.truth = self.truth.max((expected.range - found.range).abs());
                }
                (expected, found) => assert_eq!(expected, found),
            }
        }
        // All light of the shots of phase receivers
        assert_eq!(expected.powers.len(), found.powers.len());
        assert_eq!(expected.surfaces.len(), found.surfaces.len());
        for (expected, found) in expected.powers.iter().zip(&found.powers) {
            self.light = self
                .light
                .max((expected - found).abs() / expected.max(1e-30));
        }
        let counts = expected.surfaces.iter().zip(&found.surfaces);
        self.other_surfaces += counts.filter(|(expected, found)| expected != found).count();
        self.shots += expected.outcomes.len();
        let of_one_return = match &lidar.receiver {
            Receiver::Pulsed(receiver) => receiver.analytic().finder().echo_form().width,
            _ => 0.0,
        };
        for shot in 0..expected.outcomes.len() {
            let [a, b] = [expected, found].map(|sweep| sweep.points_of(shot));
            self.others += usize::from(a.len() != b.len());
            if a.is_empty() || b.is_empty() {
                let is_same = a.is_empty() && b.is_empty();
                let no_point = |outcome| !matches!(outcome, Outcome::Points { .. });
                assert!(!is_same || no_point(expected.outcomes[shot]));
                self.others +=
                    usize::from(!is_same || expected.outcomes[shot] != found.outcomes[shot]);
                continue;
            }
            self.several += usize::from(a.len() > 1);
            if a.len() != b.len() {
                continue;
            }
            for (a, b) in a.iter().zip(b) {
                self.add_return(a, b, lidar, of_one_return);
            }
        }
    }

    /// Adds a return of the CPU and that of the device. Echoes of one return in closed form have a width.
    fn add_return(&mut self, a: &Return, b: &Return, lidar: &Lidar, of_one_return: f64) {
        self.returns += 1;
        let source = |point: &Return| {
            point
                .source
                .map(|source| (source.instance, source.mesh, source.material))
        };
        self.others += usize::from(source(a) != source(b));
        self.without_surface += usize::from(a.source.is_none());
        let apart = (a.range - b.range).abs();
        if apart > 0.5 * lidar.limits.step && lidar.limits.step > 0.0 {
            self.other_steps += 1;
        } else {
            self.range = self.range.max(apart);
            self.beyond += usize::from(apart >= 1e-6);
            assert!((a.position - b.position).norm() < apart + 1e-9);
        }
        self.other_counts += usize::from((a.intensity - b.intensity).abs() > 0.5);
        self.power = self.power.max((a.power / b.power - 1.0).abs());
        let number = |point: &Return| (point.shot, point.return_number, point.returns);
        assert_eq!(number(a), number(b));
        // Echoes of one return in closed form have the width of the pulse
        if lidar.beam.ray_count() == 1 && a.width == of_one_return {
            assert_eq!(a.width, b.width);
        }
        if a.width != b.width {
            self.width = self.width.max((a.width / b.width - 1.0).abs());
        }
        self.ambient = self
            .ambient
            .max((a.ambient - b.ambient).abs() / a.ambient.max(1e-30));
        self.brightest = self.brightest.max(a.ambient);
        assert_eq!(a.velocity.is_some(), b.velocity.is_some());
        if let (Some(expected), Some(found)) = (a.velocity, b.velocity) {
            self.velocity = self.velocity.max((expected - found).abs());
            self.fastest = self.fastest.max(expected.abs());
        }
    }
}

/// Compares the sweeps of a lidar, where the device simulates it.
pub fn compare(
    device: &GpuDevice,
    loaded: &LoadedScene,
    lidar: &Lidar,
    speed: f64,
    settings: &SweepSettings,
) -> Result<Compared, GpuSweepError> {
    let world = World::at_wavelength(&loaded.scene, lidar.wavelength).unwrap();
    let world = world
        .with_profiles(&loaded.profiles)
        .in_light(&loaded.ambient);
    let caster = GpuCaster::new(device, loaded.scene.caster())?;
    let on_device = GpuLidar::new(device, &caster, &world, lidar)?;
    let found = on_device.simulate(settings, pose(speed))?;
    println!(
        "{} of {} shots on the host",
        found.on_host,
        found.sweep.shots.len()
    );
    let expected = simulate(&world, lidar, settings, pose(speed));
    let mut differences = Differences::default();
    differences.add(&expected, &found.sweep, lidar);
    Ok(Compared {
        differences,
        on_host: found.on_host,
        receiver_on_host: found.receiver_on_host,
        outcomes: expected.outcomes,
    })
}

/// Asserts the stated agreement: other returns and other rounding steps of fewer than one shot in ten thousand, ranges
/// within a micrometre.
pub fn assert_agrees(name: &str, all: &Differences) {
    assert!(all.returns > 50, "{name}");
    assert_same(name, all);
}

/// [`assert_agrees`] for any number of returns.
pub fn assert_same(name: &str, all: &Differences) {
    assert_eq!(all.beyond, 0, "{name}: {all:?}");
    assert_same_but_ranges(name, all);
}

/// [`assert_same`] of pulses whose ranges are not rounded: ranges, and widths, have the error of the powers, which is larger where
/// materials reflect like mirrors.
pub fn assert_same_pulses(name: &str, all: &Differences) {
    let most = all.returns / 50;
    println!(
        "{name}: {} ranges beyond 1e-6 m, widths within {:e}",
        all.beyond, all.width
    );
    assert!(all.range < 5e-5 && all.width < 1e-4, "{name}: {all:?}");
    assert!(all.beyond <= most, "{name}: {} {all:?}", all.beyond);
    let width = all.width.min(1e-6);
    assert_same_but_ranges(name, &Differences { width, ..*all });
}

/// [`assert_same`] of counted photons: a count in a sample may differ by one where its mean is that close to a step, and a range, a
/// width and a power with it.
pub fn assert_same_counts(name: &str, all: &Differences) {
    println!("{name}: {all:?}");
    let few = all.shots / 10_000;
    assert!(all.returns > 300 && all.others <= few, "{name}: {all:?}");
    assert!(all.other_steps <= 1 + all.returns / 500, "{name}: {all:?}");
    assert!(all.beyond <= 1 + all.returns / 200, "{name}: {all:?}");
    assert!(all.range < 1e-3 && all.truth < 1e-9, "{name}: {all:?}");
    assert!(all.width < 1e-2 && all.power < 1e-2, "{name}: {all:?}");
}

/// [`assert_same`] but for ranges.
pub fn assert_same_but_ranges(name: &str, all: &Differences) {
    println!("{name}: {all:?}");
    let few = all.shots / 10_000;
    assert!(all.others <= few, "{name}: {all:?}");
    assert!(all.other_steps <= few + 1, "{name}: {all:?}");
    assert!(all.other_counts <= 10 * (few + 1), "{name}: {all:?}");
    assert!(all.truth < 1e-9, "{name}: {all:?}");
    assert!(all.width < 1e-5 && all.velocity < 1e-5, "{name}: {all:?}");
    assert!(all.ambient < 1e-5, "{name}: {all:?}");
    assert!(all.power < 1e-3 && all.light < 1e-4, "{name}: {all:?}");
    assert!(all.other_surfaces <= few, "{name}: {all:?}");
}

/// All presets, in motion with noise; at rest without noise; and with one ray per beam.
#[test]
#[ignore = "40 s of CPU on software; just gpu"]
fn sweeps_of_presets_agree_with_the_cpu() {
    let Some(device) = device("sweeps_of_presets_agree_with_the_cpu") else {
        return;
    };
    let loaded = street();
    for preset in presets() {
        let own = etendue_config::sensor::preset(preset.name).unwrap().lidar;
        let one_ray = Lidar {
            beam: own.beam.with_one_ray(),
            ..own.clone()
        };
        let quiet = SweepSettings {
            without_noise: true,
            frame: Frame::Sensor,
            ..settings()
        };
        let moving = compare(device, &loaded, &own, 1.0, &settings()).unwrap();
        assert!(moving.on_host < moving.differences.shots / 4);
        assert_agrees(preset.name, &moving.differences);
        let at_rest = compare(device, &loaded, &own, 0.0, &quiet).unwrap();
        assert_agrees(preset.name, &at_rest.differences);
        // Beams of several rays, reduced to one
        if own.beam.ray_count() > 1 {
            for (speed, settings) in [(1.0, settings()), (0.0, quiet)] {
                let single = compare(device, &loaded, &one_ray, speed, &settings).unwrap();
                assert_agrees(preset.name, &single.differences);
            }
        }
    }
}

/// Noise that is not independent from shot to shot, in mist, with checks of the shaders.
#[test]
fn correlated_noise_and_extinction_agree_with_the_cpu() {
    let test = "correlated_noise_and_extinction_agree_with_the_cpu";
    let Some(device) = device_with(test, ShaderChecks::On) else {
        return;
    };
    let mut lidar = preset("velodyne-vlp-32c").unwrap().lidar;
    lidar.beam = lidar.beam.with_one_ray();
    lidar.noise.neighbour = 0.02;
    lidar.noise.neighbour_correlation = 0.6;
    lidar.noise.channel = 0.01;
    lidar.noise.beam = 0.015;
    lidar.noise.beam_correlation = 0.3;
    lidar.noise.scan = 0.005;
    let settings = SweepSettings {
        air: Air::of(vec![Weather::Haze { visibility: 4e3 }]),
        ..settings()
    };
    let all = compare(device, &street(), &lidar, 1.0, &settings).unwrap();
    assert_agrees(test, &all.differences);
}

/// A room with a board.
pub const ROOM_WITH_BOARD: &str = r#"
version = 1
name = "room with a board"
[[objects]]
name = "room"
shape.box = { size_m = [14.0, 8.0, 3.0] }
flip_normals = true
position_m = [0.0, 0.0, 1.5]
material = "plaster"
[[objects]]
name = "board"
shape.box = { size_m = [0.1, 0.7, 2.0] }
position_m = [2.0, 1.0, 1.5]
material = "wood"
"#;

/// A lens far from the laser, in front of which objects hide surfaces, with a step of the angle and checks of the shaders.
#[test]
fn surfaces_that_the_lens_does_not_see_agree_with_the_cpu() {
    let test = "surfaces_that_the_lens_does_not_see_agree_with_the_cpu";
    let Some(device) = device_with(test, ShaderChecks::On) else {
        return;
    };
    let loaded = parse(&Document::new("room.toml", ROOM_WITH_BOARD)).unwrap();
    let mut lidar = preset("slamtec-rplidar-a2").unwrap().lidar;
    let narrow = compare(device, &loaded, &lidar, 1.0, &settings()).unwrap();
    let Receiver::Triangulation(receiver) = &mut lidar.receiver else {
        panic!("a triangulating lidar");
    };
    receiver.baseline = 1.5;
    receiver.angle_step = 2e-4;
    lidar.beam.azimuth_jitter = 3e-3;
    let wide = compare(device, &loaded, &lidar, 1.0, &settings()).unwrap();
    let [narrow, wide] = [narrow, wide].map(|all| all.differences);
    assert_agrees(test, &wide);
    println!("{} and {} returns", narrow.returns, wide.returns);
    assert!(wide.returns + 10 < narrow.returns);
}

/// A phase lidar: the URG-04LX, changed.
pub fn phase_lidar(change: impl Fn(&mut Lidar, &mut PhaseReceiver)) -> Lidar {
    let mut lidar = preset("hokuyo-urg-04lx").unwrap().lidar;
    let Receiver::Phase(mut receiver) = lidar.receiver else {
        panic!("a phase lidar");
    };
    lidar.limits.step = 0.0;
    change(&mut lidar, &mut receiver);
    lidar.receiver = Receiver::Phase(receiver);
    lidar
}

/// Phase lidars with beams of one and of many rays, near and far limits, biases, other frequencies, and all reasons for a missing
/// range. Ranges are not rounded.
fn phase_lidars() -> Vec<(&'static str, Lidar)> {
    vec![
        ("plain", phase_lidar(|_, _| {})),
        (
            "one ray",
            phase_lidar(|lidar, _| lidar.beam = lidar.beam.with_one_ray()),
        ),
        (
            "61 rays across 6 degrees",
            phase_lidar(|lidar, receiver| {
                lidar.beam = lidar.beam.with_rings(4).widened(10.0);
                receiver.ambiguity.gate = 0.02;
            }),
        ),
        (
            "noise between neighbours and on surfaces",
            phase_lidar(|lidar, _| {
                lidar.noise.beam = 0.02;
                lidar.noise.beam_correlation = 0.3;
                lidar.noise.channel = 0.004;
            }),
        ),
        (
            "beyond one ambiguity",
            phase_lidar(|lidar, _| lidar.limits.far = 20.0),
        ),
        (
            "beyond the combined ambiguity",
            phase_lidar(|lidar, _| lidar.limits.far = 50.0),
        ),
        (
            "the nearest range",
            phase_lidar(|lidar, _| lidar.limits.near = 3.9),
        ),
        (
            "saturation",
            phase_lidar(|_, receiver| {
                receiver.gain.target = 1.0;
                receiver.gain.strongest = 0.014;
            }),
        ),
        (
            "low intensity",
            phase_lidar(|_, receiver| {
                receiver.detectable = 0.008;
                receiver.sufficient = 0.012;
            }),
        ),
        (
            "noise beyond the gate",
            phase_lidar(|_, receiver| {
                receiver.ambiguity.gate = 0.01;
                receiver.noise.amplifier = 3e-4;
            }),
        ),
        (
            "bias of the phase, mean by frequency",
            phase_lidar(|_, receiver| {
                receiver.bias = PowerDependentBias::Phase([0.05, -1.0, 4.0]);
                receiver.ambiguity.combination = Combination::FrequencySquared;
            }),
        ),
        (
            "bias of the range",
            phase_lidar(|lidar, receiver| {
                receiver.bias = PowerDependentBias::Range([-0.11, 0.5, -3.0]);
                lidar.channels[0].range_offset = 0.123;
            }),
        ),
        (
            "3 and 5 MHz, elliptic beam",
            phase_lidar(|lidar, receiver| {
                let os1 = preset("ouster-os1-128").unwrap().lidar;
                lidar.beam.profile = os1.beam.profile;
                receiver.modulation.base_frequency = 1e6;
                receiver.modulation.multiples = [3, 5];
                receiver.ambiguity.gate = 2.0;
            }),
        ),
    ]
}

/// Phase lidars in a room, in motion with noise and at rest without, with checks of the shaders.
#[test]
fn phase_lidars_agree_with_the_cpu() {
    let test = "phase_lidars_agree_with_the_cpu";
    let Some(device) = device_with(test, ShaderChecks::On) else {
        return;
    };
    let loaded = parse(&Document::new("room.toml", ROOM_WITH_BOARD)).unwrap();
    let quiet = SweepSettings {
        without_noise: true,
        frame: Frame::Sensor,
        ..settings()
    };
    let mut outcomes = std::collections::BTreeMap::new();
    for (name, lidar) in &phase_lidars() {
        for (speed, settings) in [(1.0, settings()), (0.0, quiet.clone())] {
            let all = compare(device, &loaded, lidar, speed, &settings).unwrap();
            assert_agrees(name, &all.differences);
            assert!(all.differences.light > 0.0);
            for outcome in all.outcomes {
                let kind = match outcome {
                    Outcome::Points { .. } => "a range",
                    Outcome::TooNear => "too near",
                    Outcome::NoReturn => "nothing",
                    Outcome::Error(1) => "low intensity",
                    Outcome::Error(8) => "disagreement",
                    Outcome::Error(18) => "saturation",
                    Outcome::Error(_) => "other",
                };
                *outcomes.entry(kind).or_insert(0) += 1;
            }
        }
    }
    println!("{outcomes:?}");
    assert!(outcomes.len() == 6 && outcomes.values().all(|count| *count > 100));
}

/// Shots of a phase lidar at a mirror and a pane are those of the CPU, with their light; so are pulses with jitter.
#[test]
fn phase_lidars_in_the_arena_agree_with_the_cpu() {
    let Some(device) = device("phase_lidars_in_the_arena_agree_with_the_cpu") else {
        return;
    };
    let arena = example("arena").unwrap();
    let world = World::at_wavelength(&arena.scene, 785e-9).unwrap();
    let lidar = preset("hokuyo-urg-04lx").unwrap().lidar;
    let caster = GpuCaster::new(device, arena.scene.caster()).unwrap();
    let own = GpuLidar::new(device, &caster, &world, &lidar).unwrap();
    let mut all = Differences::default();
    let mut on_host = 0;
    for place in 0..6 {
        let pose = |time: f64| {
            let turn = Vector3::z() * (f64::from(place) + 2.0 * time);
            Isometry3::new(Vector3::new(0.3 - 0.1 * time, 0.1, 0.05), turn)
        };
        let found = own.simulate(&settings(), pose).unwrap();
        on_host += found.on_host;
        let expected = simulate(&world, &lidar, &settings(), pose);
        all.add(&expected, &found.sweep, &lidar);
    }
    assert_agrees("arena", &all);
    assert_eq!(on_host, 0);

    // Pulses
    let mut lidar = preset("velodyne-vlp-16").unwrap().lidar;
    lidar.beam.azimuth_jitter = 2e-3;
    lidar.noise.neighbour_correlation = 0.5;
    let jittered = compare(device, &street(), &lidar, 1.0, &settings()).unwrap();
    assert_agrees("jitter", &jittered.differences);
}

/// An object that moves in the scene on the device may be at rest in that of a sweep, but not the other way round.
#[test]
fn moving_objects_may_be_at_rest() {
    let Some(device) = device("moving_objects_may_be_at_rest") else {
        return;
    };
    let moving = street().scene;
    let car = { moving.objects().iter() }.position(|object| object.name == "car");
    let car = ObjectId(u32::try_from(car.unwrap()).unwrap());
    let parked = Isometry3::translation(5.0, 2.0, 0.8);
    let resting = moving.clone().edit().with_pose(car, parked).finish();
    let mut lidar = preset("velodyne-vlp-16").unwrap().lidar;
    lidar.beam = lidar.beam.with_one_ray();

    let world = World::at_wavelength(&resting, lidar.wavelength).unwrap();
    let caster = GpuCaster::new(device, moving.caster()).unwrap();
    let own = GpuLidar::new(device, &caster, &world, &lidar).unwrap();
    let found = own.simulate(&settings(), pose(1.0)).unwrap().sweep;
    let mut all = Differences::default();
    let expected = simulate(&world, &lidar, &settings(), pose(1.0));
    all.add(&expected, &found, &lidar);
    assert_agrees("at rest", &all);

    let world = World::at_wavelength(&moving, lidar.wavelength).unwrap();
    let caster = GpuCaster::new(device, resting.caster()).unwrap();
    let refused = GpuLidar::new(device, &caster, &world, &lidar).err();
    assert_eq!(refused, Some(GpuError::OtherScene));
}

/// The reason of each sweep that the device does not simulate, or whose receiver the host applies.
#[test]
fn what_the_device_does_not_simulate_is_named() {
    let street = street();
    let vlp = preset("velodyne-vlp-16").unwrap().lidar;
    let prepared = |lidar: &Lidar, settings: &SweepSettings| {
        let world = World::at_wavelength(&street.scene, lidar.wavelength).unwrap();
        let at_rest = pose(0.0);
        let sweep = DirectSweep::new(&world, lidar, settings, &at_rest, Sweep::default());
        sweep.map(|sweep| match sweep.receiver() {
            DirectReceiver::OnHost(reason) => Some(*reason),
            _ => None,
        })
    };
    let plain = settings();
    assert_eq!(prepared(&vlp, &plain), Ok(None));
    let sampled = phase_lidar(|_, receiver| receiver.method = PhaseMethod::Sampled);
    assert_eq!(prepared(&sampled, &plain), Ok(Some(NotDirect::Sampled)));
    let paths = SweepSettings {
        light: LightModel::Paths(PathSettings::default()),
        ..settings()
    };
    assert_eq!(prepared(&vlp, &paths), Err(NotDirect::Paths));
    let mut spot = preset("slamtec-rplidar-a2").unwrap().lidar;
    spot.beam = phase_lidar(|_, _| {}).beam.with_rings(1);
    assert_eq!(prepared(&spot, &plain), Err(NotDirect::Spot));

    // Drops and fog in front of pulsed lidars and of a phase lidar
    let weather = |weather| SweepSettings {
        air: Air::of(vec![weather]),
        ..settings()
    };
    let rain = weather(Weather::Rain { rate: 2e-5 });
    let fog = weather(Weather::Fog { visibility: 30.0 });
    let phase = phase_lidar(|_, _| {});
    assert_eq!(prepared(&vlp, &rain), Ok(None));
    assert_eq!(prepared(&vlp, &fog), Ok(None));
    let counter = preset("ouster-os1-64").unwrap().lidar;
    assert_eq!(prepared(&counter, &fog), Ok(None));
    assert_eq!(prepared(&phase, &rain), Ok(Some(NotDirect::Drops)));
    assert_eq!(prepared(&phase, &fog), Ok(None));
    assert_eq!(prepared(&fmcw_lidar(1e9, 1e-5), &rain), Ok(None));
    let text = GpuSweepError::from(NotDirect::Paths).to_string();
    assert!(text.contains("light follows random paths"), "{text}");
}
