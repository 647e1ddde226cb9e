//! Robust point-to-plane registration of a scan onto a map.

use super::freedom::MotionFreedom;
use super::map::{PairGate, SurfaceMap, SurfelMatch, SurfelOrigin};
use super::observability::{Least, Observability};
use super::scan::{SampledScan, Surfel, robust_sd};
use crate::manifold::se3;
use crate::solve::Loss;
use nalgebra::{Isometry3, Matrix6, Translation3, Vector3, Vector6};
use rayon::prelude::*;

/// Settings of the point-to-plane registration of a scan onto a map.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct IcpOptions {
    /// Motions of the lidar.
    pub freedom: MotionFreedom,
    /// Greatest distance between the points of a pair, m; the adaptive threshold is at most this.
    pub max_distance: f64,
    /// Greatest angle between the normals of a pair, rad.
    pub max_normal_angle: f64,
    /// Smallest scale of the Geman-McClure loss at the end, m. For noisier scans the scale is
    /// five standard deviations of the noise, and where scans deviate by more from the map, of the residuals.
    pub final_scale: f64,
    /// Maximum number of iterations.
    pub iterations: usize,
    /// Length of a step (m, rotations times the radius of the scan) below which the registration has
    /// converged.
    pub step: f64,
    /// Smallest number of pairs that determine an observable direction; see
    /// [`DegenerateDirection`](super::DegenerateDirection).
    pub min_pairs: f64,
}

impl Default for IcpOptions {
    /// Pairs within 3 m, normals within 45 degrees, a final scale of 5 cm, 50 iterations, steps of
    /// 0.1 mm, 3 pairs.
    fn default() -> Self {
        Self {
            freedom: MotionFreedom::Space,
            max_distance: 3.0,
            max_normal_angle: 45_f64.to_radians(),
            final_scale: 0.05,
            iterations: 50,
            step: 1e-4,
            min_pairs: 3.0,
        }
    }
}

/// Registration of a scan onto a map.
#[derive(Clone, Debug)]
pub(super) struct IcpResult {
    /// Registered pose of the lidar.
    pub world_from_lidar: Isometry3<f64>,
    /// Share of the samples that agree with the map: with a pair whose plane is near. Where points off planes are registered, the share of
    /// those that agree, if it is larger.
    pub overlap: f64,
    /// Robust standard deviation of the point-to-plane distances, m.
    pub residual: f64,
    /// Number of iterations.
    pub iterations: usize,
    /// Whether the last step was shorter than [`IcpOptions::step`], or than the standard deviation of the
    /// pose.
    pub converged: bool,
    /// Information of the pairs by direction.
    pub observability: Observability,
    /// Factor from rotations to lengths, m.
    pub radius: f64,
    /// Step from the prediction to the pose, with rotations times the radius.
    pub from_prediction: Vector6<f64>,
    /// Pairs at the registered pose.
    pub pairs: Vec<PlanePair>,
}

/// Correspondence of a scan point and a tangent plane of the map.
#[derive(Clone, Copy, Debug)]
pub(super) struct PlanePair {
    /// Vector from the lidar to the scan point, in world axes, m.
    pub offset: Vector3<f64>,
    /// Unit normal of the plane, in world axes.
    pub normal: Vector3<f64>,
    /// Signed distance to the plane, m.
    pub distance: f64,
    /// Weight of the squared distance: that of the robust loss, in [0, 1], times the number of samples that the pair represents. Those of
    /// points off planes are not bounded.
    pub weight: f64,
    /// Origin of the surfel.
    pub origin: SurfelOrigin,
}

/// Pairs of points off planes at a pose, each as three pairs with planes.
#[derive(Default)]
pub(super) struct PointPairs {
    pub pairs: Vec<PlanePair>,
    /// The pose of the lidar.
    pub world_from_lidar: Isometry3<f64>,
    /// Share of the points of the scan that are in voxels with points of the last scans.
    pub overlap: f64,
}

