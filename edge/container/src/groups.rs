//! Control groups: what limits and counts all processes of a box together.
//!
//! A computer has version 2, version 1 (a tree for each controller), or both. The group of a box is a folder at the top of each tree that is needed.

use crate::error::BoxError;
use crate::plan::Limits;
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Length of the time in which a quota of processor time counts, in µs.
const PERIOD_US: u64 = 100_000;

/// How often, and how long apart, the end of processes is awaited.
const ATTEMPTS: (u32, Duration) = (1000, Duration::from_millis(5));

/// What limits a box.
const CONTROLLERS: [&str; 4] = ["cpu", "cpuacct", "memory", "pids"];

/// The trees of the computer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Trees {
    /// The tree of version 1 that has a controller.
    v1: BTreeMap<&'static str, PathBuf>,
    /// The tree of version 2.
    v2: Option<PathBuf>,
}

impl Trees {
    /// Finds the trees of this computer.
    pub(crate) fn find() -> Result<Self, BoxError> {
        let mounts = fs::read_to_string("/proc/self/mountinfo").map_err(BoxError::host("reading the mounts"))?;
        Self::parse(&mounts, |tree| fs::read_to_string(tree.join("cgroup.controllers")).unwrap_or_default())
    }

    fn parse(mounts: &str, controllers: impl Fn(&Path) -> String) -> Result<Self, BoxError> {
        let mut trees = Self { v1: BTreeMap::new(), v2: None };
        for line in mounts.lines() {
            let Some((front, back)) = line.split_once(" - ") else { continue };
            let (Some(at), mut back) = (front.split(' ').nth(4), back.split(' ')) else { continue };
            match (back.next(), back.next_back()) {
                (Some("cgroup"), Some(options)) => {
                    let found = CONTROLLERS.into_iter().filter(|name| options.split(',').any(|option| option == *name));
                    for name in found {
                        trees.v1.entry(name).or_insert_with(|| at.into());
                    }
                }
                (Some("cgroup2"), _) => trees.v2 = trees.v2.or_else(|| Some(at.into())),
                _ => {}
            }
        }
        let listed = trees.v2.as_deref().map(controllers).unwrap_or_default();
        let has_v2 = |name: &str| listed.split_whitespace().any(|controller| controller == name) || name == "cpuacct";
        match CONTROLLERS.into_iter().find(|name| !(trees.v1.contains_key(name) || trees.v2.is_some() && has_v2(name))) {
            Some(missing) => Err(BoxError::Groups(missing)),
            None => Ok(trees),
        }
    }

    /// The group of this name. It does not exist before [`Group::create`].
    pub(crate) fn group(&self, name: &str) -> Group {
        Group {
            v1: self.v1.iter().map(|(controller, tree)| (*controller, tree.join(name))).collect(),
            v2: self.v2.as_ref().map(|tree| tree.join(name)),
        }
    }
}

/// The group of a box.
#[derive(Clone, Debug)]
pub(crate) struct Group {
    v1: BTreeMap<&'static str, PathBuf>,
    v2: Option<PathBuf>,
}

impl Group {
    fn folders(&self) -> Vec<&PathBuf> {
        let mut folders: Vec<_> = self.v1.values().chain(&self.v2).collect();
        folders.sort_unstable();
        folders.dedup();
        folders
    }

    /// The files that a process writes itself to, to join.
    pub(crate) fn files(&self) -> Vec<PathBuf> {
        self.folders().into_iter().map(|folder| folder.join("cgroup.procs")).collect()
    }

    /// Makes the group, with limits; files in memory count too.
    pub(crate) fn create(&self, limits: &Limits, memory_bytes: u64) -> Result<(), BoxError> {
        self.enable()?;
        // The name is this box's alone, so one that exists was left by a box whose folder is gone.
        self.remove()?;
        for folder in self.folders() {
            fs::create_dir(folder).map_err(BoxError::host(format!("making the control group {}", folder.display())))?;
        }
        for (controller, file, value, is_optional) in self.limits(limits, memory_bytes) {
            let path = self.path(controller, file);
            match fs::write(&path, &value) {
                Err(error) if is_optional && error.kind() == io::ErrorKind::NotFound => {}
                other => other.map_err(BoxError::host(format!("writing {value} to {}", path.display())))?,
            }
        }
        Ok(())
    }

