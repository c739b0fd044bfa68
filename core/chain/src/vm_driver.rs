//! The virtual machine, as deliveries see it.

/// A compiled actor.
#[derive(Clone, Debug)]
pub struct Image(());
