//! Jobs of containers: a program of an image, in a box that it cannot leave (003 §9; decisions 163 to 165).
//!
//! What a job says of its container is read by the code that the chain checked it with. An image comes from where the operator says, and is the one
//! whose digest the job names. Boxes that run at the same time share what the operator gives: a job waits until there is room for it.

mod images;
mod outcome;
mod room;
mod task;
mod volumes;

pub use task::{ContainerSecrets, ContainerTask};
pub use volumes::Volumes;

use super::{
    Executor, Fault, NotReady, Task, Usage,
    guard::{Guard, SystemLookup},
};
use crate::config::{self, Config};
use cowboy_container::{Boxes, Egress, End, Helper, Limits, Network, Outcome, Plan, Report};
use cowboy_host::clock::as_ms;
use cowboy_image::Image;
use cowboy_system::offchain::container::{ContainerJob, written_mib};
use cowboy_types::job::JobKind;
use futures::future::BoxFuture;
use images::Images;
use room::{Place, Room};
use std::{
    path::PathBuf,
    sync::Arc,
    time::{Duration, Instant},
};
use tokio::sync::oneshot;

/// Time between SIGTERM and SIGKILL. Jobs of less than ten times as much have a tenth of their time.
const GRACE: Duration = Duration::from_secs(10);

/// How long after its time a job may take to be removed.
pub(super) const REMOVAL: Duration = Duration::from_secs(2);

/// Processes and threads of a container.
const PIDS: u32 = 256;

/// Does jobs of containers.
pub struct ContainerExecutor {
    settings: config::Container,
    platform: (&'static str, u8),
    boxes: Boxes,
    images: Images,
    room: Room,
    guard: Guard,
}

impl ContainerExecutor {
    /// One with these settings, whose boxes leave their traces in the runner's state. The rules for hosts are those of web jobs.
    pub fn new(settings: &config::Container, config: &Config) -> Result<Self, NotReady> {
        let wrong = |reason: String| NotReady { kind: "container", reason };
        let platform = config::own_platform().ok_or_else(|| wrong(format!("no containers run on {}", std::env::consts::ARCH)))?;
        let boxes = Boxes::open(&config.runner.state.join("boxes"), Helper::this_program()).map_err(|error| wrong(error.to_string()))?;
        let http = config.http.clone().unwrap_or_default();
        Ok(Self {
            platform,
            boxes,
            images: Images::new(settings, config, &http).map_err(wrong)?,
            room: Room::new(settings.cpu_millicores, settings.memory_mib + settings.scratch_mib),
            guard: Guard::new(&http, Arc::new(SystemLookup)),
            settings: settings.clone(),
        })
    }

    /// Tests the limits of a box. Returns those that hold.
    async fn probe(&self) -> Result<String, String> {
        room::require_computer(&self.settings)?;
        let report = self.boxes.probe().await.map_err(|error| error.to_string())?;
        limits_of(&report)
    }

    /// Refuses what this runner does not do.
    fn require_possible(&self, job: &ContainerJob, task: &Task) -> Result<(), Fault> {
        if job.platforms & self.platform.1 == 0 {
            return Err(Fault::External(format!("this runner runs programs for {} only", self.platform.0)));
        }
        match &task.hosts {
            Some(patterns) => job.hosts.iter().try_for_each(|host| super::http::granted(patterns, host)),
            None => Ok(()),
        }
    }

    fn plan(&self, image: &Image, given: &ContainerTask, limits: Limits, folders: Vec<PathBuf>) -> Result<Plan, Fault> {
        let job = &given.job;
        let command = image.config.arguments(&job.command);
        if command.is_empty() {
            return Err(Fault::Actor("neither the job nor the image names a program".into()));
        }
        let network = match job.hosts.as_slice() {
            [] => Network::None,
            hosts => {
                let egress = Egress::new(hosts.iter().cloned(), Arc::new(self.guard.clone()));
                Network::Proxy(egress.map_err(|refusal| Fault::Actor(refusal.to_string()))?)
            }
        };
        Ok(Plan {
            working_dir: image.config.working_dir.clone(),
            env: given.environment(&image.config.environment),
            stdin: job.stdin.clone(),
            limits,
            mounts: volumes::mounts(&job.mounts, folders),
            secrets: given.secrets.files.clone(),
            network,
            ..Plan::new(&image.rootfs, command)
        })
    }

