//! The computer: program, disk, limits, ports.

use super::{Findings, files::Setup};
use crate::daemon::serving::Serving;
use cowboy_api::model::HealthDetailed;
use cowboy_serve::limits::{Limits, MAX_CONNECTIONS};
use std::{
    io,
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, UdpSocket},
    path::Path,
};

const GIB: u64 = 1 << 30;

/// Less free space than this is worth a warning, in bytes.
const LITTLE_SPACE: u64 = 10 * GIB;

/// Less free space than this stops a node soon, in bytes.
pub(crate) const NO_SPACE: u64 = GIB;

/// The program's version.
pub(super) fn version(findings: &mut Findings) {
    let version = format!("cowboyd {}", env!("CARGO_PKG_VERSION"));
    if cfg!(debug_assertions) {
        findings.warn("version", format!("{version}, a debug build, which is too slow for a validator"), "build it with --release");
    } else {
        findings.ok("version", version);
    }
}

/// The free bytes where a folder is, or where it will be.
pub(crate) fn free_at(folder: &Path) -> io::Result<u64> {
    cowboy_serve::free_bytes(folder.ancestors().find(|path| path.exists()).unwrap_or(Path::new(".")))
}

/// Free space where the state is, or where it will be.
pub(super) fn disk(setup: Option<&Setup>, findings: &mut Findings) {
    let state = setup.map_or(Path::new("."), |setup| setup.state.as_path());
    match free_at(state) {
        Ok(free) => {
            let says = format!("{:.1} GiB free at {}", gib(free), state.display());
            match free {
                ..NO_SPACE => findings.fail("disk", says, "free space, or enlarge the disk: a node that cannot write ends"),
                NO_SPACE..LITTLE_SPACE => findings.warn("disk", says, "plan a larger disk: 100 GB are enough for a year"),
                _ => findings.ok("disk", says),
            }
        }
        Err(error) => findings.fail("disk", format!("{}: {error}", state.display()), "give the node's user access to the folder"),
    }
}

#[allow(clippy::cast_precision_loss, reason = "it is printed with one decimal")]
fn gib(bytes: u64) -> f64 {
    bytes as f64 / GIB as f64
}

/// The limits of processes. Needs a tokio runtime.
pub(super) fn limits(findings: &mut Findings) {
    match Limits::raised().slots(MAX_CONNECTIONS) {
        Ok(_) => findings.ok("limits", "open files, file size and address space are enough for a node"),
        Err(error) => {
            let text = error.to_string();
            let (says, fix) = text.split_once(": ").unwrap_or((&text, "raise it"));
            findings.fail("limits", says, fix);
        }
    }
}

/// Where a client on this computer reaches what listens at an address.
pub(crate) fn reached(listen: SocketAddr) -> SocketAddr {
    let host = match listen.ip() {
        IpAddr::V4(host) if host.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(host) if host.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        host => host,
    };
    SocketAddr::new(host, listen.port())
}

/// Where a client on this computer reaches the API.
pub(super) fn reached_at(serving: &Serving) -> SocketAddr {
    reached(SocketAddr::new(serving.host, serving.port))
}

/// Whether the node listens at its ports, or could.
pub(super) fn ports(serving: &Serving, setup: Option<&Setup>, running: Option<&HealthDetailed>, findings: &mut Findings) {
    let tcp = |port| SocketAddr::new(serving.host, port);
    let udp = setup.and_then(Setup::validator).map(|file| file.listen);
    if let Some(health) = running {
        findings.ok("ports", format!("the node listens at {}, version {}, height {}", tcp(serving.port), health.version, health.height));
        if let Some(listen) = udp.filter(|listen| listen.port() != 0 && UdpSocket::bind(listen).is_ok()) {
            let fix = "start the node with this configuration, or name the --port of the node that has it";
            findings.fail("ports", format!("the node at {} does not listen for validators at {listen}", tcp(serving.port)), fix);
        }
        return;
    }
    let rows = [("the API", Some(tcp(serving.port)), "--port"), ("the metrics and `cowboyd admin`", serving.admin_address(), "--admin")];
    let mut free = vec![];
    for (use_, address, option) in rows.iter().filter_map(|(use_, address, option)| Some((use_, (*address)?, option))) {
        match TcpListener::bind(address) {
            Ok(_) => free.push(format!("{address} for {use_}")),
            Err(error) => busy(use_, address, &error, &format!("choose another with {option}"), findings),
        }
    }
    if let Some(listen) = udp {
        match UdpSocket::bind(listen) {
            Ok(_) => free.push(format!("{listen} (UDP) for validators")),
            Err(error) => busy("validators", listen, &error, "choose another as `listen` in the configuration", findings),
        }
    }
    if !free.is_empty() {
        findings.ok("ports", format!("no node runs at --port {}; free: {}", serving.port, free.join(", ")));
    }
}

fn busy(use_: &str, address: SocketAddr, error: &io::Error, choose: &str, findings: &mut Findings) {
    let fix = match error.kind() {
        io::ErrorKind::AddrInUse => format!("end the program that has it, or {choose}"),
        io::ErrorKind::AddrNotAvailable => format!("this computer does not have the address; {choose}"),
        io::ErrorKind::PermissionDenied => format!("ports below 1024 need privileges; {choose}"),
        _ => choose.to_owned(),
    };
    findings.fail("ports", format!("{address} is not free for {use_}: {error}"), fix);
}
