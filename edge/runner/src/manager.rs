//! The job manager of a runner: the jobs that the chain assigned to it, and the loop that advances each of them.

mod sharing;
#[cfg(test)]
mod tests;
mod working;

use crate::{
    behaviour::{Assignment, Behaviour},
    config::Config,
    execute::Executors,
    feed::{Answers, Tick},
    journal::{Journal, Record},
    metrics::{Board, JobLine},
    peers::Peers,
    plan::{self, Own, Step, View},
    register,
    report::Environment,
    share::Share,
    work::Executed,
};
use cowboy_api::{
    ApiError, Client, Hex,
    error::NOT_FOUND,
    model,
    sender::{Call, Request, Sender},
};
use cowboy_params::Params;
use cowboy_serve::metrics::set;
use cowboy_system::offchain::lower::{self, Offer};
use cowboy_system::requests::market as requests;
use cowboy_types::{
    Address, Hash, Text,
    job::{self, JobSpec},
};
use ed25519_consensus::SigningKey;
use futures::{StreamExt as _, stream};
use sharing::Peer;
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::Duration,
};
use tokio::{
    sync::{broadcast, mpsc},
    task::{self, JoinSet},
};

/// Blocks after which something that was posted and is not seen is posted again.
const REPOST_AFTER: u64 = 6;

/// Blocks after which a job is asked for again, whatever was pushed.
const REFRESH_AFTER: u64 = 8;

/// Blocks between two looks at the runner's own record.
const SELF_EVERY: u64 = 20;

/// Heartbeats within the time after which the chain draws the runner no more, at least.
const HEARTBEATS: u64 = 3;

/// Questions to the node at once.
const AT_ONCE: usize = 8;

/// Jobs of one page.
const PAGE: usize = 1_000;

/// What all jobs of a runner share.
pub(crate) struct Context {
    pub(crate) client: Client,
    pub(crate) address: Address,
    /// The chain, which signatures name.
    pub(crate) genesis: Hash,
    /// What salts are derived from.
    pub(crate) secret: [u8; 32],
    pub(crate) result_key: SigningKey,
    pub(crate) params: Params,
    pub(crate) executors: Executors,
    pub(crate) sender: Sender,
    pub(crate) journal: Arc<Journal>,
    pub(crate) board: Arc<Board>,
    pub(crate) behaviour: Arc<dyn Behaviour>,
    /// What says that results are those of a trusted environment.
    pub(crate) environment: Environment,
    pub(crate) secrets: Arc<crate::secrets::Secrets>,
    pub(crate) volumes: Arc<crate::volumes::Volumes>,
    pub(crate) peers: Peers,
    pub(crate) config: Config,
}

impl Context {
    /// How long keeping what a container wrote may take: the chain's blocks for it (decision 551).
    fn time_to_keep(&self) -> Duration {
        Duration::from_millis(self.params.containers.keep.saturating_mul(self.params.consensus.block_time))
    }
}

/// Something that was posted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Posted {
    step: Step,
    attempt: u64,
    height: u64,
    tries: u32,
}

/// A job under way.
struct Active {
    view: View,
    spec: Arc<JobSpec>,
    assignment: Assignment,
    submitter: Address,
    /// See [`crate::execute::Task::hosts`].
    hosts: Option<Vec<String>>,
    /// Whether it is executed, or waits to be.
    is_at_work: bool,
    broken_off: u32,
    posted: Option<Posted>,
    /// The draw for which the aggregator has, or refused, the revelation.
    shared: Option<u64>,
    shares: BTreeMap<Address, Share>,
    seen_at: u64,
    is_stale: bool,
}

/// The jobs of a runner.
pub(crate) struct JobManager {
    context: Context,
    jobs: BTreeMap<Hash, Active>,
    records: BTreeMap<Hash, Record>,
    /// What came of jobs and is not on the disk yet.
    unkept: BTreeMap<Hash, Record>,
    /// Whether the disk did not take the last result.
    is_disk_full: bool,
    /// What waits to be executed, the nearest deadline first.
    queue: BTreeSet<(u64, Hash)>,
    running: JoinSet<Executed>,
    /// The jobs of what runs.
    working: BTreeMap<task::Id, Hash>,
    peers: BTreeMap<Address, Peer>,
    height: u64,
    heartbeat_at: u64,
    looked_at: u64,
    /// When the environment was last shown to the chain in this run.
    attested_at: Option<u64>,
}

impl JobManager {
    pub(crate) fn new(context: Context, records: BTreeMap<Hash, Record>, heartbeat_at: u64) -> Self {
        Self {
            context,
            jobs: BTreeMap::new(),
            records,
            unkept: BTreeMap::new(),
            is_disk_full: false,
            queue: BTreeSet::new(),
            running: JoinSet::new(),
            working: BTreeMap::new(),
            peers: BTreeMap::new(),
            height: 0,
            heartbeat_at,
            looked_at: 0,
            attested_at: None,
        }
    }

