//! Parsing of the command line, with errors in the terms of the user.

use crate::Cli;
use crate::failure::Failure;
use crate::folder::is_file_name;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::parser::ValueSource;
use clap::{ArgAction, ArgMatches, Command, CommandFactory, Error, FromArgMatches};
use etendue::io::output;
use std::ffi::OsString;
use std::num::ParseIntError;
use std::path::{Path, PathBuf};

/// Arguments that name an output, with their names in messages.
const OUTPUTS: [(&str, &str); 7] = [
    ("output", "--output"),
    ("export", "--export"),
    ("chart", "--chart"),
    ("html", "--html"),
    ("nmea", "--nmea"),
    ("pictures", "--pictures"),
    ("to", "TO"),
];

/// Parses the words of a command, the first of which is the name of the program; prints an error and exits where
/// they are invalid. Returns the command, and the outputs that it writes.
pub fn parse_or_exit(words: impl IntoIterator<Item = OsString>) -> (Cli, Vec<PathBuf>) {
    parse_from(words).unwrap_or_else(|error| error.exit())
}

/// The command of the words, and its outputs.
fn parse_from(words: impl IntoIterator<Item = OsString>) -> Result<(Cli, Vec<PathBuf>), Error> {
    let mut command = with_negative_numbers(Cli::command());
    let matches = command.try_get_matches_from_mut(words);
    let matches = matches.map_err(|error| explained(error, &command))?;
    check_outputs(&matches).map_err(|error| error.with_cmd(&command))?;
    Ok((Cli::from_arg_matches(&matches)?, outputs(&matches)))
}

/// The command with options that accept negative numbers, so that the error of `--sweeps -5` is about the
/// number.
fn with_negative_numbers(command: Command) -> Command {
    let command = command.mut_args(|argument| match argument.get_action() {
        ArgAction::Set | ArgAction::Append if !argument.is_allow_hyphen_values_set() => {
            argument.allow_negative_numbers(true)
        }
        _ => argument,
    });
    command.mut_subcommands(with_negative_numbers)
}

/// An error whose message is not that of Rust's parser of integers, and which names the optional feature that a word needs.
fn explained(error: Error, command: &Command) -> Error {
    if let Some(message) = missing_feature(&error) {
        return Error::raw(error.kind(), message).with_cmd(command);
    }
    if error.kind() == ErrorKind::UnknownArgument {
        return with_commands_of_option(error, command);
    }
    let source = std::error::Error::source(&error);
    let is_integer = source.is_some_and(<dyn std::error::Error>::is::<ParseIntError>);
    let context = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => text.clone(),
        _ => String::new(),
    };
    if !is_integer {
        return error;
    }
    let message = format!(
        "invalid value '{}' for '{}': expected a whole number\n",
        context(ContextKind::InvalidValue),
        context(ContextKind::InvalidArg),
    );
    Error::raw(ErrorKind::ValueValidation, message).with_cmd(command)
}

/// An error about an unknown option, with the commands that have it in place of a similar option, unless it begins like that one.
fn with_commands_of_option(mut error: Error, command: &Command) -> Error {
    let Some(ContextValue::String(option)) = error.get(ContextKind::InvalidArg) else {
        return error;
    };
    let option = option.clone();
    if let Some(ContextValue::String(similar)) = error.get(ContextKind::SuggestedArg)
        && similar.starts_with(&option)
    {
        return error;
    }
    let has_option = |command: &&Command| {
        let mut names = command.get_arguments().filter_map(clap::Arg::get_long);
        option
            .strip_prefix("--")
            .is_some_and(|name| names.any(|own| own == name))
    };
    let commands = command.get_subcommands().filter(has_option);
    let names: Vec<String> = commands
        .map(|command| format!("`etendue {}`", command.get_name()))
        .collect();
    if !names.is_empty() {
        // The usage contains the similar option.
        error.remove(ContextKind::SuggestedArg);
        error.remove(ContextKind::Usage);
        let tip = format!("{option} is an option of {}", names.join(", "));
        error.insert(
            ContextKind::Suggested,
            ContextValue::StyledStrs(vec![tip.into()]),
        );
    }
    error
}

/// Message about a command or an option of an optional feature that the program was built without.
fn missing_feature(error: &Error) -> Option<&'static str> {
    let is = |kind, word: &str| matches!(error.get(kind), Some(ContextValue::String(own)) if own == word);
    let option = |word| is(ContextKind::InvalidArg, word);
    if !cfg!(feature = "studio") && is(ContextKind::InvalidSubcommand, "studio") {
        return Some(
            "this program was built without the studio: `just studio` builds it as target/release/etendue\n",
        );
    }
    let is_device = option("--device") || option("--devices");
    (!cfg!(feature = "gpu") && is_device).then_some(
        "this program was built without GPUs: `cargo build --release -p etendue-cli --features gpu` builds it with them as \
         target/release/etendue\n",
    )
}

