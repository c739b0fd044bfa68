//! Runners in a process of their own, that a test ends or looks at.

use crate::calls::say;
use cowboy_container::{Boxes, Helper, Mode, Mount, Plan};
use std::path::Path;

fn plan(rootfs: &str, arguments: &[&str]) -> Plan {
    let mut plan = Plan::new(rootfs, std::iter::once(&"/trial").chain(arguments).map(|argument| (*argument).to_owned()).collect());
    plan.limits.scratch_mib = 1;
    plan
}

fn boxes(folder: &str) -> Boxes {
    Boxes::open(Path::new(folder), Helper::this_program()).expect("the folder opens")
}

fn block<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().expect("a runtime").block_on(work)
}

/// Runs a program that waits for the pipe of a mount.
pub(crate) fn run(folder: &str, rootfs: &str, mount: &str) {
    let mut plan = plan(rootfs, &["wait", "/mnt/volumes/pipe/pipe"]);
    plan.mounts.push(Mount { source: mount.into(), name: "pipe".to_owned(), mode: Mode::ReadOnly });
    let outcome = block(boxes(folder).run(plan, std::future::pending()));
    say(&format!("{outcome:?}"));
}

/// Runs a program many times, and says what is left in this process.
pub(crate) fn repeat(count: &str, folder: &str, rootfs: &str) {
    let traces = || {
        let entries = |path: &str| std::fs::read_dir(path).expect("it is read").count();
        let mounts = std::fs::read_to_string("/proc/self/mountinfo").expect("it is read").lines().count();
        (entries("/proc/self/fd"), mounts, children())
    };
    block(async {
        let boxes = boxes(folder);
        boxes.run(plan(rootfs, &["id"]), std::future::pending()).await.expect("it runs");
        let before = traces();
        for _ in 0..count.parse().expect("a number") {
            let outcome = boxes.run(plan(rootfs, &["id"]), std::future::pending()).await.expect("it runs");
            assert_eq!(outcome.stdout, b"1000 1000\n", "the program ran");
        }
        say(&format!("{:?}", before == traces()));
    });
}

fn children() -> String {
    let threads = std::fs::read_dir("/proc/self/task").expect("it is read").filter_map(Result::ok);
    threads.map(|thread| std::fs::read_to_string(thread.path().join("children")).unwrap_or_default()).collect()
}
