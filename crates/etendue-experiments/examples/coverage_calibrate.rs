//! Noise calibration of simulated recordings with known truth: `just coverage-calibrate`.
//!
//! Arguments: number of recordings per kind (default 20), and `--reasons` to list those that are not right.

#![expect(clippy::print_stdout, reason = "the table is the result")]

use etendue_experiments::calibration::{
    CalibrationTable, Outcome, RecordingKind, RecordingOutcome, run,
};
use rayon::prelude::*;

fn main() {
    // Arguments; the first is the name of the program.
    let [_, arguments @ ..] = &std::env::args().collect::<Vec<_>>()[..] else {
        return;
    };
    let number = arguments.iter().find_map(|argument| argument.parse().ok());
    let list = arguments.iter().any(|argument| argument == "--reasons");
    let seeds = 0..number.unwrap_or(20_u64);
    // Recordings, on all threads
    let recordings: Vec<_> = RecordingKind::ALL
        .iter()
        .flat_map(|kind| seeds.clone().map(|seed| (*kind, seed)))
        .collect();
    let outcomes: Vec<RecordingOutcome> = recordings
        .into_par_iter()
        .map(|(kind, seed)| run(kind, seed))
        .collect();
    // Reasons of those that are not right, and the figures outside their interval of 95 %
    let listed = outcomes
        .iter()
        .filter(|one| list && one.outcome != Outcome::Right);
    for one in listed {
        let [name, reasons] = [one.kind.name(), &one.reasons.join("; ")];
        println!("{name}, seed {}: {:?}: {reasons}", one.seed, one.outcome);
        let outside = one.figures.iter().filter(|f| f.normalised().abs() > 1.96);
        for figure in outside {
            println!(
                "    {:?} at {:.0} degrees: off by {:.2e}, {:.1} standard errors",
                figure.quantity,
                figure.incidence_deg,
                figure.error(),
                figure.normalised()
            );
        }
    }
    // Table
    println!("{}", CalibrationTable::of(&outcomes).markdown());
}