    /// Works until the feed ends.
    pub(crate) async fn work(mut self, mut ticks: broadcast::Receiver<Tick>, mut shares: mpsc::Receiver<Share>) {
        if let Err(error) = self.take_stock().await {
            tracing::warn!(%error, "the node does not say what there is to do");
        }
        self.move_all();
        let mut answers = Answers::default();
        loop {
            // Nothing for all jobs, or the one that something happened to.
            let (looked, touched) = tokio::select! {
                tick = ticks.recv() => match tick {
                    Ok(tick) => (Some(self.tick(tick).await), None),
                    Err(broadcast::error::RecvError::Lagged(_)) => (Some(self.take_stock().await), None),
                    Err(broadcast::error::RecvError::Closed) => return,
                },
                Some(done) = self.running.join_next() => (None, Some(self.executed(done))),
                Some(share) = shares.recv() => {
                    let id = share.job_id.0;
                    // One that is dropped asks the node nothing.
                    (self.take_share(share).await.err().map(Err), Some(Some(id)))
                }
            };
            if let Some(looked) = looked {
                answers.note(&looked);
            }
            match touched {
                None => self.move_all(),
                Some(id) => {
                    if let Some(id) = id {
                        let step = self.move_one(id);
                        self.show(id, step);
                    }
                    self.start_work();
                }
            }
        }
    }

    /// The chain went on.
    async fn tick(&mut self, tick: Tick) -> Result<(), ApiError> {
        self.height = self.height.max(tick.height);
        let own = self.context.address;
        for event in tick.events.iter() {
            if let Some(active) = self.jobs.get_mut(&event.job) {
                active.is_stale = true;
            } else if event.name == "CommitteeDrawn" && event.runners.contains(&own) {
                self.look_at(vec![event.job]).await?;
            }
        }
        if tick.is_whole {
            let height = self.height;
            let stale = self.jobs.iter().filter(|(_, active)| active.is_stale || height > active.seen_at + REFRESH_AFTER);
            let stale: Vec<Hash> = stale.map(|(id, _)| *id).collect();
            self.look_at(stale).await?;
        } else {
            self.take_stock().await?;
        }
        self.beat().await
    }

    /// Asks for all jobs.
    async fn take_stock(&mut self) -> Result<(), ApiError> {
        self.height = self.height.max(self.context.client.height().await?);
        let mut ids: BTreeSet<Hash> = self.jobs.keys().copied().collect();
        let mut offset = 0;
        loop {
            let path = format!("/runner/{}/jobs?offset={offset}&limit={PAGE}", self.context.address);
            let page: model::Jobs = self.context.client.get(&path).await?;
            ids.extend(page.jobs.iter().map(|job| job.job_id.0));
            offset += page.jobs.len();
            if page.jobs.is_empty() || offset as u64 >= page.total_count {
                break;
            }
        }
        self.look_at(ids.into_iter().collect()).await?;
        self.look_back().await
    }

    /// Asks for the jobs of records without one: they are over, or the node did not know them yet.
    async fn look_back(&mut self) -> Result<(), ApiError> {
        let known = self.records.keys().chain(self.unkept.keys());
        let left: Vec<Hash> = known.filter(|id| !self.jobs.contains_key(id)).copied().collect();
        self.look_at(left).await
    }

    /// Asks for jobs, and notes what the chain says of them.
    async fn look_at(&mut self, ids: Vec<Hash>) -> Result<(), ApiError> {
        let client = self.context.client.clone();
        // The chain reads a new job under the parameters of now.
        if ids.iter().any(|id| !self.jobs.contains_key(id)) {
            self.context.params = client.params().await?;
        }
        let answers = stream::iter(ids).map(|id| {
            let client = client.clone();
            async move { (id, client.get::<model::Job>(&format!("/job/{id}")).await) }
        });
        let answers: Vec<_> = answers.buffer_unordered(AT_ONCE).collect().await;
        let mut failed = None;
        for (id, answer) in answers {
            match answer {
                Ok(job) => self.note(id, &job),
                Err(error) if error.code == NOT_FOUND.code => self.forget(&id, None),
                Err(error) => failed = Some(error),
            }
        }
        failed.map_or(Ok(()), Err)
    }

