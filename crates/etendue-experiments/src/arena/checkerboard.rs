//! Reflectances and the bias of the receiver from a striped board (section IV-C).

use super::measurements::readings;
use super::scene::upright_board;
use super::table::FigureLine;
use super::view::LineFigure;
use etendue_estimate::fit::{FitError, FitProblem, FitReport, Verdict, report};
use etendue_estimate::manifold::{Variable, VariableValue};
use etendue_estimate::model::{Freedom, Model};
use etendue_estimate::solve::{Loss, Solver, SolverLimits};
use etendue_estimate::uncertainty::{Gauge, Invariant, invariant};
use etendue_physics::phase::PowerDependentBias;
use etendue_sensors::lidar::{Lidar, Receiver};
use nalgebra::Isometry3;

/// Board and its measurements.
#[derive(Clone, Debug, PartialEq)]
pub struct BoardSettings {
    /// Distances of the measurements, m.
    pub distances: Vec<f64>,
    /// True reflectances of the white and the black stripes.
    pub reflectances: [f64; 2],
    /// True coefficients $[c, b, a]$ of the range bias, m per power of the power.
    pub bias: [f64; 3],
    /// Standard deviation of the measured ranges, m.
    pub sigma: f64,
    /// Seed of the noise.
    pub seed: u64,
    /// Whether the reflectance of the white stripes is given.
    pub white_known: bool,
    /// Reflectances at the start of the search, white and black.
    pub start: [f64; 2],
}

/// Estimate of reflectances and bias.
#[derive(Clone, Debug)]
pub struct BoardReport {
    /// Fit.
    pub report: FitReport,
    /// Combinations that are determined even if the individual unknowns are not: $c$,
    /// $\rho_w/\rho_b$, $b\rho_w$, $a\rho_w^2$.
    pub invariants: Vec<Invariant>,
    /// Estimate, standard deviation and truth of each unknown.
    pub rows: Vec<BoardEstimate>,
    /// Root mean square residual (m) of a false minimum, if the start led to one and the search was
    /// restarted.
    pub false_minimum: Option<f64>,
    /// Whether the estimate is a false minimum: its verdict is not good, and no restart improved it.
    pub is_false_minimum: bool,
}

/// Unknown of the fit.
#[derive(Clone, Debug, PartialEq)]
pub struct BoardEstimate {
    /// Path.
    pub path: String,
    /// Estimate.
    pub value: f64,
    /// Standard deviation; infinite if the unknown is not determined.
    pub sigma: f64,
    /// True value.
    pub truth: f64,
}

impl Default for BoardSettings {
    fn default() -> Self {
        Self {
            distances: vec![0.5],
            reflectances: [0.8, 0.1],
            bias: [0.02, -0.03, 0.005],
            sigma: 0.001,
            seed: 1,
            white_known: true,
            start: [0.8, 0.3],
        }
    }
}

impl BoardSettings {
    /// Model of the board at some distances with the given reflectances and bias.
    ///
    /// # Errors
    /// If a number is out of range.
    pub fn model(
        &self,
        lidar: &Lidar,
        distances: &[f64],
        reflectances: [f64; 2],
        bias: [f64; 3],
    ) -> Result<Model, FitError> {
        let mut lidar = lidar.clone();
        if let Receiver::Phase(receiver) = &mut lidar.receiver {
            receiver.bias = PowerDependentBias::Range(bias);
        }
        let poses = distances
            .iter()
            .map(|d| Isometry3::translation(-d, 0.0, 0.0));
        Ok(Model::new(
            upright_board(reflectances),
            &lidar,
            poses.collect(),
        )?)
    }

    fn problem(&self, lidar: &Lidar, start: [f64; 2]) -> Result<FitProblem, FitError> {
        // Measure the true board
        let truth = self.model(lidar, &self.distances, self.reflectances, self.bias)?;
        let shots = truth.predict(&[]);
        let scans: Vec<_> = (0..)
            .zip(&shots)
            .map(|(i, scan)| readings(scan, self.sigma, self.seed.wrapping_add(i << 32)))
            .collect();

        // Model with free bias and reflectances
        let white = if self.white_known {
            self.reflectances[0]
        } else {
            start[0]
        };
        let mut model = self.model(lidar, &self.distances, [white, start[1]], [0.0; 3])?;
        for name in ["c", "b", "a"] {
            model.free(&format!("sensor.receiver.bias.{name}"), Freedom::Whole)?;
        }
        let unit_interval = Freedom::Interval {
            lower: 0.0,
            upper: 1.0,
        };
        model.free("materials.black.reflectance", unit_interval)?;
        if !self.white_known {
            model.free("materials.white.reflectance", unit_interval)?;
        }
        let mut problem = FitProblem::new(model, &scans)?;
        problem.sigma = self.sigma.max(1e-6);
        Ok(problem)
    }