impl PointPairs {
    /// The same pairs at another pose, with their distances to first order. `radius` is the factor from rotations to lengths, m.
    fn at(
        &self,
        world_from_lidar: &Isometry3<f64>,
        radius: f64,
    ) -> impl Iterator<Item = PlanePair> {
        let step = deviation_from(&self.world_from_lidar, world_from_lidar, radius);
        self.pairs.iter().map(move |pair| PlanePair {
            distance: pair.distance + pair.jacobian_row(radius).dot(&step),
            ..*pair
        })
    }
}

/// Factor on the scale of the loss from iteration to iteration (graduated non-convexity).
const ANNEALING: f64 = 0.7;

/// Ratio of the scale of the loss and the last one above which a part of the samples is registered.
const WIDE: f64 = 2.0;

/// Length of the last step (m, rotations times the radius of the scan) above which a part of the samples is registered.
const COARSE: f64 = 0.01;

/// One of this number of samples is registered while the loss is wide.
const WIDE_STEP: usize = 4;

/// Smallest number of samples that is registered while the loss is wide.
const FEW_SAMPLES: usize = 500;

/// Fewest pairs of a registration per degree of freedom.
const MIN_PAIRS: usize = 5;

/// Ratio of the greatest distance of a pair and the scale of the loss.
const GATE: f64 = 3.0;

/// Factor on [`IcpOptions::min_pairs`] after a direction was held at the final scale of the loss.
const RELEASE: f64 = 2.0;

/// Effective number of patches from which a direction is determined although it contradicts the prediction.
pub(super) const MIN_PATCHES: f64 = 4.0;

/// Registers a scan onto a map from a predicted pose with a covariance (world axes, m, rotations times the radius).
/// Directions that the pairs do not determine keep the prediction. Pairs of points off planes, if there are any, determine
/// all directions together with the planes. `None` where fewer than [`MIN_PAIRS`] pairs with planes per degree of freedom are
/// found.
///
/// The loss is that of Geman and McClure. Its scale decreases from the standard deviation of the prediction to the greatest of
/// [`IcpOptions::final_scale`] and five standard deviations of the noise and of the residuals (their median, Huber 1981,
/// "Robust Statistics", section 7.8). Scans of a moving lidar that are not deskewed deviate from the map by more than
/// noise; a smaller scale would select a part of the planes.
pub(super) fn register(
    scan: &SampledScan,
    map: &SurfaceMap,
    prediction: &Isometry3<f64>,
    covariance: &Matrix6<f64>,
    points: &PointPairs,
    options: &IcpOptions,
) -> Option<IcpResult> {
    let mut pose = *prediction;
    let deviation = covariance.trace().sqrt();
    let mut last_scale = final_scale(scan, options);
    let mut scale = deviation.max(last_scale).min(options.max_distance);
    let mut ended = Loop {
        iterations: 0,
        converged: false,
        least: Least {
            pairs: if points.pairs.is_empty() {
                options.min_pairs
            } else {
                0.0
            },
            patches: 0.0,
        },
    };
    let mut is_within_noise = false;
    let mut length = f64::INFINITY;
    let mut pairing = Pairing::new(scan, points);
    let step_of_wide = (scan.coarse.len() / FEW_SAMPLES).clamp(1, WIDE_STEP);
    while ended.iterations < options.iterations && !ended.converged {
        // Find correspondences.
        let is_coarse = scale > WIDE * last_scale || length > COARSE;
        let every = if is_coarse { step_of_wide } else { 1 };
        pairing.update(scan, map, &pose, scale, every, options);
        let planes = pairing.of_planes();
        if planes.len() * every < MIN_PAIRS * options.freedom.count() {
            return None;
        }
        last_scale = final_scale(scan, options).max(SCALE_PER_NOISE * residual(planes));
        let pairs = &pairing.pairs;
        // Solve the normal equations in the observable directions, hold the others to the prediction.
        let (matrix, gradient) = normal_equations(pairs, scan.radius);
        // While the loss is wide, distant pairs count in full.
        let weight = (scale > last_scale).then_some(every as f64);
        let freedom = options.freedom;
        let observability =
            Observability::new(&matrix, pairs, weight, scan.radius, freedom, ended.least);
        // A direction that was held once needs more pairs, so that the pose does not alternate.
        if scale <= last_scale && observability.degenerate().next().is_some() {
            ended.least.pairs = RELEASE * options.min_pairs;
        }
        // A few patches that contradict the prediction are those of a moving object.
        let from_prediction = deviation_from(prediction, &pose, scan.radius);
        if observability.contradicts(&from_prediction, covariance) {
            ended.least.patches = MIN_PATCHES;
        }
        let step = observability.step(&gradient, &from_prediction);
        // Update the pose and the scale.
        pose = retract(&pose, &step, scan.radius);
        length = step.norm();
        ended.converged = length < options.step && scale <= last_scale && every == 1;
        is_within_noise = step.dot(&(matrix * step)) < scan.noise * scan.noise;
        scale = (ANNEALING * scale).max(last_scale);
        ended.iterations += 1;
    }
    // Pairs can alternate: steps below the standard deviation of the pose are no flaw.
    ended.converged |= is_within_noise && scale <= last_scale;
    let smallest = final_scale(scan, options);
    pairing.update(scan, map, &pose, smallest, 1, options);
    let freedom = options.freedom;
    Some(assess(
        scan, pairing, prediction, &pose, smallest, freedom, &ended,
    ))
}

