//! Where the host names of gateways are, as the system resolves them (decision 703).

use std::{
    collections::{HashMap, HashSet, VecDeque},
    io,
    net::IpAddr,
    time::{Duration, Instant},
};
use tokio::task::{Id, JoinError, JoinSet};

/// Addresses of one gateway that count: more of them would take the others' part of the answers.
const OF_ENDPOINT: usize = 4;

/// Names that are looked up at once. Each takes a thread of the process for as long as the system takes, which nobody can end.
const AT_ONCE: usize = 16;

/// What is known of a name.
struct Known {
    /// When it was looked up.
    at: Instant,
    addresses: Vec<IpAddr>,
    /// Whether it was found while somebody waited.
    is_prompt: bool,
}

/// What is known of host names, and the lookups under way.
#[derive(Default)]
pub(super) struct Lookups {
    known: HashMap<String, Known>,
    running: JoinSet<io::Result<Vec<IpAddr>>>,
    names: HashMap<Id, String>,
}

impl Lookups {
    /// Where a name was when it was last found.
    pub(super) fn addresses(&self, name: &str) -> &[IpAddr] {
        self.known.get(name).map_or(&[], |known| &known.addresses)
    }

    /// Looks these names up, except for those that were looked up less than `keep` ago, and forgets all others. Those that take longer than `patience` continue: what becomes of them
    /// counts the next time. A name that is not found keeps its last addresses, and is looked up again when its time is over. Names that nothing is known of, as after a start, are
    /// looked up in the order in which they are given.
    pub(super) async fn look_up<F: Future<Output = io::Result<Vec<IpAddr>>> + Send + 'static>(
        &mut self,
        names: &[String],
        keep: Duration,
        resolve: impl Fn(String) -> F,
        patience: impl Future<Output = ()>,
    ) {
        tokio::pin!(patience);
        self.known.retain(|name, _| names.contains(name));
        while let Some(ended) = self.running.try_join_next_with_id() {
            self.note(ended, &mut HashSet::new());
        }
        let (mut due, mut awaited) = (self.due(names, keep), HashSet::new());
        loop {
            while self.running.len() < AT_ONCE
                && let Some(name) = due.pop_front()
            {
                let id = self.running.spawn(resolve(name.clone())).id();
                self.names.insert(id, name);
                awaited.insert(id);
            }
            if awaited.is_empty() && due.is_empty() {
                return;
            }
            let ended = tokio::select! {
                biased;
                Some(ended) = self.running.join_next_with_id() => ended,
                () = &mut patience => return,
            };
            self.note(ended, &mut awaited);
        }
    }

    /// The names whose turn it is: those first that were found the last time, so that names that take long delay only each other.
    fn due(&self, names: &[String], keep: Duration) -> VecDeque<String> {
        let (running, now): (HashSet<&String>, _) = (self.names.values().collect(), Instant::now());
        let is_due = |name: &&String| !running.contains(*name) && self.known.get(*name).is_none_or(|known| known.at.elapsed() >= keep);
        let mut due: Vec<String> = names.iter().filter(is_due).cloned().collect();
        due.sort_by_key(|name| self.known.get(name).map_or((false, now), |known| (!known.is_prompt, known.at)));
        due.into()
    }

    fn note(&mut self, ended: Result<(Id, io::Result<Vec<IpAddr>>), JoinError>, awaited: &mut HashSet<Id>) {
        let (id, found) = match ended {
            Ok((id, found)) => (id, found.ok()),
            Err(error) => (error.id(), None),
        };
        let is_awaited = awaited.remove(&id);
        let Some(name) = self.names.remove(&id) else { return };
        let known = self.known.entry(name).or_insert_with(|| Known { at: Instant::now(), addresses: Vec::new(), is_prompt: false });
        (known.at, known.is_prompt) = (Instant::now(), is_awaited && found.is_some());
        if let Some(mut all) = found {
            all.truncate(OF_ENDPOINT);
            known.addresses = all;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{
        future::{pending, ready},
        sync::{Arc, Mutex},
    };
    use tokio::sync::{Barrier, Semaphore};

    fn names<const N: usize>(names: [&str; N]) -> Vec<String> {
        names.map(str::to_owned).into()
    }

    /// Decision 664: a gateway whose host name takes its time, or has many addresses, takes nothing of the others.
    #[tokio::test]
    async fn a_gateway_takes_nothing_of_others() {
        let former = vec![IpAddr::from([192, 0, 2, 9])];
        let mut lookups = Lookups::default();
        lookups.known.insert("late.example".into(), Known { at: Instant::now(), addresses: former.clone(), is_prompt: true });
        let names = names(["late.example", "many.example", "one.example"]);
        let barrier = Arc::new(Barrier::new(names.len()));
        let resolve = |name: String| {
            let barrier = barrier.clone();
            async move {
                // Each is answered once all are asked.
                barrier.wait().await;
                match &*name {
                    "many.example" => Ok((0..100).map(|host| IpAddr::from([198, 51, 100, host])).collect()),
                    "one.example" => Ok(vec![IpAddr::from([203, 0, 113, 1])]),
                    _ => Err(io::Error::other("late")),
                }
            }
        };
        lookups.look_up(&names, Duration::ZERO, resolve, pending()).await;
        let count = |name: &str| lookups.addresses(name).len();
        assert_eq!((lookups.addresses("late.example"), count("many.example"), count("one.example")), (&*former, OF_ENDPOINT, 1));
        assert_eq!(count("other.example"), 0);
        lookups.look_up(&names, Duration::from_secs(3_600), |_| pending(), pending()).await;
        lookups.look_up(&[], Duration::ZERO, |_| pending(), pending()).await;
        assert!(lookups.known.is_empty(), "the gateways are gone");
    }

    /// Decision 703: however many names take long, and however often it is their turn, few are looked up at once and none twice at once. All are waited for together, no longer than
    /// the patience, and none is lost.
    #[tokio::test]
    async fn slow_names_have_a_bound() {
        let (asked, answers) = (Mutex::new(Vec::new()), Arc::new(Semaphore::new(0)));
        let resolve = |name: String| {
            asked.lock().expect("no panic").push(name);
            let answers = answers.clone();
            async move {
                answers.acquire().await.expect("nobody closes it").forget();
                Ok(vec![IpAddr::from([203, 0, 113, 1])])
            }
        };
        let count = || asked.lock().expect("no panic").len();
        let names: Vec<String> = (0..100).map(|number| format!("{number}.example")).collect();
        let mut lookups = Lookups::default();
        for round in 0..3 {
            lookups.look_up(&names, Duration::ZERO, resolve, ready(())).await;
            assert_eq!((count(), lookups.running.len()), (AT_ONCE, AT_ONCE), "round {round}");
        }
        answers.add_permits(100);
        for _ in 0..2 {
            lookups.look_up(&names, Duration::from_secs(3_600), resolve, pending()).await;
        }
        let late = lookups.known.values().filter(|known| !known.is_prompt).count();
        assert_eq!((count(), late, lookups.names.len()), (100, AT_ONCE, 0));
        assert!(names.iter().all(|name| lookups.addresses(name).len() == 1));
    }

    /// Decision 719: after a start names have their turns as they are given, and not by what they are called.
    #[tokio::test]
    async fn unknown_names_have_their_turns_as_given() {
        let asked = Mutex::new(Vec::new());
        let resolve = |name: String| {
            asked.lock().expect("no panic").push(name);
            pending()
        };
        let names: Vec<String> = (0..100).rev().map(|number| format!("{number:02}.example")).collect();
        Lookups::default().look_up(&names, Duration::ZERO, resolve, ready(())).await;
        assert_eq!(*asked.lock().expect("no panic"), names[..AT_ONCE]);
    }

    /// Decision 703: names that were found the last time are looked up before those that were not.
    #[tokio::test]
    async fn names_that_fail_come_last() {
        let asked = Mutex::new(Vec::new());
        let resolve = |name: String| {
            asked.lock().expect("no panic").push(name.clone());
            ready(if name == "a.example" { Err(io::Error::other("not found")) } else { Ok(Vec::new()) })
        };
        let names = names(["a.example", "b.example"]);
        let mut lookups = Lookups::default();
        for _ in 0..2 {
            lookups.look_up(&names, Duration::ZERO, resolve, pending()).await;
        }
        assert_eq!(*asked.lock().expect("no panic"), ["a.example", "b.example", "b.example", "a.example"]);
    }
}
