//! Coverage of the stated uncertainty of fits: `coverage [SCANS [FILE [CASE...]]]`.
//!
//! Prints each case as it ends, and writes the table to a Markdown file.

#![expect(clippy::print_stdout, reason = "an example that prints its table")]

use etendue_experiments::coverage::{all_cases, coverage_page, coverage_row};
use std::path::Path;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // Arguments
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let scans = arguments.first().map_or(Ok(200), |text| text.parse())?;
    let file = arguments.get(1).map(Path::new);
    let numbers = arguments.iter().skip(2).map(|text| text.parse());
    let selected: Vec<usize> = numbers.collect::<Result<_, _>>()?;
    // Cases
    let mut results = Vec::new();
    for (number, case) in all_cases().iter().enumerate() {
        if selected.is_empty() || selected.contains(&number) {
            let result = case.run(scans, 1000 * number as u64)?;
            println!("{number} {}", coverage_row(&result));
            results.push(result);
        }
    }
    // Page
    if let Some(file) = file {
        std::fs::write(file, coverage_page(&results, scans))?;
    }
    Ok(())
}