    /// Lets groups of version 2 have the controllers that no tree of version 1 has.
    fn enable(&self) -> Result<(), BoxError> {
        let missing: Vec<_> =
            ["cpu", "memory", "pids"].into_iter().filter(|name| !self.v1.contains_key(name)).map(|name| format!("+{name}")).collect();
        match self.v2.as_deref().and_then(Path::parent) {
            Some(tree) if !missing.is_empty() => {
                let path = tree.join("cgroup.subtree_control");
                fs::write(&path, missing.join(" ")).map_err(BoxError::host(format!("enabling {} in {}", missing.join(" "), path.display())))
            }
            _ => Ok(()),
        }
    }

    /// Controller, file, value, and whether a kernel may lack the file.
    fn limits(&self, limits: &Limits, memory_bytes: u64) -> Vec<(&'static str, &'static str, String, bool)> {
        let memory = memory_bytes.to_string();
        let quota = u64::from(limits.cpu_millicores) * PERIOD_US / 1000;
        // Process 1 is the box's own.
        let mut rows = vec![("pids", "pids.max", (u64::from(limits.pids) + 1).to_string(), false)];
        if self.v1.contains_key("memory") {
            rows.push(("memory", "memory.limit_in_bytes", memory.clone(), false));
            rows.push(("memory", "memory.memsw.limit_in_bytes", memory, true));
            rows.push(("memory", "memory.swappiness", "0".to_owned(), true));
        } else {
            rows.push(("memory", "memory.max", memory, false));
            rows.push(("memory", "memory.swap.max", "0".to_owned(), true));
            rows.push(("memory", "memory.oom.group", "1".to_owned(), false));
        }
        if self.v1.contains_key("cpu") {
            rows.push(("cpu", "cpu.cfs_period_us", PERIOD_US.to_string(), false));
            rows.push(("cpu", "cpu.cfs_quota_us", quota.to_string(), false));
        } else {
            rows.push(("cpu", "cpu.max", format!("{quota} {PERIOD_US}"), false));
        }
        rows
    }

    fn path(&self, controller: &str, file: &str) -> PathBuf {
        self.v1.get(controller).or(self.v2.as_ref()).map(|folder| folder.join(file)).unwrap_or_default()
    }

    fn read(&self, controller: &str, file: &str) -> Option<String> {
        fs::read_to_string(self.path(controller, file)).ok()
    }

    /// Processes that the kernel ended because memory ran out.
    pub(crate) fn oom_kills(&self) -> u64 {
        let file = if self.v1.contains_key("memory") { "memory.oom_control" } else { "memory.events" };
        self.read("memory", file).and_then(|text| field(&text, "oom_kill")).unwrap_or(0)
    }

    /// Processor time in µs.
    pub(crate) fn cpu_us(&self) -> u64 {
        let us = if self.v1.contains_key("cpuacct") {
            self.read("cpuacct", "cpuacct.usage").and_then(|text| text.trim().parse::<u64>().ok()).map(|ns| ns / 1000)
        } else {
            self.read("cpu", "cpu.stat").and_then(|text| field(&text, "usage_usec"))
        };
        us.unwrap_or(0)
    }

    /// Most memory, in bytes.
    pub(crate) fn peak_bytes(&self) -> u64 {
        let file = if self.v1.contains_key("memory") { "memory.max_usage_in_bytes" } else { "memory.peak" };
        self.read("memory", file).and_then(|text| text.trim().parse().ok()).unwrap_or(0)
    }

    fn processes(&self) -> Vec<i32> {
        let text = self.read("pids", "cgroup.procs").unwrap_or_default();
        text.lines().filter_map(|line| line.parse().ok()).collect()
    }

    /// Sends a signal to each process.
    pub(crate) fn signal(&self, signal: Signal) {
        for id in self.processes() {
            let Some(handle) = Pid::from_raw(id).and_then(|pid| pidfd_open(pid, PidfdFlags::empty()).ok()) else { continue };
            // A number is used again; a handle is not.
            if self.processes().contains(&id) {
                let _ = pidfd_send_signal(handle, signal);
            }
        }
    }

    /// Ends every process and removes the group. It blocks.
    pub(crate) fn remove(&self) -> Result<(), BoxError> {
        let (attempts, pause) = ATTEMPTS;
        for folder in self.folders() {
            for attempt in 0.. {
                match fs::remove_dir(folder) {
                    Err(error) if error.kind() == io::ErrorKind::NotFound => break,
                    Err(error) if attempt == attempts => {
                        return Err(BoxError::host(format!("removing the control group {}", folder.display()))(error));
                    }
                    Err(_) => {
                        let is_killed = self.v2.as_ref().is_some_and(|folder| fs::write(folder.join("cgroup.kill"), "1").is_ok());
                        if !is_killed {
                            self.signal(Signal::KILL);
                        }
                        std::thread::sleep(pause);
                    }
                    Ok(()) => break,
                }
            }
        }
        Ok(())
    }
}

