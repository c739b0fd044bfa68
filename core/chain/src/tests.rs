//! The transition, driven over a map as a node drives it over its store.

mod actors;
mod blocks;
mod economy;
mod entitlements;
mod examples;
mod gateways;
mod governance;
pub(crate) mod harness;
mod market;
mod messages;
mod mutations;
mod names;
mod permissions;
mod properties;
mod python;
mod queries;
mod randomness;
mod refusals;
mod rent;
mod seams;
mod signatures;
mod staking;
mod timers;
mod tokens;
mod transfers;
mod vectors;
mod web;
