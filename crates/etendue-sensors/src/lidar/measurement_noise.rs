//! Variance of the measurement of each shot, from the parameters of the lidar.
//!
//! [`simulate`](super::simulate) draws errors; this module gives their variances, from the same equations:
//! - the noise of the receiver at the expected power and ambient light (`range_sd` of each receiver);
//! - the noise that is not independent from shot to shot;
//! - rounding to a step $q$, with the variance $q^2/12$;
//! - pointing jitter of the azimuth, $(\partial R/\partial\alpha)^2\sigma_\alpha^2$;
//! - hops between surfaces: the variance of the expected range over directions near that of the shot,
//!   beyond its linear part.
//!
//! The last two of this list follow from expected ranges of turned beams, by Gauss-Hermite quadrature over the normal
//! distribution of the direction. A beam whose cross-section touches an edge has a large variance, because
//! its range jumps when the beam, or the edge, moves a little. The [`PointingMargin`] sets how far from
//! an edge a beam is affected, in addition to the jitter of the lidar.
//!
//! The noise of the [`CorrelatedNoise`](super::CorrelatedNoise) adds to the variance. Its errors, and those of
//! the jitter if it is correlated between neighbouring beams, are not independent: an estimate from many shots
//! has to account for their covariance. Not modelled: noise profiles of materials, false alarms, errors of the
//! number of whole periods.

use super::description::Lidar;
use super::hooks::Hooks;
use super::predict::{ExpectedReturn, predict};
use super::settings::SweepSettings;
use super::shot::Shot;
use crate::transport::World;
use nalgebra::Isometry3;

/// Variances of the measurement of one shot.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct MeasurementNoise {
    /// Variance of the range by the noise of the receiver, m².
    pub receiver: f64,
    /// Variance of the range by rounding, m².
    pub rounding: f64,
    /// Variance of the range by noise that is not independent from shot to shot, m².
    pub correlated: f64,
    /// Variance of the predicted range by random light paths, m²: of the model, not of the measurement. Zero here; a fit by paths
    /// sets it.
    pub paths: f64,
    /// Change of the range by one standard deviation of the jitter of the azimuth on a smooth surface, m; its
    /// square is the variance.
    pub pointing: f64,
    /// Variance of the range by hops between surfaces at edges, m².
    pub edges: f64,
    /// Variance of the intensity by noise of power and range, rounding and edges, counts².
    pub intensity: f64,
    /// Change of the intensity by an error of the measured range, from which the lidar computes a reflectivity, counts per
    /// metre. Zero where intensities do not depend on the range.
    pub intensity_by_range: f64,
    /// Probability that the shot has no return, because of jitter and margin: edges, and directions near the limits
    /// of detection.
    pub lost: f64,
}

/// Standard deviation of the range by hops between surfaces, relative to that of the noise, above which the range is
/// not predictable.
const HOP: f64 = 3.0;

/// Standard deviation of a range, m, that is added to that of the noise for the limit of hops: the variance of
/// curved surfaces is below it, also for lidars without noise.
const SMOOTH: f64 = 1e-3;

impl MeasurementNoise {
    /// Variance of the range, m².
    pub fn range(&self) -> f64 {
        self.on_one_surface() + self.pointing * self.pointing + self.edges
    }

    /// Variance of the range that does not depend on the direction, m².
    fn on_one_surface(&self) -> f64 {
        self.receiver + self.rounding + self.correlated + self.paths
    }

    /// Whether the range is that of one surface: there is no edge near the beam where the range jumps by more than
    /// the noise, and no direction near it without a return.
    pub fn has_predictable_range(&self) -> bool {
        let noise = self.on_one_surface() + SMOOTH * SMOOTH;
        self.lost == 0.0 && self.edges <= HOP * HOP * noise
    }
}

