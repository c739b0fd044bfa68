//! `cowboy completions` and `cowboy man`: what shells and readers of manuals expect of a program.

use super::Cli;
use clap::{Args, CommandFactory as _};
use clap_complete::Shell;
use cowboy_console::{
    failure::Failure,
    output::{self, Output},
};
use serde_json::json;
use std::path::PathBuf;

/// Print what makes a shell complete commands and options.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  cowboy completions bash > ~/.local/share/bash-completion/completions/cowboy
  cowboy completions zsh > ~/.zfunc/_cowboy
  cowboy completions fish > ~/.config/fish/completions/cowboy.fish")]
pub(crate) struct Completions {
    /// The shell
    shell: Shell,
}

/// Write the manual pages of every command.
#[derive(Args, Debug)]
#[command(after_help = "Example:
  cowboy man ~/.local/share/man/man1 && man cowboy-actor-deploy")]
pub(crate) struct Man {
    /// The folder to write them to
    folder: PathBuf,
}

impl Completions {
    pub(crate) fn run(self) {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut Cli::command(), "cowboy", &mut script);
        output::text(&String::from_utf8_lossy(&script));
    }
}

impl Man {
    pub(crate) fn run(self, output: Output) -> Result<(), Failure> {
        std::fs::create_dir_all(&self.folder).map_err(Failure::file(&self.folder))?;
        clap_mangen::generate_to(Cli::command(), &self.folder).map_err(Failure::file(&self.folder))?;
        let folder = self.folder.display().to_string();
        output
            .result(&json!({ "folder": folder }), format_args!("Manual pages written to {folder}; read one with man -l {folder}/cowboy.1"));
        Ok(())
    }
}
