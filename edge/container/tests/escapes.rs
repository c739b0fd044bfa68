//! Every public way out of a container, each stopped for the right reason.

use crate::fixture::Fixture;
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::net::{SocketAddr, UnixListener};

/// Program, its arguments, and what it prints: one of these, where kernels differ.
const ESCAPES: &[(&[&str], &str)] = &[
    // Mounts and roots.
    (&["mount"], "EPERM"),
    (&["mount-cgroup"], "EPERM"),
    (&["umount"], "EPERM"),
    (&["fsopen"], "EPERM"),
    (&["chroot"], "EPERM"),
    (&["pivot-root"], "EPERM"),
    (&["open-by-handle"], "EPERM"),
    (&["mounts"], ""),
    // Namespaces.
    (&["unshare", "user"], "EPERM"),
    (&["unshare", "mount"], "EPERM"),
    (&["unshare", "net"], "EPERM"),
    (&["clone", "user"], "EPERM"),
    (&["clone", "mount"], "EPERM"),
    (&["clone", "pid"], "EPERM"),
    (&["clone", "net"], "EPERM"),
    (&["clone", "ipc"], "EPERM"),
    (&["clone", "uts"], "EPERM"),
    (&["clone", "cgroup"], "EPERM"),
    (&["clone", "none"], "reached"),
    (&["clone3"], "ENOSYS"),
    (&["setns"], "EPERM"),
    // Other processes.
    (&["ptrace"], "EPERM"),
    (&["ptrace-me"], "EPERM"),
    (&["read-memory"], "EPERM"),
    (&["take-file"], "EPERM"),
    (&["kill-all"], "ESRCH"),
    (&["kill-first"], "EPERM"),
    (&["others"], "[] ENOENT"),
    (&["read", "/proc/1/environ"], "ENOENT"),
    (&["read", "/proc/1/root/etc/hostname"], "ENOENT"),
    // The kernel.
    (&["keyctl"], "EPERM"),
    (&["add-key"], "EPERM"),
    (&["io-uring"], "EPERM"),
    (&["bpf"], "EPERM"),
    (&["perf"], "EPERM"),
    (&["userfaultfd"], "EPERM"),
    (&["module"], "EPERM"),
    (&["kexec"], "EPERM"),
    (&["reboot"], "EPERM"),
    (&["hostname"], "EPERM"),
    (&["clock"], "EPERM"),
    (&["personality"], "EPERM"),
    (&["unknown-call"], "ENOSYS"),
    (&["type-into-terminal"], "EPERM"),
    (&["huge-memory"], "EPERM"),
    (&["huge-file"], "EPERM"),
    (&["huge-shared"], "EPERM"),
    #[cfg(target_arch = "x86_64")]
    (&["x32"], "ENOSYS"),
    (&["write", "/proc/sys/kernel/core_pattern"], "EACCES"),
    (&["write", "/proc/sys/kernel/hostname"], "EACCES"),
    (&["write", "/proc/sysrq-trigger"], "EACCES|ENOENT"),
    (&["write", "/proc/self/uid_map"], "EROFS"),
    (&["kcore"], "false|ENOENT"),
    (&["read", "/proc/keys"], "|ENOENT"),
    (&["read", "/sys/fs/cgroup/memory/release_agent"], "ENOENT"),
    (&["list", "/sys"], "ENOENT"),
    // Users.
    (&["id"], "1000 1000"),
    (&["become-root"], "EPERM"),
    (&["set-capabilities"], "EPERM"),
    (&["setuid", "/bin/setuid"], "1000 1000"),
    (&["setuid", "/tmp/setuid"], "1000 1000"),
    (&["more-files"], "EPERM"),
    (&["core-limit"], "EPERM"),
    #[cfg(target_arch = "x86_64")]
    (&["old-core-limit"], "EPERM"),
    (&["other-limit"], "reached"),
    (&["read-limit"], "reached"),
    (&["write-stdin"], "EPERM"),
    // Devices.
    (&["mknod-char"], "EPERM"),
    (&["mknod-block"], "EPERM"),
    (&["read", "/dev/mem"], "ENOENT"),
    (&["read", "/dev/kmsg"], "ENOENT"),
    (&["read", "/dev/tty"], "ENOENT"),
    (&["list", "/dev"], "fd full null random shm stderr stdin stdout urandom zero"),
    (&["write", "/dev/null"], "reached"),
    (&["write", "/dev/full"], "ENOSPC"),
    // Files of the host and of the image.
    (&["list", "/"], "bin climbs dev etc lib lib64 mnt proc run tmp trial usr workspace"),
    (&["read", "/etc/climbs"], "ENOENT"),
    (&["read", "/climbs/hostname"], "ENOENT"),
    (&["read", "/proc/self/root/../../etc/hostname"], "ENOENT"),
    (&["read", "/../../../../etc/hostname"], "ENOENT"),
    (&["list", "/tmp"], ""),
    (&["list", "/mnt"], ""),
    (&["create", "/new"], "EROFS"),
    (&["create", "/bin/new"], "EROFS"),
    (&["write", "/trial"], "EACCES"),
    (&["remove", "/trial"], "EROFS"),
    (&["overwrite-self"], "EACCES"),
    (&["create", "/run/new"], "EROFS"),
    (&["create", "/dev/new"], "EROFS"),
    (&["create", "/mnt/new"], "EROFS"),
    (&["create", "/tmp/new"], "reached"),
    (&["create", "/workspace/new"], "reached"),
    // The network.
    (&["raw-socket"], "EPERM"),
    (&["packet-socket"], "EPERM"),
    (&["netlink-socket"], "EPERM"),
    (&["vsock-socket"], "EPERM"),
    (&["sctp-socket"], "EPERM"),
    (&["icmp-socket"], "EPERM"),
    (&["tcp-socket"], "reached"),
    (&["pair", "1"], "reached"),
    (&["pair", "2"], "EPERM"),
    (&["pair", "30"], "EPERM"),
    (&["connect", "192.0.2.1:80"], "ENETUNREACH"),
    (&["connect", "169.254.169.254:80"], "ENETUNREACH"),
    (&["connect", "127.0.0.1:3128"], "ECONNREFUSED"),
    (&["dns", "192.0.2.53:53"], "ENETUNREACH"),
    (&["listen"], "lo"),
];

