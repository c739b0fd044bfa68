//! What the program logs, on stderr: text for people, or a JSON object a line.

use clap::ValueEnum;
use cowboy_rpc::LogFilter;
use std::{
    io::{self, IsTerminal as _, Write},
    panic,
    sync::{Arc, OnceLock},
};
use tracing_subscriber::{EnvFilter, reload::Handle};

/// How log lines look.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogFormat {
    /// Plain text.
    #[default]
    Text,
    /// One JSON object per line.
    Json,
}

/// What is logged of a node's engine, as the end of a filter. It warns about every fresh folder, and about its first block at each restart. The last three
/// say that a part panicked or that another one is gone, of which the node's error has the reason.
pub(crate) const ENGINE: &str = "commonware_storage=error,commonware_runtime=error,commonware_consensus::marshal::core::actor=error,\
    commonware_runtime::utils::handle=off,commonware_broadcast::buffered::engine=off,commonware_resolver::p2p::engine=off";

/// What this process logs.
static FILTER: OnceLock<Arc<dyn LogFilter>> = OnceLock::new();

/// Begins to log. `RUST_LOG` says what; warnings where it says nothing.
pub(crate) fn begin(format: LogFormat, default: &str) {
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new(default));
    let logger = tracing_subscriber::fmt().with_env_filter(filter).with_writer(|| OneLine).with_ansi(io::stderr().is_terminal());
    let begun = match format {
        LogFormat::Text => {
            let logger = logger.with_target(false).with_filter_reloading();
            let filter: Arc<dyn LogFilter> = Arc::new(Reloaded(logger.reload_handle()));
            logger.try_init().map(|()| filter)
        }
        LogFormat::Json => {
            let logger = logger.json().flatten_event(true).with_filter_reloading();
            let filter: Arc<dyn LogFilter> = Arc::new(Reloaded(logger.reload_handle()));
            logger.try_init().map(|()| filter)
        }
    };
    // A second beginning, as in tests, keeps the first.
    if let Ok(filter) = begun {
        let _ = FILTER.set(filter);
        leave_out_explained_panics();
    }
}

/// Prints no report of a panic in a node's engine that the node's error tells of, such as one over a full disk: it is logged at level `debug` (decisions 715 and 738).
fn leave_out_explained_panics() {
    let report = panic::take_hook();
    panic::set_hook(Box::new(move |panicked| match cowboy_node::is_explained(panicked.payload()) {
        true => tracing::debug!(%panicked, "a part of the node ended"),
        false => report(panicked),
    }));
}

/// What is logged, to be seen and changed while the program runs; `None` where nothing is.
pub(crate) fn filter() -> Option<Arc<dyn LogFilter>> {
    FILTER.get().cloned()
}

/// Writes each event to stderr as one line. An error may have several, and no text of others may look like a line of the log.
#[derive(Debug)]
struct OneLine;

impl Write for OneLine {
    /// Takes a whole event, as the logger gives it.
    fn write(&mut self, event: &[u8]) -> io::Result<usize> {
        io::stderr().write_all(&one_line(event))?;
        Ok(event.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stderr().flush()
    }
}

/// The lines of an event, one behind the other.
fn one_line(event: &[u8]) -> Vec<u8> {
    let lines = event.split(|byte| matches!(byte, b'\n' | b'\r')).map(<[u8]>::trim_ascii).filter(|line| !line.is_empty());
    let mut line = lines.collect::<Vec<_>>().join(&b"; "[..]);
    line.push(b'\n');
    line
}

/// The filter of a logger that writes as `S` does.
struct Reloaded<S>(Handle<EnvFilter, S>);

impl<S> LogFilter for Reloaded<S> {
    fn current(&self) -> String {
        self.0.with_current(EnvFilter::to_string).unwrap_or_default()
    }

    fn replace(&self, filter: &str) -> Result<(), String> {
        // An expression in a directive could take long on each line that is logged.
        let parsed = EnvFilter::builder().with_regex(false).parse(filter).map_err(|error| error.to_string())?;
        self.0.reload(parsed).map_err(|error| error.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tracing_subscriber::reload::Layer;

    /// What is logged is one line, whatever an error or somebody else's text has in it.
    #[test]
    fn an_event_is_one_line() {
        for (event, line) in [
            ("WARN all is well\n", "WARN all is well\n"),
            ("WARN refused error=no\n  why: late\n  fix: wait\n", "WARN refused error=no; why: late; fix: wait\n"),
            ("WARN said=a\r\n\r\n2026 ERROR forged\n", "WARN said=a; 2026 ERROR forged\n"),
            ("", "\n"),
        ] {
            assert_eq!(one_line(event.as_bytes()), line.as_bytes(), "{event:?}");
        }
    }

    /// Every directive of the engine's part of a filter is one.
    #[test]
    fn the_filter_of_the_engine_is_read() {
        let filter: EnvFilter = ENGINE.parse().expect("a filter");
        let shown = filter.to_string();
        assert!(ENGINE.split(',').all(|directive| shown.contains(directive)), "{shown}");
    }

    /// A filter is replaced as a whole, and one that is none changes nothing.
    #[test]
    fn the_filter_is_replaced() {
        let (layer, handle) = Layer::<EnvFilter, tracing_subscriber::Registry>::new(EnvFilter::new("warn"));
        let filter = Reloaded(handle);
        assert_eq!(filter.current(), "warn");
        assert_eq!(filter.replace("info,cowboy_overlay=debug"), Ok(()));
        let current = filter.current();
        assert!(current.contains("cowboy_overlay=debug") && current.contains("info"), "{current}");
        assert!(filter.replace("cowboy_overlay=loud").is_err());
        assert_eq!(filter.current(), current);
        drop(layer);
        assert!(filter.replace("warn").is_err(), "nothing is logged any more");
    }
}
