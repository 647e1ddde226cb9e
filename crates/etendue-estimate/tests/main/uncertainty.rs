use etendue_estimate::manifold::{BoundedNumber, Variable};
use etendue_estimate::solve::{LeastSquares, Linearization, Loss, Residuals, Solver};
use etendue_estimate::uncertainty::{
    Gauge, TangentComponent, Uncertainty, components, cramer_rao, invariant,
};
use etendue_physics::{Purpose, Stream};

fn plain(names: &[&str]) -> Vec<TangentComponent> {
    let of = |name: &&str| TangentComponent {
        name: (*name).into(),
        unit: String::new(),
        slope: 1.0,
    };
    names.iter().map(of).collect()
}

/// A line $y = a + b x$ measured at x = 0, 1, ... 9.
fn line(noise: &[f64]) -> Linearization {
    let rows = (0..10).flat_map(|i| [1.0, f64::from(i)]).collect();
    Linearization::new(Residuals::of(noise.to_vec()), 2, rows)
}

/// Closed form for x = 0..9: var(b) = s^2/82.5, var(a) = s^2 (1/10 + 4.5^2/82.5),
/// cov(a, b) = -4.5 s^2/82.5.
#[test]
fn the_covariance_of_a_line_fit_equals_the_closed_form() {
    let noise = [0.1, -0.2, 0.05, 0.0, 0.1, -0.1, 0.2, -0.15, 0.1, -0.1];
    let uncertainty = Uncertainty::new(
        &line(&noise),
        Loss::Squared,
        plain(&["a", "b"]),
        &Gauge::Free,
    );
    let variance = noise.iter().map(|e| e * e).sum::<f64>() / 8.0;
    assert!((uncertainty.residual_variance - variance).abs() < 1e-15);
    let c = &uncertainty.covariance;
    assert!((c[(1, 1)] - variance / 82.5).abs() < 1e-15);
    assert!((c[(0, 0)] - variance * (0.1 + 20.25 / 82.5)).abs() < 1e-15);
    assert!((c[(0, 1)] + variance * 4.5 / 82.5).abs() < 1e-15);
    assert_eq!(uncertainty.rank(), 2);
    let bound = cramer_rao(&line(&noise), variance.sqrt()).expect("determined");
    assert!((bound - c).norm() < 1e-15);
}

/// Monte Carlo variance of the slopes of 4,000 line fits. The probability that a correct covariance
/// fails is below 1e-4 (4 standard errors of a variance, 9 %).
#[test]
fn the_covariance_is_that_of_repeated_estimates() {
    let mut stream = Stream::new(3, 0, 0, 0, Purpose::Search);
    let mut squares = 0.0;
    for _ in 0..4000 {
        let noise: Vec<f64> = (0..10).map(|_| 0.1 * stream.normal()).collect();
        let slope: f64 = noise
            .iter()
            .enumerate()
            .map(|(i, e)| (i as f64 - 4.5) * e)
            .sum::<f64>()
            / 82.5;
        squares += slope * slope;
    }
    let bound = cramer_rao(&line(&[0.0; 10]), 0.1).expect("determined");
    let ratio = squares / 4000.0 / bound[(1, 1)];
    assert!((ratio - 1.0).abs() < 0.09, "{ratio}");
}

/// Six measurements of a product of factors, $y_i = i u v$ at (2, 3), and an unused third unknown.
fn product() -> Linearization {
    let rows = (0..6)
        .flat_map(|i| [3.0 * f64::from(i + 1), 2.0 * f64::from(i + 1), 0.0])
        .collect();
    Linearization::new(Residuals::of(vec![0.01; 6]), 3, rows)
}

#[test]
fn null_directions_are_found_and_named() {
    let names = plain(&["u", "v", "unused"]);
    let uncertainty = Uncertainty::new(&product(), Loss::Squared, names, &Gauge::Free);
    assert_eq!(uncertainty.rank(), 1);
    assert_eq!(uncertainty.null_directions.len(), 2);
    let texts: Vec<_> = uncertainty
        .null_directions
        .iter()
        .map(|n| &n.description)
        .collect();
    assert!(
        texts
            .iter()
            .any(|t| t.starts_with("unused is not determined")),
        "{texts:?}"
    );
    let mixed = uncertainty
        .null_directions
        .iter()
        .find(|n| n.direction[2].abs() < 1e-9);
    let mixed = &mixed.expect("u against v").direction;
    assert!((mixed[0] / mixed[1] + 2.0 / 3.0).abs() < 1e-9, "{mixed}");
    assert!(
        uncertainty
            .standard_deviations()
            .iter()
            .all(|s| s.is_infinite())
    );
    assert!(cramer_rao(&product(), 1.0).is_none());
}

#[test]
fn a_product_is_determined_although_its_factors_are_not() {
    let names = plain(&["u", "v", "unused"]);
    let uncertainty = Uncertainty::new(&product(), Loss::Squared, names, &Gauge::Free);
    let together = invariant("u v", 6.0, &[3.0, 2.0, 0.0], &uncertainty);
    let sigma = (uncertainty.residual_variance / 91.0).sqrt();
    assert!((together.sigma - sigma).abs() < 1e-12, "{}", together.sigma);
    assert!(
        invariant("u", 2.0, &[1.0, 0.0, 0.0], &uncertainty)
            .sigma
            .is_infinite()
    );
}

