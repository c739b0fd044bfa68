//! Executions: what waits is started as far as there is room, and what came of it is noted.

use super::{Active, JobManager};
use crate::{
    execute::Limits,
    plan::{self, Own, Step},
    work::{self, Executed, Work},
};
use cowboy_types::Hash;
use tokio::task;

/// Executions of a job that may break off. Then the runner reports a fault: work costs, and may change something, so that whoever submits a job that it breaks
/// off with does not have it done in every block.
const BROKEN_OFF: u32 = 2;

impl JobManager {
    /// Begins what waits, as far as there is room.
    pub(super) fn start_work(&mut self) {
        while self.running.len() < self.context.config.runner.max_executing {
            let Some(place) = self.next_in_queue() else { return };
            self.queue.remove(&place);
            let (_, id) = place;
            let Some(active) = self.jobs.get(&id) else { continue };
            // A job that the node did not know for a while is at work still: a second result would not fit the commitment to the first.
            if self.working.values().any(|at_work| *at_work == id) {
                continue;
            }
            if let Some(record) = self.unkept.get(&id) {
                let task = self.running.spawn(work::keep(self.context.journal.clone(), id, record.clone())).id();
                self.working.insert(task, id);
                continue;
            }
            let work = Work {
                id,
                spec: active.spec.clone(),
                assignment: active.assignment,
                behaviour: self.context.behaviour.clone(),
                refusal: self.refusal(active),
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
            let task = self.running.spawn(work.run()).id();
            self.working.insert(task, id);
        }
    }

    /// Why a job is not done, where it is not.
    pub(super) fn refusal(&self, active: &Active) -> Option<&'static str> {
        let is_denied = self.context.config.runner.deny_submitters.iter().any(|denied| denied.parse() == Ok(active.submitter));
        let has_broken = active.broken_off >= BROKEN_OFF;
        let reasons = [(is_denied, "this runner does not work for who asks"), (has_broken, "the runner itself broke off")];
        reasons.into_iter().find(|(does_hold, _)| *does_hold).map(|(_, reason)| reason)
    }

    /// What is begun next, of what waits. While a result that is due waits for the disk, it alone: other work would cost, may change something, and could not
    /// be committed to either.
    pub(super) fn next_in_queue(&self) -> Option<(u64, Hash)> {
        let is_due = |id: &Hash| {
            let active = self.jobs.get(id);
            active.is_some_and(|active| plan::next(&active.view, &self.context.address, Own::Nothing, self.height) == Step::Execute)
        };
        if self.is_disk_full && self.unkept.keys().any(is_due) {
            return self.queue.iter().find(|(_, id)| self.unkept.contains_key(id)).copied();
        }
        self.queue.first().copied()
    }

    /// Notes what came of an execution. Answers the job.
    pub(super) fn executed(&mut self, done: Result<Executed, task::JoinError>) -> Option<Hash> {
        match done {
            Ok((id, record, Ok(()))) => {
                self.is_disk_full = false;
                self.working.retain(|_, at_work| *at_work != id);
                self.unkept.remove(&id);
                self.records.insert(id, record);
                Some(id)
            }
            Ok((id, record, Err(reason))) => {
                // What is not on the disk is not committed to. With the next block it is kept, not made, again: work costs, and may change something.
                // The journal says why it cannot be written, once.
                tracing::debug!(job = %id, %reason, "the result waits");
                self.is_disk_full = true;
                self.working.retain(|_, at_work| *at_work != id);
                self.unkept.insert(id, record);
                self.begin_again(&id);
                None
            }
            Err(error) => {
                // The next block begins it again, or has a fault reported: without a report the runner loses stake.
                let job = self.working.remove(&error.id());
                tracing::error!(job = job.map(tracing::field::display), %error, "an execution broke off");
                let id = job?;
                self.begin_again(&id);
                if let Some(active) = self.jobs.get_mut(&id) {
                    active.broken_off = active.broken_off.saturating_add(1);
                }
                None
            }
        }
    }

    /// Lets the next block begin a job again.
    fn begin_again(&mut self, id: &Hash) {
        if let Some(active) = self.jobs.get_mut(id) {
            active.is_at_work = false;
        }
    }
}
