//! What authors of actors run on their own computer, without a node: the protocol's own code on a chain in memory.
//!
//! - [`test`]: `cowboy test`, tests of actors in the VM. [`lint`]: `cowboy lint`, what the chain refuses and likely mistakes.
//! - [`simulate`]: `cowboy dev`, one handler of a source. [`vm`]: `cowboy vm`, a script and its instructions.
//! - [`deploy`]: a source with its manifest as an instruction. [`template`]: new projects and actors.
//!
//! The commands are arguments of `clap`; the program that has them is `edge/cli`.

mod chain;
pub mod deploy;
pub mod lint;
mod profile;
pub mod simulate;
pub mod template;
pub mod test;
pub mod vm;
