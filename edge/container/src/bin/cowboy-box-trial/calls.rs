//! System calls by number.

use std::io::{self, Write as _};

/// Makes a call. Pointers are given as numbers, and point to what outlives it.
pub(crate) fn call(number: libc::c_long, arguments: &[usize]) -> io::Result<libc::c_long> {
    let argument = |index: usize| arguments.get(index).copied().unwrap_or(0);
    // SAFETY: where a call succeeds that writes memory, the arguments are its own buffers; the others change nothing that Rust relies on.
    let result = unsafe { libc::syscall(number, argument(0), argument(1), argument(2), argument(3), argument(4), argument(5)) };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) }
}

/// Forks; zero is the child.
pub(crate) fn fork() -> io::Result<libc::c_int> {
    // SAFETY: the program has a single thread.
    let result = unsafe { libc::fork() };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) }
}

/// A system call of the processor's older mode. It does not return where the filter ends the process.
#[cfg(target_arch = "x86_64")]
pub(crate) fn old_mode(number: i32) -> i32 {
    let result;
    // SAFETY: `getpid`, which takes and writes nothing.
    unsafe { std::arch::asm!("int 0x80", inlateout("eax") number => result, options(nostack)) };
    result
}

/// Ignores a signal.
pub(crate) fn ignore(signal: libc::c_int) {
    // SAFETY: to ignore a signal runs no code.
    unsafe { libc::signal(signal, libc::SIG_IGN) };
}

/// Prints a line.
pub(crate) fn say(line: &str) {
    // The test sees what is missing.
    let _ = writeln!(io::stdout(), "{line}");
}

/// Name of an error.
pub(crate) fn error_name(error: &io::Error) -> String {
    let names = [
        (libc::EACCES, "EACCES"),
        (libc::EAGAIN, "EAGAIN"),
        (libc::EBADF, "EBADF"),
        (libc::ECONNREFUSED, "ECONNREFUSED"),
        (libc::EINVAL, "EINVAL"),
        (libc::ENETUNREACH, "ENETUNREACH"),
        (libc::ENOENT, "ENOENT"),
        (libc::ENOSPC, "ENOSPC"),
        (libc::ENOSYS, "ENOSYS"),
        (libc::EPERM, "EPERM"),
        (libc::EROFS, "EROFS"),
        (libc::ESRCH, "ESRCH"),
    ];
    let name = names.iter().find(|(code, _)| error.raw_os_error() == Some(*code));
    name.map_or_else(|| error.to_string(), |(_, name)| (*name).to_owned())
}
