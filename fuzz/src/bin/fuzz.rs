//! libFuzzer on the target that the variable `ETENDUE_FUZZ` names; `scripts/fuzz.sh` calls it.
#![no_main]

use etendue_fuzz::{Target, find};
use libfuzzer_sys::fuzz_target;
use std::sync::LazyLock;

static TARGET: LazyLock<Target> = LazyLock::new(|| {
    let name = std::env::var("ETENDUE_FUZZ").expect("ETENDUE_FUZZ names a target");
    find(&name).unwrap_or_else(|| panic!("unknown target {name}"))
});

fuzz_target!(|bytes: &[u8]| (TARGET.run)(bytes));
