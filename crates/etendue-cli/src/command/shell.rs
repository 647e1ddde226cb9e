//! `etendue completions` and `etendue man`.

use crate::Cli;
use crate::failure::Failure;
use crate::folder::Folder;
use crate::output::print;
use clap::{Args, Command, CommandFactory};
use clap_complete::Shell;
use clap_mangen::Man;
use std::path::PathBuf;

/// Name of the program.
const PROGRAM: &str = "etendue";

/// Arguments of `etendue completions`.
#[derive(Debug, Args)]
#[command(
    after_help = "Example: mkdir -p ~/.local/share/bash-completion/completions\n         \
    etendue completions bash > ~/.local/share/bash-completion/completions/etendue"
)]
pub struct Completions {
    /// Shell
    shell: Shell,
}

impl Completions {
    /// Prints the script.
    pub fn run(&self) -> Result<(), Failure> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut Cli::command(), PROGRAM, &mut script);
        print(&String::from_utf8_lossy(&script))
    }
}

/// Arguments of `etendue man`.
#[derive(Debug, Args)]
#[command(
    after_help = "Example: etendue man -o man1\n  writes man1/etendue.1, man1/etendue-simulate.1, ..."
)]
pub struct ManPages {
    /// Folder for one page per command
    #[arg(short, long, value_name = "DIR", default_value = "man")]
    output: PathBuf,
}

impl ManPages {
    /// Writes the pages.
    pub fn run(&self) -> Result<(), Failure> {
        let mut command = Cli::command();
        command.build();
        let mut folder = Folder::new(&self.output);
        add_pages(&mut folder, &command, PROGRAM)?;
        folder.commit_and_list()
    }
}

/// Adds the page of a command and those of its subcommands.
fn add_pages(folder: &mut Folder, command: &Command, name: &str) -> Result<(), Failure> {
    let mut page = Vec::new();
    Man::new(command.clone().display_name(name.to_owned())).render(&mut page)?;
    folder.bytes(&format!("{name}.1"), page);
    for inner in command
        .get_subcommands()
        .filter(|inner| inner.get_name() != "help")
    {
        add_pages(folder, inner, &format!("{name}-{}", inner.get_name()))?;
    }
    Ok(())
}
