//! Scans of a drive through the corridor, with ground truth.

use super::settings::{CorridorBias, CorridorSettings, ExperimentError};
use etendue_calibrate::depth::DepthModel;
use etendue_physics::{Purpose, Stream};
use etendue_scene::{CastScratch, Hit, Ray, Scene};
use etendue_sensors::lidar::{Frame, Lidar, Shot, Sweep, SweepSettings, simulate};
use etendue_sensors::transport::World;
use nalgebra::{Isometry3, Point3, Translation3, UnitQuaternion, Vector3};

/// Scans at the stops of a drive, with ground truth.
pub struct CorridorDrive {
    /// Points of each scan in the frame of the lidar, m. Its origin is the mean origin of the beams,
    /// its axes are those of the sensor.
    pub scans: Vec<Vec<Point3<f64>>>,
    /// Ground truth of each point of each scan; `None` if the beam axis hits nothing.
    pub readings: Vec<Vec<Option<TrueReading>>>,
    /// True pose of each stop, world from lidar.
    pub truth: Vec<Isometry3<f64>>,
    /// Pose of each stop with noise, world from lidar.
    pub noisy: Vec<Isometry3<f64>>,
}

/// Ground truth of a reading.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TrueReading {
    /// Reading without noise minus the distance along the beam axis, m.
    pub bias: f64,
    /// Incidence of the beam axis, rad.
    pub incidence: f64,
}

/// Points of a scan with their ground truth.
type ScanWithTruth = (Vec<Point3<f64>>, Vec<Option<TrueReading>>);

/// Scans at each pose of the sensor; calls `progress` after each.
///
/// # Errors
/// If a material has no data at the wavelength of the lidar.
pub fn drive(
    scene: &Scene,
    lidar: &Lidar,
    world_from_sensor: &[Isometry3<f64>],
    settings: &CorridorSettings,
    progress: &mut dyn FnMut(),
) -> Result<CorridorDrive, ExperimentError> {
    let simulator = StopSimulator {
        world: World::at_wavelength(scene, lidar.wavelength)?,
        lidar,
        sensor_from_lidar: mean_origin(&lidar.shots(0)),
        seed: settings.seed,
    };
    let mut drive = CorridorDrive {
        scans: Vec::new(),
        readings: Vec::new(),
        truth: Vec::new(),
        noisy: Vec::new(),
    };
    for (number, pose) in (0..).zip(world_from_sensor) {
        // Scan with the bias of the receiver or with a known one
        let (scan, readings) = match &settings.bias {
            CorridorBias::Receiver => simulator.scan(pose, number),
            CorridorBias::Known(model, noise) => {
                simulator.distorted_scan(pose, number, model, *noise)
            }
        };

        // True pose, and the pose with noise
        let truth = pose * simulator.sensor_from_lidar;
        let noise = pose_noise(settings.seed, number, settings.pose_noise);
        drive.scans.push(scan);
        drive.readings.push(readings);
        drive.truth.push(truth);
        drive.noisy.push(truth * noise);
        progress();
    }
    Ok(drive)
}

/// Simulation of a lidar at the stops of a drive.
struct StopSimulator<'a> {
    world: World<'a, f64>,
    lidar: &'a Lidar,
    sensor_from_lidar: Translation3<f64>,
    seed: u64,
}

