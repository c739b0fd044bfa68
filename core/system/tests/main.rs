//! The formats of system actors' records, and documents of trusted environments.

mod formats;
mod tee;
