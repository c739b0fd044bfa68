//! The programs as people run them: real processes over the loopback.

mod actor;
mod admin;
mod author;
mod backup;
mod ceremony;
mod client;
mod evidence;
mod failures;
mod fuzz;
mod image;
mod join;
mod limits;
mod network;
mod node;
mod ops;
mod process;
mod rent;
mod tools;
mod twins;
mod upgrade;
mod words;