/// Standard deviations of the direction of a beam relative to the scene, beyond the jitter of the lidar, rad.
///
/// They widen the neighbourhood of edges in which a beam is affected, by the cross-section of the beam and by the
/// uncertainty of the pose. They add no variance on smooth surfaces.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PointingMargin {
    /// Of the azimuth.
    pub azimuth: f64,
    /// Of the elevation; zero to ignore edges above and below.
    pub elevation: f64,
}

/// Nodes and weights of the Gauss-Hermite quadrature of seven points, for a standard normal variable, without
/// the node at zero: (node, weight of each sign). Source: Abramowitz and Stegun 1964, table 25.10.
const NODES: [(f64, f64); 3] = [
    (1.154_405_394_739_968, 0.240_123_178_605_012_7),
    (2.366_759_410_734_541, 0.030_757_123_967_586_5),
    (3.750_439_717_725_742, 0.000_548_268_855_972_217_8),
];

/// Sums of a quantity over the nodes, relative to its value at the shot.
#[derive(Clone, Copy, Default)]
struct Spread {
    /// Sum of the weights of nodes with a return.
    weight: f64,
    /// Weighted sum of products with the node.
    product: f64,
    /// Weighted sum of squares.
    square: f64,
    /// Weighted sum of squares of the nodes.
    node_square: f64,
}

impl Spread {
    /// Adds a change of the quantity at a node.
    fn add(&mut self, node: f64, weight: f64, change: f64) {
        self.weight += weight;
        self.product += weight * node * change;
        self.square += weight * change * change;
        self.node_square += weight * node * node;
    }

    /// Slope per node of the linear part, and the mean square of the rest.
    fn parts(&self) -> [f64; 2] {
        if self.node_square == 0.0 {
            return [0.0; 2];
        }
        let slope = self.product / self.node_square;
        let rest = (self.square - slope * self.product).max(0.0);
        [slope, rest]
    }
}

/// Spreads of range and intensity of one shot over turns about one axis.
#[derive(Clone, Copy, Default)]
struct TurnedSpread {
    range: Spread,
    intensity: Spread,
    /// Sum of the weights of nodes without a return.
    lost: f64,
}

/// Standard deviation of the independent range noise of a lidar, with its rounding, on a diffuse surface that
/// fills the beam head-on, without ambient light, m.
///
/// The surface has a reflectance $\rho$ (0 to 1) and a distance $r$ (m); the received power is $\rho/(\pi r^2)$.
/// The parts of [`CorrelatedNoise`](super::CorrelatedNoise) are not included, and neither is whether the lidar
/// detects the surface.
pub fn head_on_noise(lidar: &Lidar, range: f64, reflectance: f64) -> f64 {
    let power = reflectance / (std::f64::consts::PI * range * range);
    let variances = lidar
        .receiver
        .range_variances(range, power, 0.0, &lidar.limits);
    variances.iter().sum::<f64>().sqrt()
}

/// Variances of the measurement of every shot at a pose of the sensor at rest; `None` for shots without an
/// expected return.
///
/// `world` is the scene at the lidar's wavelength. The hooks may replace the atmosphere and scale returns; extra
/// rays of edges are not supported.
pub fn measurement_noise(
    world: &World<f64>,
    lidar: &Lidar,
    settings: &SweepSettings,
    shots: &[Shot],
    world_from_sensor: Isometry3<f64>,
    hooks: Hooks<f64>,
    margin: PointingMargin,
) -> Vec<Option<MeasurementNoise>> {
    // Predict the returns of the shots, and of shots turned by the jitter and the margin.
    let expected =
        |shots: &[Shot]| predict(world, lidar, settings, shots, |_| world_from_sensor, hooks);
    let straight = expected(shots);
    let jitter = lidar.beam.azimuth_jitter;
    let azimuth_sd = jitter.hypot(margin.azimuth);
    let spreads = |turn: &dyn Fn(&Shot, f64) -> Shot, sd: f64| {
        turned_spreads(shots, &straight, &expected, turn, sd)
    };
    let by_azimuth = spreads(&|shot, angle| shot.rotated(angle, 0.0), azimuth_sd);
    let by_elevation = spreads(&|shot, angle| shot.rotated(0.0, angle), margin.elevation);
    // Add the variances of each shot.
    let share = if azimuth_sd > 0.0 {
        jitter / azimuth_sd
    } else {
        0.0
    };
    let turned = by_azimuth.iter().zip(&by_elevation);
    let combine = |(expected, (azimuth, elevation)): (&Option<ExpectedReturn>, _)| {
        expected.map(|expected| noise_of(lidar, &expected, [azimuth, elevation], share))
    };
    straight.iter().zip(turned).map(combine).collect()
}

