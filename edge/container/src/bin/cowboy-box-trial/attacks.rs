//! Ways out of a box. Each returns what it reached.

use crate::calls::{call, error_name, fork};
use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::net::{Ipv4Addr, TcpListener, TcpStream, UdpSocket};
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};
use std::path::Path;
use std::process::Command;

type Reached = io::Result<String>;

fn reached<T>(result: io::Result<T>) -> Reached {
    result.map(|_| "reached".to_owned())
}

fn at(text: &std::ffi::CStr) -> usize {
    text.as_ptr().addr()
}

/// Makes a system call that gets nothing but numbers.
fn numbers(number: libc::c_long, arguments: &[usize]) -> Reached {
    reached(call(number, arguments))
}

pub(crate) fn run(name: &str, rest: &[&str]) -> Reached {
    let first = rest.first().copied().unwrap_or_default();
    match name {
        "id" => Ok(format!("{} {}", rustix_id(libc::SYS_getuid)?, rustix_id(libc::SYS_geteuid)?)),
        "read" => Ok(fs::read_to_string(first)?.trim().to_owned()),
        "list" => list(first),
        "wait" => wait(first),
        "write-stdin" => reached(File::options().write(true).open("/proc/self/fd/0").and_then(|mut file| file.write_all(b"x"))),
        "write" => reached(File::options().write(true).open(first).and_then(|mut file| file.write_all(b"x"))),
        "create" => reached(fs::write(first, "x")),
        "remove" => reached(fs::remove_file(first)),
        "mode" => Ok(format!("{:o}", fs::metadata(first)?.permissions().mode() & 0o7777)),
        "link" => reached(std::os::unix::fs::symlink(first, rest.get(1).copied().unwrap_or_default())),
        "stdin" => io::read_to_string(io::stdin()),
        "env" => Ok(std::env::vars().map(|(name, value)| format!("{name}={value}\n")).collect()),
        "folder" => Ok(std::env::current_dir()?.display().to_string()),
        "exit" => std::process::exit(first.parse().unwrap_or(1)),
        "connect" => reached(TcpStream::connect(first)),
        "listen" => listen(),
        "dns" => reached(UdpSocket::bind("0.0.0.0:0")?.send_to(b"x", first)),
        "abstract" => reached(UnixStream::connect_addr(&SocketAddr::from_abstract_name(first)?)),
        "abstract-listen" => abstract_listen(first, rest.get(1).copied().unwrap_or_default()),
        "proxy" => proxy(first.parse().unwrap_or(1)),
        "setuid" => setuid(first),
        "mounts" => mounts(),
        "descriptors" => list("/proc/self/fd"),
        "others" => others(),
        "overwrite-self" => reached(File::options().write(true).open("/proc/self/exe")),
        "kcore" => Ok((File::open("/proc/kcore")?.read(&mut [0])? > 0).to_string()),
        #[cfg(target_arch = "x86_64")]
        "old-mode" => Ok(crate::calls::old_mode(20).to_string()),
        _ => forbidden(name, first),
    }
}