    /// Starts a box, and holds its image and its place until it is removed, also where nobody waits for it any more. What was written to volumes is
    /// memory that its place stands for.
    async fn run(&self, plan: Plan, image: Image, place: Place) -> Result<(Outcome, Place), Fault> {
        let (alive, dropped) = oneshot::channel::<()>();
        let boxes = self.boxes.clone();
        let running = tokio::spawn(async move {
            let outcome = boxes.run(plan, async { drop(dropped.await) }).await;
            drop(image);
            (outcome, place)
        });
        let (outcome, place) = running.await.map_err(|error| Fault::External(format!("the container broke off: {error}")))?;
        drop(alive);
        Ok((outcome.map_err(|error| outcome::not_started(&error))?, place))
    }
}

impl Executor for ContainerExecutor {
    fn kind(&self) -> JobKind {
        JobKind::Container
    }

    fn check(&self) -> BoxFuture<'_, Result<String, String>> {
        Box::pin(async move {
            self.images.check()?;
            let held = self.probe().await?;
            let config::Container { cpu_millicores, memory_mib, scratch_mib, .. } = self.settings;
            let given = format!("{cpu_millicores} millicores, {memory_mib} MiB of memory and {scratch_mib} MiB of files");
            Ok(format!("{} with {given}; these limits hold: {held}", self.platform.0))
        })
    }

    /// Removes boxes that a runner left which was killed, and refuses a computer on which a limit does not hold.
    fn prepare(&self) -> BoxFuture<'_, Result<(), String>> {
        Box::pin(async move {
            let removed = self.boxes.clean().await.map_err(|error| error.to_string())?;
            if removed > 0 {
                tracing::warn!(removed, "an earlier run of this runner left containers, which are removed");
            }
            self.images.open()?;
            self.probe().await.map(drop)
        })
    }

    fn execute<'a>(&'a self, task: &'a Task, usage: &'a mut Usage) -> BoxFuture<'a, Result<Vec<u8>, Fault>> {
        Box::pin(async move {
            let given =
                task.container.as_ref().ok_or_else(|| Fault::External("the runner did not read the container of the job".into()))?;
            self.require_possible(&given.job, task)?;
            let time = Time { began: Instant::now(), wall: task.limits.wall };
            let image = time.within("the image is fetched", self.images.obtain(given)).await??;
            let folders = match given.volumes()? {
                Some(volumes) => time.within("the volumes are fetched", volumes.fetch()).await??,
                None => Vec::new(),
            };
            let asked = Asked::of(&given.job);
            let memory = asked.memory_mib.saturating_add(asked.scratch_mib).saturating_add(asked.volumes_mib);
            let place = time.within("other containers run", self.room.take(asked.cpu_millicores, memory)).await??;
            let limits = Limits {
                cpu_millicores: asked.cpu_millicores,
                memory_mib: asked.memory_mib,
                scratch_mib: asked.scratch_mib,
                pids: PIDS,
                max_duration: time.left()?,
                grace: time.grace(),
                result_bytes: task.limits.result_bytes,
                ..Limits::default()
            };
            let (duration, plan) = (limits.max_duration, self.plan(&image, given, limits, folders)?);
            let since = Instant::now();
            let (mut outcome, _place) = self.run(plan, image, place).await?;
            let held_ms = as_ms(since.elapsed());
            usage.compute_ms = billed_ms(outcome.usage.cpu_ms, held_ms, asked.cpu_millicores, given.held_share);
            usage.memory_mb = outcome.usage.peak_memory_mib;
            usage.requests = outcome.usage.egress_requests;
            let changes = std::mem::take(&mut outcome.changes);
            given.secrets.hide(&mut outcome);
            let result = outcome::result(&outcome, given.job.output).map_err(|fault| time.explained(fault, outcome.end, duration))?;
            // What nobody will see as a result changes nothing: files come last.
            task.require_short(&result)?;
            given.secrets.require_absent(&result)?;
            if let (Some(volumes), false) = (given.volumes()?, changes.is_empty()) {
                let kept = tokio::time::timeout(volumes.time_to_keep(), volumes.keep(changes)).await;
                kept.map_err(|_| Fault::External("what the program wrote could not be kept in time".into()))??;
            }
            Ok(result)
        })
    }
}

/// Milliseconds of processors that a container pays for: those that it used, and at least a share, in basis points, of those that it held.
fn billed_ms(used_ms: u64, held_ms: u64, cpu_millicores: u32, held_share: u64) -> u64 {
    let held = u128::from(held_ms).saturating_mul(u128::from(cpu_millicores)).saturating_mul(u128::from(held_share));
    used_ms.max(u64::try_from(held / (1_000 * 10_000)).unwrap_or(u64::MAX))
}

/// The limits that hold, or those for which containers are not offered.
fn limits_of(report: &Report) -> Result<String, String> {
    if report.is_safe() {
        return Ok(report.held.join(", "));
    }
    Err(format!("containers are not offered, because a program could get past these limits: {}", report.broken.join("; ")))
}

