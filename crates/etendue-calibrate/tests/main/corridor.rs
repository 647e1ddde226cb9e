//! Depth calibration on a simulated corridor of planes, scanned by a multi-channel lidar with a known
//! bias.

use etendue_calibrate::depth::train::{DepthOptimiser, TrainingResult, TrainingSettings, train};
use etendue_calibrate::depth::{
    DepthLoss, DepthMap, DepthMapOptions, DepthModel, PolynomialBias, PoseFreedom,
};
use etendue_physics::{Purpose, Stream};
use nalgebra::{Isometry3, Point3, Translation3, UnitQuaternion, Vector3};

/// 2.4 m wide, 2.8 m high, 24 m long, closed at the ends.
const HALF: [f64; 3] = [12.0, 1.2, 1.4];

pub struct Corridor {
    poses: Vec<Isometry3<f64>>,
    channels: u32,
    columns: u32,
}

#[derive(Clone, Copy, Default)]
pub struct Noise {
    pub bias: [f64; 2],
    pub range: f64,
    pub position: f64,
    pub angle_deg: f64,
    /// Standard deviation of the smooth deviations of the walls from planes, m; their wavelengths are
    /// one or two metres.
    pub unevenness: f64,
    pub seed: u64,
}

impl Corridor {
    pub fn new(poses: u32, channels: u32, columns: u32) -> Self {
        let pose = |k: u32| {
            let along = f64::from(k);
            Isometry3::from_parts(
                Translation3::new(
                    -3.5 + along,
                    0.3 * (1.7 * along).sin(),
                    -0.4 + 0.15 * (2.3 * along).cos(),
                ),
                UnitQuaternion::from_euler_angles(
                    0.05 * along.sin(),
                    0.06 * along.cos(),
                    0.4 * along,
                ),
            )
        };
        Self {
            poses: (0..poses).map(pose).collect(),
            channels,
            columns,
        }
    }

    /// Scans in the lidar frame with the polynomial bias of the noise, and the disturbed poses of an odometry.
    pub fn scans(&self, noise: Noise) -> (Vec<Vec<Point3<f64>>>, Vec<Isometry3<f64>>) {
        let bias = DepthModel::Polynomial(PolynomialBias::plain(noise.bias));
        self.biased_scans(&bias, noise)
    }

    /// The same with any bias.
    pub fn biased_scans(
        &self,
        bias: &DepthModel,
        noise: Noise,
    ) -> (Vec<Vec<Point3<f64>>>, Vec<Isometry3<f64>>) {
        let numbered = (0..).zip(&self.poses);
        let scans = numbered
            .clone()
            .map(|(k, pose)| self.scan(k, pose, bias, noise));
        let poses = numbered
            .clone()
            .map(|(k, pose)| pose * disturbance(k, noise));
        (scans.collect(), poses.collect())
    }

    fn scan(
        &self,
        number: u32,
        pose: &Isometry3<f64>,
        bias: &DepthModel,
        noise: Noise,
    ) -> Vec<Point3<f64>> {
        let bumps = Bumps::new(noise.seed);
        let beams = (0..self.channels).flat_map(|c| (0..self.columns).map(move |a| (c, a)));
        beams
            .map(|(channel, column)| {
                let direction = self.direction(channel, column);
                let from = pose.translation.vector;
                let along = pose.rotation * direction;
                let (even, incidence) = cast(&from, &along);
                let inward = noise.unevenness * bumps.at(&(from + along * even));
                let depth = even - inward / incidence.cos().max(0.05);
                let beam = channel * self.columns + column;
                let draw =
                    Stream::new(noise.seed, 0, number, beam, Purpose::ReceiverNoise).normal();
                let read = bias.distort(depth, incidence) + noise.range * draw;
                Point3::from(direction * read)
            })
            .collect()
    }