/// Spreads of every shot over turns of standard deviation `sd` (rad).
fn turned_spreads(
    shots: &[Shot],
    straight: &[Option<ExpectedReturn>],
    expected: &dyn Fn(&[Shot]) -> Vec<Option<ExpectedReturn>>,
    turn: &dyn Fn(&Shot, f64) -> Shot,
    sd: f64,
) -> Vec<TurnedSpread> {
    let mut spreads = vec![TurnedSpread::default(); shots.len()];
    if sd <= 0.0 {
        return spreads;
    }
    for (size, weight) in NODES {
        for node in [-size, size] {
            let turned: Vec<Shot> = shots.iter().map(|shot| turn(shot, node * sd)).collect();
            let both = expected(&turned);
            for ((spread, there), here) in spreads.iter_mut().zip(both).zip(straight) {
                let Some(here) = here else { continue };
                let Some(there) = there else {
                    spread.lost += weight;
                    continue;
                };
                let range = there.range - here.range;
                spread.range.add(node, weight, range);
                let intensity = there.intensity - here.intensity;
                spread.intensity.add(node, weight, intensity);
            }
        }
    }
    spreads
}

/// Variances of a shot. `share` is the ratio of the jitter to the standard deviation of the azimuth turns.
fn noise_of(
    lidar: &Lidar,
    expected: &ExpectedReturn,
    turned: [&TurnedSpread; 2],
    share: f64,
) -> MeasurementNoise {
    // Receiver and rounding
    let [receiver, rounding] = lidar.receiver.range_variances(
        expected.range,
        expected.power,
        expected.ambient,
        &lidar.limits,
    );
    // Jitter on a smooth surface, and edges
    let [slope, azimuth_edges] = turned[0].range.parts();
    let [_, elevation_edges] = turned[1].range.parts();
    // Intensity
    let response = &lidar.intensity.response;
    let power_sd = lidar.receiver.power_sd(expected.power, expected.ambient);
    let counts = |power: f64, range: f64| response.counts(power.max(0.0), range);
    let half = |[low, high]: [f64; 2]| 0.5 * (high - low);
    let power = expected.power;
    let by_power = half([-power_sd, power_sd].map(|by| counts(power + by, expected.range)));
    let correlated = lidar.noise.variance();
    let range_sd = (receiver + correlated).sqrt();
    let by_range = half([-range_sd, range_sd].map(|by| counts(power, expected.range + by)));
    let intensity_by_range = if range_sd > 0.0 {
        by_range / range_sd
    } else {
        0.0
    };
    let [intensity_slope, across] = turned[0].intensity.parts();
    let [_, upwards] = turned[1].intensity.parts();
    let whole = if lidar.intensity.top.is_some() {
        1.0 / 12.0
    } else {
        0.0
    };
    MeasurementNoise {
        receiver,
        rounding,
        correlated,
        paths: 0.0,
        pointing: slope * share,
        edges: azimuth_edges + elevation_edges,
        intensity: by_power.powi(2)
            + by_range.powi(2)
            + whole
            + (intensity_slope * share).powi(2)
            + across
            + upwards,
        intensity_by_range,
        lost: turned[0].lost + turned[1].lost,
    }
}
