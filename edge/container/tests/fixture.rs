//! An image with one program, and boxes for it.

use cowboy_container::{BoxError, Boxes, Helper, Mode, Mount, Outcome, Plan};
use std::collections::BTreeSet;
use std::fs;
use std::io::{self, Write as _};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::time::Duration;
use tempfile::TempDir;

pub(crate) const TRIAL: &str = env!("CARGO_BIN_EXE_cowboy-box-trial");

/// A folder with an image, a state, and a mount that has a named pipe.
pub(crate) struct Fixture {
    folder: TempDir,
    pub(crate) boxes: Boxes,
}

impl Fixture {
    /// None, with a word about it, where boxes cannot be tested.
    pub(crate) fn new(test: &str) -> Option<Self> {
        let folder = tempfile::tempdir().expect("a folder");
        if !rustix::process::geteuid().is_root() {
            return leave_out(test, "no root here");
        }
        let helper = Helper { program: TRIAL.into(), arguments: vec!["box".into()] };
        let boxes = match Boxes::open(&folder.path().join("state"), helper) {
            Ok(boxes) => boxes,
            Err(error @ BoxError::Groups(_)) => return leave_out(test, &error.to_string()),
            Err(error) => panic!("{error}"),
        };
        let fixture = Self { folder, boxes };
        image(&fixture.rootfs());
        fs::create_dir(fixture.path("pipes")).expect("a folder");
        Some(fixture)
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn rootfs(&self) -> PathBuf {
        self.path("rootfs")
    }

    /// A plan with small limits for the program of the image.
    pub(crate) fn plan(&self, arguments: &[&str]) -> Plan {
        let command = std::iter::once("/trial").chain(arguments.iter().copied());
        let mut plan = Plan::new(self.rootfs(), command.map(str::to_owned).collect());
        plan.limits.memory_mib = 64;
        plan.limits.scratch_mib = 32;
        plan.limits.max_duration = Duration::from_secs(60);
        plan
    }

    pub(crate) async fn run(&self, plan: Plan) -> Outcome {
        self.boxes.run(plan, std::future::pending()).await.expect("the box runs")
    }

    /// What a program prints.
    pub(crate) async fn output(&self, plan: Plan) -> String {
        let outcome = self.run(plan).await;
        assert!(outcome.stderr.is_empty(), "{}", String::from_utf8_lossy(&outcome.stderr));
        String::from_utf8_lossy(&outcome.stdout).trim_end().to_owned()
    }

    /// A mount with a named pipe, on which program and test wait for each other.
    pub(crate) fn pipe(&self, name: &str) -> Mount {
        let path = self.path("pipes").join(name);
        rustix::fs::mknodat(rustix::fs::CWD, &path, rustix::fs::FileType::Fifo, rustix::fs::Mode::from_raw_mode(0o600), 0).expect("a pipe");
        Mount { source: self.path("pipes"), name: "pipes".to_owned(), mode: Mode::ReadOnly }
    }

    /// Returns when a program has opened the pipe; the program continues when the result is dropped.
    pub(crate) async fn meet(&self, name: &str) -> fs::File {
        let path = self.path("pipes").join(name);
        tokio::task::spawn_blocking(move || fs::File::options().write(true).open(path).expect("it opens")).await.expect("no panic")
    }

    /// Nothing is left of any box: no file, no control group (which goes after its last process), no mount.
    pub(crate) fn assert_clean(&self) {
        let state = self.path("state");
        let left: BTreeSet<_> = fs::read_dir(&state).expect("it is read").map(|entry| entry.expect("it is read").file_name()).collect();
        assert!(left.iter().all(|name| name == "lock"), "{left:?}");
        let found = fs::metadata(&state).expect("it is there");
        let prefix = format!("cowboy-{:x}-{:x}-", found.dev(), found.ino());
        let mounts = fs::read_to_string("/proc/self/mountinfo").expect("it is read");
        for line in mounts.lines().filter(|line| line.contains(" - cgroup")) {
            let tree = line.split(' ').nth(4).unwrap_or_default();
            let groups = fs::read_dir(tree).expect("it is read").filter_map(|entry| entry.ok()?.file_name().into_string().ok());
            assert_eq!(groups.filter(|name| name.starts_with(&prefix)).count(), 0, "control groups of boxes are left in {tree}");
        }
        assert!(!mounts.contains(&state.display().to_string()), "mounts of boxes are left");
    }
}

fn leave_out(test: &str, reason: &str) -> Option<Fixture> {
    // The macros are captured.
    writeln!(io::stderr(), "   left out: {test}; {reason}").expect("a line");
    None
}

/// The program with the libraries that it shares with this one, a file with the setuid bit, and links that climb.
fn image(rootfs: &Path) {
    let copy = |from: &Path, to: &str| {
        let to = rootfs.join(to.trim_start_matches('/'));
        fs::create_dir_all(to.parent().expect("a parent")).expect("a folder");
        fs::copy(from, to).expect("it is copied");
    };
    let maps = fs::read_to_string("/proc/self/maps").expect("it is read");
    let libraries: BTreeSet<&str> =
        maps.lines().filter_map(|line| line.split(' ').next_back()).filter(|path| path.contains(".so")).collect();
    for library in libraries {
        copy(Path::new(library), library);
        let name = Path::new(library).file_name().and_then(|name| name.to_str()).expect("a name");
        for folder in ["lib64", "lib"].iter().filter(|_| name.starts_with("ld-")) {
            if !rootfs.join(folder).join(name).exists() {
                copy(Path::new(library), &format!("{folder}/{name}"));
            }
        }
    }
    copy(Path::new(TRIAL), "trial");
    copy(Path::new(TRIAL), "bin/setuid");
    copy(Path::new(TRIAL), "bin/plain");
    let mode = |name: &str, mode| fs::set_permissions(rootfs.join(name), fs::Permissions::from_mode(mode)).expect("a mode");
    mode("bin/setuid", 0o6755);
    mode("bin/plain", 0o644);
    symlink("/../../../../../../etc", rootfs.join("climbs")).expect("a link");
    fs::create_dir_all(rootfs.join("etc")).expect("a folder");
    symlink("../../../../../../../../etc/hostname", rootfs.join("etc/climbs")).expect("a link");
    // What a box must not use.
    for folder in ["proc", "mnt", "tmp"] {
        fs::create_dir_all(rootfs.join(folder)).expect("a folder");
        fs::write(rootfs.join(folder).join("of-image"), "x").expect("a file");
    }
}
