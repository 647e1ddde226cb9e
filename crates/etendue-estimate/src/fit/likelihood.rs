//! Negative log-likelihood of measurements near edges.

use super::problem::FitProblem;
use crate::manifold::Variable;
use crate::solve::Loss;
use etendue_physics::angle::wrap_to_pi;
use etendue_physics::statistics::median;
use etendue_sensors::lidar::MeasurementNoise;
use std::ops::Range;

/// Standard deviation of the direction of a beam relative to the edges for which beams are near them, in steps between beams.
const NEAR: f64 = 2.0;

/// Offsets of the azimuth in standard deviations of its jitter, at which the likelihood is averaged: the trapezoidal rule.
const OFFSETS: [f64; 8] = [-2.4, -1.8, -1.2, -0.6, 0.6, 1.2, 1.8, 2.4];

/// Negative log-likelihood of measurements.
///
/// $C = w\sum_i\tfrac12\rho(r_i^2)$ with the deviance residuals $r_i$ by the noise of the sensor alone: a rounded range has the
/// probability of its rounding cell, and beams near edges have no further variance (the solver gives them one). A robust loss $\rho$ is
/// too flat for a likelihood of normal errors; the factor $w = \mathrm{E}\psi'/\mathrm{E}\psi^2$ of its influence function
/// $\psi$ makes its curvature the information of the estimate (Lyddon, Holmes and Walker 2019, doi:10.1093/biomet/asz006).
///
/// A beam near an edge sees either surface, depending on the jitter $\delta$ of its azimuth: its term is
/// $-\ln\sum_k p_k\,e^{-w\rho(r_i(\delta_k)^2)/2}$. Neighbouring jitters count as independent.
pub(super) struct Likelihood {
    /// All beams of each scan at their azimuths, then those near edges at every offset.
    problem: FitProblem,
    /// Whether each beam of each scan is near an edge.
    is_near: Vec<Vec<bool>>,
    loss: Loss,
    /// Residual of a missing measurement.
    gate: f64,
    /// Factor on the costs.
    factor: f64,
}

impl Likelihood {
    /// Likelihood with the noise at a state.
    pub fn new(problem: &FitProblem, loss: Loss, gate: f64, state: &[Variable]) -> Self {
        // Likelihood of the beams at their azimuths.
        let is_near = near_edges(problem, state);
        let averaged = is_near.concat();
        let likelihood = problem.with_likelihood(state, &averaged);

        // Divide by the mean square of a residual away from the edges if that is above 1.
        let residuals = likelihood.residuals_by_beam(state, gate);
        let away = residuals.iter().zip(&averaged).filter(|(_, near)| !**near);
        let mut sums = [0.0, 1.0];
        for residual in away.flat_map(|(of_beam, _)| of_beam.iter().flatten()) {
            let weight = loss.weight(residual * residual);
            sums[0] += weight * residual * residual;
            sums[1] += weight;
        }

        // Add the beams near edges at the offsets of their azimuths.
        let jitter = problem.model.lidar().beam.azimuth_jitter;
        let of_scan = |is_near: &Vec<bool>| {
            let offsets = OFFSETS.iter().map(|offset| offset * jitter);
            let turned = offsets.flat_map(|offset| near(is_near).map(move |beam| (beam, offset)));
            let at_azimuths = (0..is_near.len()).map(|beam| (beam, 0.0));
            at_azimuths.chain(turned).collect()
        };
        let all: Vec<Vec<(usize, f64)>> = is_near.iter().map(of_scan).collect();
        let problem = match likelihood.turned_beams(&all) {
            Some(turned) if averaged.contains(&true) => turned,
            _ => likelihood,
        };
        Self {
            problem,
            is_near,
            loss,
            gate,
            factor: loss.likelihood_factor() / (sums[0] / sums[1]).max(1.0),
        }
    }

