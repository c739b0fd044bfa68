//! Where objects lie: a payload with its class and its counts, and the shapes of instances.

use super::Payload;
use crate::value::Ref;

/// One object.
#[derive(Clone, Debug)]
pub(crate) struct Slot {
    /// References from registers, objects and tables.
    pub count: u32,
    /// Its class.
    pub class: Ref,
    /// Its label for the cycle barrier: smaller than that of every container it holds. `i32::MAX` while never stored anywhere.
    pub depth: i32,
    /// What it is.
    pub payload: Payload,
}

/// Which attributes instances with the same history have, and where.
#[derive(Clone, Debug, Default)]
pub(crate) struct Shape {
    /// Attribute names by position.
    pub names: Vec<Ref>,
}

// An object is a line of the processor's cache.
const _: () = assert!(size_of::<Slot>() <= 64, "a cache line");