impl StopSimulator<'_> {
    /// Scan by the receiver. The ground truth compares a scan without noise with exact distances.
    fn scan(&self, world_from_sensor: &Isometry3<f64>, number: u32) -> ScanWithTruth {
        let sweep = |without_noise| {
            let settings = SweepSettings {
                seed: self.seed,
                sweep: number,
                frame: Frame::Sensor,
                without_noise,
                ..SweepSettings::default()
            };
            simulate(&self.world, self.lidar, &settings, |_| *world_from_sensor)
        };

        // Ground truth of each point
        let noisy = sweep(false);
        let readings = true_readings(self.world.scene(), &sweep(true), world_from_sensor);
        let shots = noisy.points.iter().map(|point| point.shot as usize);
        let readings = shots.map(|shot| readings[shot]).collect();

        // Points in the frame of the lidar
        let lidar_from_sensor = self.sensor_from_lidar.inverse();
        let positions = noisy.points.iter().map(|point| point.position);
        let points = positions.map(|position| lidar_from_sensor * position);
        (points.collect(), readings)
    }

    /// Exact depths along beams from the origin of the lidar, with a known bias and normal noise of
    /// standard deviation `noise`, m.
    fn distorted_scan(
        &self,
        world_from_sensor: &Isometry3<f64>,
        number: u32,
        model: &DepthModel,
        noise: f64,
    ) -> ScanWithTruth {
        // Cast the beams
        let shots = self.lidar.shots(number);
        let world_from_lidar = world_from_sensor * self.sensor_from_lidar;
        let origin = Point3::from(world_from_lidar.translation.vector);
        let ray = |shot: &Shot| Ray::new(origin, world_from_lidar.rotation * shot.direction());
        let rays: Vec<Ray> = shots.iter().map(ray).collect();
        let hits = first_hits(self.world.scene(), &rays);

        // Distort the distances
        let limits = self.lidar.limits.near..self.lidar.limits.far;
        let distort = |((beam, shot), hit): ((u32, &Shot), Option<SurfaceHit>)| {
            let SurfaceHit {
                distance,
                incidence,
            } = hit?;
            let draw = Stream::new(self.seed, 0, number, beam, Purpose::ReceiverNoise).normal();
            let distorted = model.distort(distance, incidence);
            let depth = distorted + noise * draw;
            let reading = TrueReading {
                bias: distorted - distance,
                incidence,
            };
            limits
                .contains(&depth)
                .then(|| (Point3::from(shot.direction() * depth), Some(reading)))
        };
        (0..).zip(&shots).zip(hits).filter_map(distort).unzip()
    }
}

/// Mean origin of the beams in the frame of the sensor.
fn mean_origin(shots: &[Shot]) -> Translation3<f64> {
    let sum: Vector3<f64> = shots.iter().map(|shot| shot.origin.coords).sum();
    Translation3::from(sum / shots.len().max(1) as f64)
}

/// Bias and incidence of the first echo of each shot of a sweep without noise.
fn true_readings(
    scene: &Scene,
    exact: &Sweep,
    world_from_sensor: &Isometry3<f64>,
) -> Vec<Option<TrueReading>> {
    let axis = |shot: Shot| {
        Ray::new(
            world_from_sensor * shot.origin,
            world_from_sensor.rotation * shot.direction(),
        )
    };
    let rays: Vec<Ray> = exact.shots.iter().map(axis).collect();
    let hits = first_hits(scene, &rays).into_iter().enumerate();
    hits.map(|(number, hit)| {
        let hit = hit?;
        let point = exact.points_of(number).first()?;
        let shot = exact.shots.at(number);
        let measured = (point.position - shot.origin).dot(&shot.direction());
        Some(TrueReading {
            bias: measured - hit.distance,
            incidence: hit.incidence,
        })
    })
    .collect()
}

/// First surface on a ray.
struct SurfaceHit {
    /// Distance, m.
    distance: f64,
    /// Incidence, rad.
    incidence: f64,
}

fn first_hits(scene: &Scene, rays: &[Ray]) -> Vec<Option<SurfaceHit>> {
    let mut scratch = CastScratch::new();
    let mut hits = Vec::new();
    scene.closest_hits(rays, &mut hits, &mut scratch);
    let surface_hit = |(ray, hit): (&Ray, &Option<Hit>)| {
        let hit = hit.as_ref()?;
        Some(SurfaceHit {
            distance: hit.distance,
            incidence: hit.normal.dot(&ray.direction).abs().min(1.0).acos(),
        })
    };
    rays.iter().zip(&hits).map(surface_hit).collect()
}

/// Noise of the pose of a stop with standard deviations of position (m) and angle (rad); none at the
/// first.
pub(super) fn pose_noise(seed: u64, number: u32, [position, angle]: [f64; 2]) -> Isometry3<f64> {
    if number == 0 {
        return Isometry3::identity();
    }
    let mut stream = Stream::new(seed, 1, number, 0, Purpose::Search);
    let mut normal = |sd: f64| Vector3::from_fn(|_, _| sd * stream.normal());
    let shift = normal(position);
    Isometry3::from_parts(
        Translation3::from(shift),
        UnitQuaternion::from_scaled_axis(normal(angle)),
    )
}