/// What a job asks for, as far as a box has to have it.
struct Asked {
    cpu_millicores: u32,
    memory_mib: u32,
    scratch_mib: u32,
    /// What is written to volumes.
    volumes_mib: u32,
}

impl Asked {
    fn of(job: &ContainerJob) -> Self {
        let small = |number: u64| u32::try_from(number).unwrap_or(u32::MAX);
        let number = |count: cowboy_types::units::Count| small(count.0);
        Self {
            // A job that asks for less than a program runs with has as much.
            cpu_millicores: number(job.resources.cpu_millicores).max(Limits::MIN_MILLICORES),
            memory_mib: number(job.resources.memory_mib).max(Limits::MIN_MEMORY_MIB),
            scratch_mib: number(job.resources.scratch_mib),
            volumes_mib: small(written_mib(&job.mounts)),
        }
    }
}

/// The time of a job, in which its image is fetched and its program runs. The chain waits a few blocks longer for the result.
struct Time {
    began: Instant,
    wall: Duration,
}

impl Time {
    fn grace(&self) -> Duration {
        GRACE.min(self.wall / 10)
    }

    /// The time until SIGTERM.
    fn left(&self) -> Result<Duration, Fault> {
        let left = self.wall.checked_sub(self.grace() + self.began.elapsed()).filter(|left| !left.is_zero());
        left.ok_or_else(|| Fault::External("the job's time was over before its program could start".into()))
    }

    /// Waits, but not for longer than the job has time.
    async fn within<T>(&self, what: &str, work: impl Future<Output = T>) -> Result<T, Fault> {
        let end = tokio::time::Instant::from_std(self.began + self.wall);
        let late = |_| Fault::External(format!("after {} ms, all of the job's time, {what}", self.wall.as_millis()));
        tokio::time::timeout_at(end, work).await.map_err(late)
    }

    /// Too little time is the runner's concern where most of it went by before the program started.
    fn explained(&self, fault: Fault, end: End, duration: Duration) -> Fault {
        if end != End::OutOfTime || duration >= self.wall * 8 / 10 {
            return fault;
        }
        let (had, all) = (duration.as_millis(), self.wall.as_millis());
        Fault::External(format!("the program had {had} ms of the job's {all} ms, because its image and other containers took the rest"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a container holds costs a share of what it would cost in use; what it uses beyond that is paid as it is.
    #[test]
    fn a_container_pays_for_what_it_holds() {
        let rows = [
            (0, 300_000, 1_000, 2_500, 75_000),
            (0, 300_000, 4_000, 2_500, 300_000),
            (80_000, 300_000, 1_000, 2_500, 80_000),
            (5, 300_000, 1_000, 0, 5),
            (5, 39, 10, 2_500, 5),
            (0, u64::MAX, u32::MAX, 10_000, u64::MAX),
        ];
        for (used, held, cpu, share, billed) in rows {
            assert_eq!(billed_ms(used, held, cpu, share), billed, "{used} of {held} ms, {cpu} millicores");
        }
    }

    /// Decision 163: a limit that does not hold is named, and one is enough.
    #[test]
    fn containers_are_offered_where_every_limit_holds() {
        let held = vec!["memory".to_owned(), "network".to_owned()];
        assert_eq!(limits_of(&Report { held: held.clone(), broken: Vec::new() }), Ok("memory, network".into()));
        let broken = Report { held, broken: vec!["size of files: 2 MiB of 1".into()] };
        assert!(limits_of(&broken).is_err_and(|reason| reason.ends_with("these limits: size of files: 2 MiB of 1")));
        assert!(limits_of(&Report::default()).is_err(), "nothing was tested");
    }

    /// Decision 542.
    #[test]
    fn the_time_of_a_job_has_room_for_the_end() {
        let time = |seconds| Time { began: Instant::now(), wall: Duration::from_secs(seconds) };
        for (wall, grace) in [(2, 200), (50, 5_000), (100, 10_000), (7_200, 10_000)] {
            let (time, grace) = (time(wall), Duration::from_millis(grace));
            assert_eq!(time.grace(), grace);
            let left = time.left().expect("there is time");
            assert!(left <= time.wall - grace && left > time.wall - grace - Duration::from_secs(1), "SIGKILL comes when the time is over");
        }
        assert_eq!(time(0).left().expect_err("it is over").number(), 2);
        let of = |end, seconds| time(100).explained(Fault::Impossible(String::new()), end, Duration::from_secs(seconds)).number();
        assert_eq!((of(End::OutOfTime, 80), of(End::OutOfTime, 79), of(End::OutOfMemory, 1)), (3, 2, 3), "whose concern it is");
    }
}
