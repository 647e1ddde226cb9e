//! Bias of the receiver, learnt and evaluated in four splits.

use super::bias_evaluation::{REACH, held_out, residual_bias};
use super::drive::{CorridorDrive, pose_noise};
use super::settings::{CorridorSettings, ExperimentError, unbiased_polynomial};
use etendue_calibrate::depth::train::{SequenceSplit, TrainingResult, TrainingSettings, train};
use etendue_calibrate::depth::{
    DepthError, DepthMap, DepthMapOptions, DepthModel, PolynomialBias, PoseFreedom, WaveformBias,
    correct_scan,
};
use etendue_estimate::geometry::ReferenceMesh;
use etendue_estimate::odometry::{
    Mapper, MapperOptions, TrajectoryAlignment, TrajectoryComparisonError, absolute_error,
};
use etendue_physics::pulse::Discriminator;
use etendue_physics::statistics::{mean, root_mean_square};
use etendue_scene::Scene;
use etendue_sensors::lidar::{Lidar, Receiver};
use nalgebra::{Isometry3, Point3};

/// Learnt models: names and start values.
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

/// Name of the model of [`as_built`].
pub const AS_BUILT: &str = "waveform, as built";

/// Waveform model with the pulse and beam of the simulated lidar, without learning: an upper bound of
/// the accuracy. `None` for lidars without a constant-fraction discriminator.
pub fn as_built(lidar: &Lidar) -> Option<DepthModel> {
    let Receiver::Pulsed(receiver) = &lidar.receiver else {
        return None;
    };
    let Discriminator::ConstantFraction { fraction } = receiver.discriminator else {
        return None;
    };
    let [horizontal, vertical] = lidar.beam.width().divergence.sd();
    Some(DepthModel::Waveform(WaveformBias {
        pulse_sd: receiver.pulse.range_sd(),
        angular_sd: f64::midpoint(horizontal, vertical),
        fraction,
    }))
}

/// Results of one model in one split.
#[derive(Clone, Debug)]
pub struct SplitRow {
    /// Model; `None` is the baseline without correction.
    pub model: Option<DepthModel>,
    /// Name of the model.
    pub name: &'static str,
    /// Number of the split.
    pub split: usize,
    /// Rms distance of the held-out points from the true surfaces, m.
    pub map_rms: f64,
    /// Mean of the same distances, m.
    pub map_mean: f64,
    /// Rms of the residual bias of the held-out readings, m.
    pub residual_bias: f64,
    /// Mean drift of SLAM over the held-out stops only, from the first of them.
    pub held_out: MeanDrift,
    /// Mean drift of SLAM through the whole corridor, including the stops of the training.
    pub whole: MeanDrift,
    /// Trajectory of SLAM through the whole corridor.
    pub trajectory: Vec<Isometry3<f64>>,
}

/// Mean errors of a trajectory that starts at the true pose.
#[derive(Clone, Copy, Debug)]
pub struct MeanDrift {
    /// Rotation, rad.
    pub rotation: f64,
    /// Translation, m.
    pub translation: f64,
}

/// Results in four splits of eight sub-sequences: without correction, with each learnt model, and with
/// the parameters of the lidar itself. Calls `progress` after each of at most [`ROWS`] rows.
///
/// # Errors
/// If a bias cannot be learnt or the scans cannot be mapped.
pub fn splits(
    scene: &Scene,
    lidar: &Lidar,
    drive: &CorridorDrive,
    settings: &CorridorSettings,
    progress: &mut dyn FnMut(),
) -> Result<Vec<SplitRow>, ExperimentError> {
    let evaluation = Evaluation::new(scene, lidar, drive, settings)?;
    let parts = sub_sequences(drive.scans.len());
    let mut rows = Vec::new();
    for (number, split) in SequenceSplit::rotations(parts.len())?.iter().enumerate() {
        let stops_of = |which: &[usize]| -> Vec<usize> {
            which.iter().flat_map(|&p| parts[p].clone()).collect()
        };
        let test = stops_of(&split.test);
        let mut evaluate = |name, model: Option<&DepthModel>| {
            rows.push(evaluation.row(number, &test, name, model)?);
            progress();
            Ok::<_, ExperimentError>(())
        };

        // Without correction
        evaluate("none", None)?;

        // With each model, learnt from the training sub-sequences
        let map = training_map(drive, &stops_of(&split.train))?;
        for (name, start) in models() {
            let model = learn(&map, &start, settings)?.model;
            evaluate(name, Some(&model))?;
        }

        // With the parameters of the lidar itself
        if let Some((model, _)) = &evaluation.as_built {
            evaluate(AS_BUILT, Some(model))?;
        }
    }
    Ok(rows)
}

/// Data for the evaluation of all splits.
struct Evaluation<'a> {
    drive: &'a CorridorDrive,
    settings: &'a CorridorSettings,
    /// True surfaces.
    mesh: ReferenceMesh,
    /// Numbers of all stops.
    all_stops: Vec<usize>,
    /// Trajectory of SLAM through the whole corridor without correction.
    uncorrected: Vec<Isometry3<f64>>,
    /// Model with the parameters of the lidar, and the trajectory with it.
    as_built: Option<(DepthModel, Vec<Isometry3<f64>>)>,
}

