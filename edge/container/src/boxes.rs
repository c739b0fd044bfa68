//! The boxes of a runner.

use crate::error::BoxError;
use crate::helper::Helper;
use crate::message::Task;
use crate::plan::{Outcome, Plan};
use crate::probe::{self, Report};
use crate::state::State;
use crate::supervise;
use std::future::Future;
use std::path::Path;
use tokio::sync::oneshot;

/// The boxes of a runner.
#[derive(Clone, Debug)]
pub struct Boxes {
    state: State,
    helper: Helper,
}

impl Boxes {
    /// Boxes whose traces are in this folder, which is made if it is missing.
    ///
    /// # Errors
    /// If the computer lacks control groups, or the folder cannot be made.
    pub fn open(folder: &Path, helper: Helper) -> Result<Self, BoxError> {
        Ok(Self { state: State::open(folder)?, helper })
    }

    /// Runs a program. It ends early when `cancel` is ready, or when the returned future is dropped; then the box is removed in the background.
    ///
    /// # Errors
    /// If the program was not started, or its box could not be removed. What the program does is an [`Outcome`].
    pub async fn run(&self, plan: Plan, cancel: impl Future<Output = ()> + Send + 'static) -> Result<Outcome, BoxError> {
        plan.check()?;
        let task = Task::Program(plan.command.clone());
        self.start(plan, task, cancel).await
    }

    async fn start(&self, plan: Plan, task: Task, cancel: impl Future<Output = ()> + Send + 'static) -> Result<Outcome, BoxError> {
        let (alive, dropped) = oneshot::channel::<()>();
        let (state, helper) = (self.state.clone(), self.helper.clone());
        let running = tokio::spawn(async move {
            let stop = async {
                tokio::select! {
                    () = cancel => {}
                    _ = dropped => {}
                }
            };
            supervise::run(&state, &helper, plan, task, stop).await
        });
        let outcome = running.await.map_err(|error| BoxError::Helper(error.to_string()))?;
        drop(alive);
        outcome
    }

    /// Tests every limit of a box from within, and returns which ones hold.
    ///
    /// # Errors
    /// If no box can be built; the error names the step.
    pub async fn probe(&self) -> Result<Report, BoxError> {
        let outcome = self.start(probe::plan(), Task::Probe, std::future::pending()).await?;
        Ok(probe::report(&outcome))
    }

    /// Removes boxes that runners left that are gone, and returns their number. Boxes of living runners stay.
    ///
    /// # Errors
    /// If processes do not end, or a file stays.
    pub async fn clean(&self) -> Result<u32, BoxError> {
        let state = self.state.clone();
        tokio::task::spawn_blocking(move || state.clean()).await.map_err(|error| BoxError::Helper(error.to_string()))?
    }
}
