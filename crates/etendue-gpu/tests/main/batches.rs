//! A batch of environments gives the sweeps of the CPU in each of them.

use crate::echoes::fmcw_lidar;
use crate::opened::{device, device_with};
use crate::sweeps::{ROOM_WITH_BOARD, set_columns, street};
use etendue_config::scene::{LoadedScene, example, parse};
use etendue_config::sensor::preset;
use etendue_config::toml_file::Document;
use etendue_gpu::{
    BatchImages, Environments, GpuCaster, GpuDevice, GpuError, GpuLidar, GpuSweepError,
    ShaderChecks,
};
use etendue_physics::atmosphere::Weather;
use etendue_physics::pulse::{DualPair, ReturnMode};
use etendue_scene::{ObjectId, Scene};
use etendue_sensors::lidar::{
    Air, Columns, DirectSweep, EchoModel, Lidar, Receiver, ScanPattern, Sweep, SweepScratch,
    SweepSettings, simulate_into,
};
use etendue_sensors::transport::World;
use nalgebra::{Isometry3, Vector3};

/// Poses of objects in each environment.
type Bodies = Vec<(ObjectId, Vec<Isometry3<f64>>)>;

/// A lidar of sixteen channels and beams of one ray, whose columns follow a clock: some sweeps have 25, others 24.
fn lidar() -> Lidar {
    let mut lidar = preset("velodyne-vlp-16").unwrap().lidar;
    lidar.beam = lidar.beam.with_one_ray();
    let ScanPattern::Spinning(pattern) = &mut lidar.pattern else {
        panic!("a spinning lidar");
    };
    pattern.columns = Columns::Period {
        seconds: 1.0 / (24.4 * pattern.rate),
    };
    lidar.noise.scan = 0.01;
    lidar.noise.channel = 0.004;
    lidar
}

/// Poses of the sensor, and of a number of objects, in each of `count` environments.
fn poses(count: usize, bodies: &[ObjectId]) -> (Vec<Isometry3<f64>>, Bodies) {
    let turned = |number: usize, offset: f64| {
        let angle = 0.7 * number as f64 + offset;
        Isometry3::new(
            Vector3::new(
                2.0 * angle.cos(),
                1.5 * (1.3 * angle).sin(),
                1.2 + 0.2 * angle.sin(),
            ),
            Vector3::new(0.05 * angle.sin(), 0.03, angle),
        )
    };
    let sensors = (0..count).map(|number| turned(number, 0.0)).collect();
    let moved = |(place, body): (usize, &ObjectId)| {
        let away = Vector3::new(4.0 + place as f64, -1.0, -0.5);
        let pose =
            |number| Isometry3::translation(away.x, away.y, away.z) * turned(number, place as f64);
        (*body, (0..count).map(pose).collect())
    };
    (sensors, bodies.iter().enumerate().map(moved).collect())
}

/// The objects of an environment.
fn placed(scene: &Scene, bodies: &[(ObjectId, Vec<Isometry3<f64>>)], number: usize) -> Scene {
    let mut edit = scene.clone().edit();
    for (body, poses) in bodies {
        edit = edit.with_pose(*body, poses[number]);
    }
    edit.finish()
}

fn settings(number: u32) -> SweepSettings {
    SweepSettings {
        seed: 11,
        sweep: 5 + number,
        start: Some(0.3),
        ..SweepSettings::default()
    }
}

/// The images of all environments on a device.
fn on_device(
    device: &GpuDevice,
    loaded: &LoadedScene,
    lidar: &Lidar,
    environments: &Environments,
    settings: &dyn Fn(u32) -> SweepSettings,
) -> Result<BatchImages, GpuSweepError> {
    let world = World::at_wavelength(&loaded.scene, lidar.wavelength).unwrap();
    let caster = GpuCaster::new(device, loaded.scene.caster())?;
    let own = GpuLidar::new(device, &caster, &world, lidar)?;
    let batch = own.simulate_batch(&settings(0), environments)?;
    println!("{:.0} bytes per environment", batch.bytes_per_environment());
    let all: Vec<_> = (0..)
        .take(environments.sensors.len())
        .map(settings)
        .collect();
    let on_host = |number: usize, shots: &[u32]| {
        let scene = placed(&loaded.scene, environments.bodies, number);
        let world = World::at_wavelength(&scene, lidar.wavelength).unwrap();
        let settings = &all[number];
        let pose = |_| environments.sensors[number];
        let sweep = DirectSweep::new(&world, lidar, settings, &pose, Sweep::default()).unwrap();
        Ok::<_, GpuError>(sweep.plain_returns(shots))
    };
    // Two parts give the same as one.
    let count = batch.environments();
    let mut images = batch.read(0..count / 3, on_host)?;
    let rest = batch.read(count / 3..count, on_host)?;
    images.range.extend(rest.range);
    images.intensity.extend(rest.intensity);
    images.label.extend(rest.label);
    images.on_host += rest.on_host;
    Ok(images)
}