    fn truth_of(&self, path: &str) -> f64 {
        match path {
            "sensor.receiver.bias.c" => self.bias[0],
            "sensor.receiver.bias.b" => self.bias[1],
            "sensor.receiver.bias.a" => self.bias[2],
            "materials.black.reflectance" => self.reflectances[1],
            _ => self.reflectances[0],
        }
    }

    /// Root mean square difference (m) between the ranges predicted by the estimate and by the truth at
    /// a distance, over the beams with both.
    ///
    /// # Errors
    /// If the estimate is out of range.
    pub fn prediction_error(
        &self,
        lidar: &Lidar,
        found: &BoardReport,
        distance: f64,
    ) -> Result<f64, FitError> {
        let truth = self.model(lidar, &[distance], self.reflectances, self.bias)?;
        let estimate = self.estimated(lidar, found, distance)?;
        let real = truth.predict(&[]);
        let predicted = estimate.predict(&[]);
        let pairs = real[0].iter().zip(&predicted[0]);
        let both = pairs.filter_map(|(a, b)| Some((a.range()? - b.range()?).powi(2)));
        let squares: Vec<f64> = both.collect();
        Ok((squares.iter().sum::<f64>() / squares.len() as f64).sqrt())
    }
}

impl BoardSettings {
    /// Measured and predicted ranges at three distances (figures 9 and 10 of the paper), and the unknowns
    /// over the iterations.
    ///
    /// # Errors
    /// If the estimate is out of range.
    pub fn figures(&self, lidar: &Lidar, found: &BoardReport) -> Result<Vec<LineFigure>, FitError> {
        let mut figures = vec![evolution(found)];
        for distance in [0.5, 0.9, 1.6] {
            figures.push(self.profile(lidar, found, distance)?);
        }
        Ok(figures)
    }

    /// Apparent distance of the points behind the board, measured and predicted.
    fn profile(
        &self,
        lidar: &Lidar,
        found: &BoardReport,
        distance: f64,
    ) -> Result<LineFigure, FitError> {
        // Measured and predicted readings
        let real = self.model(lidar, &[distance], self.reflectances, self.bias)?;
        let estimate = self.estimated(lidar, found, distance)?;
        let seed = self.seed.wrapping_add(1 << 48);
        let noisy = readings(&real.predict(&[])[0], self.sigma, seed);
        let predicted = estimate.predict(&[]);

        // Positions across the board and behind it
        let behind = |beam: usize, range: f64| {
            let (sin, cos) = real.sensor(0).direction(beam).azimuth.sin_cos();
            [range * sin, 1e3 * (range * cos - distance)]
        };
        let measured = noisy.iter().enumerate();
        let measured = measured.filter_map(|(beam, reading)| Some(behind(beam, reading.range()?)));
        let predicted = predicted[0].iter().enumerate();
        let predicted = predicted.filter_map(|(beam, shot)| Some(behind(beam, shot.range()?)));

        // Figure
        let line = |name: &str, points: Vec<[f64; 2]>| FigureLine {
            name: name.into(),
            points,
        };
        let use_in_fit = if self.distances.contains(&distance) {
            "used in the fit"
        } else {
            "not used in the fit"
        };
        Ok(LineFigure {
            name: format!("board-{:.0}-cm", 100.0 * distance),
            title: format!("The board at {distance} m ({use_in_fit})"),
            x: "across the board, m".into(),
            y: "measured depth less true depth, mm".into(),
            joined: false,
            lines: vec![
                line("measured", measured.collect()),
                line("predicted", predicted.collect()),
            ],
        })
    }

    /// Model of the board at a distance with the estimate.
    fn estimated(
        &self,
        lidar: &Lidar,
        found: &BoardReport,
        distance: f64,
    ) -> Result<Model, FitError> {
        let value = |path: &str| {
            let row = found.rows.iter().find(|row| row.path == path);
            row.map_or_else(|| self.truth_of(path), |row| row.value)
        };
        let bias = ["c", "b", "a"].map(|name| value(&format!("sensor.receiver.bias.{name}")));
        let reflectances =
            ["white", "black"].map(|name| value(&format!("materials.{name}.reflectance")));
        self.model(lidar, &[distance], reflectances, bias)
    }
}

