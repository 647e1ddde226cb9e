//! Sweeps of lidars in every output format.

use crate::scanner_presets::scanner;
use etendue_io::output::OutputSet;
use etendue_io::packets::PacketSource;
use etendue_io::points::{
    write_csv, write_e57, write_kitti, write_las, write_npz, write_parquet, write_pcd, write_ply,
};
use etendue_io::ros2::{LidarRecorder, LidarTopics, bag_metadata, read_clouds};
use etendue_io::table::{Encoding, PointTable};
use etendue_physics::surface::{Lobe, Material};
use etendue_scene::{MaterialId, MeshId, NamedMaterial, Object, Scene, SceneBuilder, primitive};
use etendue_sensors::lidar::{Frame, Sweep, SweepSettings, simulate};
use etendue_sensors::transport::World;
use nalgebra::Isometry3;
use std::fs::File;
use std::path::Path;

fn scene(meshes: Vec<(etendue_scene::Mesh, Isometry3<f64>)>) -> Scene {
    let mut parts = SceneBuilder {
        materials: vec![NamedMaterial {
            name: "wall".into(),
            material: Material {
                lobes: vec![Lobe::lambert(0.5.into())],
            },
        }],
        ..SceneBuilder::default()
    };
    for (number, (mesh, pose)) in (0..).zip(meshes) {
        parts.meshes.push(mesh.into());
        parts.objects.push(Object {
            name: format!("object {number}"),
            mesh: MeshId(number),
            world_from_object: pose,
            material: MaterialId(0),
            mask: u32::MAX,
        });
    }
    parts.build().unwrap()
}

fn sweeps(name: &str, count: u32) -> Vec<Sweep> {
    let room = primitive::cuboid([9.0, 6.0, 4.0]).unwrap().inside_out();
    let scene = scene(vec![(room, Isometry3::identity())]);
    let scanner = scanner(name);
    let world = World::at_wavelength(&scene, scanner.wavelength).unwrap();
    let sweep = |sweep| {
        let run = SweepSettings {
            sweep,
            ..SweepSettings::default()
        };
        simulate(&world, &scanner, &run, |t| {
            Isometry3::translation(t, 0.0, 0.0)
        })
    };
    (0..count).map(sweep).collect()
}

/// Points in map coordinates are those of the same room at the origin, moved: within 1 um, the rounding error of single
/// precision at 9 m. In single precision they would be up to 0.25 m off.
#[test]
fn points_far_from_the_origin_have_double_precision() {
    let places = [[0.0; 3], [500_000.0, 4_500_000.0, 400.0]];
    let [near, far] = places.map(|[x, y, z]| {
        let place = Isometry3::translation(x, y, z);
        let room = primitive::cuboid([9.0, 6.0, 4.0]).unwrap().inside_out();
        let scene = scene(vec![(room, place)]);
        let scanner = scanner("velodyne-vlp-16");
        let world = World::at_wavelength(&scene, scanner.wavelength).unwrap();
        let settings = SweepSettings {
            frame: Frame::World,
            ..SweepSettings::default()
        };
        let sweep = simulate(&world, &scanner, &settings, |_| place);
        PointTable::of_scans(&[sweep])
    });
    assert_eq!(near.points, far.points);
    for (axis, name) in ["x", "y", "z"].into_iter().enumerate() {
        for point in 0..near.points {
            let [near, far] = [&near, &far].map(|table| table.number(name, point).unwrap());
            let moved = far - places[1][axis];
            assert!((moved - near).abs() < 1e-6, "{name}: {moved} {near}");
        }
    }
}

/// x, y, z and intensity of every point.
fn expected(table: &PointTable) -> Vec<[f64; 4]> {
    let names = ["x", "y", "z", "intensity"];
    (0..table.points)
        .map(|p| names.map(|name| table.number(name, p).unwrap()))
        .collect()
}

fn assert_close(found: &[[f64; 4]], expected: &[[f64; 4]], tolerance: f64) {
    assert_eq!(found.len(), expected.len());
    assert!(!found.is_empty());
    for (found, expected) in found.iter().zip(expected) {
        for axis in 0..4 {
            assert!(
                (found[axis] - expected[axis]).abs() <= tolerance,
                "{found:?} {expected:?}"
            );
        }
    }
}

fn write(table: &PointTable, folder: &Path) {
    let mut outputs = OutputSet::new();
    let path = |name: &str| folder.join(name);
    write_las(&mut outputs, &path("a.las"), table).unwrap();
    write_las(&mut outputs, &path("a.laz"), table).unwrap();
    write_e57(&mut outputs, &path("a.e57"), table).unwrap();
    write_kitti(&mut outputs, &path("a.bin"), table).unwrap();
    write_csv(&mut outputs, &path("a.csv"), table).unwrap();
    write_npz(&mut outputs, &path("a.npz"), table).unwrap();
    write_pcd(&mut outputs, &path("a.pcd"), table, Encoding::Binary).unwrap();
    write_ply(&mut outputs, &path("a.ply"), table, Encoding::Binary).unwrap();
    outputs.commit().unwrap();
}