fn field(text: &str, name: &str) -> Option<u64> {
    text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' ')?.trim().parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOTH: &str = "30 24 0:26 / /cg/cpu rw - cgroup cgroup rw,cpu,cpuacct
31 24 0:27 / /cg/memory rw - cgroup cgroup rw,memory
32 24 0:28 / /cg/pids rw - cgroup cgroup rw,pids
33 24 0:29 / /cg/systemd rw - cgroup cgroup rw,name=systemd
34 24 0:30 / /cg/unified rw - cgroup2 cgroup2 rw";

    #[test]
    fn the_trees_of_each_kind_of_computer_are_found() {
        let rows: &[(&str, &str, Result<&[&str], &str>)] = &[
            (BOTH, "hugetlb", Ok(&["cpu", "cpuacct", "memory", "pids"])),
            ("30 24 0:26 / /cg rw - cgroup2 cgroup2 rw", "cpu io memory pids", Ok(&[])),
            ("30 24 0:26 / /cg rw - cgroup2 cgroup2 rw", "cpu io memory", Err("pids")),
            ("31 24 0:27 / /cg/memory rw - cgroup cgroup rw,memory\n30 24 0:26 / /cg rw - cgroup2 cgroup2 rw", "cpu pids", Ok(&["memory"])),
            ("", "", Err("cpu")),
            ("no mount", "", Err("cpu")),
        ];
        for (mounts, controllers, expected) in rows {
            let found = Trees::parse(mounts, |_| (*controllers).to_owned());
            match (found, expected) {
                (Ok(trees), Ok(v1)) => assert_eq!(trees.v1.keys().copied().collect::<Vec<_>>(), *v1, "{mounts}"),
                (Err(BoxError::Groups(missing)), Err(name)) => assert_eq!(missing, *name, "{mounts}"),
                (found, _) => panic!("{mounts}: {found:?}"),
            }
        }
    }

    #[test]
    fn limits_and_counters_are_those_of_the_version() {
        let limits = Limits { cpu_millicores: 1500, pids: 7, ..Limits::default() };
        let two = Trees::parse("30 24 0:26 / /cg rw - cgroup2 cgroup2 rw", |_| "cpu memory pids".to_owned()).expect("trees").group("x");
        let one = Trees::parse(BOTH, |_| String::new()).expect("trees").group("x");
        let rows: &[(&Group, &str, &str)] = &[
            (&two, "/cg/x/memory.max", "4194304"),
            (&two, "/cg/x/memory.swap.max", "0"),
            (&two, "/cg/x/memory.oom.group", "1"),
            (&two, "/cg/x/pids.max", "8"),
            (&two, "/cg/x/cpu.max", "150000 100000"),
            (&one, "/cg/memory/x/memory.limit_in_bytes", "4194304"),
            (&one, "/cg/memory/x/memory.memsw.limit_in_bytes", "4194304"),
            (&one, "/cg/pids/x/pids.max", "8"),
            (&one, "/cg/cpu/x/cpu.cfs_quota_us", "150000"),
        ];
        for (group, path, value) in rows {
            let found =
                group.limits(&limits, 4 << 20).into_iter().find(|(controller, file, _, _)| group.path(controller, file) == Path::new(path));
            assert_eq!(found.map(|(_, _, value, _)| value).as_deref(), Some(*value), "{path}");
        }
        assert_eq!(field("oom 3\noom_kill 2\n", "oom_kill"), Some(2));
        assert_eq!(field("oom_kill_disable 0\nunder_oom 0\noom_kill 5\n", "oom_kill"), Some(5));
    }

    /// A tree of version 2 without the kernel behind it: a folder in which files stay files.
    fn tree() -> (tempfile::TempDir, Group) {
        let folder = tempfile::tempdir().expect("a folder");
        let mounts = format!("30 24 0:26 / {} rw - cgroup2 cgroup2 rw", folder.path().display());
        fs::write(folder.path().join("cgroup.controllers"), "cpuset cpu io memory hugetlb pids\n").expect("a file");
        let read = |tree: &Path| fs::read_to_string(tree.join("cgroup.controllers")).expect("it is there");
        let group = Trees::parse(&mounts, read).expect("it has all that is needed").group("box");
        (folder, group)
    }

    /// Where only version 2 is mounted, a group is one folder: the tree lets it have the controllers, every limit is written, and what it used is
    /// read from the files of version 2.
    #[test]
    fn a_group_of_version_two_is_limited_and_counted() {
        let (folder, group) = tree();
        let limits = Limits { cpu_millicores: 250, pids: 9, ..Limits::default() };
        group.create(&limits, 8 << 20).expect("it is made");
        let inside = folder.path().join("box");
        assert_eq!(fs::read_to_string(folder.path().join("cgroup.subtree_control")).expect("it is written"), "+cpu +memory +pids");
        let mut written: Vec<(String, String)> = fs::read_dir(&inside)
            .expect("a folder")
            .map(|entry| entry.expect("a file"))
            .map(|entry| (entry.file_name().into_string().expect("a name"), fs::read_to_string(entry.path()).expect("it is written")))
            .collect();
        written.sort();
        let expected = [
            ("cpu.max", "25000 100000"),
            ("memory.max", "8388608"),
            ("memory.oom.group", "1"),
            ("memory.swap.max", "0"),
            ("pids.max", "10"),
        ];
        assert_eq!(written, expected.map(|(name, value)| (name.to_owned(), value.to_owned())));
        assert_eq!(group.files(), [inside.join("cgroup.procs")]);

        assert_eq!(
            (group.cpu_us(), group.peak_bytes(), group.oom_kills(), group.processes()),
            (0, 0, 0, Vec::new()),
            "nothing is counted yet"
        );
        let counters = [
            ("cpu.stat", "usage_usec 1234567\nuser_usec 1000000\nsystem_usec 234567\nnr_periods 4\n"),
            ("memory.peak", "5242880\n"),
            ("memory.events", "low 0\nhigh 0\nmax 12\noom 1\noom_kill 3\noom_group_kill 1\n"),
            ("cgroup.procs", "71\n72\n"),
        ];
        counters.iter().for_each(|(name, text)| fs::write(inside.join(name), text).expect("a file"));
        assert_eq!((group.cpu_us(), group.peak_bytes(), group.oom_kills()), (1_234_567, 5_242_880, 3));
        assert_eq!(group.processes(), [71, 72]);
    }

    /// A kernel may lack the files of swap, and no other; and a tree that may not hand its controllers on is named.
    #[test]
    fn what_a_tree_of_version_two_lacks_is_named() {
        let (folder, group) = tree();
        let rows = group.limits(&Limits::default(), 8 << 20);
        let optional: Vec<&str> = rows.iter().filter(|(_, _, _, is_optional)| *is_optional).map(|(_, file, _, _)| *file).collect();
        assert_eq!(optional, ["memory.swap.max"]);
        fs::create_dir(folder.path().join("cgroup.subtree_control")).expect("a folder, which cannot be written to");
        let refused = group.create(&Limits::default(), 8 << 20).expect_err("no controller is handed on");
        assert!(refused.to_string().contains("enabling +cpu +memory +pids in"), "{refused}");
        assert!(!folder.path().join("box").exists(), "nothing is made");
    }

    /// What is left in a group of version 2 is ended through the kernel's own file, all at once.
    #[test]
    fn a_group_of_version_two_is_ended_as_a_whole() {
        let (folder, group) = tree();
        let inside = folder.path().join("box");
        fs::create_dir(&inside).expect("a folder");
        let kill = inside.join("cgroup.kill");
        rustix::fs::mknodat(rustix::fs::CWD, &kill, rustix::fs::FileType::Fifo, rustix::fs::Mode::from_raw_mode(0o600), 0).expect("a pipe");
        // Stands for the kernel: the processes are gone when it was told to end them.
        let gone = inside.clone();
        let kernel = std::thread::spawn(move || {
            let mut pipe = fs::File::options().read(true).write(true).open(&kill).expect("it opens");
            let mut told = [0; 1];
            io::Read::read_exact(&mut pipe, &mut told).expect("it is told");
            while gone.exists() {
                // It may be told again meanwhile, which makes a file where the pipe was.
                let _ = fs::remove_file(&kill);
                std::thread::yield_now();
            }
            told
        });
        group.remove().expect("it is removed");
        assert_eq!(kernel.join().expect("no panic"), *b"1");
        assert!(!inside.exists());
        group.remove().expect("there is none");
    }
}