/// The outputs of a command.
fn outputs(matches: &ArgMatches) -> Vec<PathBuf> {
    if let Some((_, matches)) = matches.subcommand() {
        return outputs(matches);
    }
    let values = OUTPUTS
        .iter()
        .filter_map(|(option, _)| matches.try_get_raw(option).ok()?);
    values.flatten().map(PathBuf::from).collect()
}

/// Error where an output cannot be written.
pub fn check_writable(outputs: &[PathBuf]) -> Result<(), Failure> {
    for folder in outputs.iter().filter_map(|output| folder_of(output)) {
        output::check_writable(folder)?;
    }
    Ok(())
}

/// Error where more than one folder of an output does not exist, which is probably a typing error.
fn check_outputs(matches: &ArgMatches) -> Result<(), Error> {
    if let Some((_, matches)) = matches.subcommand() {
        return check_outputs(matches);
    }
    for (option, name) in OUTPUTS {
        let Ok(Some(values)) = matches.try_get_raw(option) else {
            continue;
        };
        if matches.value_source(option) == Some(ValueSource::DefaultValue) {
            continue;
        }
        if let Some(missing) = values.map(Path::new).find_map(missing_parent) {
            let message = format!(
                "the folder {} of {name} does not exist: create it, or correct the path\n",
                missing.display()
            );
            return Err(Error::raw(ErrorKind::ValueValidation, message));
        }
    }
    Ok(())
}

/// The folder of an output: it, or that of a file, which has an ending or exists.
fn folder_of(output: &Path) -> Option<&Path> {
    if is_file_name(output) || output.is_file() {
        output.parent()
    } else {
        Some(output)
    }
}

/// The parent of the folder that a command would create for an output, where it does not exist.
fn missing_parent(output: &Path) -> Option<&Path> {
    let folder = folder_of(output)?;
    let parent = folder.parent()?;
    let is_there = parent.as_os_str().is_empty() || parent.exists();
    (!is_there).then_some(parent)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error_of(arguments: &[&str]) -> String {
        let arguments = ["etendue"].iter().chain(arguments).map(OsString::from);
        parse_from(arguments)
            .expect_err("invalid arguments")
            .to_string()
    }

    /// An option of another command gives that command, not an option of a similar name; a typing error gives the option.
    #[test]
    fn an_unknown_option_gives_the_commands_that_have_it() {
        let error = error_of(&["simulate", "arena", "--scan", "x.csv"]);
        assert!(
            error.contains("--scan is an option of `etendue fit`"),
            "{error}"
        );
        assert!(!error.contains("--isa"), "{error}");
        let error = error_of(&["simulate", "arena", "--sweep", "3"]);
        assert!(error.contains("'--sweeps'"), "{error}");
    }

    #[test]
    fn errors_of_numbers_state_what_is_expected() {
        for [option, number] in [
            ["--sweeps", "1.5"],
            ["--sweeps", "abc"],
            ["--seed", "1e3"],
            ["--seed", "-5"],
        ] {
            let error = error_of(&["simulate", option, number]);
            assert!(error.contains("expected a whole number"), "{error}");
            assert!(
                error.contains(&format!("'{number}' for '{option}")),
                "{error}"
            );
        }
        let error = error_of(&["simulate", "--sweeps", "-5"]);
        assert!(error.contains("-5 is not in 1.."), "{error}");
    }

    #[test]
    fn the_definition_of_the_arguments_is_consistent() {
        with_negative_numbers(Cli::command()).debug_assert();
    }

    #[test]
    fn outputs_in_folders_that_do_not_exist_are_refused() {
        for arguments in [
            ["simulate", "-o", "no-such/folder/of/results"].as_slice(),
            &["demo", "street", "-o", "no-such/folder/of/results"],
            &["experiment", "localise", "-o", "no-such/folder/of/results"],
            &[
                "experiment",
                "corridor",
                "--export",
                "no-such/folder/of/results",
            ],
            &[
                "run",
                "robot.toml",
                "--nmea",
                "no-such/folder/of/results/fixes.nmea",
            ],
            &[
                "compare",
                "a.pcd",
                "b.pcd",
                "--html",
                "no-such/folder/of/results/page.html",
            ],
            &[
                "correct",
                "train",
                "drive",
                "--pictures",
                "no-such/folder/of/results",
            ],
        ] {
            let error = error_of(arguments);
            let option = match arguments[arguments.len() - 2] {
                "-o" => "--output",
                long => long,
            };
            assert!(
                error.contains(&format!("no-such/folder/of of {option} does not exist")),
                "{error}"
            );
        }
        assert_eq!(missing_parent(Path::new("new-folder/scan.pcd")), None);
        assert_eq!(missing_parent(Path::new("new-folder")), None);
    }
}