    /// Direction of a beam; the channels cover 90 degrees of elevation, as those of an Ouster OS0.
    fn direction(&self, channel: u32, column: u32) -> Vector3<f64> {
        let elevation =
            (f64::from(channel) / f64::from(self.channels - 1) - 0.5) * 90_f64.to_radians();
        let azimuth = f64::from(column) / f64::from(self.columns) * std::f64::consts::TAU;
        let (sin, cos) = azimuth.sin_cos();
        Vector3::new(
            elevation.cos() * cos,
            elevation.cos() * sin,
            elevation.sin(),
        )
    }
}

/// Depth and incidence of a ray within the walls.
fn cast(from: &Vector3<f64>, along: &Vector3<f64>) -> (f64, f64) {
    let walls = (0..3).map(|axis| {
        let wall = HALF[axis].copysign(along[axis]);
        ((wall - from[axis]) / along[axis], along[axis].abs())
    });
    let near = walls.min_by(|a, b| a.0.total_cmp(&b.0)).unwrap();
    (near.0, near.1.min(1.0).acos())
}

/// A smooth function of position with unit variance: a sum of random plane waves.
struct Bumps(Vec<(Vector3<f64>, f64)>);

impl Bumps {
    fn new(seed: u64) -> Self {
        let mut draw = Stream::new(seed + 2000, 0, 0, 0, Purpose::Search);
        let wave = |_| {
            (
                Vector3::from_fn(|_, _| 2.5 * draw.normal()),
                6.3 * draw.normal(),
            )
        };
        Self((0..24).map(wave).collect())
    }

    fn at(&self, position: &Vector3<f64>) -> f64 {
        let waves = self
            .0
            .iter()
            .map(|(wave, phase)| (wave.dot(position) + phase).sin());
        waves.sum::<f64>() / (0.5 * self.0.len() as f64).sqrt()
    }
}

fn disturbance(number: u32, noise: Noise) -> Isometry3<f64> {
    if number == 0 {
        return Isometry3::identity();
    }
    let mut draw = Stream::new(noise.seed + 1000, 0, number, 0, Purpose::Search);
    let mut vector = |sd: f64| Vector3::from_fn(|_, _| sd * draw.normal());
    let shift = vector(noise.position);
    let turn = vector(noise.angle_deg.to_radians());
    Isometry3::from_parts(
        Translation3::from(shift),
        UnitQuaternion::from_scaled_axis(turn),
    )
}

const BIAS: [f64; 2] = [0.004, 0.008];

/// Map of scans of 128 channels and 256 columns.
fn map_of(poses: u32, noise: Noise, options: &DepthMapOptions) -> DepthMap {
    let (scans, poses) = Corridor::new(poses, 128, 256).scans(noise);
    DepthMap::build(&scans, &poses, options).unwrap()
}

fn trained(
    map: &DepthMap,
    training: &TrainingSettings,
    options: &DepthMapOptions,
) -> TrainingResult {
    let start = DepthModel::Polynomial(PolynomialBias::plain([0.0; 2]));
    train(map, None, &start, training, options).unwrap()
}

/// RMS error of the bias curve over the incidence angles of the measurements, m.
fn curve_rms(map: &DepthMap, model: &DepthModel) -> f64 {
    let truth = DepthModel::Polynomial(PolynomialBias::plain(BIAS));
    let used = map.incidences_used();
    let off = |g: &f64| (model.bias(1.0, *g) - truth.bias(1.0, *g)).powi(2);
    (used.iter().map(off).sum::<f64>() / used.len() as f64).sqrt()
}

const RANGE_NOISE: Noise = Noise {
    bias: BIAS,
    range: 0.01,
    position: 0.0,
    angle_deg: 0.0,
    unevenness: 0.0,
    seed: 5,
};

const POSE_NOISE: Noise = Noise {
    position: 0.01,
    angle_deg: 0.2,
    ..RANGE_NOISE
};

/// Measured: 0.11 mm, caused by the points near edges.
#[test]
fn without_noise_the_bias_is_estimated_to_a_tenth_of_a_millimetre() {
    let clean = Noise {
        range: 0.0,
        ..RANGE_NOISE
    };
    let options = DepthMapOptions::strict();
    let map = map_of(8, clean, &options);
    let trained = trained(&map, &TrainingSettings::default(), &options);
    let rms = curve_rms(&map, &trained.model);
    assert!(map.neighbourhoods().len() > 1000);
    assert!(rms < 3e-4, "{rms}");
}