/// Each unknown divided by its true value over the iterations.
fn evolution(found: &BoardReport) -> LineFigure {
    let line = |(index, row): (usize, &BoardEstimate)| {
        let log = found.report.solution.log.iter();
        let points = log.filter_map(|iteration| match iteration.state[index].value() {
            VariableValue::Number(value) => Some([iteration.number as f64, value / row.truth]),
            _ => None,
        });
        FigureLine {
            name: row.path.clone(),
            points: points.collect(),
        }
    };
    LineFigure {
        name: "evolution".into(),
        title: "Unknowns over their true values".into(),
        x: "iterations".into(),
        y: "estimate / truth".into(),
        joined: true,
        lines: found.rows.iter().enumerate().map(line).collect(),
    }
}

/// Fits reflectances and bias. A start with the stripes exchanged ends in a false minimum, whose verdict
/// is not good; the search is then restarted from three contrasts with black as the darker colour.
///
/// # Errors
/// If a number is out of range or the solver fails.
pub fn checkerboard(lidar: &Lidar, settings: &BoardSettings) -> Result<BoardReport, FitError> {
    // Fit from the given start
    let first = fit(lidar, settings, settings.start)?;
    if first.goodness.verdict == Verdict::Good {
        return Ok(finish(settings, first, None));
    }

    // Leave a false minimum: restart from other contrasts
    let brightest = settings.start[0].max(settings.start[1]);
    let white = if settings.white_known {
        settings.reflectances[0]
    } else {
        brightest
    };
    let spread = first.solution.residuals.rms();
    let mut best = first;
    let before = best.solution.cost;
    for contrast in [0.5, 0.25, 0.1] {
        let again = fit(lidar, settings, [white, contrast * white])?;
        if again.solution.cost < best.solution.cost {
            best = again;
        }
    }

    // Report the false minimum if a restart is better
    let escaped = best.solution.cost < before;
    let false_minimum = escaped.then_some(spread * settings.sigma.max(1e-6));
    Ok(finish(settings, best, false_minimum))
}

fn fit(lidar: &Lidar, settings: &BoardSettings, start: [f64; 2]) -> Result<FitReport, FitError> {
    let problem = settings.problem(lidar, start)?;
    let limits = SolverLimits {
        gate: 100.0,
        ..SolverLimits::default()
    };
    let solver = Solver {
        loss: Loss::Squared,
        limits,
        ..Solver::default()
    };
    let solution = solver.solve(&problem, problem.model.start())?;
    Ok(report(&problem, &solver, solution, &Gauge::Free))
}

fn finish(settings: &BoardSettings, report: FitReport, false_minimum: Option<f64>) -> BoardReport {
    let sigmas = report.uncertainty.standard_deviations();
    let number = |variable: &Variable| match variable.value() {
        VariableValue::Number(number) => number,
        _ => f64::NAN,
    };
    let row = |((path, variable), sigma): (&(String, Variable), f64)| BoardEstimate {
        path: path.clone(),
        value: number(variable),
        sigma,
        truth: settings.truth_of(path),
    };
    let rows: Vec<BoardEstimate> = report.estimate.iter().zip(sigmas).map(row).collect();
    BoardReport {
        invariants: invariants(settings, &rows, &report),
        is_false_minimum: report.goodness.verdict != Verdict::Good,
        rows,
        report,
        false_minimum,
    }
}

/// Combinations that do not change if both reflectances are scaled.
fn invariants(
    settings: &BoardSettings,
    rows: &[BoardEstimate],
    report: &FitReport,
) -> Vec<Invariant> {
    // Estimates; the given reflectance of white if it is not free.
    let [c, b, a, black] = [0, 1, 2, 3].map(|i| rows[i].value);
    let white = rows
        .get(4)
        .map_or(settings.reflectances[0], |row| row.value);
    let of = |name: &str, value: f64, gradient: [f64; 5]| {
        invariant(name, value, &gradient[..rows.len()], &report.uncertainty)
    };
    // Quantities that the fit determines, with their gradients.
    let ratio = white / black;
    vec![
        of("c", c, [1.0, 0.0, 0.0, 0.0, 0.0]),
        of(
            "white / black",
            ratio,
            [0.0, 0.0, 0.0, -ratio / black, 1.0 / black],
        ),
        of("b white", b * white, [0.0, white, 0.0, 0.0, b]),
        of(
            "a white^2",
            a * white * white,
            [0.0, 0.0, white * white, 0.0, 2.0 * a * white],
        ),
    ]
}