#[tokio::test]
async fn every_way_out_is_closed() {
    let Some(fixture) = Fixture::new("every_way_out_is_closed") else { return };
    let mut wrong = Vec::new();
    for (arguments, expected) in ESCAPES {
        let found = fixture.output(fixture.plan(arguments)).await;
        if expected.split('|').all(|expected| found != expected) {
            wrong.push(format!("{arguments:?}: {found:?}, not {expected:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    fixture.assert_clean();
}

#[cfg(target_arch = "x86_64")]
#[tokio::test]
async fn calls_of_the_older_mode_end_the_program() {
    let Some(fixture) = Fixture::new("calls_of_the_older_mode_end_the_program") else { return };
    let outcome = fixture.run(fixture.plan(&["old-mode"])).await;
    assert_eq!(outcome.end, cowboy_container::End::Killed(31), "SIGSYS");
}

#[tokio::test]
async fn sockets_of_the_host_are_not_reached() {
    let Some(fixture) = Fixture::new("sockets_of_the_host_are_not_reached") else { return };
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("it listens");
    let address = listener.local_addr().expect("an address").to_string();
    let name = format!("cowboy-test-{}", std::process::id());
    let _socket = UnixListener::bind_addr(&SocketAddr::from_abstract_name(&name).expect("a name")).expect("it listens");
    std::net::TcpStream::connect(&address).expect("the host reaches it");
    assert_eq!(fixture.output(fixture.plan(&["connect", &address])).await, "ECONNREFUSED");
    assert_eq!(fixture.output(fixture.plan(&["abstract", &name])).await, "ECONNREFUSED");
}

#[tokio::test]
async fn files_and_variables_of_the_runner_are_not_inherited() {
    let Some(fixture) = Fixture::new("files_and_variables_of_the_runner_are_not_inherited") else { return };
    let secret = std::fs::File::open("/etc/hostname").expect("it opens");
    // A duplicate that programs inherit.
    let _inherited = rustix::io::dup(&secret).expect("a duplicate");
    assert_eq!(fixture.output(fixture.plan(&["descriptors"])).await, "0 1 2 3", "3 is the folder that is listed");
    let mut plan = fixture.plan(&["env"]);
    plan.env.push(("NAME".to_owned(), "value".to_owned()));
    let mut found: Vec<String> = fixture.output(plan).await.lines().map(str::to_owned).collect();
    found.sort_unstable();
    assert_eq!(found, ["HOME=/workspace", "NAME=value", "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"]);
    for folder in ["/proc/self/fd/0", "/proc/self/fd/3", "/proc/self/fd/7", "/missing"] {
        let mut plan = fixture.plan(&["folder"]);
        plan.working_dir = folder.to_owned();
        fixture.boxes.run(plan, std::future::pending()).await.expect_err("a folder of the host is no working folder");
    }
    fixture.assert_clean();
}

#[tokio::test]
async fn two_boxes_do_not_see_each_other() {
    let Some(fixture) = Fixture::new("two_boxes_do_not_see_each_other") else { return };
    let mut plan = fixture.plan(&["abstract-listen", "name", "/mnt/volumes/pipes/one"]);
    plan.mounts.push(fixture.pipe("one"));
    let rows: &[(&[&str], &str)] = &[
        (&["abstract", "name"], "ECONNREFUSED"),
        (&["memory-of-others"], "ENOENT"),
        (&["others"], "[] ENOENT"),
        (&["list", "/tmp"], ""),
        (&["kill-all"], "ESRCH"),
    ];
    let attack = async {
        let pipe = fixture.meet("one").await;
        for (arguments, expected) in rows {
            assert_eq!(fixture.output(fixture.plan(arguments)).await, *expected, "{arguments:?}");
        }
        drop(pipe);
    };
    let (outcome, ()) = tokio::join!(fixture.run(plan), attack);
    assert_eq!(outcome.end, cowboy_container::End::Exited(0), "nothing happened to the first: {outcome:?}");
}
