//! `etendue fit`.

mod arguments;
mod arrangement;
mod measurements;
mod report;
mod results;
mod search;
mod setup;
mod values;

use crate::failure::{DOUBTFUL_EXIT_CODE, Failure, REFUSED_EXIT_CODE};
use crate::folder::Folder;
use crate::output::{print_report, warn};
use arguments::ProblemArguments;
use clap::Args;
use etendue::estimate::fit::{
    FitError, Verdict, WeightedFit, refine_weighted, report as with_uncertainty,
};
use etendue::estimate::uncertainty::Gauge;
use report::Report;
use setup::Setup;
use std::path::PathBuf;

/// Arguments of `etendue fit`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples: etendue fit arena --scan beams.csv --free sensor.pose --start 0.1,0.1,10\n          \
    etendue fit arena --scan beams.csv --free sensor.pose --start 0,0,20 --loss cauchy:0.05\n          \
    etendue fit arena --scan beams.csv --free sensor.pose --search\n          \
    etendue fit problem.toml -o found\n\n\
    A problem file gives scene, sensor, scans, unknowns with bounds, and the solver; `etendue \
    schema fit` describes it. Alternatively, arguments give all of these, with one --start (and \
    --truth) for every --free, in the same order. A start is a number, or a pose: x,y,yaw or \
    x,y,z,yaw in the plane (height and tilt are kept), x,y,z,yaw,pitch,roll in space (metres and \
    degrees).\n\
    Parameters: sensor.pose, scans.N.pose, objects.NAME.pose, materials.NAME.reflectance and \
    other parameters of materials, objects.NAME.facets.N.scattering (N may be *); sensor.beams.N and \
    sensor.channels.N with .range_offset, .azimuth_offset, .elevation_offset; sensor.beam.divergence of \
    a conical beam, .horizontal and .vertical of an elliptic one; of phase receivers \
    sensor.receiver.bias.a, .b, .c, of pulsed ones sensor.receiver.pulse_width, .threshold, \
    .reference; of the scene's air atmosphere.fog_visibility_m, .visibility_m, .rain_mm_h, .snow_mm_h, \
    .dust_g_m3.\n\
    Scans are logs with one reading per beam, or point clouds of a stationary sensor in its frame: \
    with a field ring if it has rings, and with intensities if reflectances are unknown.\n\
    Output: estimate.json, covariance.csv, correlation.csv, log.csv, residuals.csv, and two pictures, \
    fit and residuals.\n\
    Exit codes: 0 the residuals agree with the noise of the sensor; 3 doubtful; 4 wrong model. Results \
    are written in all three cases."
)]
pub struct Fit {
    #[command(flatten)]
    problem: ProblemArguments,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Folder for the results
    #[arg(short, long, default_value = "out/fit", value_name = "DIR")]
    output: PathBuf,
}

impl Fit {
    /// Fits, writes the result and prints a report.
    pub fn run(self) -> Result<(), Failure> {
        let task = self.problem.task()?;
        let setup = Setup::new(&task)?;
        let solver = &task.solver;
        let minima = search::solve(&task, &setup)?;
        let best = minima.solution.clone();
        let WeightedFit {
            problem,
            solver,
            solution,
        } = refine_weighted(&setup.problem, solver, best).map_err(FitError::from)?;
        let found = with_uncertainty(&problem, &solver, solution, &Gauge::Free);
        let report = Report::new(&setup, &found, &minima);

        let mut folder = Folder::new(&self.output);
        results::add_to(&mut folder, &setup, &found, &report)?;
        folder.commit_and_list()?;
        warn(setup.warnings.iter().chain(&report.warnings));
        print_report(self.json, &report, Report::text)?;
        verdict(&found.goodness.verdict)
    }
}

/// Failure of a fit that is not good.
fn verdict(verdict: &Verdict) -> Result<(), Failure> {
    let code = match verdict {
        Verdict::Good => return Ok(()),
        Verdict::Doubtful(_) => DOUBTFUL_EXIT_CODE,
        Verdict::WrongModel(_) => REFUSED_EXIT_CODE,
    };
    Err(Failure::Verdict {
        verdict: verdict.name(),
        reasons: verdict.reasons().join("; "),
        code,
    })
}
