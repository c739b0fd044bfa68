//! What goes into a box and comes out of it.

use crate::fixture::Fixture;
use cowboy_container::{End, Mode, Mount, Output};
use std::fs;
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::PermissionsExt as _;
use zeroize::Zeroizing;

#[tokio::test]
async fn the_result_file_is_read_and_nothing_else() {
    let Some(fixture) = Fixture::new("the_result_file_is_read_and_nothing_else") else { return };
    let rows: &[(&[&str], usize, Output)] = &[
        (&["create", "/workspace/output"], 1, Output::File(b"x".to_vec())),
        (&["create", "/workspace/output"], 0, Output::TooLong { bytes: 1 }),
        (&["create", "/workspace/other"], 10, Output::Missing),
        (&["link", "/etc/hostname", "/workspace/output"], 100, Output::Missing),
        (&["link", "/proc/self/fd/0", "/workspace/output"], 100, Output::Missing),
    ];
    for (arguments, limit, expected) in rows {
        let mut plan = fixture.plan(arguments);
        plan.limits.result_bytes = *limit;
        let outcome = fixture.run(plan).await;
        assert_eq!((outcome.output, outcome.stdout), (expected.clone(), b"reached\n".to_vec()), "{arguments:?}");
    }
}

#[tokio::test]
async fn secrets_are_files_that_the_program_reads() {
    let Some(fixture) = Fixture::new("secrets_are_files_that_the_program_reads") else { return };
    let rows: &[(&[&str], &str)] = &[
        (&["read", "/run/secrets/KEY"], "value"),
        (&["mode", "/run/secrets/KEY"], "400"),
        (&["mode", "/run/secrets"], "500"),
        (&["write", "/run/secrets/KEY"], "EACCES"),
        (&["remove", "/run/secrets/KEY"], "EROFS"),
        (&["create", "/run/secrets/other"], "EROFS"),
    ];
    for (arguments, expected) in rows {
        let mut plan = fixture.plan(arguments);
        plan.secrets.push(("KEY".to_owned(), Zeroizing::new(b"value".to_vec())));
        assert_eq!(fixture.output(plan).await, *expected, "{arguments:?}");
    }
}

#[tokio::test]
async fn mounts_are_read_or_written_as_planned() {
    let Some(fixture) = Fixture::new("mounts_are_read_or_written_as_planned") else { return };
    let source = fixture.path("data");
    fs::create_dir(&source).expect("a folder");
    fs::write(source.join("old"), "old").expect("a file");
    // The files are the program's, although they belong to the host's root.
    fs::set_permissions(source.join("old"), fs::Permissions::from_mode(0o600)).expect("a mode");
    let overlay = Mode::Overlay { max_bytes: 1 << 20 };
    let rows: &[(Mode, &[&str], &str, &[(&str, &str)])] = &[
        (Mode::ReadOnly, &["read", "/mnt/volumes/data/old"], "old", &[]),
        (Mode::ReadOnly, &["write", "/mnt/volumes/data/old"], "EROFS", &[]),
        (Mode::ReadOnly, &["create", "/mnt/volumes/data/new"], "EROFS", &[]),
        (overlay, &["read", "/mnt/volumes/data/old"], "old", &[]),
        (overlay, &["create", "/mnt/volumes/data/new"], "reached", &[("new", "x")]),
        (overlay, &["write", "/mnt/volumes/data/old"], "reached", &[("old", "xld")]),
        (overlay, &["setuid", "/mnt/volumes/data/setuid"], "1000 1000", &[]),
        (overlay, &["create", "/mnt/volumes/data/../../new"], "EROFS", &[]),
    ];
    for (mode, arguments, expected, changed) in rows {
        let mut plan = fixture.plan(arguments);
        let max = if *mode == Mode::ReadOnly { *mode } else { Mode::Overlay { max_bytes: 64 << 20 } };
        plan.mounts.push(Mount { source: source.clone(), name: "data".to_owned(), mode: max });
        let outcome = fixture.run(plan).await;
        assert_eq!(
            (outcome.end, String::from_utf8_lossy(&outcome.stdout).trim_end()),
            (End::Exited(0), *expected),
            "{mode:?} {arguments:?}"
        );
        assert_eq!(outcome.changes.len(), usize::from(*mode != Mode::ReadOnly));
        for (name, content) in *changed {
            let path = format!("/proc/self/fd/{}/{name}", outcome.changes[0].folder.as_raw_fd());
            assert_eq!(fs::read_to_string(path).expect("it was changed"), *content, "{arguments:?}");
        }
    }
    assert_eq!(fs::read_to_string(source.join("old")).expect("it is there"), "old");
    assert_eq!(fs::read_dir(&source).expect("it is read").count(), 1, "the source stays as it is");
    fixture.assert_clean();
}

#[tokio::test]
async fn a_named_pipe_in_a_read_only_mount_is_not_written() {
    let Some(fixture) = Fixture::new("a_named_pipe_in_a_read_only_mount_is_not_written") else { return };
    let mut plan = fixture.plan(&["write", "/mnt/volumes/pipes/one"]);
    plan.mounts.push(fixture.pipe("one"));
    plan.limits.max_duration = std::time::Duration::from_secs(10);
    assert_eq!(fixture.output(plan).await, "EACCES", "no mount forbids it, but Landlock does");
}