impl<'a> Evaluation<'a> {
    fn new(
        scene: &Scene,
        lidar: &Lidar,
        drive: &'a CorridorDrive,
        settings: &'a CorridorSettings,
    ) -> Result<Self, ExperimentError> {
        let all_stops: Vec<usize> = (0..drive.scans.len()).collect();
        let uncorrected = slam(drive, &all_stops, None, settings)?;
        let as_built = match as_built(lidar) {
            Some(model) => {
                let trajectory = slam(drive, &all_stops, Some(&model), settings)?;
                Some((model, trajectory))
            }
            None => None,
        };
        Ok(Self {
            drive,
            settings,
            mesh: ReferenceMesh::new(triangles(scene), REACH),
            all_stops,
            uncorrected,
            as_built,
        })
    }

    /// Results of a model on the held-out stops of a split.
    fn row(
        &self,
        split: usize,
        test: &[usize],
        name: &'static str,
        model: Option<&DepthModel>,
    ) -> Result<SplitRow, ExperimentError> {
        let distances = held_out(&self.mesh, self.drive, test, model);
        let trajectory_of_test = slam(self.drive, test, model, self.settings)?;
        let trajectory = self.trajectory(model)?;
        Ok(SplitRow {
            model: model.cloned(),
            name,
            split,
            map_rms: root_mean_square(&distances),
            map_mean: mean(&distances),
            residual_bias: residual_bias(self.drive, test, model),
            held_out: drift(self.drive, test, &trajectory_of_test)?,
            whole: drift(self.drive, &self.all_stops, &trajectory)?,
            trajectory,
        })
    }

    /// Trajectory of SLAM through the whole corridor with a model.
    fn trajectory(
        &self,
        model: Option<&DepthModel>,
    ) -> Result<Vec<Isometry3<f64>>, ExperimentError> {
        match (model, &self.as_built) {
            (None, _) => Ok(self.uncorrected.clone()),
            (Some(model), Some((as_built, trajectory))) if model == as_built => {
                Ok(trajectory.clone())
            }
            (Some(model), _) => slam(self.drive, &self.all_stops, Some(model), self.settings),
        }
    }
}

/// Largest number of rows of [`splits`].
pub const ROWS: usize = 20;

fn sub_sequences(scans: usize) -> Vec<std::ops::Range<usize>> {
    (0..8).map(|i| i * scans / 8..(i + 1) * scans / 8).collect()
}

/// Map of some stops at the poses with noise.
fn training_map(drive: &CorridorDrive, stops: &[usize]) -> Result<DepthMap, DepthError> {
    let scans: Vec<_> = stops.iter().map(|&i| drive.scans[i].clone()).collect();
    let poses: Vec<_> = stops.iter().map(|&i| drive.noisy[i]).collect();
    DepthMap::build(&scans, &poses, &DepthMapOptions::sparse())
}

/// Learns a model, together with the poses if they have noise. The validation sub-sequences are not
/// used: Gauss-Newton converges, and selection by their noisy poses would choose no correction in two
/// of the four splits.
fn learn(
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
    train(map, None, start, &training, &DepthMapOptions::sparse())
}

/// Poses of some stops by SLAM, from the true pose of the first.
fn slam(
    drive: &CorridorDrive,
    stops: &[usize],
    model: Option<&DepthModel>,
    settings: &CorridorSettings,
) -> Result<Vec<Isometry3<f64>>, ExperimentError> {
    // Mapper with the correction
    let options = MapperOptions::default();
    let cells = options.normals;
    let mut mapper = Mapper::new(options);
    if let Some(model) = model {
        mapper = mapper.with_correction(move |scan| correct_scan(scan, model, &cells).points);
    }

    // Register each scan, from odometry with noise
    let Some(&first) = stops.first() else {
        return Ok(Vec::new());
    };
    let mut last = drive.truth[first];
    let mut previous = first;
    for &stop in stops {
        let address = u32::try_from(stop).unwrap_or(u32::MAX);
        let noise = pose_noise(settings.seed ^ ODOMETRY, address, settings.odometry_noise);
        let motion = drive.truth[previous].inverse() * drive.truth[stop];
        let prior = if stop == first {
            last
        } else {
            last * motion * noise
        };
        last = mapper
            .add(&drive.scans[stop], Some(prior))?
            .world_from_lidar;
        previous = stop;
    }
    Ok(mapper.poses().to_vec())
}

fn drift(
    drive: &CorridorDrive,
    stops: &[usize],
    found: &[Isometry3<f64>],
) -> Result<MeanDrift, TrajectoryComparisonError> {
    let truth: Vec<_> = stops.iter().map(|&stop| drive.truth[stop]).collect();
    let errors = absolute_error(&truth, found, TrajectoryAlignment::Origin)?;
    Ok(MeanDrift {
        rotation: mean(&errors.rotation),
        translation: mean(&errors.translation),
    })
}

/// Modifier of the seed of the odometry noise, for independence from the pose noise.
const ODOMETRY: u64 = 0x0D0;

/// Triangles of a scene in the world, m.
pub(super) fn triangles(scene: &Scene) -> Vec<[Point3<f64>; 3]> {
    let of_object = |object: &etendue_scene::Object| {
        let mesh = scene.mesh(object.mesh);
        let pose = object.world_from_object;
        let in_world = |t: &[u32; 3]| t.map(|v| pose * mesh.vertices[v as usize]);
        mesh.triangles.iter().map(in_world).collect::<Vec<_>>()
    };
    scene.objects().iter().flat_map(of_object).collect()
}