    fn note(&mut self, id: Hash, job: &model::Job) {
        let view = View::of(job);
        let height = self.height;
        if let Some(active) = self.jobs.get_mut(&id) {
            if view.attempt != active.view.attempt {
                active.shares.clear();
            }
            active.view = view;
            active.seen_at = height;
            active.is_stale = false;
            return;
        }
        if plan::next(&view, &self.context.address, Own::Nothing, height) == Step::Forget {
            return self.forget(&id, Some(&view.status));
        }
        let offer = Offer::reading(&self.context.params, job.summary.submitter.0);
        let Ok(spec) = lower::decoded(&job.request.0).and_then(|submission| lower::lower(&offer, &submission)) else {
            tracing::error!(job = %id, "the chain took a job that this program cannot read: update it");
            return;
        };
        let index = view.members.iter().position(|member| member.runner == self.context.address);
        let index = index.and_then(|index| u64::try_from(index).ok()).unwrap_or(u64::MAX);
        let assignment = Assignment { job: id, attempt: view.attempt, index };
        tracing::info!(job = %id, kind = spec.kind.name(), mode = spec.verification.mode.slug(), committee = view.members.len(), "drawn");
        let active = Active {
            view,
            spec: Arc::new(spec),
            assignment,
            submitter: job.summary.submitter.0,
            hosts: job.hosts.clone(),
            is_at_work: false,
            broken_off: 0,
            posted: None,
            shared: None,
            shares: BTreeMap::new(),
            seen_at: height,
            is_stale: false,
        };
        self.jobs.insert(id, active);
    }

    /// Forgets a job of which the chain says this status, or nothing; and what came of it, once nobody can ask for that any more.
    fn forget(&mut self, id: &Hash, status: Option<&str>) {
        self.jobs.remove(id);
        let (jobs, height) = (&self.context.params.jobs, self.height);
        let longest = jobs.timeout_max.saturating_add(jobs.reveal_window);
        let is_over = |record: &Record| plan::is_over(status, record.height, longest, height);
        if self.unkept.get(id).is_some_and(is_over) {
            self.unkept.remove(id);
        }
        if self.records.get(id).is_some_and(is_over) {
            self.records.remove(id);
            let (journal, id) = (self.context.journal.clone(), *id);
            tokio::spawn(async move {
                if let Err(error) = journal.forget(vec![id]).await {
                    // It is forgotten after the next start.
                    tracing::debug!(%error, "the journal keeps what is over");
                }
            });
        }
    }

    /// Says that the runner is there, and looks at what the chain thinks of it.
    async fn beat(&mut self) -> Result<(), ApiError> {
        let at_latest = self.context.params.jobs.heartbeat_timeout / HEARTBEATS;
        if self.height >= self.heartbeat_at.saturating_add(self.context.config.runner.heartbeat_blocks.min(at_latest)) {
            self.heartbeat_at = self.height;
            self.context.sender.post(register::heartbeat());
            self.context.board.metrics.posted("heartbeat");
        }
        if self.height < self.looked_at.saturating_add(SELF_EVERY) {
            return Ok(());
        }
        self.looked_at = self.height;
        self.context.params = self.context.client.params().await?;
        self.look_back().await?;
        if let Some(runner) = register::find(&self.context.client, &self.context.address).await? {
            let metrics = &self.context.board.metrics;
            set(&metrics.reputation, runner.reputation);
            set(&metrics.stake, runner.stake);
            set(&metrics.jobs_done, runner.jobs_done);
            set(&metrics.jobs_failed, runner.jobs_failed);
            set(&metrics.balance, self.context.client.account_or_empty(&self.context.address).await?.balance);
            self.attest(&runner);
            self.context.board.status.lock().expect("nothing panics while it holds the lock").health = runner.health;
        }
        Ok(())
    }

    /// Shows the chain the environment, where it has not seen it in this run, or soon forgets it.
    fn attest(&mut self, runner: &model::Runner) {
        let Some(tee) = &self.context.environment.tee else { return };
        let lifetime = self.context.params.jobs.tee_lifetime;
        let is_fresh = runner.attestation.as_ref().is_some_and(|proven| proven.valid_until > self.height.saturating_add(lifetime / 2));
        let is_under_way = self.attested_at.is_some_and(|at| self.height < at.saturating_add(SELF_EVERY * 2));
        if is_under_way || self.attested_at.is_some() && is_fresh {
            return;
        }
        self.attested_at = Some(self.height);
        self.context.board.metrics.posted("attest");
        let (tee, address, poster) = (tee.clone(), self.context.address, self.context.sender.poster());
        tokio::spawn(async move {
            match tee.attestation(&address).await {
                Ok(request) => poster(Call { tries: 1, ..Call::from(request) }),
                Err(reason) => tracing::error!(reason, "the environment proves nothing"),
            }
        });
    }

