//! What builtin containers hold now, as a list of its own: for work during which the container may change.