/// Requirement: 1 mm. Measured: 0.14 mm; with 512 columns and the seeds 5 and 105 0.11 and 0.29 mm, with a neighbourhood around
/// every point 0.49 and 0.18 mm. Points near edges contribute 1.2 mm if the masks keep them; the
/// contribution of the noise of the incidence angles is not measurable.
#[test]
fn a_known_bias_is_estimated_under_a_centimetre_of_range_noise() {
    let options = DepthMapOptions::strict();
    let map = map_of(8, RANGE_NOISE, &options);
    let trained = trained(&map, &TrainingSettings::default(), &options);
    let rms = curve_rms(&map, &trained.model);
    assert!(map.neighbourhoods().len() > 1000);
    assert!(rms < 8e-4, "{rms}");
}

/// Measured: an error of 38 mm, while the loss decreased by 1.3 %.
#[test]
fn the_trace_loss_does_not_recover_the_bias() {
    let training = TrainingSettings {
        loss: DepthLoss::Trace,
        optimiser: DepthOptimiser::GaussNewton,
        ..TrainingSettings::default()
    };
    let options = DepthMapOptions::published();
    let map = map_of(8, RANGE_NOISE, &options);
    let trained = trained(&map, &training, &options);
    let rms = curve_rms(&map, &trained.model);
    let first = trained.progress[0].loss;
    let last = trained.progress[trained.progress.len() - 1].loss;
    assert!(last < first);
    assert!(rms > 5e-3, "{rms}");
}

/// Requirement: 1.5 mm. Measured with the seeds 5 and 105: at most 0.30 mm; with fixed poses at most 3.42 mm. With 512 columns 0.17 and
/// 0.04 mm; with fixed poses 0.23 and 5.80 mm. With a neighbourhood around every point 0.55 mm and 1.67 mm (seed 5), and 1.34 mm if the
/// neighbourhoods are not refreshed, because the pose errors make four of five too thick for the masks.
#[test]
fn joint_estimation_of_the_poses_recovers_the_bias_under_pose_noise() {
    let joint = TrainingSettings {
        freedom: PoseFreedom::PerPose,
        refreshes: 1,
        ..TrainingSettings::default()
    };
    let alone = TrainingSettings::default();
    let options = DepthMapOptions::strict();
    let mut worst = [0.0_f64; 2];
    for seed in [5, 105] {
        let noise = Noise { seed, ..POSE_NOISE };
        let map = map_of(8, noise, &options);
        for (worst, training) in worst.iter_mut().zip([&alone, &joint]) {
            let trained = trained(&map, training, &options);
            *worst = worst.max(curve_rms(&map, &trained.model));
        }
    }
    assert!(worst[1] < 1e-3, "{worst:?}");
    assert!(worst[0] > 2.0 * worst[1], "{worst:?}");
}

/// Requirement: 1.5 mm. Measured: 0.24 mm. Early stopping on a validation map with noisy poses must not select the
/// uncorrected model.
#[test]
fn a_validation_map_with_pose_noise_selects_a_correction() {
    let options = DepthMapOptions::strict();
    let map = |seed, poses| map_of(poses, Noise { seed, ..POSE_NOISE }, &options);
    let training_map = map(5, 8);
    let validation = map(105, 4);
    let joint = TrainingSettings {
        freedom: PoseFreedom::PerPose,
        refreshes: 1,
        ..TrainingSettings::default()
    };
    let start = DepthModel::Polynomial(PolynomialBias::plain([0.0; 2]));
    let trained = train(&training_map, Some(&validation), &start, &joint, &options).unwrap();
    let rms = curve_rms(&training_map, &trained.model);
    assert!(rms < 1.5e-3, "{rms}");
    let losses: Vec<f64> = trained
        .progress
        .iter()
        .filter_map(|p| p.validation)
        .collect();
    assert!(
        losses.len() > 2 && losses[losses.len() - 1] < 0.99 * losses[0],
        "{losses:?}"
    );
}