/// Calls of the families that are left out, and uses of others.
fn forbidden(name: &str, first: &str) -> Reached {
    let (none, own) = (at(c"none"), at(c"/tmp"));
    match name {
        "mount" => numbers(libc::SYS_mount, &[none, own, at(c"tmpfs"), 0, 0]),
        "mount-cgroup" => numbers(libc::SYS_mount, &[none, own, at(c"cgroup"), 0, at(c"memory")]),
        "umount" => numbers(libc::SYS_umount2, &[at(c"/proc"), usize::try_from(libc::MNT_DETACH).unwrap_or(0)]),
        "fsopen" => numbers(libc::SYS_fsopen, &[at(c"tmpfs"), 0]),
        "unshare" => numbers(libc::SYS_unshare, &[flag(first)]),
        "clone" => match call(libc::SYS_clone, &[flag(first) | 17, 0, 0, 0, 0])? {
            0 => std::process::exit(0),
            _ => Ok("reached".to_owned()),
        },
        "clone3" => numbers(libc::SYS_clone3, &[0, 88]),
        "setns" => numbers(libc::SYS_setns, &[descriptor(&File::open("/proc/self/ns/net")?), 0]),
        "ptrace" => numbers(libc::SYS_ptrace, &[16, 1, 0, 0]),
        "ptrace-me" => numbers(libc::SYS_ptrace, &[0, 0, 0, 0]),
        "read-memory" => numbers(libc::SYS_process_vm_readv, &[1, 0, 0, 0, 0, 0]),
        "take-file" => numbers(libc::SYS_pidfd_getfd, &[0, 0, 0]),
        "keyctl" => numbers(libc::SYS_keyctl, &[0, usize::MAX - 2, 1]),
        "add-key" => numbers(libc::SYS_add_key, &[at(c"user"), at(c"name"), at(c"x"), 1, usize::MAX - 3]),
        "mknod-char" => numbers(libc::SYS_mknodat, &[cwd(), at(c"/tmp/mem"), 0o020_666, 0x101]),
        "mknod-block" => numbers(libc::SYS_mknodat, &[cwd(), at(c"/tmp/disk"), 0o060_666, 0xfe00]),
        "io-uring" => numbers(libc::SYS_io_uring_setup, &[1, [0_u64; 15].as_ptr().addr()]),
        "bpf" => numbers(libc::SYS_bpf, &[0, [0_u64; 15].as_ptr().addr(), 120]),
        "perf" => numbers(libc::SYS_perf_event_open, &[[0_u64; 15].as_ptr().addr(), 0, 0, usize::MAX, 0]),
        "userfaultfd" => numbers(libc::SYS_userfaultfd, &[1]),
        "chroot" => numbers(libc::SYS_chroot, &[own]),
        "pivot-root" => numbers(libc::SYS_pivot_root, &[own, own]),
        "open-by-handle" => numbers(libc::SYS_open_by_handle_at, &[0, [0_u64; 15].as_ptr().addr(), 0]),
        "module" => numbers(libc::SYS_finit_module, &[0, at(c""), 0]),
        "kexec" => numbers(libc::SYS_kexec_load, &[0, 0, 0, 0]),
        "reboot" => numbers(libc::SYS_reboot, &[0, 0, 0, 0]),
        "hostname" => numbers(libc::SYS_sethostname, &[at(c"evil"), 4]),
        "clock" => numbers(libc::SYS_clock_settime, &[0, [1_u64; 2].as_ptr().addr()]),
        "personality" => numbers(libc::SYS_personality, &[0x0004_0000]),
        "unknown-call" => numbers(9999, &[]),
        #[cfg(target_arch = "x86_64")]
        "x32" => numbers(0x4000_0000 | libc::SYS_getpid, &[]),
        "type-into-terminal" => numbers(libc::SYS_ioctl, &[0, 0x5412, at(c"x")]),
        "become-root" => numbers(libc::SYS_setuid, &[0]),
        "set-capabilities" => {
            let (head, sets) = ([0x2008_0522_u32, 0], [1_u32 << 21, 1 << 21, 0, 0, 0, 0]);
            numbers(libc::SYS_capset, &[head.as_ptr().addr(), sets.as_ptr().addr()])
        }
        "kill-all" => numbers(libc::SYS_kill, &[usize::MAX, 9]),
        "kill-first" => numbers(libc::SYS_kill, &[1, 9]),
        "memory-of-others" => numbers(libc::SYS_shmget, &[0x636f_7762, 4096, 0]),
        "memory-for-others" => numbers(libc::SYS_shmget, &[0x636f_7762, 4096, 0o1666]),
        "core-limit" => numbers(libc::SYS_prlimit64, &[0, 4, [0_u64; 2].as_ptr().addr(), 0]),
        #[cfg(target_arch = "x86_64")]
        "old-core-limit" => numbers(libc::SYS_setrlimit, &[4, [0_u64; 2].as_ptr().addr()]),
        "other-limit" => numbers(libc::SYS_prlimit64, &[0, 7, [64_u64; 2].as_ptr().addr(), 0]),
        "read-limit" => {
            let mut limit = [0_u64; 2];
            numbers(libc::SYS_prlimit64, &[0, 4, 0, limit.as_mut_ptr().addr()])
        }
        "more-files" => numbers(libc::SYS_prlimit64, &[0, 7, [1_u64 << 20; 2].as_ptr().addr(), 0]),
        _ => resources(name, first),
    }
}

/// Sockets that reach more than loopback, and memory that no limit counts.
fn resources(name: &str, first: &str) -> Reached {
    match name {
        "raw-socket" => numbers(libc::SYS_socket, &[2, 3 | 0o2_000_000, 1]),
        "packet-socket" => numbers(libc::SYS_socket, &[17, 2, 0x300]),
        "netlink-socket" => numbers(libc::SYS_socket, &[16, 3, 0]),
        "vsock-socket" => numbers(libc::SYS_socket, &[40, 1, 0]),
        "sctp-socket" => numbers(libc::SYS_socket, &[2, 1, 132]),
        "icmp-socket" => numbers(libc::SYS_socket, &[2, 2, 1]),
        "tcp-socket" => numbers(libc::SYS_socket, &[2, 1, 6]),
        "pair" => {
            let (family, mut pair) = (first.parse().unwrap_or(0), [0_i32; 2]);
            numbers(libc::SYS_socketpair, &[family, 1, 0, pair.as_mut_ptr().addr()])
        }
        "huge-memory" => numbers(libc::SYS_mmap, &[0, 1 << 21, 3, 0x0004_0022, usize::MAX, 0]),
        "huge-file" => numbers(libc::SYS_memfd_create, &[at(c"x"), 4]),
        "huge-shared" => numbers(libc::SYS_shmget, &[0, 1 << 21, 0o5600]),
        _ => Err(io::Error::other(format!("no program {name}"))),
    }
}