/// Asserts that the images of a batch are those of single sweeps of the CPU: the same cells have returns, of the same
/// objects, but for one in ten thousand; ranges are those of `f64` rounded to `f32`, up to another rounding step of the
/// lidar in one of ten thousand.
fn assert_equals_single_sweeps(
    loaded: &LoadedScene,
    lidar: &Lidar,
    environments: &Environments,
    images: &BatchImages,
    settings: &dyn Fn(u32) -> SweepSettings,
) {
    let cells = lidar.channels.len() * lidar.columns() as usize;
    assert_eq!(images.range.len(), cells * environments.sensors.len());
    let (mut sweep, mut scratch) = (Sweep::default(), SweepScratch::default());
    let (mut others, mut steps, mut counts, mut returns) = (0, 0, 0, 0);
    for (number, pose) in environments.sensors.iter().enumerate() {
        let scene = placed(&loaded.scene, environments.bodies, number);
        let world = World::at_wavelength(&scene, lidar.wavelength).unwrap();
        let settings = settings(u32::try_from(number).unwrap());
        simulate_into(
            &world,
            lidar,
            &settings,
            |_| *pose,
            &mut sweep,
            &mut scratch,
        );
        let image = |value: &dyn Fn(&etendue_sensors::lidar::Return) -> f64| {
            sweep.image(|sweep, shot| sweep.points_of(shot).first().map_or(f64::NAN, value))
        };
        let range = image(&|point| point.range);
        let intensity = image(&|point| point.intensity);
        let label = image(&|point| point.source.map_or(-1.0, |of| of.instance.0.into()));
        for cell in 0..cells {
            let own = number * cells + cell;
            let found = [images.range[own], images.intensity[own]].map(f64::from);
            if range[cell].is_nan() || found[0].is_nan() {
                others += usize::from(range[cell].is_nan() != found[0].is_nan());
                assert!(!found[0].is_nan() || images.label[own] == -1);
                continue;
            }
            returns += 1;
            others += usize::from(f64::from(images.label[own]) != label[cell]);
            steps += usize::from((range[cell] - found[0]).abs() > 1e-5);
            counts += usize::from((intensity[cell] - found[1]).abs() > 0.5);
        }
    }
    println!("{returns} returns, other {others}, steps {steps}, counts {counts}");
    let few = returns / 10_000;
    assert!(returns > cells * environments.sensors.len() / 3);
    assert!(others <= few && steps <= few + 1 && counts <= 10 * (few + 1));
}

/// Bodies with other poses in each environment, noise that depends on the sweep, and sweeps of 24 and 25 columns.
#[test]
fn a_batch_of_1024_equals_1024_sweeps() {
    let Some(device) = device("a_batch_of_1024_equals_1024_sweeps") else {
        return;
    };
    let loaded = street();
    // The car and the pedestrian, which move in the scene, and the pole.
    let objects = loaded.scene.objects();
    let number = |name| {
        objects
            .iter()
            .position(|object| object.name == name)
            .unwrap()
    };
    let bodies = ["car", "pedestrian", "pole"].map(number);
    let bodies = bodies.map(|number| ObjectId(u32::try_from(number).unwrap()));
    let (sensors, bodies) = poses(1024, &bodies);
    let environments = Environments {
        sensors: &sensors,
        bodies: &bodies,
    };
    let lidar = lidar();
    let columns: Vec<u32> = (5..40).map(|sweep| lidar.columns_of_sweep(sweep)).collect();
    assert!(columns.contains(&24) && columns.contains(&25));
    let images = on_device(device, &loaded, &lidar, &environments, &settings).unwrap();
    // Also at the car, whose paint reflects like a mirror.
    assert_eq!(images.on_host, 0);
    assert_equals_single_sweeps(&loaded, &lidar, &environments, &images, &settings);
}

/// Paths by way of a mirror and a pane; with checks of the shaders.
#[test]
fn shots_at_mirrors_and_glass_are_those_of_the_cpu() {
    let test = "shots_at_mirrors_and_glass_are_those_of_the_cpu";
    let Some(device) = device_with(test, ShaderChecks::On) else {
        return;
    };
    let loaded = example("arena").unwrap();
    let sensors: Vec<_> = (0..9)
        .map(|number| {
            Isometry3::new(
                Vector3::new(0.3, 0.1, 0.12),
                Vector3::z() * f64::from(number),
            )
        })
        .collect();
    let environments = Environments {
        sensors: &sensors,
        bodies: &[],
    };
    let lidar = lidar();
    let images = on_device(device, &loaded, &lidar, &environments, &settings).unwrap();
    assert_eq!(images.on_host, 0);
    assert_equals_single_sweeps(&loaded, &lidar, &environments, &images, &settings);
}