/// Smallest scale of the loss at the end, m.
fn final_scale(scan: &SampledScan, options: &IcpOptions) -> f64 {
    options.final_scale.max(SCALE_PER_NOISE * scan.noise)
}

/// Robust standard deviation of the point-to-plane distances, m.
fn residual(pairs: &[PlanePair]) -> f64 {
    let mut distances: Vec<f64> = pairs.iter().map(|pair| pair.distance.abs()).collect();
    robust_sd(&mut distances)
}

/// Ratio of the final scale of the loss and the standard deviation of the noise or the residuals.
const SCALE_PER_NOISE: f64 = 5.0;

/// Outcome of the iterations.
struct Loop {
    iterations: usize,
    converged: bool,
    /// What determines an observable direction.
    least: Least,
}

/// Quality of a registration from the pairs at its final pose; `scale` is that of the loss.
fn assess(
    scan: &SampledScan,
    pairing: Pairing,
    prediction: &Isometry3<f64>,
    pose: &Isometry3<f64>,
    scale: f64,
    freedom: MotionFreedom,
    ended: &Loop,
) -> IcpResult {
    let planes = pairing.of_planes();
    let close = planes.iter().filter(|pair| pair.distance.abs() < scale);
    let overlap = close.count() as f64 / scan.coarse.len().max(1) as f64;
    let residual = residual(planes);
    let pairs = pairing.pairs;
    let (matrix, _) = normal_equations(&pairs, scan.radius);
    IcpResult {
        world_from_lidar: *pose,
        overlap,
        residual,
        iterations: ended.iterations,
        converged: ended.converged,
        observability: Observability::new(&matrix, &pairs, None, scan.radius, freedom, ended.least),
        radius: scan.radius,
        from_prediction: deviation_from(prediction, pose, scan.radius),
        pairs,
    }
}

/// Pairs of the samples of a scan and a map, and those of points off planes.
struct Pairing<'m> {
    /// Match of each sample in earlier iterations.
    matches: Vec<SurfelMatch<'m>>,
    /// Pairs of points off planes, at the pose where they were found.
    points: &'m PointPairs,
    /// Pairs with planes of the map, and then those of points off planes.
    pairs: Vec<PlanePair>,
}

impl<'m> Pairing<'m> {
    /// No pairs.
    fn new(scan: &SampledScan, points: &'m PointPairs) -> Self {
        Self {
            points,
            matches: vec![SurfelMatch::default(); scan.coarse.len()],
            pairs: Vec::with_capacity(scan.coarse.len() + points.pairs.len()),
        }
    }

