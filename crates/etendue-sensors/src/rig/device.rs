//! What can be mounted on a rig. A new kind of sensor is one variant of [`Device`] and of
//! [`Instrument`], and one arm in each function here.

use super::{Data, DataKind, Environment, Moment};
use crate::camera::{
    Camera, CameraWorld, CameraWorldError, Exposure, FrameSettings, LightTransport,
};
use crate::cw::{self, CwLidar};
use crate::lidar::{self, Columns, Lidar, SweepSettings};
use crate::transport::{World, WorldError};
use etendue_physics::ambient::{Barometer, BarometerRun};
use etendue_physics::gnss::{Receiver, ReceiverRun, SkyView, satellites};
use etendue_physics::inertial::{Imu, ImuReading, ImuRun, Triad, TriadRun};
use etendue_physics::odometry::{WheelEncoder, WheelEncoderRun};
use etendue_physics::{Purpose, Stream};
use etendue_scene::{Ray, Scene};
use nalgebra::Point3;

/// What can be mounted on a rig.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Device {
    /// An inertial measurement unit.
    Imu(Box<Imu>),
    /// A satellite receiver.
    Gnss(Gnss),
    /// A magnetometer, T; hard iron is its bias, soft iron its response.
    Magnetometer(Triad),
    /// A barometer.
    Barometer(Barometer),
    /// An encoder of a wheel that rolls along the x axis of its frame.
    WheelEncoder(WheelEncoder),
    /// A scanning lidar.
    Scanner(Box<Lidar>),
    /// A continuous-wave lidar.
    ContinuousWave(Box<CwLidar<f64>>),
    /// A camera, which takes frames at its own rate.
    Camera(Box<MountedCamera>),
}

/// A camera, and how its frames are rendered.
#[derive(Clone, Debug, PartialEq)]
pub struct MountedCamera {
    /// The camera.
    pub camera: Camera,
    /// Rays a pixel.
    pub samples: u32,
    /// What light is followed.
    pub light: LightTransport,
    /// Whether frames come with the true depth of their pixels.
    pub depth: bool,
}

impl MountedCamera {
    /// From the start of a frame to the end of its last row's longest exposure, s.
    fn collection_time(&self) -> f64 {
        self.camera
            .collection_time(match self.camera.shutter.exposure {
                Exposure::Fixed(time) => time,
                Exposure::Auto { limits, .. } => limits[1],
            })
    }
}

/// Why a device cannot start.
#[derive(Debug)]
pub(super) enum StartError {
    World(WorldError),
    CameraWorld(CameraWorldError),
}

impl From<WorldError> for StartError {
    fn from(error: WorldError) -> Self {
        Self::World(error)
    }
}

impl From<CameraWorldError> for StartError {
    fn from(error: CameraWorldError) -> Self {
        Self::CameraWorld(error)
    }
}

/// A satellite receiver and its surroundings.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gnss {
    /// The receiver.
    pub receiver: Receiver,
    /// Whether the scene blocks satellites; else the sky is open.
    pub sky: bool,
}

/// Nothing nearer to an antenna than this blocks the sky, m: its own robot is not in its way.
const ANTENNA_CLEARANCE: f64 = 0.2;

impl Device {
    /// Which kind of data it gives.
    pub fn kind(&self) -> DataKind {
        match self {
            Self::Imu(_) => DataKind::Imu,
            Self::Gnss(_) => DataKind::Fix,
            Self::Magnetometer(_) => DataKind::MagneticField,
            Self::Barometer(_) => DataKind::Pressure,
            Self::WheelEncoder(_) => DataKind::WheelCounts,
            Self::Scanner(_) => DataKind::Points,
            Self::ContinuousWave(_) => DataKind::Turn,
            Self::Camera(_) => DataKind::Image,
        }
    }

