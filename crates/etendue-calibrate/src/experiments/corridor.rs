//! A stop-and-go drive through a corridor.

use crate::depth::features::{CellOptions, Neighbourhood};
use crate::depth::train::{Split, Trained, Training, train};
use crate::depth::{
    DepthError, DepthLoss, DepthMap, DepthModel, MapOptions, Polynomial, PoseFreedom, WaveformBias,
    correct_scan,
};
use crate::mapping::{
    Alignment, Mapper, MapperOptions, MappingError, ReferenceMesh, TrajectoryErrorProblem,
    absolute_error, average, rms,
};
use etendue_physics::{Purpose, Stream};
use etendue_scene::{Ray, Scene};
use etendue_sensors::pulsed::{Frame, Run, simulate};
use etendue_sensors::scanner::Scanner;
use etendue_sensors::transport::{World, WorldError};
use nalgebra::{Isometry3, Point3, Translation3, UnitQuaternion, Vector3};
use thiserror::Error;

/// What is wrong with the depths.
#[derive(Clone, Debug, PartialEq)]
pub enum Bias {
    /// A model that is put into exact depths, with normal noise of so much, m.
    Known(DepthModel, f64),
    /// What the receiver makes of the beam on inclined surfaces, with its own noise.
    Receiver,
}

/// A drive and what is done with it.
#[derive(Clone, Debug)]
pub struct Settings {
    /// What is wrong with the depths.
    pub bias: Bias,
    /// Stops, in eight sub-sequences.
    pub stops: usize,
    /// Noise of the poses that are learnt from, m and rad.
    pub pose_noise: [f64; 2],
    /// Noise of the odometry that SLAM starts each scan from, m and rad a stop.
    pub odometry_noise: [f64; 2],
    /// Seed of all noise.
    pub seed: u64,
}

impl Default for Settings {
    /// The receiver's bias, 64 stops, learnt from poses off by 1 cm and 0.2 degrees, odometry off
    /// by 2 cm and 0.2 degrees a metre.
    fn default() -> Self {
        Self {
            bias: Bias::Receiver,
            stops: 64,
            pose_noise: [0.01, 0.2_f64.to_radians()],
            odometry_noise: [0.02, 0.2_f64.to_radians()],
            seed: 1,
        }
    }
}