    /// Negative log-likelihood at a state, up to a constant.
    pub fn cost(&self, state: &[Variable]) -> f64 {
        // Costs of the beams.
        let cost = |residual: &f64| 0.5 * self.factor * self.loss.cost(residual * residual);
        let residuals = self.problem.residuals_by_beam(state, self.gate);
        let costs = residuals
            .iter()
            .map(|of_beam| of_beam.iter().flatten().map(cost).sum());
        let costs: Vec<f64> = costs.collect();

        // Sum, with the average over the offsets near edges.
        let probabilities = OFFSETS.map(|offset| (-0.5 * offset * offset).exp());
        let all = 1.0 + probabilities.iter().sum::<f64>();
        let mut sum = 0.0;
        for (beams, is_near) in self.problem.model.beams_of_scans().zip(&self.is_near) {
            let (at_azimuths, turned) = costs[beams].split_at(is_near.len());
            let away = at_azimuths.iter().zip(is_near);
            let away = away.filter(|(_, near)| !**near);
            sum += away.map(|(cost, _)| cost).sum::<f64>();
            let count = near(is_near).count();
            for (number, beam) in near(is_near).enumerate() {
                let cost = at_azimuths[beam];
                let weighted = probabilities.iter().zip(turned.chunks(count));
                let likelihoods = weighted.map(|(p, costs)| p * (-costs[number]).exp());
                let likelihood = ((-cost).exp() + likelihoods.sum::<f64>()) / all;
                sum -= likelihood.max(f64::MIN_POSITIVE).ln();
            }
        }
        sum
    }
}

/// Beams near edges, by index.
fn near(is_near: &[bool]) -> impl Iterator<Item = usize> {
    (0..is_near.len()).filter(|beam| is_near[*beam])
}