fn flag(name: &str) -> usize {
    let flags = [
        ("user", libc::CLONE_NEWUSER),
        ("mount", libc::CLONE_NEWNS),
        ("pid", libc::CLONE_NEWPID),
        ("net", libc::CLONE_NEWNET),
        ("ipc", libc::CLONE_NEWIPC),
        ("uts", libc::CLONE_NEWUTS),
        ("cgroup", libc::CLONE_NEWCGROUP),
    ];
    flags.iter().find(|(flag, _)| *flag == name).and_then(|(_, bits)| usize::try_from(*bits).ok()).unwrap_or(0)
}

fn cwd() -> usize {
    usize::MAX - 99
}

fn descriptor(file: &File) -> usize {
    usize::try_from(std::os::fd::AsRawFd::as_raw_fd(file)).unwrap_or(usize::MAX)
}

fn rustix_id(number: libc::c_long) -> io::Result<libc::c_long> {
    call(number, &[])
}

fn list(folder: &str) -> Reached {
    let mut names: Vec<String> = fs::read_dir(folder)?.filter_map(|entry| entry.ok()?.file_name().into_string().ok()).collect();
    names.sort_unstable();
    Ok(names.join(" "))
}

/// The mounts that are not forbidden everything that they should be.
fn mounts() -> Reached {
    let text = fs::read_to_string("/proc/self/mountinfo")?;
    let weak = text.lines().filter_map(|line| {
        let mut fields = line.split(' ').skip(4);
        let (at, options) = (fields.next()?, fields.next()?);
        let lacks = |option: &str| !options.split(',').any(|found| found == option);
        let is_scratch = matches!(at, "/tmp" | "/workspace");
        // Masks of /proc are the box's own /dev/null.
        let has_devices = at == "/dev" || text.lines().any(|line| line.contains(&format!(" /null {at} ")));
        let is_weak = lacks("nosuid") || lacks("nodev") && !has_devices || lacks("ro") && !is_scratch;
        is_weak.then(|| format!("{at} {options}"))
    });
    Ok(weak.collect::<Vec<_>>().join("; "))
}

/// Opens a named pipe, which waits for the test, and reads to its end.
fn wait(pipe: &str) -> Reached {
    fs::read_to_string(pipe)
}

/// The interfaces, after a message over loopback.
fn listen() -> Reached {
    let listener = TcpListener::bind((Ipv4Addr::UNSPECIFIED, 0))?;
    let mut client = TcpStream::connect(listener.local_addr()?)?;
    client.write_all(b"x")?;
    listener.accept()?.0.read_exact(&mut [0])?;
    let text = fs::read_to_string("/proc/net/dev")?;
    Ok(text.lines().filter_map(|line| line.split_once(':')).map(|(name, _)| name.trim()).collect::<Vec<_>>().join(" "))
}

fn abstract_listen(name: &str, pipe: &str) -> Reached {
    let _listener = UnixListener::bind_addr(&SocketAddr::from_abstract_name(name)?)?;
    call(libc::SYS_shmget, &[0x636f_7762, 4096, 0o1666])?;
    fs::write("/tmp/here", "x")?;
    wait(pipe)
}

/// Sends standard input to the proxy, some times, and prints the answers.
fn proxy(times: u32) -> Reached {
    let (mut request, mut answer) = (Vec::new(), Vec::new());
    io::stdin().read_to_end(&mut request)?;
    for _ in 0..times {
        let mut stream = TcpStream::connect("127.0.0.1:3128")?;
        // A broken connection is a result too.
        let _ = stream.write_all(&request).and_then(|()| stream.read_to_end(&mut answer));
    }
    Ok(String::from_utf8_lossy(&answer).into_owned())
}

/// Runs a file with the setuid bit: that of the image, or a copy of this program.
fn setuid(path: &str) -> Reached {
    if !Path::new(path).exists() {
        fs::copy("/trial", path)?;
        fs::set_permissions(path, fs::Permissions::from_mode(0o6755))?;
    }
    let output = Command::new(path).arg("id").output()?;
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// Processes that this one sees, beside itself and a child.
fn others() -> Reached {
    let child = fork()?;
    if child == 0 {
        loop {
            std::thread::park();
        }
    }
    let own = [std::process::id().to_string(), child.to_string()];
    let seen = list("/proc")?;
    let seen: Vec<&str> = seen.split(' ').filter(|name| name.parse::<u32>().is_ok() && !own.iter().any(|own| own == name)).collect();
    let status = fs::read("/proc/1/root").map_err(|error| error_name(&error));
    Ok(format!("{seen:?} {}", status.err().unwrap_or_default()))
}
