//! Programs that use more than they may.

use crate::fixture::Fixture;
use cowboy_container::{End, Mode, Mount};
use std::time::Duration;

#[tokio::test]
async fn what_a_box_uses_is_bounded() {
    let Some(fixture) = Fixture::new("what_a_box_uses_is_bounded") else { return };
    let rows: &[(&str, End, &str)] = &[
        ("processes", End::Exited(1), "15\nEAGAIN"),
        ("threads", End::Exited(1), "15\nEAGAIN"),
        ("memory", End::OutOfMemory, ""),
        ("memory-of-child", End::OutOfMemory, ""),
        ("disk", End::OutOfSpace, "ENOSPC"),
        ("disk-of-workspace", End::OutOfSpace, "ENOSPC"),
        ("inodes", End::OutOfSpace, "true\nENOSPC"),
        ("root", End::Exited(1), "EROFS"),
        ("orphan", End::Exited(0), "left"),
    ];
    for (name, end, printed) in rows {
        let mut plan = fixture.plan(&["fill", name]);
        plan.limits.pids = 16;
        let outcome = fixture.run(plan).await;
        assert_eq!((outcome.end, String::from_utf8_lossy(&outcome.stdout).trim_end()), (*end, *printed), "{name}: {outcome:?}");
        assert!(outcome.usage.peak_memory_mib <= 96, "{name}: {:?}", outcome.usage);
        fixture.assert_clean();
    }
}

/// Decision 670: a program that prints too much is ended at once. One byte is too much, whether or not the program has ended by then.
#[tokio::test]
async fn what_is_printed_is_bounded() {
    let Some(fixture) = Fixture::new("what_is_printed_is_bounded") else { return };
    for (name, end) in [("output", End::Exited(0)), ("excess", End::OutOfOutput), ("log", End::OutOfOutput)] {
        let outcome = fixture.run(fixture.plan(&["fill", name])).await;
        assert_eq!((outcome.end, outcome.stdout.len() + outcome.stderr.len()), (end, 1 << 20), "{name}");
        fixture.assert_clean();
    }
}

#[tokio::test]
async fn time_ends_a_box() {
    let Some(fixture) = Fixture::new("time_ends_a_box") else { return };
    for (name, printed) in [("time", ""), ("ignore", "ignores")] {
        let mut plan = fixture.plan(&["fill", name]);
        plan.limits.max_duration = Duration::from_millis(200);
        plan.limits.grace = Duration::from_millis(100);
        let outcome = fixture.run(plan).await;
        assert_eq!((outcome.end, String::from_utf8_lossy(&outcome.stdout).trim_end()), (End::OutOfTime, printed));
        fixture.assert_clean();
    }
}

#[tokio::test]
async fn processor_time_is_bounded() {
    let Some(fixture) = Fixture::new("processor_time_is_bounded") else { return };
    let mut plan = fixture.plan(&["fill", "time"]);
    plan.limits.cpu_millicores = 100;
    plan.limits.max_duration = Duration::from_secs(2);
    let outcome = fixture.run(plan).await;
    assert_eq!(outcome.end, End::OutOfTime);
    // A tenth, and what a quota of 100 ms may be late.
    let limit = outcome.usage.duration.as_millis() / 10 + 150;
    assert!(u128::from(outcome.usage.cpu_ms) <= limit, "{:?}", outcome.usage);
    assert!(outcome.usage.cpu_ms > 0, "{:?}", outcome.usage);
}

#[tokio::test]
async fn a_volume_has_a_quota() {
    let Some(fixture) = Fixture::new("a_volume_has_a_quota") else { return };
    std::fs::create_dir(fixture.path("data")).expect("a folder");
    let mut plan = fixture.plan(&["fill", "volume"]);
    plan.mounts.push(Mount { source: fixture.path("data"), name: "data".to_owned(), mode: Mode::Overlay { max_bytes: 1 << 20 } });
    let outcome = fixture.run(plan).await;
    assert_eq!((outcome.end, outcome.stdout), (End::OutOfSpace, b"ENOSPC\n".to_vec()));
    assert_eq!(std::fs::read_dir(fixture.path("data")).expect("it is read").count(), 0, "the source stays as it is");
}

#[tokio::test]
async fn the_probe_finds_that_every_limit_holds() {
    let Some(fixture) = Fixture::new("the_probe_finds_that_every_limit_holds") else { return };
    let report = fixture.boxes.probe().await.expect("a report");
    assert!(report.is_safe(), "{report:?}");
    assert_eq!(report.held.len(), 14, "{report:?}");
    fixture.assert_clean();
}
