//! How a part of a node ends it over a failure that is no defect, such as a disk that fails.

use std::panic::resume_unwind;

/// Ends the node with these words: as a panic does, and without the report of one
/// ([decision 715](../../../docs/decisions/0715-failures-are-one-sentence.md)).
pub(crate) fn end(words: String) -> ! {
    resume_unwind(Box::new(words))
}
