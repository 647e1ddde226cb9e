//! Analytic derivatives against differences.

use crate::corridor::{Corridor, Noise};
use etendue_calibrate::depth::{
    DepthLoss, DepthMap, DepthMapOptions, DepthModel, DepthObjective, DepthUnknowns,
    PolynomialBias, PoseFreedom, PosePrior, RobustLoss,
};

const LOSSES: [DepthLoss; 5] = [
    DepthLoss::MinimumEigenvalue,
    DepthLoss::NormalisedEigenvalue,
    DepthLoss::Trace,
    DepthLoss::PointToPlane,
    DepthLoss::PointToPoint,
];

fn small_map() -> DepthMap {
    let (scans, poses) = Corridor::new(3, 24, 180).scans(Noise::default());
    DepthMap::build(&scans, &poses, &DepthMapOptions::published()).unwrap()
}

fn freedoms() -> [PoseFreedom; 4] {
    [
        PoseFreedom::Fixed,
        PoseFreedom::PerPose,
        PoseFreedom::Common,
        PoseFreedom::PerSequence(vec![0, 1, 1]),
    ]
}

fn test_point(freedom: &PoseFreedom) -> DepthUnknowns {
    let model = DepthModel::Polynomial(PolynomialBias::scaled([0.002, -0.001]));
    let start = DepthUnknowns::start(model, freedom, 3);
    let step: Vec<f64> = (0..start.dimension())
        .map(|i| 1e-3 * (i as f64).sin())
        .collect();
    start.moved(&step)
}

fn agree(objective: &DepthObjective<'_>, at: &DepthUnknowns, case: &str) {
    let (value, gradient) = objective.gradient(at);
    assert!((objective.value(at) / value - 1.0).abs() < 1e-12);
    let length = gradient.iter().map(|g| g * g).sum::<f64>().sqrt();
    assert!(length > 0.0);
    for i in 0..at.dimension() {
        let moved = |step: f64| {
            let mut all = vec![0.0; at.dimension()];
            all[i] = step;
            objective.value(&at.moved(&all))
        };
        let difference = (moved(1e-6) - moved(-1e-6)) / 2e-6;
        let off = (gradient[i] - difference).abs() / length;
        assert!(off < 1e-5, "{case} {i}: {} {difference}", gradient[i]);
    }
}

#[test]
fn gradients_over_weights_and_poses_are_differences_for_every_loss_and_freedom() {
    let map = small_map();
    for loss in LOSSES {
        for freedom in freedoms() {
            let at = test_point(&freedom);
            let case = format!("{loss:?} {freedom:?}");
            let objective = DepthObjective::new(&map, loss, RobustLoss::None, freedom).unwrap();
            agree(&objective, &at, &case);
        }
    }
}

#[test]
fn gradients_with_a_prior_of_the_poses_are_differences() {
    let map = small_map();
    let prior = PosePrior {
        position: 1e-3,
        rotation: 2e-3,
    };
    for freedom in freedoms() {
        let at = test_point(&freedom);
        let loss = DepthLoss::MinimumEigenvalue;
        let objective = DepthObjective::new(&map, loss, RobustLoss::None, freedom).unwrap();
        let data = objective.value(&at);
        let objective = objective.with_prior(prior, 1.0);
        assert!(at.corrections.is_empty() || objective.value(&at) > 2.0 * data);
        agree(&objective, &at, "prior");
    }
}

#[test]
fn gradients_of_robust_losses_are_differences() {
    let map = small_map();
    let robust = [
        RobustLoss::Huber(0.01),
        RobustLoss::Cauchy(0.02),
        RobustLoss::GemanMcClure(0.02),
        RobustLoss::Truncated(0.03),
    ];
    for robust in robust {
        let at = test_point(&PoseFreedom::PerPose);
        let objective = DepthObjective::new(
            &map,
            DepthLoss::MinimumEigenvalue,
            robust,
            PoseFreedom::PerPose,
        );
        agree(&objective.unwrap(), &at, &format!("{robust:?}"));
    }
}

#[test]
fn gradients_over_the_depths_are_differences() {
    let map = small_map();
    let none = DepthUnknowns {
        model: DepthModel::Polynomial(PolynomialBias::plain([0.0; 2])),
        corrections: Vec::new(),
    };
    let member = map.neighbourhoods()[0][1] as usize;
    for loss in LOSSES {
        let value = |step: f64| {
            let mut measurements = map.measurements().to_vec();
            measurements[member].depth += step;
            let poses = map.world_from_lidar().to_vec();
            let moved = DepthMap::from_parts(measurements, poses, lists(&map)).unwrap();
            let objective = DepthObjective::new(&moved, loss, RobustLoss::None, PoseFreedom::Fixed);
            let objective = objective.unwrap();
            (
                objective.value(&none),
                objective.depth_gradient(&none)[member],
            )
        };
        let difference = (value(1e-6).0 - value(-1e-6).0) / 2e-6;
        let gradient = value(0.0).1;
        let scale = gradient.abs().max(1e-9);
        assert!((gradient - difference).abs() < 1e-4 * scale, "{loss:?}");
    }
}

fn lists(map: &DepthMap) -> Vec<Vec<u32>> {
    map.neighbourhoods().to_vec()
}

#[test]
fn one_thread_and_eight_give_the_same_bits() {
    let map = small_map();
    let at = test_point(&PoseFreedom::PerPose);
    let run = |threads| {
        let pool = rayon_pool(threads);
        pool.install(|| {
            let loss = DepthLoss::MinimumEigenvalue;
            DepthObjective::new(&map, loss, RobustLoss::None, PoseFreedom::PerPose)
                .unwrap()
                .gradient(&at)
        })
    };
    assert_eq!(run(1), run(8));
}

fn rayon_pool(threads: usize) -> rayon::ThreadPool {
    rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .build()
        .unwrap()
}
