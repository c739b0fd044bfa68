//! What is made of a profile: a flame graph, cycles by source line, and snapshots that CI compares.

use clap::Args;
use cowboy_console::{failure::Failure, output};
use cowboy_vm::Profile;
use std::{
    collections::BTreeMap,
    fmt::Write as _,
    path::{Path, PathBuf},
};

/// Where the cycles go.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Cycles")]
pub(crate) struct Looks {
    /// Write a flame graph of the cycles as an SVG file
    #[arg(long, value_name = "FILE")]
    profile: Option<PathBuf>,
    /// Print every source line with its cycles and visits
    #[arg(long)]
    lines: bool,
    /// Write the cycles to a file, for --check to compare with
    #[arg(long, value_name = "FILE")]
    cycles_snapshot: Option<PathBuf>,
    /// Compare with the snapshot instead of writing it; fail if anything differs
    #[arg(long, requires = "cycles_snapshot")]
    check: bool,
}

impl Looks {
    /// Whether runs have to be profiled.
    pub(crate) fn is_profiling(&self) -> bool {
        self.profile.is_some() || self.lines
    }

    /// Writes and prints what was asked for. `sources` are the texts of the files that the profile names; `charged` are all cycles of the
    /// run, of which those beside Python (transactions, bytes, host calls outside the VM) get a box of their own.
    pub(crate) fn show(&self, profile: &Profile, sources: &BTreeMap<String, String>, charged: u64) -> Result<(), Failure> {
        if let Some(path) = &self.profile {
            let beside = charged.saturating_sub(profile.cycles());
            if profile.cycles() == 0 && beside == 0 {
                output::note(format_args!("nothing ran, so there is no flame graph in {}", path.display()));
                return Ok(());
            }
            let svg = flame_graph(profile, beside)?;
            std::fs::write(path, svg).map_err(Failure::file(path))?;
            let note = match beside {
                0 => String::new(),
                beside => format!(": {} in Python, {beside} for transactions and their bytes", profile.cycles()),
            };
            output::note(format_args!("{} cycles in {}{note}", profile.cycles().saturating_add(beside), path.display()));
        }
        if self.lines {
            output::note(by_line(profile, sources).trim_end());
        }
        Ok(())
    }

    /// Writes the snapshot, or compares with it.
    pub(crate) fn snapshot(&self, cycles: &BTreeMap<String, u64>) -> Result<(), Failure> {
        let Some(path) = &self.cycles_snapshot else { return Ok(()) };
        if !self.check {
            let text = serde_json::to_string_pretty(cycles).expect("names and numbers are JSON");
            return std::fs::write(path, text + "\n").map_err(Failure::file(path));
        }
        let text = std::fs::read_to_string(path).map_err(Failure::file(path))?;
        let before: BTreeMap<String, u64> = serde_json::from_str(&text).map_err(|error| {
            Failure::argument(
                format!("{} is not a snapshot: {error}", path.display()),
                "create it again with the same command, without --check",
            )
        })?;
        let changes = changes(&before, cycles);
        if changes.is_empty() {
            return Ok(());
        }
        Err(Failure::refused(
            format!("cycles differ from {}:\n{}", path.display(), changes.trim_end()),
            "check the changes; if they are intended, run again without --check and commit the file",
        ))
    }
}

/// One line for each name whose cycles are others now.
fn changes(before: &BTreeMap<String, u64>, now: &BTreeMap<String, u64>) -> String {
    let mut text = String::new();
    for (name, &old) in before {
        match now.get(name) {
            Some(&new) if new == old => {}
            Some(&new) => {
                let sign = if new > old { '+' } else { '-' };
                let tenths = new.abs_diff(old).saturating_mul(1_000).checked_div(old).unwrap_or(1_000);
                writeln!(text, "  {name}: {old} -> {new} ({sign}{}.{} %)", tenths / 10, tenths % 10).expect("a string takes everything");
            }
            None => writeln!(text, "  {name}: {old} -> gone").expect("a string takes everything"),
        }
    }
    for (name, new) in now.iter().filter(|(name, _)| !before.contains_key(*name)) {
        writeln!(text, "  {name}: new -> {new}").expect("a string takes everything");
    }
    text
}

/// The box of the cycles that no line of Python used.
const BESIDE: &str = "transactions and their bytes";

fn flame_graph(profile: &Profile, beside: u64) -> Result<Vec<u8>, Failure> {
    let stack = |stack: &[std::sync::Arc<str>]| stack.iter().map(|frame| frame.replace(';', ",")).collect::<Vec<_>>().join(";");
    let mut folded: Vec<String> = profile.stacks.iter().map(|(frames, cycles)| format!("{} {cycles}", stack(frames))).collect();
    folded.extend((beside > 0).then(|| format!("{BESIDE} {beside}")));
    let mut options = inferno::flamegraph::Options::default();
    options.title = "Cycles".to_owned();
    options.count_name = "cycles".to_owned();
    options.deterministic = true;
    let mut svg = Vec::new();
    inferno::flamegraph::from_lines(&mut options, folded.iter().map(String::as_str), &mut svg)
        .map_err(|error| Failure::Node(format!("the flame graph cannot be drawn: {error}")))?;
    Ok(svg)
}

/// The sources, each line with its cycles, its share and its visits.
fn by_line(profile: &Profile, sources: &BTreeMap<String, String>) -> String {
    let total = profile.cycles().max(1);
    let mut page = String::new();
    let mut files: Vec<&str> = profile.lines.keys().map(|(file, _)| &**file).collect();
    files.dedup();
    for file in files {
        writeln!(page, "{file}\n      cycles      %    visits  line").expect("a string takes everything");
        let texts: Vec<&str> = sources.get(file).map(|source| source.lines().collect()).unwrap_or_default();
        let counts = profile.lines.iter().filter(|((name, line), _)| &**name == file && *line > 0);
        for ((_, line), count) in counts {
            // What is beyond the text is the call that runs a test.
            let Some(text) = usize::try_from(*line).ok().and_then(|line| texts.get(line.saturating_sub(1))) else { continue };
            let share = count.cycles.saturating_mul(1_000) / total;
            writeln!(page, "{:>12} {:>4}.{} {:>9}  {line:>4}  {text}", count.cycles, share / 10, share % 10, count.visits)
                .expect("a string takes everything");
        }
    }
    page
}

/// The texts of files, by the names that profiles have for them.
pub(crate) fn sources(names: impl IntoIterator<Item = String>, folder: &Path) -> BTreeMap<String, String> {
    let read = |name: String| {
        let beside = folder.join(&name);
        let text = std::fs::read_to_string(&beside).or_else(|_| std::fs::read_to_string(&name)).ok()?;
        Some((name, text))
    };
    names.into_iter().filter_map(read).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_name_what_is_more_less_new_and_gone() {
        let table = |rows: &[(&str, u64)]| rows.iter().map(|(name, cycles)| ((*name).to_owned(), *cycles)).collect::<BTreeMap<_, _>>();
        let before = table(&[("a", 1_000), ("b", 1_000), ("c", 5), ("d", 7)]);
        let now = table(&[("a", 1_025), ("b", 999), ("c", 5), ("e", 9)]);
        assert_eq!(changes(&before, &now), "  a: 1000 -> 1025 (+2.5 %)\n  b: 1000 -> 999 (-0.1 %)\n  d: 7 -> gone\n  e: new -> 9\n");
        assert_eq!(changes(&before, &before), "");
    }
}
