//! What the program logs, on stderr: text for people, or a JSON object a line.

use clap::ValueEnum;
use std::io::IsTerminal as _;
use tracing_subscriber::EnvFilter;

/// How log lines look.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogFormat {
    /// Plain text.
    #[default]
    Text,
    /// One JSON object per line.
    Json,
}

/// Begins to log. `RUST_LOG` says what; warnings where it says nothing.
pub(crate) fn begin(format: LogFormat, default: &str) {
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new(default));
    let logger = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).with_ansi(std::io::stderr().is_terminal());
    // A second beginning, as in tests, keeps the first.
    let _ = match format {
        LogFormat::Text => logger.with_target(false).try_init(),
        LogFormat::Json => logger.json().flatten_event(true).try_init(),
    };
}
