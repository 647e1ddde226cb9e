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
        print_text(&text(report))
    }
}

/// Prints a report without negative zeros.
pub fn print_text(text: &str) -> Result<(), Failure> {
    print(&without_negative_zeros(text))
}

/// A text with zeros in place of negative ones, "0.00" for "-0.00", in the same width where numbers are in columns.
fn without_negative_zeros(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("-0") {
        let (before, number) = rest.split_at(at);
        let is_number = |letter: char| letter.is_ascii_digit() || letter == '.';
        let end = 1 + number[1..]
            .find(|c| !is_number(c))
            .unwrap_or(number.len() - 1);
        out.push_str(before);
        // A minus after another character is a hyphen, or that of an exponent
        let begins = before.chars().next_back().or(out.chars().next_back());
        let begins = begins.is_none_or(|letter| letter.is_whitespace() || letter == '(');
        let is_zero =
            number[1..end].parse() == Ok(0.0) && !number[end..].starts_with(['e', 'E', '-']);
        if begins && is_zero {
            let in_column = before.ends_with("  ");
            out.push_str(if in_column { " " } else { "" });
            out.push_str(&number[1..end]);
        } else {
            out.push_str(&number[..end]);
        }
        rest = &number[end..];
    }
    out + rest
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
    commit_while_writing(outputs)
}

/// [`commit`] for callers that hold the guard of [`interrupt::writing`].
pub fn commit_while_writing(outputs: OutputSet) -> Result<Vec<PathBuf>, Failure> {
    let files = outputs.commit()?;
    interrupt::note_written();
    Ok(files)
}

/// A count with its unit: "1 sweep", "2 sweeps".
pub fn counted(count: usize, unit: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {unit}{plural}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn negative_zeros_are_zeros() {
        for (text, expected) in [
            ("tilt -0.00 deg", "tilt 0.00 deg"),
            ("|    -0.00   -0.01", "|     0.00   -0.01"),
            ("x -0, y -0.0", "x 0, y 0.0"),
            ("-0.000", "0.000"),
            ("1e-0 a-0.0 2024-03-0", "1e-0 a-0.0 2024-03-0"),
            ("-0.5 to -0.0", "-0.5 to 0.0"),
            ("-0e3", "-0e3"),
            ("no number -", "no number -"),
        ] {
            assert_eq!(without_negative_zeros(text), expected);
        }
    }
}
