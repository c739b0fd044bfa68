//! Executions: what waits is started as far as there is room, and what came of it is noted.

use super::JobManager;
use crate::{
    execute::Limits,
    work::{self, Executed, Work},
};
use cowboy_types::Hash;

impl JobManager {
    /// Begins what waits, as far as there is room.
    pub(super) fn start_work(&mut self) {
        while self.running.len() < self.context.config.runner.max_executing {
            let Some((_, id)) = self.queue.pop_first() else { return };
            let Some(active) = self.jobs.get(&id) else { continue };
            if let Some(record) = self.unkept.remove(&id) {
                self.running.spawn(work::keep(self.context.journal.clone(), id, record));
                continue;
            }
            let work = Work {
                id,
                spec: active.spec.clone(),
                assignment: active.assignment,
                behaviour: self.context.behaviour.clone(),
                is_denied: self.context.config.runner.deny_submitters.iter().any(|denied| denied.parse() == Ok(active.submitter)),
                executors: self.context.executors.clone(),
                journal: self.context.journal.clone(),
                board: self.context.board.clone(),
                limits: Limits::of(&active.spec, &self.context.config),
                hosts: active.hosts.clone(),
                environment: self.context.environment.clone(),
                secrets: self.context.secrets.clone(),
                volumes: self.context.volumes.clone(),
                time_to_keep: self.context.time_to_keep(),
                submitter: active.submitter,
                containers: self.context.params.containers.clone(),
                commit_until: active.view.commit_until,
                height: self.height,
            };
            self.running.spawn(work.run());
        }
    }

    /// Notes what came of an execution. Answers the job.
    pub(super) fn executed(&mut self, done: Result<Executed, tokio::task::JoinError>) -> Option<Hash> {
        match done {
            Ok((id, record, Ok(()))) => {
                self.records.insert(id, record);
                Some(id)
            }
            Ok((id, record, Err(reason))) => {
                // What is not on the disk is not committed to. With the next block it is kept, not made, again: work costs, and may change something.
                tracing::error!(job = %id, %reason, "the result cannot be kept");
                if let Some(active) = self.jobs.get_mut(&id) {
                    active.is_at_work = false;
                    self.unkept.insert(id, record);
                }
                None
            }
            Err(error) => {
                tracing::error!(%error, "an execution broke off");
                None
            }
        }
    }
}
