//! Why a box did not run.

use std::io;

/// Why a box did not run. None of these is the program's end.
#[derive(Debug, thiserror::Error)]
pub enum BoxError {
    /// The plan is wrong.
    #[error("{0}")]
    Plan(String),
    /// The program cannot be started.
    #[error("{program:?} cannot be started: {reason}; name a program that is in the image and may be executed")]
    Start {
        /// The program.
        program: String,
        /// What the kernel says.
        reason: io::Error,
    },
    /// A step of the isolation failed, so nothing was started.
    #[error("the box was not built, {step}: {reason}; `doctor` names what the computer lacks")]
    Step {
        /// The step.
        step: String,
        /// What the kernel says.
        reason: io::Error,
    },
    /// The computer lacks control groups.
    #[error("no control group limits {0}: mount cgroup v2, or v1 with cpu, cpuacct, memory and pids")]
    Groups(&'static str),
    /// All ids for boxes are in use.
    #[error("{0} boxes exist, which is the maximum: wait for one to end")]
    Full(u32),
    /// The helper ended without an answer.
    #[error("the helper of the box ended without a result: {0}")]
    Helper(String),
    /// A file operation on the host failed.
    #[error("{what}: {reason}")]
    Host {
        /// The operation.
        what: String,
        /// What the kernel says.
        reason: io::Error,
    },
}

impl BoxError {
    pub(crate) fn host(what: impl Into<String>) -> impl FnOnce(io::Error) -> Self {
        let what = what.into();
        move |reason| Self::Host { what, reason }
    }
}