    /// Moves every job on.
    fn move_all(&mut self) {
        let ids: Vec<Hash> = self.jobs.keys().copied().collect();
        let mut lines = Vec::with_capacity(ids.len());
        for id in ids {
            let step = self.move_one(id);
            if let Some(active) = self.jobs.get(&id) {
                lines.push(JobLine { job_id: Hex(id), status: active.view.status.clone(), step: step.name().to_owned() });
            }
        }
        self.start_work();
        let metrics = &self.context.board.metrics;
        set(&metrics.height, self.height);
        set(&metrics.jobs, self.jobs.len());
        set(&metrics.executing, self.running.len());
        set(&metrics.waiting, self.queue.len());
        let mut status = self.context.board.status.lock().expect("nothing panics while it holds the lock");
        status.height = self.height;
        status.jobs = lines;
    }

    /// Shows where one job stands now.
    fn show(&self, id: Hash, step: Step) {
        let mut status = self.context.board.status.lock().expect("nothing panics while it holds the lock");
        if let Some(line) = status.jobs.iter_mut().find(|line| line.job_id.0 == id) {
            step.name().clone_into(&mut line.step);
        }
    }

    /// Moves one job on. Answers what is done with it.
    fn move_one(&mut self, id: Hash) -> Step {
        let step = self.step_of(&id);
        self.take_step(id, step);
        step
    }

    fn step_of(&self, id: &Hash) -> Step {
        let Some(active) = self.jobs.get(id) else { return Step::Forget };
        let own = match self.records.get(id) {
            Some(record) => {
                let report = record.report.view().encode();
                let salt = plan::salt(&self.context.secret, &self.context.address, id, active.view.attempt, &report);
                Own::Result(job::commitment(&report, &salt))
            }
            None if active.is_at_work => Own::AtWork,
            None => Own::Nothing,
        };
        let step = plan::next(&active.view, &self.context.address, own, self.height);
        self.context.behaviour.step(&active.assignment, step, &active.view, self.height)
    }

    fn take_step(&mut self, id: Hash, step: Step) {
        match step {
            Step::Wait => {}
            Step::Forget => {
                let status = self.jobs.get(&id).map(|active| active.view.status.clone());
                self.forget(&id, status.as_deref());
            }
            Step::Execute => {
                if let Some(active) = self.jobs.get_mut(&id) {
                    active.is_at_work = true;
                    self.queue.insert((active.view.commit_until, id));
                }
            }
            Step::Share => self.give_away(id),
            Step::Aggregate => self.aggregate(id),
            Step::Submit | Step::Commit | Step::Reveal => {
                let Some(share) = self.own_share(&id) else { return };
                let request = match step {
                    Step::Submit => share.request(false),
                    Step::Reveal => share.request(true),
                    _ => Some(self.commitment(&id, &share)),
                };
                self.post(id, step, request.expect("its own salt and signature have their lengths"));
            }
            Step::AttestCrash => {
                self.post(id, step, requests::attest_crash(id, Text::new("result_lost").expect("a short word")));
            }
        }
    }

    /// Posts a call, unless it is under way already.
    fn post(&mut self, id: Hash, step: Step, request: Request) {
        let height = self.height;
        let Some(active) = self.jobs.get_mut(&id) else { return };
        let before = active.posted.filter(|posted| posted.step == step && posted.attempt == active.view.attempt);
        if before.is_some_and(|posted| height < posted.height + REPOST_AFTER) {
            return;
        }
        let tries = before.map_or(0, |posted| posted.tries + 1);
        active.posted = Some(Posted { step, attempt: active.view.attempt, height, tries });
        tracing::debug!(job = %id, method = request.method, tries, "posted");
        self.context.board.metrics.posted(step.name());
        self.context.sender.post(Call { tries, ..Call::from(request) });
    }

    fn commitment(&self, id: &Hash, share: &Share) -> Request {
        let active = &self.jobs[id];
        let own = cowboy_types::keccak256(&[&share.report.view().encode(), &share.salt.0]);
        let commitment = self.context.behaviour.commitment(&active.assignment, own, &active.view);
        requests::commit(*id, commitment)
    }

    /// This runner's own revelation.
    fn own_share(&self, id: &Hash) -> Option<Share> {
        let (active, record) = (self.jobs.get(id)?, self.records.get(id)?);
        let report = record.report.view();
        let salt = plan::salt(&self.context.secret, &self.context.address, id, active.view.attempt, &report.encode());
        Some(Share {
            job_id: Hex(*id),
            attempt: active.view.attempt,
            runner: Hex(self.context.address),
            salt: Hex(salt.to_vec()),
            signature: Hex(self.context.result_key.sign(&report.signed(&self.context.genesis, id)).to_bytes().to_vec()),
            report: record.report.clone(),
        })
    }
}