#[test]
fn every_format_holds_the_same_points() {
    let folder = tempfile::tempdir().unwrap();
    let table = PointTable::of_scans(&sweeps("velodyne-vlp-16", 1));
    assert!(table.points > 20_000);
    let expected = expected(&table);
    write(&table, folder.path());
    for name in ["a.las", "a.laz"] {
        let mut reader = las::Reader::from_path(folder.path().join(name)).unwrap();
        let read = reader.read_all().unwrap();
        let points: Vec<[f64; 4]> = read
            .points()
            .map(|point| point.unwrap())
            .map(|p| [p.x, p.y, p.z, f64::from(p.intensity)])
            .collect();
        assert_close(&points, &expected, 0.51e-4);
    }
    let mut e57 = e57::E57Reader::from_file(folder.path().join("a.e57")).unwrap();
    let cloud = e57.pointclouds().remove(0);
    let raw = e57.pointcloud_raw(&cloud).unwrap();
    let points: Vec<[f64; 4]> = raw
        .map(|values| {
            let values = values.unwrap();
            [0, 1, 2, 3].map(|i| values[i].to_f64(&cloud.prototype[i].data_type).unwrap())
        })
        .collect();
    assert_close(&points, &expected, 0.0);
    let bytes = std::fs::read(folder.path().join("a.bin")).unwrap();
    let floats: Vec<f64> = bytes
        .chunks_exact(4)
        .map(|b| f64::from(f32::from_le_bytes(*b.first_chunk().unwrap())))
        .collect();
    let points: Vec<[f64; 4]> = floats
        .chunks_exact(4)
        .map(|p| [p[0], p[1], p[2], p[3]])
        .collect();
    assert_close(&points, &expected, 0.0);
    for name in ["a.pcd", "a.ply", "a.csv"] {
        let cloud =
            etendue_io::points::read_cloud(&folder.path().join(name), &PacketSource::default())
                .unwrap();
        let points = cloud.points.iter().zip(&cloud.intensities);
        let points: Vec<[f64; 4]> = points
            .map(|(p, i)| [p.x, p.y, p.z, f64::from(*i)])
            .collect();
        // Text contains the shortest representation of the f32.
        assert_close(&points, &expected, if name == "a.csv" { 1e-6 } else { 0.0 });
    }
}

#[test]
fn a_grid_has_a_cell_for_every_shot_with_the_reason_if_it_is_empty() {
    let mut sweep = sweeps("velodyne-vlp-16", 1).remove(0);
    sweep.outcomes[5] = etendue_sensors::lidar::Outcome::NoReturn;
    let table = PointTable::of_scan_grid(&sweep);
    assert_eq!(
        (table.points, table.height),
        (16 * sweep.columns as usize, 16)
    );
    let row = 15 - usize::from(sweep.rings[5]);
    let place = row * sweep.columns as usize;
    assert!(table.number("x", place).unwrap().is_nan());
    assert_eq!(table.number("range", place), Some(f64::INFINITY));
    assert!(table.number("x", place + 1).unwrap().is_finite());
}

fn record(path: &Path, name: &str, sweeps: &[Sweep]) {
    let mut recorder = LidarRecorder::create(path, LidarTopics::default()).unwrap();
    for sweep in sweeps {
        let pose = |_| sweep.world_from_sensor;
        recorder.record(sweep, &scanner(name), &pose).unwrap();
    }
    recorder.finish().unwrap();
    let bag = bag_metadata(path, File::open(path).unwrap()).unwrap();
    std::fs::write(path.with_file_name("metadata.yaml"), bag).unwrap();
}

#[test]
fn a_recording_reads_back_and_a_cut_one_up_to_its_last_whole_sweep() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.mcap");
    let sweeps = sweeps("velodyne-vlp-16", 3);
    record(&path, "velodyne-vlp-16", &sweeps);
    let recording = read_clouds(&path).unwrap();
    assert_eq!(recording.clouds.len(), 3);
    assert!(recording.warnings.is_empty());
    for (cloud, sweep) in recording.clouds.iter().zip(&sweeps) {
        let table = PointTable::of_scan_for_ros(sweep);
        assert_eq!(
            cloud.fields,
            table
                .columns
                .iter()
                .map(|c| c.name.as_ref())
                .collect::<Vec<_>>()
        );
        for name in ["x", "intensity", "ring", "time", "instance"] {
            let values: Vec<f64> = (0..table.points)
                .map(|p| table.number(name, p).unwrap())
                .collect();
            assert_eq!(cloud.field(name).unwrap(), values, "{name}");
        }
    }
    let whole = std::fs::read(&path).unwrap();
    let cut = folder.path().join("cut.mcap");
    std::fs::write(&cut, &whole[..whole.len() * 3 / 4]).unwrap();
    let recording = read_clouds(&cut).unwrap();
    assert_eq!(recording.clouds.len(), 2);
    assert_eq!(recording.warnings.len(), 1);
    std::fs::write(&cut, "nonsense").unwrap();
    assert!(read_clouds(&cut).is_err());
}

