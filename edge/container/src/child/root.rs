//! The files of a box: a root in memory that is empty but for read-only mounts of the image, and a few folders of its own.
//!
//! Everything is mounted on folders that are made here, in a file system that nobody else writes: no link of an image is ever followed.

use super::ids::FileIds;
use super::{Done, Step};
use crate::message::{self, Order, OrderedMount, Report};
use crate::sys::{self, forbid};
use rustix::fs::{CWD, FileType, Mode, OFlags, openat};
use rustix::mount::{
    MountFlags, MountPropagationFlags, MoveMountFlags, OpenTreeFlags, UnmountFlags, mount, mount_change, move_mount, open_tree, unmount,
};
use std::fs::{self, File, Permissions};
use std::io::{self, Write as _};
use std::os::fd::{AsFd as _, AsRawFd as _, OwnedFd};
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _, chown, symlink};
use std::path::Path;

/// Devices of a box, with their minor numbers: all belong to the driver of memory, 1.
pub(super) const DEVICES: [(&str, u32); 5] = [("full", 7), ("null", 3), ("random", 8), ("urandom", 9), ("zero", 5)];

/// Most files and folders at the root of an image.
const ENTRIES: usize = 256;

/// Folders that a box has in place of the image's.
const OWN: [&str; 7] = ["dev", "mnt", "proc", "run", "sys", "tmp", "workspace"];

/// What `/proc` has for the host only.
const MASKED: [&str; 22] = [
    "acpi",
    "asound",
    "bus",
    "config.gz",
    "fs",
    "interrupts",
    "iomem",
    "irq",
    "kallsyms",
    "kcore",
    "key-users",
    "keys",
    "kmsg",
    "latency_stats",
    "modules",
    "mounts.gz",
    "sched_debug",
    "scsi",
    "sysrq-trigger",
    "timer_list",
    "timer_stats",
    "vmallocinfo",
];

const PLAIN: u64 = forbid::SETUID | forbid::DEVICES;

