//! Noise calibration of simulated recordings with known truth: `just coverage-calibrate`.
//!
//! Arguments: number of recordings per kind (default 20), and `--reasons` to list those that are not right.

#![expect(clippy::print_stdout, reason = "the table is the result")]

use etendue_experiments::calibration::{CalibrationTable, Outcome, RecordingKind, run};

fn main() {
    // Arguments; the first is the name of the program.
    let [_, arguments @ ..] = &std::env::args().collect::<Vec<_>>()[..] else {
        return;
    };
    let number = arguments.iter().find_map(|argument| argument.parse().ok());
    let list = arguments.iter().any(|argument| argument == "--reasons");
    let seeds = 0..number.unwrap_or(20_u64);
    // Recordings
    let mut outcomes = Vec::new();
    for kind in RecordingKind::ALL {
        for seed in seeds.clone() {
            let outcome = run(kind, seed);
            if list && outcome.outcome != Outcome::Right {
                let name = kind.name();
                println!(
                    "{name}, seed {seed}: {:?}: {}",
                    outcome.outcome,
                    outcome.reasons.join("; ")
                );
                let outside = outcome
                    .figures
                    .iter()
                    .filter(|f| f.normalised().abs() > 1.96);
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
            outcomes.push(outcome);
        }
    }
    // Table
    println!("{}", CalibrationTable::of(&outcomes).markdown());
}
