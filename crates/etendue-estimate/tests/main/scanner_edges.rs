//! Edges that sweep across a scanner's beam.

use crate::pulsed::{against_constants, frequency_modulated, hall, pose, triangulating, vlp_16};
use etendue_estimate::fit::FitProblem;
use etendue_estimate::manifold::Manifold;
use etendue_estimate::model::{Freedom, Model};
use etendue_estimate::solve::Problem;
use etendue_estimate::visibility::EdgeSettings;
use etendue_physics::beam::BeamShape;
use etendue_physics::pulse::Discriminator;
use etendue_sensors::scanner::{Pipeline, Receiver, Scanner};

/// Wide beams (23 mrad), so that many have an edge across them.
fn scanner(columns: u32, shape: BeamShape, rings: u32, receiver: Option<Receiver>) -> Scanner {
    let mut scanner = vlp_16(columns, Discriminator::ConstantFraction { fraction: 0.5 });
    scanner.beam.shape = shape;
    scanner.beam.divergence.horizontal = 23e-3;
    scanner.beam.divergence.vertical = 16e-3;
    scanner.sub_ray_rings = rings;
    if let Some(receiver) = receiver {
        scanner.receiver = receiver;
    }
    scanner
}

fn sampled() -> Option<Receiver> {
    let Receiver::Pulsed(mut receiver) =
        vlp_16(4, Discriminator::ConstantFraction { fraction: 0.5 }).receiver
    else {
        return None;
    };
    receiver.pipeline = Pipeline::Waveform;
    Some(Receiver::Pulsed(receiver))
}

fn problem(scanner: &Scanner, path: &str, edges: Option<EdgeSettings>) -> FitProblem {
    let mut model = Model::of_scanner(hall(), scanner, vec![pose()]).expect("a model");
    model.free(path, Freedom::Planar).expect("a pose");
    model.edges = edges;
    against_constants(model)
}

const EDGES: EdgeSettings = EdgeSettings {
    points: 16,
    reflections: 1,
    integral: false,
};

/// How derivatives that edges have part in compare with differences: those that do within so much
/// of the larger, and those that do not.
fn compare(
    seeing: &FitProblem,
    blind: &FitProblem,
    differing: &FitProblem,
    step: f64,
    within: f64,
) -> [usize; 2] {
    let state = seeing.model.start();
    let (with, without) = (seeing.linearize(&state), blind.linearize(&state));
    let mut counts = [0, 0];
    for component in 0..3 {
        let residuals = |by: f64| {
            let mut tangent = vec![0.0; 3];
            tangent[component] = by;
            differing.residuals(&state.retract(&tangent)).values
        };
        let (plus, minus) = (residuals(step), residuals(-step));
        assert_eq!(plus.len(), with.residuals.values.len());
        for (i, (seen, unseen)) in with.rows().zip(without.rows()).enumerate() {
            let edge = seen[component] - unseen[component];
            // Metres (or counts) per metre or radian.
            if edge.abs() < 2.0 {
                continue;
            }
            let difference = (plus[i] - minus[i]) / (2.0 * step);
            let off = (seen[component] - difference).abs();
            let good = off < within * difference.abs().max(edge.abs());
            if !good {
                println!(
                    "{i} {component} edge {edge} seen {} diff {difference}",
                    seen[component]
                );
            }
            counts[usize::from(!good)] += 1;
        }
    }
    counts
}

/// Beams of 3,781 rays are nearly the integral.
#[test]
fn a_scanners_edge_derivatives_equal_differences_of_finely_sampled_beams() {
    for (name, shape, receiver) in [
        ("closed form", BeamShape::Gaussian, None),
        ("even", BeamShape::TopHat, None),
        ("sampled", BeamShape::Gaussian, sampled()),
    ] {
        for path in ["objects.crate.pose", "objects.screen.pose", "sensor.pose"] {
            let began = std::time::Instant::now();
            let scanner = scanner(24, shape, 35, receiver);
            let seeing = problem(&scanner, path, Some(EDGES));
            let blind = problem(&scanner, path, None);
            let counts = compare(&seeing, &blind, &blind, 4e-3, 0.15);
            println!("{name} {path} {counts:?} {:?}", began.elapsed());
        }
    }
}

/// Seven rays a beam: predictions change smoothly as edges sweep across beams, and the derivatives
/// are theirs.
#[test]
fn a_scanners_predictions_with_edges_change_as_their_derivatives_say() {
    for receiver in [
        None,
        sampled(),
        Some(triangulating()),
        Some(frequency_modulated()),
    ] {
        for path in ["objects.crate.pose", "objects.screen.pose", "sensor.pose"] {
            let scanner = scanner(60, BeamShape::Gaussian, 1, receiver);
            let integral = EdgeSettings {
                integral: true,
                ..EDGES
            };
            let seeing = problem(&scanner, path, Some(integral));
            let blind = problem(&scanner, path, None);
            let counts = compare(&seeing, &blind, &seeing, 1e-6, 0.05);
            println!("{receiver:?} {path} {counts:?}");
        }
    }
}
