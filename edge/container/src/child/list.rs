//! The system calls of a program in a box, as data.
//!
//! What is in [`ALLOW`] works, what is in [`DENY`] fails with `EPERM`, and everything else with `ENOSYS`, as in a kernel that does not have it: libraries
//! then use an older call. `clone3` is in neither list, because a filter cannot read its flags; libraries fall back to `clone`.

/// A name and its number on this processor.
pub(crate) type Call = (&'static str, libc::c_long);

macro_rules! calls {
    ($($name:ident)*) => { &[$((stringify!($name), libc::$name)),*] };
}

/// A family of calls that are left out.
pub(crate) struct Family {
    /// What it does.
    pub(crate) name: &'static str,
    /// Why a program in a box has no use for it, or must not have it.
    pub(crate) reason: &'static str,
    /// Its calls.
    pub(crate) calls: &'static [Call],
}

/// Calls that work.
pub(crate) const ALLOW: &[&[Call]] = &[
    // Files.
    calls![
        SYS_read SYS_write SYS_openat SYS_openat2 SYS_close SYS_close_range SYS_fstat SYS_newfstatat SYS_statx SYS_lseek SYS_pread64 SYS_pwrite64 SYS_readv
        SYS_writev SYS_preadv SYS_pwritev SYS_preadv2 SYS_pwritev2 SYS_sendfile SYS_splice SYS_tee SYS_vmsplice SYS_copy_file_range SYS_faccessat
        SYS_faccessat2 SYS_dup SYS_dup3 SYS_fcntl SYS_flock SYS_fsync SYS_fdatasync SYS_syncfs SYS_sync SYS_truncate SYS_ftruncate SYS_fallocate
        SYS_fadvise64 SYS_readahead SYS_getdents64 SYS_getcwd SYS_chdir SYS_fchdir SYS_renameat2 SYS_mkdirat SYS_unlinkat SYS_linkat SYS_symlinkat
        SYS_readlinkat SYS_fchmod SYS_fchmodat SYS_fchown SYS_fchownat SYS_umask SYS_utimensat SYS_statfs SYS_fstatfs SYS_getxattr SYS_lgetxattr
        SYS_fgetxattr SYS_listxattr SYS_llistxattr SYS_flistxattr SYS_setxattr SYS_lsetxattr SYS_fsetxattr SYS_removexattr SYS_lremovexattr
        SYS_fremovexattr SYS_ioctl SYS_pipe2 SYS_memfd_create SYS_inotify_init1 SYS_inotify_add_watch SYS_inotify_rm_watch SYS_mknodat
    ],
    // Memory.
    calls![
        SYS_brk SYS_mmap SYS_munmap SYS_mprotect SYS_mremap SYS_msync SYS_mincore SYS_madvise SYS_mlock SYS_mlock2 SYS_munlock SYS_mlockall
        SYS_munlockall SYS_membarrier SYS_pkey_alloc SYS_pkey_free SYS_pkey_mprotect SYS_get_mempolicy SYS_shmget SYS_shmat SYS_shmctl SYS_shmdt
    ],
    // Processes, threads and signals.
    calls![
        SYS_clone SYS_execve SYS_execveat SYS_exit SYS_exit_group SYS_wait4 SYS_waitid SYS_getpid SYS_getppid SYS_gettid SYS_getpgid SYS_setpgid
        SYS_getsid SYS_setsid SYS_set_tid_address SYS_set_robust_list SYS_get_robust_list SYS_rseq SYS_futex SYS_kill SYS_tkill SYS_tgkill
        SYS_rt_sigaction SYS_rt_sigprocmask SYS_rt_sigreturn SYS_rt_sigpending SYS_rt_sigsuspend SYS_rt_sigtimedwait SYS_rt_sigqueueinfo
        SYS_rt_tgsigqueueinfo SYS_sigaltstack SYS_signalfd4 SYS_restart_syscall SYS_pidfd_open SYS_pidfd_send_signal SYS_prctl SYS_getcpu
        SYS_sched_yield SYS_sched_getaffinity SYS_sched_setaffinity SYS_sched_getparam SYS_sched_setparam SYS_sched_getscheduler
        SYS_sched_setscheduler SYS_sched_getattr SYS_sched_setattr SYS_sched_get_priority_max SYS_sched_get_priority_min
        SYS_sched_rr_get_interval SYS_getpriority SYS_setpriority SYS_ioprio_get SYS_ioprio_set
    ],
    // Who and where the process is. Without capabilities, changes go to what it is already.
    calls![
        SYS_getuid SYS_geteuid SYS_getgid SYS_getegid SYS_getresuid SYS_getresgid SYS_getgroups SYS_setuid SYS_setgid SYS_setreuid SYS_setregid
        SYS_setresuid SYS_setresgid SYS_setgroups SYS_setfsuid SYS_setfsgid SYS_capget SYS_capset SYS_prlimit64
        SYS_getrusage SYS_times SYS_uname SYS_sysinfo SYS_getrandom SYS_seccomp SYS_landlock_create_ruleset SYS_landlock_add_rule
        SYS_landlock_restrict_self
    ],
    // Time and waiting.
    calls![
        SYS_clock_gettime SYS_clock_getres SYS_clock_nanosleep SYS_gettimeofday SYS_nanosleep SYS_getitimer SYS_setitimer SYS_timer_create
        SYS_timer_settime SYS_timer_gettime SYS_timer_getoverrun SYS_timer_delete SYS_timerfd_create SYS_timerfd_settime SYS_timerfd_gettime
        SYS_eventfd2 SYS_epoll_create1 SYS_epoll_ctl SYS_epoll_pwait SYS_epoll_pwait2 SYS_ppoll SYS_pselect6
    ],
    // Messages, between processes of the box and by loopback.
    calls![
        SYS_socket SYS_socketpair SYS_bind SYS_listen SYS_accept SYS_accept4 SYS_connect SYS_getsockname SYS_getpeername SYS_sendto SYS_recvfrom
        SYS_sendmsg SYS_recvmsg SYS_sendmmsg SYS_recvmmsg SYS_setsockopt SYS_getsockopt SYS_shutdown SYS_semget SYS_semop SYS_semctl
        SYS_semtimedop SYS_msgget SYS_msgsnd SYS_msgrcv SYS_msgctl SYS_mq_open SYS_mq_unlink SYS_mq_timedsend SYS_mq_timedreceive SYS_mq_notify
        SYS_mq_getsetattr
    ],
    #[cfg(target_arch = "x86_64")]
    // Older forms of the same calls.
    calls![
        SYS_open SYS_creat SYS_stat SYS_lstat SYS_access SYS_dup2 SYS_pipe SYS_rename SYS_renameat SYS_mkdir SYS_rmdir SYS_link SYS_unlink SYS_symlink
        SYS_readlink SYS_chmod SYS_chown SYS_lchown SYS_utime SYS_utimes SYS_futimesat SYS_getdents SYS_fork SYS_vfork SYS_getpgrp SYS_alarm SYS_pause
        SYS_time SYS_select SYS_poll SYS_epoll_create SYS_epoll_wait SYS_eventfd SYS_signalfd SYS_inotify_init SYS_arch_prctl SYS_mknod SYS_sync_file_range SYS_getrlimit SYS_setrlimit
    ],
];

/// Calls that fail with `EPERM`.
pub(crate) const DENY: &[Family] = &[
    Family {
        name: "mount",
        reason: "the files of a box are what the helper mounted",
        calls: calls![
            SYS_mount SYS_umount2 SYS_pivot_root SYS_chroot SYS_fsopen SYS_fsconfig SYS_fsmount SYS_fspick SYS_open_tree SYS_move_mount
            SYS_mount_setattr SYS_swapon SYS_swapoff SYS_quotactl
        ],
    },
    Family {
        name: "namespaces",
        reason: "a new user namespace gives its creator every capability in it, and with them a large part of the kernel",
        calls: calls![SYS_unshare SYS_setns],
    },
    Family {
        name: "file handles",
        reason: "a handle names a file outside of the mounts",
        calls: calls![SYS_open_by_handle_at SYS_name_to_handle_at SYS_fanotify_init SYS_fanotify_mark],
    },
    Family { name: "bpf", reason: "programs in the kernel", calls: calls![SYS_bpf] },
    Family { name: "perf", reason: "measures other processes, and had many faults", calls: calls![SYS_perf_event_open] },
    Family { name: "keyring", reason: "keys are not separated by namespaces", calls: calls![SYS_keyctl SYS_add_key SYS_request_key] },
    Family {
        name: "ptrace",
        reason: "reads and writes other processes, and changes a call after it was checked",
        calls: calls![SYS_ptrace SYS_process_vm_readv SYS_process_vm_writev SYS_process_madvise SYS_kcmp SYS_pidfd_getfd],
    },
    Family {
        name: "io_uring",
        reason: "runs operations that no filter sees",
        calls: calls![SYS_io_uring_setup SYS_io_uring_enter SYS_io_uring_register],
    },
    Family { name: "userfaultfd", reason: "stops the kernel in the middle of a copy, which faults need", calls: calls![SYS_userfaultfd] },
    Family { name: "modules", reason: "code in the kernel", calls: calls![SYS_init_module SYS_finit_module SYS_delete_module] },
    Family { name: "kexec", reason: "another kernel", calls: calls![SYS_kexec_load SYS_reboot] },
    Family {
        name: "administration",
        reason: "the state of the computer",
        calls: calls![
            SYS_settimeofday SYS_clock_settime SYS_clock_adjtime SYS_adjtimex SYS_sethostname SYS_setdomainname SYS_syslog SYS_acct SYS_vhangup
            SYS_personality SYS_lookup_dcookie SYS_nfsservctl
        ],
    },
    Family {
        name: "memory of nodes",
        reason: "moves memory between nodes, which slows down others",
        calls: calls![SYS_mbind SYS_set_mempolicy SYS_migrate_pages SYS_move_pages],
    },
    #[cfg(target_arch = "x86_64")]
    Family { name: "ports", reason: "hardware, and descriptors of segments", calls: calls![SYS_iopl SYS_ioperm SYS_modify_ldt] },
];

/// A condition on one argument of a call: its bits under the mask are the value.
pub(crate) struct Bits {
    pub(crate) argument: u8,
    pub(crate) mask: u64,
    pub(crate) value: u64,
}

/// Uses of allowed calls that fail with `EPERM`.
pub(crate) fn denied_uses() -> Vec<(Call, Bits, &'static str)> {
    let mut rows = Vec::new();
    for (flag, reason) in NAMESPACE_FLAGS {
        let bits = u64::from(flag.unsigned_abs());
        rows.push((("SYS_clone", libc::SYS_clone), Bits { argument: 0, mask: bits, value: bits }, reason));
    }
    for kind in [libc::SOCK_RAW, SOCK_PACKET] {
        let value = u64::from(kind.unsigned_abs());
        rows.push((("SYS_socket", libc::SYS_socket), Bits { argument: 1, mask: 0xf, value }, "a raw socket forges packets"));
    }
    for (request, reason) in [(0x5412, "TIOCSTI types into the terminal of another"), (0x541c, "TIOCLINUX drives the console")] {
        rows.push((("SYS_ioctl", libc::SYS_ioctl), Bits { argument: 1, mask: 0xffff_ffff, value: request }, reason));
    }
    for (call, argument, flag) in HUGE_PAGES {
        let bits = u64::from(flag.unsigned_abs());
        rows.push((call, Bits { argument, mask: bits, value: bits }, "no limit of memory counts huge pages"));
    }
    for kind in [libc::S_IFCHR, libc::S_IFBLK] {
        let (mask, value) = (u64::from(libc::S_IFMT), u64::from(kind));
        rows.push((("SYS_mknodat", libc::SYS_mknodat), Bits { argument: 2, mask, value }, "a device file reaches the device"));
        #[cfg(target_arch = "x86_64")]
        rows.push((("SYS_mknod", libc::SYS_mknod), Bits { argument: 1, mask, value }, "a device file reaches the device"));
    }
    rows
}

/// Families of sockets that a program may use.
pub(crate) const SOCKET_FAMILIES: [libc::c_int; 3] = [libc::AF_UNIX, libc::AF_INET, libc::AF_INET6];

/// Protocols of sockets that a program may use: the one of the family, TCP and UDP. For another one, the kernel would load a module.
pub(crate) const SOCKET_PROTOCOLS: [libc::c_int; 3] = [0, libc::IPPROTO_TCP, libc::IPPROTO_UDP];

/// Families of pairs of sockets. The kernel makes two sockets of another one, too, before it refuses to pair them.
pub(crate) const PAIR_FAMILIES: [libc::c_int; 1] = [libc::AF_UNIX];

/// Uses of huge pages: the call, its argument, and the flag.
const HUGE_PAGES: [(Call, u8, libc::c_int); 3] = [
    (("SYS_mmap", libc::SYS_mmap), 3, MAP_HUGETLB),
    (("SYS_memfd_create", libc::SYS_memfd_create), 1, MFD_HUGETLB),
    (("SYS_shmget", libc::SYS_shmget), 2, SHM_HUGETLB),
];

const MAP_HUGETLB: libc::c_int = 0x4_0000;
const MFD_HUGETLB: libc::c_int = 4;
const SHM_HUGETLB: libc::c_int = 0o4_000;

/// An older form of a raw socket.
const SOCK_PACKET: libc::c_int = 10;

const NAMESPACE_FLAGS: [(libc::c_int, &str); 8] = [
    (libc::CLONE_NEWUSER, "a new user namespace"),
    (libc::CLONE_NEWNS, "a new mount namespace"),
    (libc::CLONE_NEWPID, "a new process namespace"),
    (libc::CLONE_NEWNET, "a new network namespace"),
    (libc::CLONE_NEWIPC, "a new namespace of messages"),
    (libc::CLONE_NEWUTS, "a new namespace of names"),
    (libc::CLONE_NEWCGROUP, "a new namespace of control groups"),
    (libc::CLONE_PTRACE, "a tracer that follows"),
];

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn each_call_is_in_one_list() {
        let allowed: Vec<Call> = ALLOW.iter().flat_map(|group| group.iter().copied()).collect();
        let denied: Vec<Call> = DENY.iter().flat_map(|family| family.calls.iter().copied()).collect();
        let all: BTreeSet<i64> = allowed.iter().chain(&denied).map(|(_, number)| *number).collect();
        assert_eq!(all.len(), allowed.len() + denied.len(), "a call is there twice");
        assert!(!all.contains(&libc::SYS_clone3), "no filter can read its flags");
        for (call, _, _) in denied_uses() {
            assert!(allowed.contains(&call), "{} is refused in part, so it is allowed otherwise", call.0);
        }
        assert!(DENY.iter().all(|family| !family.name.is_empty() && !family.reason.is_empty()));
    }
}