    /// Pairs with planes of the map, after an update.
    fn of_planes(&self) -> &[PlanePair] {
        &self.pairs[..self.pairs.len() - self.points.pairs.len()]
    }

    /// Pairs one of `every` samples with the nearest surfels of the map, with the weight of that number of samples. Pairs of points off planes
    /// have the same factor on their weight.
    fn update(
        &mut self,
        scan: &SampledScan,
        map: &'m SurfaceMap,
        world_from_lidar: &Isometry3<f64>,
        scale: f64,
        every: usize,
        options: &IcpOptions,
    ) {
        // Pair samples with surfels.
        let gate = PairGate {
            max_distance: (GATE * scale.max(map.voxel())).min(options.max_distance),
            min_cosine: options.max_normal_angle.cos(),
        };
        let loss = Loss::GemanMcClure { scale };
        let centre = world_from_lidar.translation.vector;
        let pair = |(sample, earlier): (&Surfel, &mut SurfelMatch<'m>)| {
            let moved = sample.moved(world_from_lidar);
            let found = map.nearest(&moved, gate, earlier)?;
            let surfel = &found.surfel;
            let distance = surfel.normal.dot(&(moved.position - surfel.position));
            Some(PlanePair {
                offset: moved.position - centre,
                normal: surfel.normal,
                distance,
                weight: every as f64 * loss.weight(distance * distance),
                origin: found.origin,
            })
        };
        self.pairs.clear();
        if rayon::current_num_threads() == 1 {
            let samples = scan.coarse.iter().zip(&mut self.matches).step_by(every);
            self.pairs.extend(samples.filter_map(pair));
        } else {
            let samples = scan.coarse.par_iter().zip(&mut self.matches);
            let samples = samples.step_by(every).with_min_len(256);
            self.pairs.par_extend(samples.filter_map(pair));
        }
        // Add the pairs of points off planes.
        let points = self.points.at(world_from_lidar, scan.radius);
        self.pairs.extend(points.map(|pair| PlanePair {
            weight: every as f64 * pair.weight,
            ..pair
        }));
    }
}

impl PlanePair {
    /// Derivative of the distance by translation, and by rotation about the lidar times `radius`.
    pub fn jacobian_row(&self, radius: f64) -> Vector6<f64> {
        stacked(&self.normal, &(self.offset.cross(&self.normal) / radius))
    }
}

/// Vector of a translational and a rotational part.
pub(super) fn stacked(translation: &Vector3<f64>, rotation: &Vector3<f64>) -> Vector6<f64> {
    let [t, r] = [translation, rotation];
    Vector6::new(t.x, t.y, t.z, r.x, r.y, r.z)
}

/// $J^\top W J$ and $J^\top W r$ of the pairs.
fn normal_equations(pairs: &[PlanePair], radius: f64) -> (Matrix6<f64>, Vector6<f64>) {
    let mut matrix = Matrix6::zeros();
    let mut gradient = Vector6::zeros();
    for pair in pairs {
        let row = pair.jacobian_row(radius);
        matrix.ger(pair.weight, &row, &row, 1.0);
        gradient += row * (pair.weight * pair.distance);
    }
    (matrix, gradient)
}

/// Pose after a translation and a rotation about the lidar (times `radius`), both in world axes.
pub(super) fn retract(pose: &Isometry3<f64>, step: &Vector6<f64>, radius: f64) -> Isometry3<f64> {
    let translation = step.fixed_rows::<3>(0).into_owned();
    let rotation = step.fixed_rows::<3>(3) / radius;
    Isometry3::from_parts(
        Translation3::from(pose.translation.vector + translation),
        se3::rotation_exp(&rotation) * pose.rotation,
    )
}

/// The step from one pose to another: the inverse of [`retract`].
pub(super) fn deviation_from(
    from: &Isometry3<f64>,
    to: &Isometry3<f64>,
    radius: f64,
) -> Vector6<f64> {
    let translation = to.translation.vector - from.translation.vector;
    let rotation = se3::rotation_log(&(to.rotation * from.rotation.inverse())) * radius;
    stacked(&translation, &rotation)
}
