//! The system actors.
