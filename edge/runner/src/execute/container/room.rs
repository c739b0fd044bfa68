//! What boxes that run at the same time share.

use crate::{config, execute::Fault};
use std::sync::Arc;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Processors and memory that the operator gives.
pub(super) struct Room {
    cpu: Arc<Semaphore>,
    memory: Arc<Semaphore>,
    whole: (u32, u32),
}

/// What a box has of it, until this is dropped.
#[derive(Debug)]
pub(super) struct Place {
    _cpu: OwnedSemaphorePermit,
    _memory: OwnedSemaphorePermit,
}

impl Room {
    /// All of it: thousandths of a processor, and MiB of programs and their files.
    pub(super) fn new(cpu_millicores: u32, memory_mib: u32) -> Self {
        let semaphore = |size: u32| Arc::new(Semaphore::new(usize::try_from(size).unwrap_or(usize::MAX)));
        Self { cpu: semaphore(cpu_millicores), memory: semaphore(memory_mib), whole: (cpu_millicores, memory_mib) }
    }

    /// Waits until there is room. Whoever came first is served first, so that a large container is not overtaken for ever.
    pub(super) async fn take(&self, cpu_millicores: u32, memory_mib: u32) -> Result<Place, Fault> {
        let (cpu, memory) = self.whole;
        if cpu_millicores > cpu || memory_mib > memory {
            let asked = format!("{cpu_millicores} millicores and {memory_mib} MiB");
            return Err(Fault::External(format!("the container needs {asked}, and this runner gives {cpu} and {memory}")));
        }
        let closed = |error: tokio::sync::AcquireError| Fault::External(error.to_string());
        let of_cpu = self.cpu.clone().acquire_many_owned(cpu_millicores).await.map_err(closed)?;
        let of_memory = self.memory.clone().acquire_many_owned(memory_mib).await.map_err(closed)?;
        Ok(Place { _cpu: of_cpu, _memory: of_memory })
    }
}

/// Refuses to give what the computer does not have: files of containers are memory, too.
pub(super) fn require_computer(settings: &config::Container) -> Result<(), String> {
    let meminfo = std::fs::read_to_string("/proc/meminfo").map_err(|error| format!("/proc/meminfo: {error}"))?;
    let has = total_mib(&meminfo).ok_or("/proc/meminfo does not say how much memory there is")?;
    let given = u64::from(settings.memory_mib) + u64::from(settings.scratch_mib);
    if given > has {
        return Err(format!(
            "container.memory_mib and container.scratch_mib are {given} MiB together, and the computer has {has}: lower them"
        ));
    }
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    if u64::from(settings.cpu_millicores) > 1_000 * u64::try_from(processors).unwrap_or(u64::MAX) {
        return Err(format!("container.cpu_millicores is {}, and there are {processors} processors: lower it", settings.cpu_millicores));
    }
    Ok(())
}

fn total_mib(meminfo: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    line.trim().strip_suffix(" kB")?.trim().parse::<u64>().ok().map(|kib| kib / 1_024)
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures::FutureExt as _;

    /// Boxes that run at the same time never have more than is given.
    #[tokio::test]
    async fn the_sum_of_all_boxes_stays_within_the_capacity() {
        let room = Room::new(1_000, 100);
        let first = room.take(500, 60).await.expect("there is room");
        let mut second = Box::pin(room.take(500, 41));
        assert!(second.as_mut().now_or_never().is_none(), "101 MiB are more than 100");
        let mut third = Box::pin(room.take(1, 1));
        assert!(third.as_mut().now_or_never().is_none(), "nobody overtakes");
        drop(first);
        let second = second.await.expect("there is room");
        third.await.expect("there is room");
        drop(second);
        room.take(1_000, 100).await.expect("all of it is back");
        for (cpu, memory) in [(1_001, 1), (1, 101)] {
            assert_eq!(room.take(cpu, memory).await.expect_err("it never fits").number(), 2);
        }
    }

    #[test]
    fn memory_is_read() {
        assert_eq!(total_mib("MemTotal:       24683840 kB\nMemFree: 1 kB\n"), Some(24_105));
        assert_eq!(total_mib("MemFree: 1 kB\n"), None);
    }
}
