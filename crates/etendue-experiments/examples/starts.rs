//! Reliability of fits from random starts: `just coverage-starts`, or
//! `cargo run --release -p etendue-experiments --example starts -- 300 60` for the numbers of starts in the
//! empty arena and of the mirror.

#![expect(clippy::print_stdout, reason = "an example that prints its tables")]

use etendue_experiments::arena::{starts_tables, urg_04lx};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut counts = std::env::args().skip(1);
    let mut count = |default: u32| counts.next().map_or(Ok(default), |text| text.parse());
    let arena = count(300)?;
    let mirror = count(60)?;
    for table in starts_tables(&urg_04lx(), arena, mirror)? {
        println!("{table}");
    }
    Ok(())
}