#[test]
fn a_fixed_factor_or_a_prior_determines_the_other() {
    let names = plain(&["u", "v", "unused"]);
    let fix = Gauge::Fix(vec![0, 2]);
    let fixed = Uncertainty::new(&product(), Loss::Squared, names.clone(), &fix);
    assert!(fixed.null_directions.is_empty());
    let expected = (fixed.residual_variance / (4.0 * 91.0)).sqrt();
    assert!((fixed.standard_deviations()[1] / expected - 1.0).abs() < 1e-9);
    let prior = Gauge::Prior(vec![(0, 1e-9), (2, 1.0)]);
    let guessed = Uncertainty::new(&product(), Loss::Squared, names, &prior);
    assert!(guessed.null_directions.is_empty());
    assert!((guessed.standard_deviations()[1] / expected - 1.0).abs() < 0.2);
    assert!((guessed.standard_deviations()[2] - 1.0).abs() < 1e-6);
}

/// The rank is the same with one unknown in megametres and one in micrometres.
#[test]
fn the_rank_does_not_depend_on_units() {
    let rows = (0..10).flat_map(|i| [1e5, 1e-5 * f64::from(i)]).collect();
    let line = Linearization::new(Residuals::of(vec![0.1; 10]), 2, rows);
    let uncertainty = Uncertainty::new(&line, Loss::Squared, plain(&["a", "b"]), &Gauge::Free);
    assert_eq!(uncertainty.rank(), 2);
}

#[test]
fn a_bounded_number_has_its_own_unit() {
    let chart = BoundedNumber::interval(0.2, 0.0, 1.0).expect("inside");
    let named = components(&[("materials.white.reflectance", &Variable::Number(chart))]);
    assert_eq!(named[0].name, "materials.white.reflectance");
    // dx/du = h (1 - tanh^2 u) with h = 0.5, tanh u = -0.6.
    assert!((named[0].slope - 0.32).abs() < 1e-12);
    let rows = vec![0.32 * 5.0; 4];
    let measured = Linearization::new(Residuals::of(vec![0.1, -0.1, 0.1, -0.1]), 1, rows);
    let uncertainty = Uncertainty::new(&measured, Loss::Squared, named, &Gauge::Free);
    let expected = (uncertainty.residual_variance / 100.0).sqrt();
    assert!((uncertainty.standard_deviations()[0] - expected).abs() < 1e-12);
}

/// A line with 60 measurements, which a robust loss fits.
struct RobustLine {
    measured: Vec<f64>,
}

impl LeastSquares for RobustLine {
    type State = Vec<f64>;

    fn residuals(&self, state: &Vec<f64>) -> Residuals {
        let measured = self.measured.iter().enumerate();
        let residual = |(i, y): (usize, &f64)| state[0] + state[1] * position(i) - y;
        Residuals::of(measured.map(residual).collect())
    }

    fn linearize(&self, state: &Vec<f64>) -> Linearization {
        let rows = (0..self.measured.len()).flat_map(|i| [1.0, position(i)]);
        Linearization::new(self.residuals(state), 2, rows.collect())
    }
}

/// Position of a measurement of the line.
fn position(i: usize) -> f64 {
    i as f64 / 30.0 - 1.0
}

/// Coverage of 1,000 intervals of 95 % for the slope of a line with normal noise of 30 mm. The standard
/// error of a coverage of 95 % is 0.7 %; the probability that a correct covariance fails is below 1e-4.
#[test]
fn intervals_of_robust_fits_cover_the_truth() {
    for (loss, seed) in [
        (Loss::Cauchy { scale: 0.05 }, 11),
        (Loss::Huber { scale: 0.02 }, 12),
        (Loss::Welsch { scale: 0.08 }, 13),
    ] {
        let solver = Solver {
            loss,
            ..Solver::default()
        };
        let mut covered = [0_u32; 2];
        for fit in 0..1000 {
            let mut stream = Stream::new(seed, 0, fit, 0, Purpose::Search);
            let measured = (0..60).map(|_| 0.03 * stream.normal()).collect();
            let line = RobustLine { measured };
            let solution = solver.solve(&line, vec![0.0, 0.0]).expect("solved");
            let at = line.linearize(&solution.state);
            let names = plain(&["offset", "slope"]);
            let uncertainty = Uncertainty::new(&at, loss, names, &Gauge::Free);
            // Residuals in units of their known standard deviation
            let whitened = Linearization::new(
                Residuals::of(at.residuals.values.iter().map(|r| r / 0.03).collect()),
                2,
                at.jacobian.iter().map(|j| j / 0.03).collect(),
            );
            let own = loss.widened(1.0 / 0.03);
            let names = plain(&["offset", "slope"]);
            let known = Uncertainty::of_whitened(&whitened, own, names, &Gauge::Free);
            for (count, found) in covered.iter_mut().zip([uncertainty, known]) {
                let sd = found.standard_deviations()[1];
                *count += u32::from(solution.state[1].abs() < 1.96 * sd);
            }
        }
        // With the weights of reweighted least squares instead of the curvature: 68 and 58 % for the first two.
        for count in covered {
            assert!((920..=980).contains(&count), "{loss:?}: {covered:?}");
        }
    }
}
