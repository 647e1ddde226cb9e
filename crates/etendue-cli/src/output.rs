//! Output of commands: results on standard output, messages on standard error, single files.

use crate::failure::Failure;
use crate::finite;
use crate::interrupt;
use etendue::io::output::OutputSet;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde::Serialize;
use std::fmt::{self, Display, Write as _};
use std::io::{ErrorKind, Write, stdout};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether remarks and progress are suppressed.
static QUIET: AtomicBool = AtomicBool::new(false);

/// Suppresses remarks and progress; warnings and errors remain.
pub fn be_quiet() {
    QUIET.store(true, Ordering::Relaxed);
}

/// Prints a remark on standard error, unless `--quiet` is given.
pub fn remark(text: impl Display) {
    if !QUIET.load(Ordering::Relaxed) {
        eprintln!("{text}");
    }
}

/// Progress bar of `steps` steps on standard error, hidden with `--quiet`. The template is that of
/// [`ProgressStyle`].
pub fn progress(steps: u64, template: &str) -> ProgressBar {
    let bar = ProgressBar::new(steps);
    let style = ProgressStyle::with_template(template).expect("templates are well formed");
    let bar = bar.with_style(style);
    if QUIET.load(Ordering::Relaxed) {
        bar.set_draw_target(ProgressDrawTarget::hidden());
    }
    bar
}

/// Prints a result. A closed pipe (`| head`) is not a failure.
pub fn print(text: &str) -> Result<(), Failure> {
    let mut out = stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(error.into()),
        _ => Ok(()),
    }
}

/// Prints a result as JSON.
pub fn print_json(value: &impl Serialize) -> Result<(), Failure> {
    print(&finite::json(value)?)
}

/// Prints a report as JSON or as text.
pub fn print_report<R: Serialize>(
    json: bool,
    report: &R,
    text: impl FnOnce(&R) -> String,
) -> Result<(), Failure> {
    if json {
        print_json(report)
    } else {
        print(&text(report))
    }
}

/// Text that a function writes.
pub fn to_text(write: impl FnOnce(&mut String) -> fmt::Result) -> String {
    let mut text = String::new();
    write(&mut text).expect("writing to a string does not fail");
    text
}

/// Writes warnings as lines of a report.
pub fn write_warnings(out: &mut String, warnings: &[String]) -> fmt::Result {
    warnings
        .iter()
        .try_for_each(|warning| writeln!(out, "  warning: {warning}"))
}

/// Prints warnings on standard error.
pub fn warn<W: Display>(warnings: impl IntoIterator<Item = W>) {
    for warning in warnings {
        eprintln!("warning: {warning}");
    }
}

/// Prints the names of written files on standard error.
pub fn list_written(files: &[PathBuf]) {
    for file in files {
        remark(format_args!("wrote {}", file.display()));
    }
}

/// Writes one file, completely or not at all, and prints its name on standard error.
pub fn write_file(path: &Path, content: &[u8]) -> Result<(), Failure> {
    let mut outputs = OutputSet::new();
    outputs.add(path, |file| file.write_all(content))?;
    list_written(&commit(outputs)?);
    Ok(())
}

/// Commits files while Ctrl-C is deferred.
pub fn commit(outputs: OutputSet) -> Result<Vec<PathBuf>, Failure> {
    let _guard = interrupt::writing();
    Ok(outputs.commit()?)
}

/// A count with its unit: "1 sweep", "2 sweeps".
pub fn counted(count: usize, unit: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {unit}{plural}")
}
