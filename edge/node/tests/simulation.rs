//! Whole nodes: one over real sockets and files, and whole networks under the deterministic runtime.
//!
//! One binary for all of them, because each instantiates the engine.

#[path = "simulation/adversaries.rs"]
mod adversaries;
#[path = "simulation/away.rs"]
mod away;
#[path = "simulation/beginning.rs"]
mod beginning;
#[path = "simulation/bodies.rs"]
mod bodies;
#[path = "simulation/byzantine.rs"]
mod byzantine;
#[path = "simulation/catching_up.rs"]
mod catching_up;
#[path = "simulation/checks.rs"]
mod checks;
#[path = "simulation/common.rs"]
mod common;
#[path = "simulation/devnet.rs"]
mod devnet;
#[path = "simulation/forging.rs"]
mod forging;
#[path = "simulation/full_disk.rs"]
mod full_disk;
#[path = "simulation/killed.rs"]
mod killed;
#[path = "simulation/network.rs"]
mod network;
#[path = "simulation/resharing.rs"]
mod resharing;
#[path = "simulation/runs.rs"]
mod runs;
#[path = "simulation/script.rs"]
mod script;
#[path = "simulation/seeds.rs"]
mod seeds;
#[path = "simulation/sets.rs"]
mod sets;
#[path = "simulation/timers.rs"]
mod timers;
#[path = "simulation/upgrades.rs"]
mod upgrades;
