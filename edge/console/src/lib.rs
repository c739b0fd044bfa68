//! What a person types and sees: arguments as people write them, results as text or JSON, failures with what to do about them.
//!
//! - [`output`]: results on stdout, progress and failures on stderr.
//! - [`failure`]: why a command failed, and its exit code.
//! - [`amount`]: amounts in base units or CBY, and numbers with their nouns. [`payload`]: arguments and results of handlers. [`pairs`]: options like `NAME=VALUE`.

pub mod amount;
pub mod failure;
pub mod output;
pub mod pairs;
pub mod payload;
