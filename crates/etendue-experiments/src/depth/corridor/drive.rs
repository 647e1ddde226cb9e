//! A recorded drive with its truth.

use super::settings::{CorridorBias, CorridorSettings, ExperimentError};
use etendue_calibrate::depth::DepthModel;
use etendue_physics::{Purpose, Stream};
use etendue_scene::{Ray, Scene};
use etendue_sensors::lidar::{Frame, Sweep, SweepSettings, simulate};
use etendue_sensors::lidar::{Lidar, Shot};
use etendue_sensors::transport::World;
use nalgebra::{Isometry3, Point3, Translation3, UnitQuaternion, Vector3};

/// Scans with what is known of them.
pub struct Drive {
    /// Points in the lidar's frame, m: its origin is where the beams come from on average, the axes
    /// are the sensor's.
    pub scans: Vec<Vec<Point3<f64>>>,
    /// The truth of each point of each scan; none where its beam's axis meets nothing.
    pub readings: Vec<Vec<Option<TrueReading>>>,
    /// Where the lidar stood.
    pub truth: Vec<Isometry3<f64>>,
    /// Where an odometer thinks that it stood.
    pub noisy: Vec<Isometry3<f64>>,
}

/// What is known of a reading.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TrueReading {
    /// TrueReading without noise less the distance along the beam's axis, m.
    pub bias: f64,
    /// Incidence of the beam's axis, rad.
    pub incidence: f64,
}

type Readings = (Vec<Point3<f64>>, Vec<Option<TrueReading>>);

/// Scans at each pose of the sensor; `progress` is called after each.
///
/// # Errors
/// Where a material says nothing at the lidar's wavelength.
pub fn drive(
    scene: &Scene,
    scanner: &Lidar,
    world_from_sensor: &[Isometry3<f64>],
    settings: &CorridorSettings,
    progress: &mut dyn FnMut(),
) -> Result<Drive, ExperimentError> {
    let world = World::at_wavelength(scene, scanner.wavelength)?;
    let mut drive = Drive {
        scans: Vec::new(),
        readings: Vec::new(),
        truth: Vec::new(),
        noisy: Vec::new(),
    };
    let sensor_from_lidar = middle_of_beams(&scanner.shots(0));
    for (number, pose) in (0..).zip(world_from_sensor) {
        let (scan, readings) = match &settings.bias {
            CorridorBias::Receiver => received(
                &world,
                (scanner, sensor_from_lidar),
                pose,
                (number, settings.seed),
            ),
            CorridorBias::Known(model, noise) => {
                let noise = (*noise, settings.seed);
                let from = pose * sensor_from_lidar;
                known(scene, scanner, &from, number, model, noise)
            }
        };
        let truth = pose * sensor_from_lidar;
        let off = disturbance(settings.seed, number, settings.pose_noise);
        drive.scans.push(scan);
        drive.readings.push(readings);
        drive.truth.push(truth);
        drive.noisy.push(truth * off);
        progress();
    }
    Ok(drive)
}

/// Where the beams come from on average, in the sensor's frame.
fn middle_of_beams(shots: &[Shot]) -> Translation3<f64> {
    let sum: Vector3<f64> = shots.iter().map(|shot| shot.origin.coords).sum();
    Translation3::from(sum / shots.len().max(1) as f64)
}

/// What the receiver reads, and what it would read without noise.
fn received(
    world: &World<f64>,
    (scanner, sensor_from_lidar): (&Lidar, Translation3<f64>),
    pose: &Isometry3<f64>,
    (number, seed): (u32, u64),
) -> Readings {
    let sweep = |without_noise| {
        let run = SweepSettings {
            seed,
            sweep: number,
            frame: Frame::Sensor,
            without_noise,
            ..SweepSettings::default()
        };
        simulate(world, scanner, &run, |_| *pose)
    };
    let (noisy, exact) = (sweep(false), sweep(true));
    let readings = exact_readings(world.scene(), &exact, pose);
    let shots = noisy.points.iter().map(|point| point.shot as usize);
    let of_points = shots.map(|shot| readings[shot]).collect();
    let points = noisy.points.iter().map(|point| point.position);
    let lidar_from_sensor = sensor_from_lidar.inverse();
    (points.map(|p| lidar_from_sensor * p).collect(), of_points)
}

/// The bias of the first echo of every shot of a sweep without noise.
fn exact_readings(scene: &Scene, exact: &Sweep, pose: &Isometry3<f64>) -> Vec<Option<TrueReading>> {
    let rays: Vec<Ray> = exact.shots.iter().map(|shot| axis(&shot, pose)).collect();
    let met = met(scene, &rays);
    let of_shot = |(number, met): (usize, Option<(f64, f64)>)| {
        let (distance, incidence) = met?;
        let point = exact.points_of(number).first()?;
        let shot = exact.shots.at(number);
        let read = (point.position - shot.origin).dot(&shot.direction());
        Some(TrueReading {
            bias: read - distance,
            incidence,
        })
    };
    met.into_iter().enumerate().map(of_shot).collect()
}

fn axis(shot: &Shot, pose: &Isometry3<f64>) -> Ray {
    Ray::new(pose * shot.origin, pose.rotation * shot.direction())
}

/// Distance (m) and incidence (rad) of the first surface on each ray.
fn met(scene: &Scene, rays: &[Ray]) -> Vec<Option<(f64, f64)>> {
    let mut hits = Vec::new();
    scene.closest_hits(rays, &mut hits);
    let of_ray = |(ray, hit): (&Ray, &Option<etendue_scene::Hit>)| {
        let hit = hit.as_ref()?;
        let incidence = hit.normal.dot(&ray.direction).abs().min(1.0).acos();
        Some((hit.distance, incidence))
    };
    rays.iter().zip(&hits).map(of_ray).collect()
}

/// Exact depths along beams from the lidar's origin, distorted, with noise.
fn known(
    scene: &Scene,
    scanner: &Lidar,
    world_from_lidar: &Isometry3<f64>,
    number: u32,
    model: &DepthModel,
    (noise, seed): (f64, u64),
) -> Readings {
    let shots = scanner.shots(number);
    let from = Point3::from(world_from_lidar.translation.vector);
    let ray = |shot: &Shot| Ray::new(from, world_from_lidar.rotation * shot.direction());
    let rays: Vec<Ray> = shots.iter().map(ray).collect();
    let met = met(scene, &rays);
    let of_beam = |((beam, shot), met): ((u32, &Shot), Option<(f64, f64)>)| {
        let (distance, incidence) = met?;
        let draw = Stream::new(seed, 0, number, beam, Purpose::ReceiverNoise).normal();
        let distorted = model.distort(distance, incidence);
        let depth = distorted + noise * draw;
        let reading = TrueReading {
            bias: distorted - distance,
            incidence,
        };
        let limits = scanner.limits.near..scanner.limits.far;
        limits
            .contains(&depth)
            .then(|| (Point3::from(shot.direction() * depth), Some(reading)))
    };
    (0..).zip(&shots).zip(met).filter_map(of_beam).unzip()
}

/// How far off an odometer is at a stop; the first is right.
pub(super) fn disturbance(seed: u64, number: u32, [position, angle]: [f64; 2]) -> Isometry3<f64> {
    if number == 0 {
        return Isometry3::identity();
    }
    let mut draw = Stream::new(seed, 1, number, 0, Purpose::Search);
    let mut vector = |sd: f64| Vector3::from_fn(|_, _| sd * draw.normal());
    let shift = vector(position);
    Isometry3::from_parts(
        Translation3::from(shift),
        UnitQuaternion::from_scaled_axis(vector(angle)),
    )
}
