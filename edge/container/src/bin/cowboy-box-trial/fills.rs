//! Programs that use more than they may, or do not end.

use crate::calls::{call, error_name, fork, ignore, say};
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::process::ExitCode;

pub(crate) fn run(name: &str) -> ExitCode {
    let result = match name {
        "processes" => processes(),
        "threads" => threads(),
        "memory" => memory(),
        "memory-of-child" => memory_of_child(),
        "disk" => disk("/tmp"),
        "disk-of-workspace" => disk("/workspace"),
        "volume" => disk("/mnt/volumes/data"),
        "inodes" => inodes(),
        "output" => print(0),
        "excess" => print(1),
        "log" => log(),
        "time" => spin(),
        "ignore" => {
            ignore(libc::SIGTERM);
            say("ignores");
            spin()
        }
        "orphan" => orphan(),
        "root" => disk("/"),
        _ => Err(io::Error::other("no such program")),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            say(&error_name(&error));
            ExitCode::FAILURE
        }
    }
}

fn park() -> ! {
    loop {
        std::thread::park();
    }
}

fn spin() -> io::Result<()> {
    loop {
        std::hint::spin_loop();
    }
}

/// Children of children, as a fork bomb makes them.
fn processes() -> io::Result<()> {
    for count in 0..100_000 {
        match fork() {
            Ok(0) => park(),
            Ok(_) => {}
            Err(error) => {
                say(&format!("{count}"));
                return Err(error);
            }
        }
    }
    Ok(())
}

fn threads() -> io::Result<()> {
    for count in 0..100_000 {
        if let Err(error) = std::thread::Builder::new().stack_size(64 << 10).spawn(|| park()) {
            say(&format!("{count}"));
            return Err(error);
        }
    }
    Ok(())
}

fn memory() -> io::Result<()> {
    let mut held = Vec::new();
    for _ in 0..4096 {
        held.push(std::hint::black_box(vec![1_u8; 1 << 20]));
    }
    say("reached");
    Ok(())
}

/// The kernel ends the child; the box ends too.
fn memory_of_child() -> io::Result<()> {
    match fork()? {
        0 => memory(),
        child => {
            call(libc::SYS_wait4, &[usize::try_from(child).unwrap_or(0), 0, 0, 0])?;
            park()
        }
    }
}

fn disk(folder: &str) -> io::Result<()> {
    let mut file = File::create(format!("{folder}/large"))?;
    for _ in 0..4096 {
        file.write_all(&[1; 1 << 20])?;
    }
    Ok(())
}

fn inodes() -> io::Result<()> {
    for count in 0..1_000_000 {
        if let Err(error) = fs::write(format!("/tmp/{count}"), "") {
            say(&format!("{}", count < 4096));
            return Err(error);
        }
    }
    Ok(())
}

/// What may be printed, half of it as errors, and some bytes more.
fn print(more: usize) -> io::Result<()> {
    io::stdout().write_all(&vec![b'x'; 1 << 19])?;
    io::stderr().write_all(&vec![b'x'; (1 << 19) + more])
}

/// Prints without an end.
fn log() -> io::Result<()> {
    let line = [b'x'; 1 << 16];
    loop {
        io::stdout().write_all(&line)?;
        io::stderr().write_all(&line)?;
    }
}

/// A process in another session, without a parent, that holds the output open.
fn orphan() -> io::Result<()> {
    if fork()? == 0 {
        call(libc::SYS_setsid, &[])?;
        ignore(libc::SIGTERM);
        ignore(libc::SIGHUP);
        if fork()? == 0 {
            return spin();
        }
        std::process::exit(0);
    }
    say("left");
    Ok(())
}
