//! The program `etendue`.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(etendue_cli::run(std::env::args_os()))
}