/// Phase measurement, pulses of which one or two are reported, with pointing errors that neighbours share, and frequency-modulated
/// waves, in a room whose board has other poses; with
/// checks of the shaders.
#[test]
fn pointing_errors_in_batches_are_those_of_single_sweeps() {
    let test = "pointing_errors_in_batches_are_those_of_single_sweeps";
    let Some(device) = device_with(test, ShaderChecks::On) else {
        return;
    };
    let loaded = parse(&Document::new("room.toml", ROOM_WITH_BOARD)).unwrap();
    let (sensors, bodies) = poses(64, &[ObjectId(1)]);
    let environments = Environments {
        sensors: &sensors,
        bodies: &bodies,
    };
    let phase = preset("hokuyo-urg-04lx").unwrap().lidar;
    assert!(phase.beam.azimuth_jitter > 0.0 && phase.noise.neighbour_correlation > 0.0);
    let mut pulsed = lidar();
    pulsed.beam.azimuth_jitter = 5e-3;
    pulsed.noise.neighbour_correlation = 0.4;
    let mut dual = pulsed.clone();
    dual.beam = dual.beam.widened(4.0).with_rings(1);
    if let Receiver::Pulsed(receiver) = &mut dual.receiver {
        receiver.returns = ReturnMode::Dual(DualPair::LastAndStrongest);
    }
    let mut fmcw = fmcw_lidar(1e9, 10e-6);
    fmcw.pattern = pulsed.pattern.clone();
    for lidar in [&phase, &pulsed, &dual, &fmcw] {
        let images = on_device(device, &loaded, lidar, &environments, &settings).unwrap();
        assert_eq!(images.on_host, 0);
        assert_equals_single_sweeps(&loaded, lidar, &environments, &images, &settings);
    }
}

/// Objects that move in the scene during the sweep, one of which is at rest in other poses; pulses, and velocities by
/// frequency-modulated waves; with checks of the shaders.
#[test]
fn moving_objects_in_batches_are_those_of_single_sweeps() {
    let test = "moving_objects_in_batches_are_those_of_single_sweeps";
    let Some(device) = device_with(test, ShaderChecks::On) else {
        return;
    };
    let loaded = street();
    let number = |name| { loaded.scene.objects().iter() }.position(|object| object.name == name);
    let number = |name| ObjectId(u32::try_from(number(name).unwrap()).unwrap());
    let (sensors, bodies) = poses(12, &[number("car"), number("pole")]);
    let mut jittered = lidar();
    jittered.beam.azimuth_jitter = 5e-3;
    let mut fmcw = fmcw_lidar(1e9, 10e-6);
    set_columns(&mut fmcw, 70);
    for bodies in [&bodies[..], &bodies[1..]] {
        let environments = Environments {
            sensors: &sensors,
            bodies,
        };
        for lidar in [&jittered, &fmcw] {
            let images = on_device(device, &loaded, lidar, &environments, &settings).unwrap();
            assert_eq!(images.on_host, 0);
            assert_equals_single_sweeps(&loaded, lidar, &environments, &images, &settings);
        }
    }
}

/// Sampled waveforms with false alarms, and light of fog and rain, of which one echo or more are reported; with checks of the
/// shaders.
#[test]
#[ignore = "a minute of CPU on software; just gpu"]
fn sampled_waveforms_in_batches_are_those_of_single_sweeps() {
    let test = "sampled_waveforms_in_batches_are_those_of_single_sweeps";
    let Some(device) = device_with(test, ShaderChecks::On) else {
        return;
    };
    let loaded = street();
    let (sensors, _) = poses(64, &[]);
    let environments = Environments {
        sensors: &sensors,
        bodies: &[],
    };
    let changed = |echoes, returns, false_alarms| {
        let mut lidar = lidar();
        lidar.beam = lidar.beam.widened(2.0).with_rings(1);
        if let Receiver::Pulsed(receiver) = &mut lidar.receiver {
            receiver.echoes = echoes;
            receiver.returns = returns;
            receiver.false_alarms = false_alarms;
        }
        lidar
    };
    let dual = ReturnMode::Dual(DualPair::LastAndStrongest);
    for (lidar, weather) in [
        (
            changed(EchoModel::Waveform, ReturnMode::Strongest, true),
            vec![],
        ),
        (
            changed(EchoModel::Analytic, dual, false),
            vec![Weather::Rain { rate: 1e-5 }],
        ),
        (
            changed(EchoModel::Analytic, ReturnMode::Last, false),
            vec![Weather::Fog { visibility: 80.0 }],
        ),
    ] {
        let settings = |number| SweepSettings {
            air: Air::of(weather.clone()),
            ..settings(number)
        };
        let images = on_device(device, &loaded, &lidar, &environments, &settings).unwrap();
        assert_eq!(images.on_host, 0);
        assert_equals_single_sweeps(&loaded, &lidar, &environments, &images, &settings);
    }
}
