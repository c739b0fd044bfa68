//! How boxes start and end, whatever happens to those that wait for them.

use crate::fixture::{Fixture, TRIAL};
use cowboy_container::{BoxError, End};
use std::fs;
use std::future::pending;
use std::process::{Command, Stdio};
use std::time::Duration;
use tokio::sync::oneshot;

#[tokio::test]
async fn a_program_runs_and_its_end_is_reported() {
    let Some(fixture) = Fixture::new("a_program_runs_and_its_end_is_reported") else { return };
    let outcome = fixture.run(fixture.plan(&["exit", "7"])).await;
    assert_eq!(outcome.end, End::Exited(7));
    let mut plan = fixture.plan(&["stdin"]);
    plan.stdin = b"read\nme".to_vec();
    plan.working_dir = "/workspace".to_owned();
    assert_eq!(fixture.output(plan).await, "read\nme");
    let mut plan = fixture.plan(&["folder"]);
    plan.working_dir = "/workspace".to_owned();
    plan.command[0] = "trial".to_owned();
    plan.env.push(("PATH".to_owned(), "/bin:/".to_owned()));
    assert_eq!(fixture.output(plan).await, "/workspace");
}

#[tokio::test]
async fn programs_that_cannot_start_are_named() {
    let Some(fixture) = Fixture::new("programs_that_cannot_start_are_named") else { return };
    for (program, code) in [("/missing", libc::ENOENT), ("missing", libc::ENOENT), ("/bin/plain", libc::EACCES), ("/tmp", libc::EACCES)] {
        let mut plan = fixture.plan(&[]);
        plan.command[0] = program.to_owned();
        match fixture.boxes.run(plan, pending()).await {
            Err(BoxError::Start { reason, .. }) => assert_eq!(reason.raw_os_error(), Some(code), "{program}"),
            other => panic!("{program}: {other:?}"),
        }
    }
    let mut plan = fixture.plan(&[]);
    plan.rootfs = fixture.path("missing");
    let error = fixture.boxes.run(plan, pending()).await.expect_err("no image");
    assert!(matches!(&error, BoxError::Step { .. }), "{error}");
    fixture.assert_clean();
}

#[tokio::test]
async fn a_box_ends_when_it_is_cancelled_or_dropped() {
    let Some(fixture) = Fixture::new("a_box_ends_when_it_is_cancelled_or_dropped") else { return };
    let mut plan = fixture.plan(&["wait", "/mnt/volumes/pipes/cancelled"]);
    plan.mounts.push(fixture.pipe("cancelled"));
    let (cancel, cancelled) = oneshot::channel::<()>();
    let running = fixture.boxes.run(plan, async { drop(cancelled.await) });
    let (outcome, _pipe) = tokio::join!(running, async {
        let pipe = fixture.meet("cancelled").await;
        drop(cancel);
        pipe
    });
    assert_eq!(outcome.expect("an outcome").end, End::Cancelled);
    fixture.assert_clean();

    let mut plan = fixture.plan(&["wait", "/mnt/volumes/pipes/dropped"]);
    plan.mounts.push(fixture.pipe("dropped"));
    let boxes = fixture.boxes.clone();
    let running = tokio::spawn(async move { boxes.run(plan, pending()).await });
    let pipe = fixture.meet("dropped").await;
    running.abort();
    // The reader is gone when the box is.
    assert!(tokio::task::spawn_blocking(move || wait_for_reader(&pipe)).await.expect("no panic"));
    let removed = async {
        while fs::read_dir(fixture.path("state")).expect("it is read").count() > 1 {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(30), removed).await.expect("it is removed in the background");
    fixture.assert_clean();
}

/// Returns when nobody reads a pipe any more.
fn wait_for_reader(pipe: &std::fs::File) -> bool {
    let mut files = [rustix::event::PollFd::new(pipe, rustix::event::PollFlags::empty())];
    let limit = rustix::time::Timespec { tv_sec: 30, tv_nsec: 0 };
    rustix::event::poll(&mut files, Some(&limit)).is_ok_and(|count| count == 1)
}

#[tokio::test]
async fn boxes_of_a_runner_that_was_killed_end_and_are_removed() {
    let Some(fixture) = Fixture::new("boxes_of_a_runner_that_was_killed_end_and_are_removed") else { return };
    let _mount = fixture.pipe("pipe");
    let mut runner = Command::new(TRIAL)
        .arg("runner")
        .args([fixture.path("state"), fixture.rootfs(), fixture.path("pipes")])
        .stdout(Stdio::null())
        .spawn()
        .expect("a runner");
    // A program in the box waits at the other end.
    let pipe = fixture.meet("pipe").await;
    assert_eq!(fixture.boxes.clean().await.expect("it cleans"), 0, "the box of a living runner stays");
    runner.kill().expect("it is killed");
    runner.wait().expect("it has ended");
    assert!(tokio::task::spawn_blocking(move || wait_for_reader(&pipe)).await.expect("no panic"), "the box has ended by itself");
    assert_eq!(fixture.boxes.clean().await.expect("it cleans"), 1);
    assert_eq!(fixture.boxes.clean().await.expect("it cleans"), 0);
    fixture.assert_clean();
}

#[tokio::test]
async fn two_hundred_starts_leave_nothing() {
    let Some(fixture) = Fixture::new("two_hundred_starts_leave_nothing") else { return };
    let repeat = Command::new(TRIAL).args(["repeat", "200"]).args([fixture.path("state"), fixture.rootfs()]).output().expect("a runner");
    assert_eq!((String::from_utf8_lossy(&repeat.stdout).trim(), repeat.stderr), ("true", Vec::new()));
    fixture.assert_clean();
}

#[tokio::test]
async fn boxes_run_at_the_same_time() {
    let Some(fixture) = Fixture::new("boxes_run_at_the_same_time") else { return };
    let outputs = futures::future::join_all((0..8).map(|_| fixture.output(fixture.plan(&["id"])))).await;
    assert!(outputs.iter().all(|output| output == "1000 1000"), "{outputs:?}");
    fixture.assert_clean();
}
