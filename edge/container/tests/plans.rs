//! Plans that are refused, by name.

use cowboy_container::{BoxError, Mode, Mount, Plan, STDIN_BYTES};
use std::time::Duration;
use zeroize::Zeroizing;

#[test]
fn wrong_plans_are_refused() {
    let mount = |name: &str| Mount { source: "/tmp".into(), name: name.to_owned(), mode: Mode::ReadOnly };
    let secret = |name: &str, length| (name.to_owned(), Zeroizing::new(vec![0; length]));
    let rows: &[(&str, &dyn Fn(&mut Plan))] = &[
        ("the command is empty", &|plan| plan.command.clear()),
        ("the command is empty", &|plan| plan.command[0].clear()),
        ("zero byte", &|plan| plan.command[0].push('\0')),
        ("zero byte", &|plan| plan.env.push(("A".into(), "\0".into()))),
        ("more than 262144", &|plan| plan.command.push("x".repeat(300_000))),
        ("no name of a variable", &|plan| plan.env.push(("A=B".into(), String::new()))),
        ("no name of a variable", &|plan| plan.env.push((String::new(), String::new()))),
        ("not absolute", &|plan| plan.working_dir = "workspace".into()),
        ("standard input has 65537 bytes", &|plan| plan.stdin = vec![0; STDIN_BYTES + 1]),
        ("no name of a mount", &|plan| plan.mounts.push(mount(".."))),
        ("no name of a mount", &|plan| plan.mounts.push(mount("../x"))),
        ("no name of a mount", &|plan| plan.mounts.push(mount("a/b"))),
        ("no name of a mount", &|plan| plan.mounts.push(mount(""))),
        ("no name of a mount", &|plan| plan.mounts.push(mount("a,upperdir=x"))),
        ("named twice", &|plan| plan.mounts.extend([mount("a"), mount("a")])),
        ("17 mounts", &|plan| plan.mounts.extend((0..17).map(|index| mount(&format!("a{index}"))))),
        ("no name of a mount or secret", &|plan| plan.secrets.push(secret("../key", 1))),
        ("named twice", &|plan| plan.secrets.extend([secret("a", 1), secret("a", 1)])),
        ("the secret a has 65537 bytes", &|plan| plan.secrets.push(secret("a", STDIN_BYTES + 1))),
        ("cpu_millicores is 9", &|plan| plan.limits.cpu_millicores = 9),
        ("memory_mib is 7", &|plan| plan.limits.memory_mib = 7),
        ("scratch_mib is 0", &|plan| plan.limits.scratch_mib = 0),
        ("pids is 0", &|plan| plan.limits.pids = 0),
        ("max_duration is 86401s", &|plan| plan.limits.max_duration = Duration::from_secs(86_401)),
        ("grace is 61s", &|plan| plan.limits.grace = Duration::from_secs(61)),
        ("choose 4096 to", &|plan| plan.mounts.push(Mount { mode: Mode::Overlay { max_bytes: 0 }, ..mount("a") })),
        ("choose 4096 to", &|plan| plan.mounts.push(Mount { mode: Mode::Overlay { max_bytes: u64::MAX }, ..mount("a") })),
    ];
    for (expected, change) in rows {
        let mut plan = Plan::new("/", vec!["program".into()]);
        plan.check().expect("the plan is right");
        change(&mut plan);
        match plan.check() {
            Err(BoxError::Plan(reason)) => assert!(reason.contains(expected), "{reason}"),
            other => panic!("{expected}: {other:?}"),
        }
    }
}
