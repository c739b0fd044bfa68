//! Gives memory back that the start needed, and that the allocator keeps after a flood.
//!
//! glibc has a pool of memory for every few threads, and gives back only what lies free at a pool's end. After many requests or heavy
//! blocks, the pools of all threads stay as large as they ever were. Here there are few pools, and what is free in them is given back
//! when the process has grown.

/// Starts to give memory back. Does nothing where the allocator is another one.
pub fn give_memory_back() -> std::io::Result<()> {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    glibc::start()?;
    Ok(())
}

#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod glibc {
    use std::{fs, io, sync::Once, thread, time::Duration};

    /// How many pools there are for all threads.
    const POOLS: libc::c_int = 4;

    /// When a process has started, as a rule. What is still to be started is read from the file's cache, and takes no longer.
    const STARTED_AFTER: Duration = Duration::from_secs(2);

    /// How often the process's size is looked at.
    const LOOK_EVERY: Duration = Duration::from_secs(10);

    /// Pages of resident memory up to which nothing is given back: 128 MiB.
    const SMALL_PAGES: u64 = 32_768;

    /// Pages by which the process must have grown since memory was last given back: 32 MiB.
    const GROWTH_PAGES: u64 = 8_192;

    static STARTED: Once = Once::new();

    pub(super) fn start() -> io::Result<()> {
        let mut started = Ok(());
        STARTED.call_once(|| {
            // SAFETY: mallopt takes two integers and changes settings of the allocator under its own lock.
            unsafe { libc::mallopt(libc::M_ARENA_MAX, POOLS) };
            started = thread::Builder::new().name("memory".into()).stack_size(256 * 1024).spawn(watch).map(drop);
        });
        started
    }

    fn watch() {
        thread::sleep(STARTED_AFTER);
        if let Err(error) = crate::program::give_back() {
            tracing::debug!(%error, "what the start read stays mapped");
        }
        let mut least = SMALL_PAGES;
        loop {
            thread::sleep(LOOK_EVERY);
            let Some(pages) = resident_pages() else { return };
            if pages > least {
                give_back();
                let left = resident_pages().unwrap_or(pages);
                least = left.max(SMALL_PAGES).saturating_add(GROWTH_PAGES);
                tracing::debug!(before = pages, after = left, "free memory was given back");
            }
        }
    }

    /// Gives the free pages of all pools back to the system.
    pub(super) fn give_back() {
        // SAFETY: malloc_trim takes an integer, and takes the lock of each pool while it looks through it.
        unsafe { libc::malloc_trim(0) };
    }

    /// Pages of this process that are in memory.
    pub(super) fn resident_pages() -> Option<u64> {
        fs::read_to_string("/proc/self/statm").ok()?.split(' ').nth(1)?.parse().ok()
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        /// What lies free between things that are kept goes back to the system.
        #[test]
        fn free_memory_between_kept_memory_is_given_back() {
            let mut all: Vec<Vec<u8>> = (0..100_000).map(|_| vec![1; 4_000]).collect();
            let full = resident_pages().expect("the system says it");
            // Every hundredth stays, so that no pool's end comes free.
            let mut number = 0;
            all.retain(|_| {
                number += 1;
                number % 100 == 0
            });
            give_back();
            let left = resident_pages().expect("the system says it");
            assert!(left < full - 60_000, "{full} pages, then {left}: most of 97,000 are free");
            assert_eq!(all.len(), 1_000);
        }
    }
}