    /// Captures a second (Hz) and the time that each takes (s), of a sensor whose own motion sets
    /// them.
    pub fn own_timing(&self) -> Option<[f64; 2]> {
        match self {
            Self::Scanner(scanner) => {
                let first = scanner.shots(0);
                let last = first.iter().map(|shot| shot.time).fold(0.0, f64::max);
                // Where columns run on by a clock, a sweep may begin and end up to one later.
                let column = match scanner.pattern.columns() {
                    Columns::PerSweep { .. } | Columns::Steps { .. } => 0.0,
                    Columns::Period { seconds } => seconds,
                };
                let duration = scanner.sweep_duration();
                Some([1.0 / duration, duration.max(last + column)])
            }
            Self::ContinuousWave(lidar) => {
                let last = lidar.beams.iter().map(|beam| beam.time);
                let last = last.fold(lidar.turn_time, f64::max);
                Some([1.0 / lidar.turn_time, last])
            }
            Self::Camera(mounted) => Some([mounted.camera.frame_rate, mounted.collection_time()]),
            _ => None,
        }
    }

    /// Switches it on as sensor number `sensor`.
    pub(super) fn start<'a>(
        &'a self,
        scene: &'a Scene,
        environment: &'a Environment,
        seed: u64,
        sensor: u32,
    ) -> Result<Instrument<'a>, StartError> {
        Ok(match self {
            Self::Imu(imu) => Instrument::Imu(Box::new(ImuRun::new(imu, seed, sensor))),
            Self::Gnss(gnss) => Instrument::Gnss {
                gnss,
                run: Box::new(ReceiverRun::new(&gnss.receiver, seed, sensor)),
            },
            Self::Magnetometer(triad) => {
                let mut stream = Stream::new(seed, sensor, u32::MAX, 0, Purpose::Magnetometer);
                let run = Box::new(TriadRun::new(triad, &mut stream));
                Instrument::Magnetometer { run, seed, sensor }
            }
            Self::Barometer(barometer) => {
                Instrument::Barometer(BarometerRun::new(barometer, seed, sensor))
            }
            Self::WheelEncoder(encoder) => Instrument::WheelEncoder {
                run: WheelEncoderRun::new(encoder, seed, sensor),
                last: None,
            },
            Self::Scanner(scanner) => Instrument::Scanner {
                world: Box::new(World::at_wavelength(scene, scanner.wavelength)?),
                scanner,
                run: Box::new(SweepSettings {
                    seed,
                    sensor,
                    air: environment.air.clone(),
                    ..SweepSettings::default()
                }),
            },
            Self::ContinuousWave(lidar) => Instrument::ContinuousWave {
                world: Box::new(World::at_wavelength(scene, lidar.wavelength)?),
                lidar,
                turn: cw::Turn {
                    seed,
                    sensor,
                    ..cw::Turn::default()
                },
            },
            Self::Camera(mounted) => {
                let Environment {
                    lighting, textures, ..
                } = environment;
                Instrument::Camera {
                    camera_world: Box::new(CameraWorld::new(
                        scene,
                        lighting,
                        textures,
                        &mounted.camera,
                    )?),
                    mounted,
                    settings: FrameSettings {
                        samples: mounted.samples,
                        light: mounted.light,
                        seed,
                        sensor,
                        ..FrameSettings::default()
                    },
                }
            }
        })
    }
}

/// A sensor that was switched on.
pub(super) enum Instrument<'a> {
    Imu(Box<ImuRun>),
    Gnss {
        gnss: &'a Gnss,
        run: Box<ReceiverRun>,
    },
    Magnetometer {
        run: Box<TriadRun>,
        seed: u64,
        sensor: u32,
    },
    Barometer(BarometerRun),
    WheelEncoder {
        run: WheelEncoderRun,
        /// Until when its way was added up, ns.
        last: Option<i64>,
    },
    Scanner {
        world: Box<World<'a, f64>>,
        scanner: &'a Lidar,
        run: Box<SweepSettings>,
    },
    ContinuousWave {
        world: Box<World<'a, f64>>,
        lidar: &'a CwLidar<f64>,
        turn: cw::Turn,
    },
    Camera {
        camera_world: Box<CameraWorld<'a>>,
        mounted: &'a MountedCamera,
        settings: FrameSettings,
    },
}

