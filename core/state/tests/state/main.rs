//! The journaled world and its directories against plain maps.

mod directory;
mod formats;
mod keys;
mod world;
