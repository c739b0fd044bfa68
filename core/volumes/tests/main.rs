//! The formats of volumes: both ways, frozen, and refused where they are not canonical.

mod formats;
mod trees;