impl Instrument<'_> {
    /// Makes the next capture.
    pub fn capture(&mut self, moment: &Moment) -> Data {
        let number = moment.capture.number;
        match self {
            Self::Imu(run) => Data::Imu(run.read(&ideal_reading(moment), moment.period)),
            Self::Gnss { gnss, run } => Data::Fix(fix(gnss, run, moment)),
            Self::Magnetometer { run, seed, sensor } => {
                let mut stream = Stream::new(*seed, *sensor, number, 0, Purpose::Magnetometer);
                let turn = moment.at(moment.capture.end).world_from_body.rotation;
                let field = turn.inverse_transform_vector(&moment.environment.magnetic_field);
                Data::MagneticField(run.measure(&field, moment.period, 0.0, &mut stream))
            }
            Self::Barometer(run) => {
                let place = moment.at(moment.capture.end).world_from_body.translation;
                let pressure = moment.environment.pressure_at(&place.vector.into());
                Data::Pressure(run.read(pressure, moment.period))
            }
            Self::WheelEncoder { run, last } => {
                let from = last.replace(moment.capture.end);
                let way = from.map_or(0.0, |from| rolled(moment, from));
                Data::WheelCounts(run.read(way))
            }
            Self::Scanner {
                world,
                scanner,
                run,
            } => {
                run.sweep = number;
                let pose = |time| moment.world_from_sensor(time);
                Data::Points(lidar::simulate(world, scanner, run, pose))
            }
            Self::ContinuousWave { world, lidar, turn } => {
                turn.index = number;
                turn.start = f64::from(number) * lidar.turn_time;
                let pose = |time| moment.world_from_sensor(time);
                Data::Turn(cw::simulate(world, lidar, turn, pose))
            }
            Self::Camera {
                camera_world,
                mounted,
                settings,
            } => {
                settings.index = number;
                settings.start = super::seconds(moment.capture.start);
                let pose = |time| moment.world_from_sensor(time);
                let camera = &mounted.camera;
                let mut frame = camera_world.expose(camera, settings, pose);
                if mounted.depth {
                    let truth = camera_world.truth(camera, settings, frame.exposure, 0.0, pose);
                    frame.depth = Some(truth.depth);
                }
                Data::Image(Box::new(frame))
            }
        }
    }
}

/// At an instant, or gathered over the window.
fn ideal_reading(moment: &Moment) -> ImuReading {
    let capture = moment.capture;
    let start = moment.at(capture.start);
    let gravity = &moment.environment.gravity;
    if capture.end == capture.start {
        return ImuReading::ideal(&start, gravity);
    }
    let window = super::seconds(capture.end - capture.start);
    ImuReading::gathered(&start, &moment.at(capture.end), window, gravity)
}

fn fix(gnss: &Gnss, run: &mut ReceiverRun, moment: &Moment) -> etendue_physics::gnss::Fix {
    let state = moment.at(moment.capture.end);
    let antenna = Point3::from(state.world_from_body.translation.vector);
    let views = sky_views(gnss, &antenna, moment);
    let frame = &moment.environment.frame;
    run.fix(frame, &antenna, &state.velocity, moment.period, views)
}

/// What the receiver has of the sky, and what it would have without the scene.
fn sky_views(gnss: &Gnss, antenna: &Point3<f64>, moment: &Moment) -> [SkyView; 2] {
    let time = super::seconds(moment.capture.end);
    let frame = &moment.environment.frame;
    let positions = satellites(moment.environment.start + time);
    let mut directions: Vec<_> = positions
        .iter()
        .map(|satellite| (frame.local_of_ecef(satellite) - antenna).normalize())
        .filter(|direction| direction.z > gnss.receiver.mask.sin())
        .collect();
    let open = SkyView::of(&directions);
    if gnss.sky {
        directions.retain(|direction| {
            let ray = Ray {
                near: ANTENNA_CLEARANCE,
                time,
                ..Ray::new(*antenna, *direction)
            };
            !moment.scene.occluded(&ray)
        });
    }
    [SkyView::of(&directions), open]
}

/// Longest step over which a wheel's speed counts as steady, ns.
const ROLLING_STEP: i64 = 2_000_000;

/// The way forwards since a time, m, by the speed in the middle of short steps.
fn rolled(moment: &Moment, from: i64) -> f64 {
    let span = moment.capture.end - from;
    let steps = (span + ROLLING_STEP - 1) / ROLLING_STEP;
    let step = span as f64 / steps.max(1) as f64;
    let way = (0..steps).map(|i| {
        let time = (from as f64 + (i as f64 + 0.5) * step) * 1e-9;
        let state = moment.path.state(time).mounted(&moment.body_from_sensor);
        let forward = state.world_from_body.rotation * nalgebra::Vector3::x();
        state.velocity.dot(&forward) * step * 1e-9
    });
    way.sum()
}
