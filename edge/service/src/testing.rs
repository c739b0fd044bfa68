//! For tests of services: how much they log.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tracing::{
    Event, Metadata, Subscriber,
    span::{Attributes, Id, Record},
};

/// Lines of the log. Clones share the count.
#[derive(Clone, Debug, Default)]
pub struct Lines(Arc<AtomicUsize>);

impl Lines {
    /// How many there were so far.
    pub fn count(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }

    /// Counts what this work logs in this thread.
    pub fn during(&self, work: impl FnOnce()) {
        tracing::subscriber::with_default(self.clone(), work);
    }
}

impl Subscriber for Lines {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, _: &Event<'_>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}