/// Why an experiment cannot be run.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ExperimentError {
    /// The bias cannot be learnt.
    #[error(transparent)]
    Depth(#[from] DepthError),
    /// The scans cannot be mapped.
    #[error(transparent)]
    Mapping(#[from] MappingError),
    /// The trajectories cannot be compared.
    #[error(transparent)]
    Trajectory(#[from] TrajectoryErrorProblem),
    /// The scene cannot be seen at the lidar's wavelength.
    #[error(transparent)]
    World(#[from] WorldError),
}

/// A recorded drive with its truth.
pub struct Drive {
    /// Points in the lidar's frame, m.
    pub scans: Vec<Vec<Point3<f64>>>,
    /// Where the lidar stood.
    pub truth: Vec<Isometry3<f64>>,
    /// Where an odometer thinks that it stood.
    pub noisy: Vec<Isometry3<f64>>,
}

/// Scans at each stop; `progress` is told after each.
///
/// # Errors
/// Where a material says nothing at the lidar's wavelength.
pub fn drive(
    scene: &Scene,
    scanner: &Scanner,
    truth: &[Isometry3<f64>],
    settings: &Settings,
    progress: &mut dyn FnMut(),
) -> Result<Drive, ExperimentError> {
    let world = World::at_wavelength(scene, scanner.wavelength)?;
    let mut scans = Vec::new();
    for (number, pose) in (0..).zip(truth) {
        scans.push(match &settings.bias {
            Bias::Receiver => received(&world, scanner, pose, number, settings.seed),
            Bias::Known(model, noise) => {
                known(scene, scanner, pose, number, (model, *noise, settings.seed))
            }
        });
        progress();
    }
    let noisy = (0..)
        .zip(truth)
        .map(|(number, pose)| pose * disturbance(settings.seed, number, settings.pose_noise));
    Ok(Drive {
        scans,
        noisy: noisy.collect(),
        truth: truth.to_vec(),
    })
}

fn received(
    world: &World<f64>,
    scanner: &Scanner,
    pose: &Isometry3<f64>,
    number: u32,
    seed: u64,
) -> Vec<Point3<f64>> {
    let run = Run {
        seed,
        sweep: number,
        frame: Frame::Sensor,
        ..Run::default()
    };
    let sweep = simulate(world, scanner, &run, |_| *pose);
    sweep.points.iter().map(|point| point.position).collect()
}

/// Exact depths along the axes of the beams, distorted, with noise.
fn known(
    scene: &Scene,
    scanner: &Scanner,
    pose: &Isometry3<f64>,
    number: u32,
    (model, noise, seed): (&DepthModel, f64, u64),
) -> Vec<Point3<f64>> {
    let shots = scanner.shots(number);
    let ray = |shot: &etendue_sensors::scanner::Shot| {
        Ray::new(
            Point3::from(pose.translation.vector),
            pose.rotation * shot.direction(),
        )
    };
    let rays: Vec<Ray> = shots.iter().map(ray).collect();
    let mut hits = Vec::new();
    scene.closest_hits(&rays, &mut hits);
    let met = (0..).zip(shots.iter().zip(&rays)).zip(&hits);
    met.filter_map(|((beam, (shot, ray)), hit)| {
        let hit = hit.as_ref()?;
        let object = scene.world_from_object(hit.object, 0.0);
        let surface = scene.surface_at::<f64>(hit, &ray.origin, &ray.direction, &object);
        let incidence = surface.normal.dot(&ray.direction).abs().min(1.0).acos();
        let draw = Stream::new(seed, 0, number, beam, Purpose::ReceiverNoise).normal();
        let depth = model.distort(hit.distance, incidence) + noise * draw;
        let limits = scanner.limits.near..scanner.limits.far;
        limits
            .contains(&depth)
            .then(|| Point3::from(shot.direction() * depth))
    })
    .collect()
}

fn disturbance(seed: u64, number: u32, [position, angle]: [f64; 2]) -> Isometry3<f64> {
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

/// Poses to learn with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Poses {
    /// The true ones.
    True,
    /// Noisy ones, taken as they are.
    Noisy,
    /// Noisy ones, learnt with the weights.
    Learnt,
}

/// One way of learning, beside the truth.
#[derive(Clone, Debug)]
pub struct LossRow {
    /// The loss.
    pub loss: DepthLoss,
    /// Which poses were learnt with.
    pub poses: Poses,
    /// Share by which the loss fell.
    pub fell: f64,
    /// Rms of the bias curve over the incidences used, m.
    pub curve_rms: f64,
}

/// Learns a known bias of the first stops with each loss, with true poses and with noisy ones.
///
/// # Errors
/// Where the bias cannot be learnt from them.
pub fn losses(drive: &Drive, truth: &DepthModel) -> Result<Vec<LossRow>, ExperimentError> {
    const LOSSES: [DepthLoss; 4] = [
        DepthLoss::MinimumEigenvalue,
        DepthLoss::NormalisedEigenvalue,
        DepthLoss::PointToPlane,
        DepthLoss::Trace,
    ];
    let count = drive.scans.len().min(STOPS_OF_LOSSES);
    let options = MapOptions::strict();
    let mut rows = Vec::new();
    let right = DepthMap::build(&drive.scans[..count], &drive.truth[..count], &options)?;
    for loss in LOSSES {
        rows.push(loss_row(&right, truth, loss, Poses::True)?);
    }
    let off = DepthMap::build(&drive.scans[..count], &drive.noisy[..count], &options)?;
    for poses in [Poses::Noisy, Poses::Learnt] {
        rows.push(loss_row(&off, truth, LOSSES[0], poses)?);
    }
    Ok(rows)
}

/// Stops that [`losses`] learns from.
pub const STOPS_OF_LOSSES: usize = 8;

fn loss_row(
    map: &DepthMap,
    truth: &DepthModel,
    loss: DepthLoss,
    poses: Poses,
) -> Result<LossRow, ExperimentError> {
    let learnt = poses == Poses::Learnt;
    let training = Training {
        loss,
        refreshes: usize::from(learnt),
        freedom: if learnt {
            PoseFreedom::PerPose
        } else {
            PoseFreedom::Fixed
        },
        ..Training::default()
    };
    let trained = train(map, None, &plain(), &training, &MapOptions::strict())?;
    let losses: Vec<f64> = trained.progress.iter().map(|p| p.loss).collect();
    Ok(LossRow {
        loss,
        poses,
        fell: 1.0 - losses[losses.len() - 1] / losses[0],
        curve_rms: curve_rms(map, &trained.model, truth),
    })
}

fn plain() -> DepthModel {
    DepthModel::Polynomial(Polynomial::plain([0.0; 2]))
}

/// Rms of the difference of two models over the measurements of a map, m.
pub fn curve_rms(map: &DepthMap, model: &DepthModel, truth: &DepthModel) -> f64 {
    let off = |m: &crate::depth::Measurement| {
        model.bias(m.depth, m.incidence) - truth.bias(m.depth, m.incidence)
    };
    let each: Vec<f64> = map.measurements().iter().map(off).collect();
    rms(&each)
}

/// A model in the table: its name, and where learning starts.
pub fn models() -> [(&'static str, DepthModel); 3] {
    [
        ("polynomial", plain()),
        (
            "scaled polynomial",
            DepthModel::Polynomial(Polynomial::scaled([0.0; 2])),
        ),
        ("waveform", DepthModel::Waveform(WaveformBias::START)),
    ]
}

/// What one model does in one split.
#[derive(Clone, Debug)]
pub struct SplitRow {
    /// The model; none is the baseline without correction.
    pub model: Option<DepthModel>,
    /// Its name.
    pub name: &'static str,
    /// Number of the split.
    pub split: usize,
    /// Rms distance of the held-out points from the true surfaces, m.
    pub map_rms: f64,
    /// Mean of the same distances, m.
    pub map_mean: f64,
    /// Mean drift of SLAM over the held-out stops alone, from the first of them.
    pub held_out: Drift,
    /// The same through the whole corridor, with the stops that were learnt from.
    pub whole: Drift,
    /// SLAM's trajectory through the whole corridor.
    pub trajectory: Vec<Isometry3<f64>>,
}

/// Mean errors of a trajectory, the first pose on the true one.
#[derive(Clone, Copy, Debug)]
pub struct Drift {
    /// Rotation, rad.
    pub rotation: f64,
    /// Translation, m.
    pub translation: f64,
}

/// The four splits of eight sub-sequences: without correction and with each model, learnt with the
/// poses where those are noisy. `progress` is
/// told after each row, of which there are [`ROWS`].
///
/// # Errors
/// Where a bias cannot be learnt or the scans cannot be mapped.
pub fn splits(
    scene: &Scene,
    drive: &Drive,
    settings: &Settings,
    progress: &mut dyn FnMut(),
) -> Result<Vec<SplitRow>, ExperimentError> {
    let mesh = ReferenceMesh::new(triangles(scene), REACH);
    let parts = sub_sequences(drive.scans.len());
    let everything: Vec<usize> = (0..drive.scans.len()).collect();
    let baseline = slam(drive, &everything, None, settings)?;
    let mut rows = Vec::new();
    for (number, split) in Split::rotations(parts.len())?.iter().enumerate() {
        let of = |which: &[usize]| -> Vec<usize> {
            which.iter().flat_map(|&p| parts[p].clone()).collect()
        };
        let test = of(&split.test);
        let judge = |name, model: Option<DepthModel>| {
            let distances = held_out(&mesh, drive, &test, model.as_ref());
            let trajectory = match &model {
                None => baseline.clone(),
                Some(model) => slam(drive, &everything, Some(model), settings)?,
            };
            let of_test = slam(drive, &test, model.as_ref(), settings)?;
            Ok::<_, ExperimentError>(SplitRow {
                model,
                name,
                split: number,
                map_rms: rms(&distances),
                map_mean: average(&distances),
                held_out: drift(drive, &test, &of_test)?,
                whole: drift(drive, &everything, &trajectory)?,
                trajectory,
            })
        };
        rows.push(judge("none", None)?);
        progress();
        let learn = learnt_from(drive, &of(&split.train))?;
        for (name, start) in models() {
            let model = learnt(&learn, &start, settings)?.model;
            rows.push(judge(name, Some(model))?);
            progress();
        }
    }
    Ok(rows)
}

/// How many rows [`splits`] has.
pub const ROWS: usize = 16;

/// Points farther from the true surfaces are not of them, m.
const REACH: f64 = 0.2;
/// Every so many points of a held-out scan are measured.
const EVERY: usize = 5;

fn sub_sequences(scans: usize) -> Vec<std::ops::Range<usize>> {
    (0..8).map(|i| i * scans / 8..(i + 1) * scans / 8).collect()
}

/// The maps of the experiment: sparser than [`MapOptions::strict`], because a split has half of
/// all stops, with neighbourhoods that overlap by half.
pub fn map_options() -> MapOptions {
    let mut options = MapOptions {
        voxel: 0.2,
        neighbourhood: Neighbourhood::Radius(0.4),
        centres: Some(0.4),
        ..MapOptions::strict()
    };
    options.mask.viewpoint_variance = 0.36;
    options
}

fn learnt_from(drive: &Drive, stops: &[usize]) -> Result<DepthMap, DepthError> {
    let scans: Vec<_> = stops.iter().map(|&i| drive.scans[i].clone()).collect();
    let poses: Vec<_> = stops.iter().map(|&i| drive.noisy[i]).collect();
    DepthMap::build(&scans, &poses, &map_options())
}

/// With the poses, where they are noisy. The validation sub-sequences choose nothing: Gauss-Newton
/// converges, and their own noisy poses made them choose no correction at all in two of four splits.
fn learnt(map: &DepthMap, start: &DepthModel, settings: &Settings) -> Result<Trained, DepthError> {
    let exact = settings.pose_noise.iter().all(|noise| *noise <= 0.0);
    let training = Training {
        freedom: if exact {
            PoseFreedom::Fixed
        } else {
            PoseFreedom::PerPose
        },
        refreshes: 1,
        ..Training::default()
    };
    train(map, None, start, &training, &map_options())
}

/// Poses of some stops, one after the other; the first is true.
fn slam(
    drive: &Drive,
    stops: &[usize],
    model: Option<&DepthModel>,
    settings: &Settings,
) -> Result<Vec<Isometry3<f64>>, ExperimentError> {
    let mut mapper = Mapper::new(MapperOptions {
        correction: model.cloned(),
        ..MapperOptions::default()
    });
    let Some(&first) = stops.first() else {
        return Ok(Vec::new());
    };
    let mut last = drive.truth[first];
    let mut before = first;
    for &stop in stops {
        let address = u32::try_from(stop).unwrap_or(u32::MAX);
        let noise = disturbance(settings.seed ^ ODOMETRY, address, settings.odometry_noise);
        let motion = drive.truth[before].inverse() * drive.truth[stop];
        let prior = if stop == first {
            last
        } else {
            last * motion * noise
        };
        last = mapper
            .add(&drive.scans[stop], Some(prior))?
            .world_from_lidar;
        before = stop;
    }
    Ok(mapper.poses().to_vec())
}

fn drift(
    drive: &Drive,
    stops: &[usize],
    found: &[Isometry3<f64>],
) -> Result<Drift, TrajectoryErrorProblem> {
    let truth: Vec<_> = stops.iter().map(|&stop| drive.truth[stop]).collect();
    let errors = absolute_error(&truth, found, Alignment::Origin)?;
    Ok(Drift {
        rotation: average(&errors.rotation),
        translation: average(&errors.translation),
    })
}

/// Tells the odometry's noise from that of the poses.
const ODOMETRY: u64 = 0x0D0;

fn held_out(
    mesh: &ReferenceMesh,
    drive: &Drive,
    test: &[usize],
    model: Option<&DepthModel>,
) -> Vec<f64> {
    let nothing = plain();
    let cells = CellOptions::default();
    let of_scan = |&i: &usize| {
        let corrected = correct_scan(&drive.scans[i], model.unwrap_or(&nothing), &cells);
        let both = corrected.points.iter().zip(&corrected.incidences);
        let on_planes = both.filter(|(_, incidence)| incidence.is_some());
        let placed: Vec<_> = on_planes
            .step_by(EVERY)
            .map(|(point, _)| drive.truth[i] * point)
            .collect();
        mesh.distances(&placed)
    };
    test.iter().flat_map(of_scan).flatten().collect()
}

/// All triangles of a scene, in the world.
fn triangles(scene: &Scene) -> Vec<[Point3<f64>; 3]> {
    let of_object = |object: &etendue_scene::Object| {
        let mesh = scene.mesh(object.mesh);
        let pose = object.world_from_object;
        let placed = |t: &[u32; 3]| t.map(|v| pose * mesh.vertices[v as usize]);
        mesh.triangles.iter().map(placed).collect::<Vec<_>>()
    };
    scene.objects().iter().flat_map(of_object).collect()
}
