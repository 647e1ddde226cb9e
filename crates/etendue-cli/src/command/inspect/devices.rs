//! The GPUs of the machine.

use crate::failure::Failure;
use crate::output::print_report;
use etendue_gpu::{AdapterSummary, adapters};
use serde::Serialize;
use std::fmt::Write;

/// Report of an adapter.
#[derive(Serialize)]
struct DeviceReport {
    /// Name for `--device`.
    device: String,
    name: String,
    kind: &'static str,
    interface: &'static str,
    driver: String,
    largest_buffer_bytes: u64,
    most_groups_per_dimension: u32,
}

impl DeviceReport {
    fn of((number, adapter): (usize, AdapterSummary)) -> Self {
        Self {
            device: format!("gpu:{number}"),
            kind: adapter.kind.name(),
            name: adapter.name,
            interface: adapter.interface,
            driver: adapter.driver,
            largest_buffer_bytes: adapter.largest_buffer,
            most_groups_per_dimension: adapter.most_groups,
        }
    }
}

/// Prints the adapters.
pub fn report(json: bool) -> Result<(), Failure> {
    let all: Vec<_> = adapters()
        .into_iter()
        .enumerate()
        .map(DeviceReport::of)
        .collect();
    print_report(json, &all, |all| {
        if all.is_empty() {
            return "no GPU: simulations run on the CPU\n".into();
        }
        let mut text = String::new();
        for own in all {
            let _ = writeln!(text, "{}: {}, {}", own.device, own.name, own.kind);
            let _ = writeln!(text, "  {}, driver {}", own.interface, own.driver);
            let _ = writeln!(
                text,
                "  buffers up to {} MB, {} groups per dimension",
                own.largest_buffer_bytes / 1_000_000,
                own.most_groups_per_dimension
            );
        }
        text
    })
}