/// Builds the files of the box and changes to its root.
pub(super) fn build(order: &Order, host: &OwnedFd, ids: &FileIds) -> Done {
    mount_change("/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC).step("separate mounts")?;
    let rootfs = openat(CWD, &order.rootfs, OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty())
        .step(format!("open {}", order.rootfs.display()))?;
    let volumes: Vec<_> = order.mounts.iter().map(|mount| take(mount, ids)).collect::<Done<_>>()?;
    memory_at(&order.root, "size=1m,nr_inodes=1k,mode=0755").step("mount the root")?;
    std::env::set_current_dir(&order.root).step("enter the root")?;
    for name in OWN.iter().filter(|name| **name != "sys") {
        fs::create_dir(name).step(format!("make /{name}"))?;
    }
    image(&rootfs)?;
    scratch(order, host)?;
    for (entry, source) in order.mounts.iter().zip(volumes) {
        volume(entry, source, host)?;
    }
    secrets(order)?;
    devices().step("make /dev")?;
    processes()?;
    change_root().step("change the root")
}

fn memory_at(target: &Path, options: &str) -> io::Result<()> {
    let options = std::ffi::CString::new(options)?;
    mount("box", target, "tmpfs", MountFlags::NOSUID | MountFlags::NODEV, Some(options.as_c_str())).map_err(Into::into)
}

/// Mounts a detached mount, with limits.
fn attach(tree: &OwnedFd, target: &Path, forbidden: u64) -> io::Result<()> {
    sys::restrict_mount(tree.as_fd(), forbidden, None)?;
    move_mount(tree, "", CWD, target, MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH).map_err(Into::into)
}

fn attach_file(tree: &OwnedFd, target: &Path, forbidden: u64) -> io::Result<()> {
    File::create_new(target)?;
    attach(tree, target, forbidden)
}

/// Mounts each entry of the image's root, read-only.
fn image(rootfs: &OwnedFd) -> Done {
    let inner = format!("/proc/self/fd/{}", rootfs.as_raw_fd());
    let entries =
        fs::read_dir(&inner).and_then(|entries| entries.take(ENTRIES + 1).collect::<Result<Vec<_>, _>>()).step("read the image")?;
    if entries.len() > ENTRIES {
        return Err(io::Error::from_raw_os_error(libc::E2BIG)).step(format!("read the image, whose root has more than {ENTRIES} entries"));
    }
    for entry in entries {
        let name = entry.file_name();
        if OWN.iter().any(|own| *own == name) {
            continue;
        }
        entry_of_image(rootfs, &entry).step(format!("mount /{}", name.to_string_lossy()))?;
    }
    Ok(())
}

fn entry_of_image(rootfs: &OwnedFd, entry: &fs::DirEntry) -> io::Result<()> {
    let (name, kind) = (entry.file_name(), entry.file_type()?);
    let target = Path::new(&name);
    if kind.is_symlink() {
        return symlink(fs::read_link(entry.path())?, target);
    }
    if !kind.is_dir() && !kind.is_file() {
        return Ok(());
    }
    let flags = OpenTreeFlags::OPEN_TREE_CLONE | OpenTreeFlags::OPEN_TREE_CLOEXEC | OpenTreeFlags::AT_SYMLINK_NOFOLLOW;
    let tree = open_tree(rootfs, target, flags)?;
    if kind.is_dir() {
        fs::create_dir(target)?;
        attach(&tree, target, PLAIN | forbid::WRITING)
    } else {
        attach_file(&tree, target, PLAIN | forbid::WRITING)
    }
}

/// `/tmp` and `/workspace`: two folders of one file system, which has the size of the limit.
fn scratch(order: &Order, host: &OwnedFd) -> Done {
    let options = format!("size={},nr_inodes={},mode=0755", order.scratch_bytes, order.scratch_inodes);
    memory_at(Path::new("run"), &options).step("mount the scratch folder")?;
    for (name, mode) in [("tmp", 0o1777), ("workspace", 0o755)] {
        let inner = Path::new("run").join(name);
        make_own(&inner, mode, order).step(format!("make /{name}"))?;
        let tree =
            open_tree(CWD, &inner, OpenTreeFlags::OPEN_TREE_CLONE | OpenTreeFlags::OPEN_TREE_CLOEXEC).step(format!("open /{name}"))?;
        attach(&tree, Path::new(name), PLAIN).step(format!("mount /{name}"))?;
    }
    let folder = open_folder(Path::new("workspace")).step("open /workspace")?;
    message::send(host.as_fd(), &Report::Workspace, &[folder.as_fd()]).step("hand over /workspace")?;
    unmount("run", UnmountFlags::DETACH).step("unmount the scratch folder")
}

/// A folder of the program.
fn make_own(path: &Path, mode: u32, order: &Order) -> io::Result<()> {
    fs::create_dir(path)?;
    chown(path, Some(order.first_id + 1), Some(order.first_id + 1))?;
    fs::set_permissions(path, Permissions::from_mode(mode))
}

fn open_folder(path: &Path) -> io::Result<OwnedFd> {
    openat(CWD, path, OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty()).map_err(Into::into)
}

/// Takes the mount of a folder of the host.
fn take(entry: &OrderedMount, ids: &FileIds) -> Done<OwnedFd> {
    let step = || format!("open the mount {} at {}", entry.name, entry.source.display());
    let flags = OpenTreeFlags::OPEN_TREE_CLONE | OpenTreeFlags::OPEN_TREE_CLOEXEC | OpenTreeFlags::AT_SYMLINK_NOFOLLOW;
    let tree = open_tree(CWD, &entry.source, flags).step(step())?;
    let forbidden = PLAIN | forbid::WRITING;
    match sys::restrict_mount(tree.as_fd(), forbidden, Some(ids.as_fd())) {
        // The file system cannot map ids: the program has the rights of a stranger.
        Err(error) if error.raw_os_error() == Some(libc::EINVAL) => sys::restrict_mount(tree.as_fd(), forbidden, None).step(step())?,
        other => other.step(step())?,
    }
    Ok(tree)
}

fn volume(entry: &OrderedMount, source: OwnedFd, host: &OwnedFd) -> Done {
    let target = Path::new("mnt/volumes").join(&entry.name);
    fs::create_dir_all(&target).step(format!("make the mount {}", entry.name))?;
    let Some(max_bytes) = entry.max_bytes else {
        return attach(&source, &target, PLAIN | forbid::WRITING).step(format!("mount {}", entry.name));
    };
    overlay(&target, &source, max_bytes, host, &entry.name).step(format!("mount {} for writing", entry.name))
}

/// Every file in the upper folder is a whole one, whatever the kernel does by default.
const OVERLAY: &str = "redirect_dir=off,metacopy=off,index=off,xino=off";

/// Writes go to memory, whose folder the host gets.
fn overlay(target: &Path, source: &OwnedFd, max_bytes: u64, host: &OwnedFd, name: &str) -> io::Result<()> {
    let inodes = (max_bytes >> 12).clamp(256, 1 << 20);
    memory_at(target, &format!("size={max_bytes},nr_inodes={inodes},mode=0755"))?;
    for folder in ["lower", "upper", "work"] {
        fs::create_dir(target.join(folder))?;
    }
    attach(source, &target.join("lower"), PLAIN | forbid::WRITING)?;
    let lower = fs::metadata(target.join("lower"))?;
    fs::set_permissions(target.join("upper"), lower.permissions())?;
    let (uid, gid) = (std::os::unix::fs::MetadataExt::uid(&lower), std::os::unix::fs::MetadataExt::gid(&lower));
    chown(target.join("upper"), Some(uid), Some(gid))?;
    let upper = open_folder(&target.join("upper"))?;
    message::send(host.as_fd(), &Report::Changes(name.to_owned()), &[upper.as_fd()])?;
    let at = target.display();
    let options = std::ffi::CString::new(format!("lowerdir={at}/lower,upperdir={at}/upper,workdir={at}/work,{OVERLAY}"))?;
    mount("box", target, "overlay", MountFlags::NOSUID | MountFlags::NODEV, Some(options.as_c_str())).map_err(Into::into)
}

/// `/run` with the secrets, which only the program reads.
fn secrets(order: &Order) -> Done {
    let run = Path::new("run");
    let bytes = order.secrets.iter().map(|secret| secret.value.len().next_multiple_of(4096)).sum::<usize>() + (64 << 10);
    memory_at(run, &format!("size={bytes},nr_inodes={},mode=0755", order.secrets.len() + 16)).step("mount /run")?;
    let folder = run.join("secrets");
    make_own(&folder, 0o500, order).step("make /run/secrets")?;
    for secret in &order.secrets {
        let path = folder.join(&secret.name);
        let write = || -> io::Result<()> {
            File::options().write(true).create_new(true).mode(0o400).open(&path)?.write_all(&secret.value)?;
            chown(&path, Some(order.first_id + 1), Some(order.first_id + 1))
        };
        write().step("write a secret")?;
    }
    close(run).step("close /run")
}

/// Makes what is mounted here read-only.
fn close(path: &Path) -> io::Result<()> {
    sys::restrict_mount(open_folder(path)?.as_fd(), PLAIN | forbid::WRITING | forbid::EXECUTION, None)
}

/// `/dev`. The devices are made here: those of the host may be something else by now.
fn devices() -> io::Result<()> {
    let dev = Path::new("dev");
    mount("box", dev, "tmpfs", MountFlags::NOSUID | MountFlags::NOEXEC, Some(c"size=64k,nr_inodes=16,mode=0755"))?;
    for (name, minor) in DEVICES {
        let path = dev.join(name);
        rustix::fs::mknodat(CWD, &path, FileType::CharacterDevice, Mode::RUSR, rustix::fs::makedev(1, minor))?;
        fs::set_permissions(&path, Permissions::from_mode(0o666))?;
    }
    let rows = [
        ("fd", "/proc/self/fd"),
        ("stdin", "/proc/self/fd/0"),
        ("stdout", "/proc/self/fd/1"),
        ("stderr", "/proc/self/fd/2"),
        ("shm", "/tmp"),
    ];
    for (name, target) in rows {
        symlink(target, dev.join(name))?;
    }
    sys::restrict_mount(open_folder(dev)?.as_fd(), forbid::SETUID | forbid::WRITING | forbid::EXECUTION, None)
}

/// `/proc`, read-only, where nobody sees the processes of another user.
fn processes() -> Done {
    let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
    mount("proc", "proc", "proc", flags, Some(c"hidepid=2")).step("mount /proc")?;
    for name in MASKED {
        let path = Path::new("proc").join(name);
        let Ok(found) = fs::symlink_metadata(&path) else { continue };
        let mask = || -> io::Result<()> {
            if found.is_dir() {
                memory_at(&path, "size=4k,nr_inodes=2,mode=0555").and_then(|()| close(&path))
            } else {
                let flags = OpenTreeFlags::OPEN_TREE_CLONE | OpenTreeFlags::OPEN_TREE_CLOEXEC;
                attach(&open_tree(CWD, "dev/null", flags)?, &path, forbid::WRITING | forbid::SETUID | forbid::EXECUTION)
            }
        };
        mask().step(format!("mask /proc/{name}"))?;
    }
    close(Path::new("proc")).step("close /proc")
}

fn change_root() -> io::Result<()> {
    rustix::process::pivot_root(".", ".")?;
    unmount(".", UnmountFlags::DETACH)?;
    std::env::set_current_dir("/")?;
    let root = openat(CWD, "/", OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
    sys::restrict_mount(root.as_fd(), PLAIN | forbid::WRITING | forbid::EXECUTION, None)
}
