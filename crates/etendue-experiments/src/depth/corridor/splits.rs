//! The receiver's bias, learnt and bias_samples in four splits.

use super::bias_evaluation::{REACH, bias_left, held_out};
use super::drive::{Drive, disturbance};
use super::settings::{CorridorSettings, ExperimentError, unbiased_polynomial};
use etendue_calibrate::depth::train::{SequenceSplit, TrainingSettings, TrainingResult, train};
use etendue_calibrate::depth::{
    DepthError, DepthMap, DepthModel, DepthMapOptions, PolynomialBias, PoseFreedom, WaveformBias,
    correct_scan,
};
use etendue_estimate::geometry::{Neighbourhood, ReferenceMesh};
use etendue_estimate::odometry::{
    Mapper, MapperOptions, TrajectoryAlignment, TrajectoryComparisonError, absolute_error,
};
use etendue_physics::pulse::Discriminator;
use etendue_physics::statistics::{mean, root_mean_square};
use etendue_scene::Scene;
use etendue_sensors::lidar::{Lidar, Receiver};
use nalgebra::{Isometry3, Point3};

/// A model in the table: its name, and where learning starts.
pub fn models() -> [(&'static str, DepthModel); 3] {
    [
        ("polynomial", unbiased_polynomial()),
        (
            "scaled polynomial",
            DepthModel::Polynomial(PolynomialBias::scaled([0.0; 2])),
        ),
        ("waveform", DepthModel::Waveform(WaveformBias::START)),
    ]
}

/// The name of what [`as_built`] gives.
pub const AS_BUILT: &str = "waveform, as built";

/// The waveform model with the simulated lidar's own pulse and beam, with nothing learnt: what
/// could be reached. None of lidars that do not time a fraction of the peak.
pub fn as_built(scanner: &Lidar) -> Option<DepthModel> {
    let Receiver::Pulsed(receiver) = &scanner.receiver else {
        return None;
    };
    let Discriminator::ConstantFraction { fraction } = receiver.discriminator else {
        return None;
    };
    let [horizontal, vertical] = scanner.beam.width().divergence.sd();
    Some(DepthModel::Waveform(WaveformBias {
        pulse_sd: receiver.pulse.range_sd(),
        angular_sd: f64::midpoint(horizontal, vertical),
        fraction,
    }))
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
    /// Rms of the true bias that is left in the held-out readings, m.
    pub bias_left: f64,
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

/// The four splits of eight sub-sequences: without correction, with each model, learnt with the
/// poses where those are noisy, and with the lidar's own parameters. `progress` is called after
/// each of at most [`ROWS`] rows.
///
/// # Errors
/// Where a bias cannot be learnt or the scans cannot be mapped.
pub fn splits(
    (scene, scanner): (&Scene, &Lidar),
    drive: &Drive,
    settings: &CorridorSettings,
    progress: &mut dyn FnMut(),
) -> Result<Vec<SplitRow>, ExperimentError> {
    let mesh = ReferenceMesh::new(triangles(scene), REACH);
    let parts = sub_sequences(drive.scans.len());
    let everything: Vec<usize> = (0..drive.scans.len()).collect();
    let baseline = slam(drive, &everything, None, settings)?;
    let as_built = as_built(scanner);
    let of_as_built = as_built
        .as_ref()
        .map(|model| slam(drive, &everything, Some(model), settings))
        .transpose()?;
    let mut rows = Vec::new();
    for (number, split) in SequenceSplit::rotations(parts.len())?.iter().enumerate() {
        let of = |which: &[usize]| -> Vec<usize> {
            which.iter().flat_map(|&p| parts[p].clone()).collect()
        };
        let test = of(&split.test);
        let evaluate = |name, model: Option<DepthModel>| {
            let distances = held_out(&mesh, drive, &test, model.as_ref());
            let trajectory = match (&model, &of_as_built) {
                (None, _) => baseline.clone(),
                (model, Some(known)) if *model == as_built => known.clone(),
                (Some(model), _) => slam(drive, &everything, Some(model), settings)?,
            };
            let of_test = slam(drive, &test, model.as_ref(), settings)?;
            Ok::<_, ExperimentError>(SplitRow {
                model: model.clone(),
                name,
                split: number,
                map_rms: root_mean_square(&distances),
                map_mean: mean(&distances),
                bias_left: bias_left(drive, &test, model.as_ref()),
                held_out: drift(drive, &test, &of_test)?,
                whole: drift(drive, &everything, &trajectory)?,
                trajectory,
            })
        };
        rows.push(evaluate("none", None)?);
        progress();
        let learn = learnt_from(drive, &of(&split.train))?;
        for (name, start) in models() {
            let model = learnt(&learn, &start, settings)?.model;
            rows.push(evaluate(name, Some(model))?);
            progress();
        }
        if as_built.is_some() {
            rows.push(evaluate(AS_BUILT, as_built.clone())?);
            progress();
        }
    }
    Ok(rows)
}

/// How many rows [`splits`] has.
pub const ROWS: usize = 20;

fn sub_sequences(scans: usize) -> Vec<std::ops::Range<usize>> {
    (0..8).map(|i| i * scans / 8..(i + 1) * scans / 8).collect()
}

/// The maps of the experiment: sparser than [`DepthMapOptions::strict`], because a split has half of
/// all stops, with neighbourhoods that overlap by half, and with normals up to grazing incidence,
/// where a receiver's bias is.
pub fn map_options() -> DepthMapOptions {
    let mut options = DepthMapOptions {
        voxel: 0.2,
        normal_doublings: 2,
        neighbourhood: Neighbourhood::Radius(0.4),
        centres: Some(0.4),
        ..DepthMapOptions::strict()
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
fn learnt(
    map: &DepthMap,
    start: &DepthModel,
    settings: &CorridorSettings,
) -> Result<TrainingResult, DepthError> {
    let exact = settings.pose_noise.iter().all(|noise| *noise <= 0.0);
    let training = TrainingSettings {
        freedom: if exact {
            PoseFreedom::Fixed
        } else {
            PoseFreedom::PerPose
        },
        refreshes: 1,
        ..TrainingSettings::default()
    };
    train(map, None, start, &training, &map_options())
}

/// LearningPoses of some stops, one after the other; the first is true.
fn slam(
    drive: &Drive,
    stops: &[usize],
    model: Option<&DepthModel>,
    settings: &CorridorSettings,
) -> Result<Vec<Isometry3<f64>>, ExperimentError> {
    let options = MapperOptions::default();
    let cells = options.normals;
    let mut mapper = Mapper::new(options);
    if let Some(model) = model {
        mapper = mapper.with_correction(move |scan| correct_scan(scan, model, &cells).points);
    }
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
) -> Result<Drift, TrajectoryComparisonError> {
    let truth: Vec<_> = stops.iter().map(|&stop| drive.truth[stop]).collect();
    let errors = absolute_error(&truth, found, TrajectoryAlignment::Origin)?;
    Ok(Drift {
        rotation: mean(&errors.rotation),
        translation: mean(&errors.translation),
    })
}

/// Tells the odometry's noise from that of the poses.
const ODOMETRY: u64 = 0x0D0;

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