/// elmquist-2021, figure 5, with the preset: an HDL-32E at 20 Hz and 20 m/s passes cylinders of 1
/// m. The measured width in one rotation depends on the positions of the 1 mrad columns relative to
/// the edges. The mean of 20 rotations is within 1 % of 1 / (1 - v / omega r) and 1 / (1 + v /
/// omega r).
#[test]
fn an_hdl_32e_at_20_m_per_s_measures_cylinders_longer_and_shorter() {
    use etendue_sensors::lidar::ScanPattern;
    let mut scanner = scanner("velodyne-hdl-32e");
    let ScanPattern::Spinning(spinning) = &mut scanner.pattern else {
        panic!("it spins")
    };
    spinning.rate = 20.0;
    scanner.channels.retain(|channel| channel.elevation == 0.0);
    let scanner = scanner.checked().unwrap();
    let mut meshes = Vec::new();
    for i in 0..=15 {
        for side in [-4.0, 4.0] {
            let cylinder = primitive::cylinder(0.5, 4.0, 1e-4).unwrap();
            meshes.push((
                cylinder,
                Isometry3::translation(2.0 * f64::from(i), side, 0.0),
            ));
        }
    }
    let scene = scene(meshes);
    let world = World::at_wavelength(&scene, scanner.wavelength).unwrap();
    let columns = |x_of: &(dyn Fn(f64) -> f64 + Sync), sweep, instance| {
        let run = SweepSettings {
            sweep,
            without_noise: true,
            ..SweepSettings::default()
        };
        let sweep = simulate(&world, &scanner, &run, |t| {
            Isometry3::translation(x_of(t), 0.0, 0.0)
        });
        let seen = sweep
            .points
            .iter()
            .filter(|p| p.source.unwrap().instance.0 == instance);
        seen.count() as f64
    };
    let omega_r = std::f64::consts::TAU * 20.0 * 4.0;
    // The rotation is clockwise: starboard is abeam after a quarter of a rotation, port after three
    // quarters.
    for (quarter, side, closed) in [
        (0.25, 0, 1.0 / (1.0 - 20.0 / omega_r)),
        (0.75, 1, 1.0 / (1.0 + 20.0 / omega_r)),
    ] {
        let mut moving = 0.0;
        let mut still = 0.0;
        for sweep in 1..=20 {
            // At 1 m per rotation, every second rotation passes a cylinder abeam; use the nearest.
            let abeam = 20.0 * (f64::from(sweep) + quarter) / 20.0;
            let number = (abeam / 2.0).round();
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "a small integer"
            )]
            let instance = 2 * number as u32 + side;
            // Shift the cylinder in steps of a column's width so that it is abeam at that moment.
            let shift = 2.0 * number - abeam + 1e-3 * f64::from(sweep);
            moving += columns(&|t| 20.0 * t + shift, sweep, instance);
            still += columns(&|_| 2.0 * number + 1e-3 * f64::from(sweep), sweep, instance);
        }
        let ratio = moving / still;
        println!("{ratio:.4} against {closed:.4}");
        assert!(moving > 500.0);
        assert!((ratio / closed - 1.0).abs() < 0.01, "{ratio} {closed}");
    }
}

/// Writes files for the independent readers of `scripts/read_outputs.py` if a folder is given.
#[test]
fn outputs_for_independent_readers() {
    let Some(folder) = std::env::var_os("ETENDUE_OUTPUTS") else {
        println!("skipped: no ETENDUE_OUTPUTS");
        return;
    };
    let folder = Path::new(&folder);
    let vlp = sweeps("velodyne-vlp-16", 2);
    write(&PointTable::of_scans(&vlp[..1]), folder);
    record(&folder.join("a.mcap"), "velodyne-vlp-16", &vlp);
    let mut outputs = OutputSet::new();
    let table = PointTable::of_scans(&vlp[..1]);
    if cfg!(feature = "parquet") {
        write_parquet(&mut outputs, &folder.join("a.parquet"), &table).unwrap();
    }
    outputs.commit().unwrap();
    std::fs::create_dir_all(folder.join("bag")).unwrap();
    record(&folder.join("bag/a.mcap"), "velodyne-vlp-16", &vlp);
    record(
        &folder.join("scan.mcap"),
        "hokuyo-utm-30lx",
        &sweeps("hokuyo-utm-30lx", 2),
    );
}
