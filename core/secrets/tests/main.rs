//! The formats of secrets: both ways, frozen, and refused where they are not canonical.

mod formats;
mod policy;
