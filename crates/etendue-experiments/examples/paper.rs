//! Runs the paper's experiments and prints their tables: `cargo run --release --example paper`.

#![expect(clippy::print_stdout, reason = "an example that prints its tables")]

use etendue_experiments::arena::{ArenaExperiment, ExperimentEffort, urg_04lx};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let selected: Vec<String> = std::env::args().skip(1).collect();
    let effort = ExperimentEffort::default();
    for experiment in ArenaExperiment::ALL {
        if selected.is_empty() || selected.iter().any(|name| name == experiment.name()) {
            let outcome = experiment.run(&urg_04lx(), &effort)?;
            println!("# {}\n", experiment.name());
            outcome.tables.iter().for_each(|table| println!("{table}"));
            outcome
                .remarks
                .iter()
                .for_each(|remark| println!("{remark}\n"));
        }
    }
    Ok(())
}
