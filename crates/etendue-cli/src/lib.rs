//! The command line `etendue`: a program of its own, and the command that the Python package installs.

mod arguments;
mod bag;
mod command;
mod desktop;
mod device;
mod failure;
mod finite;
mod folder;
mod formats;
#[cfg(feature = "gpu")]
mod gpu;
mod interrupt;
mod memory;
mod number;
mod output;
mod pose;
mod report;
mod sequence;
mod source;
mod threads;
mod view;

pub use view::range_image;

use clap::Parser;
use command::Command;
use std::ffi::OsString;

/// Simulate lidars from light to ranges
#[derive(Debug, Parser)]
#[command(name = "etendue", version, arg_required_else_help = true)]
#[command(after_help = "Example: etendue simulate\n  \
    simulates a Hokuyo URG-04LX in a small arena with a mirror and a glass pane, and writes \
    out/simulate/scan.png and more.\n\nExit codes: 0 done; 1 failed; 2 invalid arguments; 3 doubtful result; \
    4 refused result; 130 stopped by Ctrl-C.")]
struct Cli {
    #[command(subcommand)]
    command: Command,
    /// Print neither progress nor remarks; warnings and errors remain
    #[arg(short, long, global = true)]
    quiet: bool,
}

/// Runs the command of the given words, the first of which is the name of the program, and returns the exit code.
///
/// Results are printed to standard output, the rest to standard error. Ctrl-C ends the process with exit code
/// 130. Invalid words and `--help` end it after a message.
pub fn run(words: impl IntoIterator<Item = OsString>) -> u8 {
    run_named(words).0
}

/// [`run`], with the name of the error enum of the library if the command failed.
pub fn run_named(words: impl IntoIterator<Item = OsString>) -> (u8, Option<&'static str>) {
    interrupt::install();
    let (arguments, outputs) = arguments::parse_or_exit(words);
    if arguments.quiet {
        output::be_quiet();
    }
    // Before the work, not after it
    let writable = arguments::check_writable(&outputs);
    match writable.and_then(|()| arguments.command.run()) {
        Ok(()) => (0, None),
        Err(failure) => {
            if failure.exit_code() == failure::INTERRUPTED_EXIT_CODE {
                interrupt::print(&failure);
            } else {
                report::print(&failure);
            }
            (failure.exit_code(), Some(failure.error_name()))
        }
    }
}
