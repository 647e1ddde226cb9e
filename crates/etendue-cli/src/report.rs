//! Errors as text: the message, the line of the file that is wrong, and the remedy.

use miette::{Diagnostic, LabeledSpan, SourceCode};
use std::fmt::Write;
use std::io::IsTerminal;

/// Starts bold red text on a terminal.
const RED: &str = "\x1b[1;31m";
/// Starts cyan text on a terminal.
const CYAN: &str = "\x1b[36m";
/// Ends coloured text on a terminal.
const PLAIN: &str = "\x1b[0m";

/// Prints an error to standard error; in colour on a terminal, unless `NO_COLOR` is set.
pub fn print(diagnostic: &dyn Diagnostic) {
    let in_colour = std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none();
    eprint!("{}", render(diagnostic, in_colour));
}

fn render(diagnostic: &dyn Diagnostic, in_colour: bool) -> String {
    let [red, cyan, plain] = if in_colour {
        [RED, CYAN, PLAIN]
    } else {
        [""; 3]
    };
    let mut text = format!(
        "  {red}×{plain} {}\n",
        indented(&diagnostic.to_string(), "    ")
    );
    if let (Some(source), Some(labels)) = (diagnostic.source_code(), diagnostic.labels()) {
        for label in labels {
            text += &snippet(source, &label, red, plain);
        }
    }
    if let Some(help) = diagnostic.help() {
        let help = indented(&help.to_string(), "        ");
        _ = writeln!(text, "  {cyan}help:{plain} {help}");
    }
    text
}

/// A text whose lines after the first are indented.
fn indented(text: &str, indent: &str) -> String {
    text.trim_end().replace('\n', &format!("\n{indent}"))
}

/// The line that a label begins in, between its neighbours, with its position in the file and a
/// mark below it; empty for a label outside the file.
fn snippet(source: &dyn SourceCode, label: &LabeledSpan, red: &str, plain: &str) -> String {
    let Ok(contents) = source.read_span(label.inner(), 1, 1) else {
        return String::new();
    };
    let text = String::from_utf8_lossy(contents.data()).into_owned();

    // Split the text at the line of the label.
    let offset = label.offset() - contents.span().offset();
    let text_before = text.get(..offset).unwrap_or_default();
    let line_start = text_before.rfind('\n').map_or(0, |end| end + 1);
    let mut lines = text[line_start..].lines();
    let line = lines.next().unwrap_or_default();
    let next = lines.next();
    let previous = text[..line_start].lines().last();

    // Mark the label within its line.
    let start = offset - line_start;
    let before = line.get(..start).unwrap_or(line);
    let marked = line.get(start..).unwrap_or_default();
    let marked = marked.get(..label.len()).unwrap_or(marked);
    let column = before.chars().count() + 1;
    let blank = before.replace(|letter| letter != '\t', " ");
    let mark = "─".repeat(marked.chars().count().max(1));
    let message = label.label().unwrap_or_default();

    // Number the lines.
    let number = contents.line() + text_before.matches('\n').count() + 1;
    let width = (number + 1).to_string().len();
    let numbered = |number: usize, line: &str| format!(" {number:width$} │ {line}\n");
    let name = contents.name().unwrap_or_default();
    let mut shown = format!(" {:width$} ╭─[{name}:{number}:{column}]\n", "");
    shown += &previous.map_or_else(String::new, |line| numbered(number - 1, line));
    shown += &numbered(number, line);
    _ = writeln!(
        shown,
        " {:width$} · {blank}{red}{mark}{plain} {message}",
        ""
    );
    shown += &next.map_or_else(String::new, |line| numbered(number + 1, line));
    _ = writeln!(shown, " {:width$} ╰─", "");
    shown
}

#[cfg(test)]
mod tests {
    use super::*;
    use miette::NamedSource;
    use thiserror::Error;

    #[derive(Debug, Error)]
    #[error("unknown key \"colour\"")]
    struct Unknown {
        text: NamedSource<String>,
        label: LabeledSpan,
    }

    impl Diagnostic for Unknown {
        fn help<'a>(&'a self) -> Option<Box<dyn std::fmt::Display + 'a>> {
            Some(Box::new("remove it\nor name it `color`"))
        }

        fn source_code(&self) -> Option<&dyn SourceCode> {
            Some(&self.text)
        }

        fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
            Some(Box::new(std::iter::once(self.label.clone())))
        }
    }

    fn unknown(start: usize, length: usize) -> Unknown {
        let text = "version = 1\ncolour = \"red\"\n".to_owned();
        Unknown {
            text: NamedSource::new("scene.toml", text),
            label: LabeledSpan::at(start..start + length, "here"),
        }
    }

    #[test]
    fn a_report_shows_the_line_marks_the_position_and_gives_the_remedy() {
        let expected = "  × unknown key \"colour\"\n   ╭─[scene.toml:2:1]\n 1 │ version = 1\n 2 │ colour = \"red\"\n   \
                        · ────── here\n   ╰─\n  help: remove it\n        or name it `color`\n";
        assert_eq!(render(&unknown(12, 6), false), expected);
    }

    #[test]
    fn a_mark_at_the_end_of_the_file_has_a_width() {
        assert!(render(&unknown(26, 0), false).contains("─ here"));
    }
}
