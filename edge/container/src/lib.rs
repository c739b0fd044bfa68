//! Runs a program in a box that it cannot leave, within limits (003 §9, decision 541).
//!
//! A box is a process tree with its own namespaces of users, processes, mounts, network, messages, names and control groups. Its root in memory has the
//! image read-only. The program runs as user 1000, without capabilities, behind an allow list of system calls and Landlock; control groups limit and count it.
//!
//! - [`Boxes::run`]: from a [`Plan`] to an [`Outcome`].
//! - [`child_main`]: the helper process that builds a box; the program that [`Helper`] names calls it.
//! - [`Egress`]: the proxy through which a box reaches the hosts that it may.
//! - [`Boxes::probe`]: tests each limit in a box, and names those that do not hold.
//! - [`Boxes::clean`]: removes boxes that a crashed runner left.

mod boxes;
mod capture;
mod child;
pub mod egress;
mod error;
mod groups;
mod helper;
mod message;
mod plan;
mod probe;
mod state;
mod supervise;
mod sys;

pub use boxes::Boxes;
pub use child::{child_main, refused_calls};
pub use egress::Egress;
pub use error::BoxError;
pub use helper::Helper;
pub use plan::{
    ARGUMENT_BYTES, Changes, End, Limits, MOUNT_FOLDER, MOUNTS, Mode, Mount, Network, Outcome, Output, Plan, SECRETS, STDIN_BYTES, Usage,
};
pub use probe::Report;
