//! The journaled world and its directories against plain maps.

mod directory;
mod keys;
mod world;