/// Whether each beam of each scan is near an edge, at a state; no beam of a lidar without jitter, or with offsets of its
/// beams.
fn near_edges(problem: &FitProblem, state: &[Variable]) -> Vec<Vec<bool>> {
    let model = &problem.model;
    if model.lidar().beam.azimuth_jitter == 0.0 || model.has_offsets_of_beams() {
        let none = |scan| vec![false; model.beams(scan)];
        return (0..model.scans()).map(none).collect();
    }
    // Step between beams.
    let shots = model.sensor(0).shots();
    let pairs = shots.windows(2);
    let mut steps: Vec<f64> = pairs
        .map(|two| wrap_to_pi(two[1].azimuth - two[0].azimuth).abs())
        .collect();
    let step = median(&mut steps).unwrap_or(0.0);
    // Beams without a predictable range in the neighbourhood.
    let noise = model.measurement_noise(state, NEAR * step);
    let is_near = |noise: &Option<MeasurementNoise>| {
        noise.is_some_and(|noise| !noise.has_predictable_range())
    };
    let of_scan = |beams: Range<usize>| noise[beams].iter().map(is_near).collect();
    model.beams_of_scans().map(of_scan).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{BeamMeasurement, Freedom, Model};
    use etendue_physics::Spectrum;
    use etendue_physics::beam::{BeamShape, BeamWidth, Divergence, DivergenceAt};
    use etendue_physics::normal;
    use etendue_physics::pulse::{IntensityResponse, ReflectivityScale};
    use etendue_physics::surface::{Lobe, Material};
    use etendue_scene::{MaterialId, MeshId, NamedMaterial, Object, SceneBuilder, primitive};
    use etendue_sensors::lidar::{
        Beam, Channel, Columns, CorrelatedNoise, Intensity, Lidar, RangeLimits, Receiver,
        ScanPattern, Spinning, Triangulation,
    };
    use nalgebra::Isometry3;

    /// Standard deviation of the jitter, rad.
    const JITTER: f64 = 4e-3;

    /// Beams of a scan.
    const COLUMNS: u32 = 3600;

    /// A planar lidar with jitter, with narrow beams.
    fn lidar(rings: u32) -> Lidar {
        let width = |size| Divergence {
            horizontal: size,
            vertical: size,
            at: DivergenceAt::InverseESquared,
        };
        let mut beam = Beam::elliptic(
            BeamWidth {
                shape: BeamShape::Gaussian,
                divergence: width(1e-6),
                exit: width(1e-6),
            },
            rings,
        );
        beam.azimuth_jitter = JITTER;
        let lidar = Lidar {
            name: "planar".into(),
            source: "test".into(),
            wavelength: 785e-9,
            channels: vec![Channel::default()],
            pattern: ScanPattern::Spinning(Spinning {
                rate: 10.0,
                clockwise: false,
                start: 0.0,
                columns: Columns::PerSweep {
                    columns: COLUMNS,
                    fired: None,
                },
                nod: None,
            }),
            beam,
            receiver: Receiver::Triangulation(Triangulation {
                // A wider one would hide the far wall behind the near one.
                baseline: 1e-6,
                angle_noise: 2e-10,
                angle_step: 0.0,
                threshold: 1e-12,
            }),
            noise: CorrelatedNoise::default(),
            limits: RangeLimits {
                near: 0.1,
                far: 100.0,
                step: 0.0,
            },
            intensity: Intensity {
                response: IntensityResponse::Reflectivity {
                    scale: ReflectivityScale::DiffuseThenRetro { full_scale: 1e5 },
                },
                top: None,
            },
        };
        lidar.checked().expect("a lidar")
    }

    /// A far wall at x = 4 m, and a near one at x = 2 m that begins at y = 0.
    fn walls() -> SceneBuilder {
        let mut parts = SceneBuilder::default();
        parts.materials.push(NamedMaterial {
            name: "wall".into(),
            material: Material {
                lobes: vec![Lobe::lambert(Spectrum::from(0.5))],
            },
        });
        for (name, x, y) in [("near", 2.05, 2.0), ("far", 4.05, 0.0)] {
            let number = u32::try_from(parts.meshes.len()).expect("few");
            let size = [0.1, if name == "near" { 4.0 } else { 20.0 }, 2.0];
            parts
                .meshes
                .push(primitive::cuboid(size).expect("a size").into());
            parts.objects.push(Object {
                name: name.into(),
                mesh: MeshId(number),
                world_from_object: Isometry3::translation(x, y, 0.0),
                material: MaterialId(0),
                mask: u32::MAX,
            });
        }
        parts
    }

    /// A beam at an azimuth $a$ from an edge, on the side of the near wall, sees that wall with the probability
    /// $\Phi(a/\sigma)$ of its jitter. Errors by the steps of the trapezoidal rule: 0.12 at the edge itself, 0.05, 0.01 and 0.03.
    #[test]
    fn a_beam_at_an_edge_sees_either_surface_by_its_jitter() {
        for rings in [0, 1] {
            assert_edge_is_seen_by_jitter(rings);
        }
    }

    /// The claim for beams of one ray and `rings` around it.
    fn assert_edge_is_seen_by_jitter(rings: u32) {
        let mut model =
            Model::new(walls(), &lidar(rings), vec![Isometry3::identity()]).expect("a model");
        model
            .free("objects.near.pose", Freedom::Planar)
            .expect("an object");
        let start = model.start();
        let step = std::f64::consts::TAU / f64::from(COLUMNS);
        for (beam, azimuth) in [(0, 0.0), (1, step), (2, 2.0 * step), (3, 3.0 * step)] {
            let cost = |range: f64| {
                let mut scan = vec![BeamMeasurement::default(); model.beams(0)];
                scan[beam] = BeamMeasurement::new(Some(range), None);
                let problem = FitProblem::measured_by(model.clone(), &[scan]).expect("a problem");
                Likelihood::new(&problem, Loss::Squared, 3.0, &start).cost(&start)
            };
            // One beam only: its factor is that of the loss.
            let [near, far] = [2.0, 4.0].map(|x| (-cost(x / azimuth.cos())).exp());
            let sees_near = near / (near + far);
            let expected = normal::probability(azimuth / JITTER);
            assert!(
                (sees_near - expected).abs() < 0.13,
                "{rings} rings, beam {beam}: {sees_near} {expected}"
            );
        }
    }
}
