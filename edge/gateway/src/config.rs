//! How a gateway is set up.

use crate::{BODIES_OF_CLIENT, Dns, Domains, Tls};
use cowboy_ingress::request::ZONES;
use serde::Deserialize;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

/// A gateway's settings, as `gateway.toml` has them. Whatever is left out is as here.
#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Where it listens for web requests.
    pub listen: SocketAddr,
    /// Domains below which names are served: `mysite` is `mysite.<zone>`.
    pub zones: Vec<String>,
    /// What it refuses to be burdened with.
    pub limits: Limits,
    /// Where TLS ends, and with which certificate; plain HTTP only where absent.
    #[serde(skip)]
    pub tls: Option<Tls>,
    /// The name server of its zones; none where absent.
    #[serde(skip)]
    pub dns: Option<Dns>,
    /// Domains of other zones; none where absent.
    #[serde(skip)]
    pub domains: Option<Domains>,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            listen: SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 8080),
            zones: ZONES.map(str::to_owned).into(),
            limits: Limits::default(),
            tls: None,
            dns: None,
            domains: None,
        }
    }
}

/// What a gateway refuses to be burdened with.
#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
    /// Requests a second of one actor; the protocol's parameter where absent, 0 for no limit (004 §9.5).
    pub requests_per_second: Option<u32>,
    /// Requests of one actor at once; the protocol's parameter where absent.
    pub requests_at_once: Option<usize>,
    /// Requests a second of one client to one actor; a quarter of the actor's where absent, 0 for no limit (decision 574). The clients of a subnet
    /// have twice as many. A gateway behind a proxy on another machine needs as many as the actor has.
    pub client_requests_per_second: Option<u32>,
    /// Requests of one client to one actor at once, likewise.
    pub client_requests_at_once: Option<usize>,
    /// Connections of the whole gateway at once; fewer where the process may open fewer files.
    pub connections: usize,
    /// Connections of one address at once. A gateway behind a proxy needs as many as it has in all.
    pub connections_per_client: usize,
    /// Milliseconds in which a request's head must have come.
    pub head_timeout_ms: u64,
    /// Milliseconds in which its body must have come.
    pub body_timeout_ms: u64,
    /// Milliseconds after which a connection ends on which nothing moves.
    pub idle_timeout_ms: u64,
    /// Bytes of a request's head.
    pub head_bytes: usize,
    /// Header lines of a request.
    pub head_lines: usize,
    /// Handlers that run at once; one for each processor, two at least, where absent.
    pub queries_at_once: Option<usize>,
    /// Requests of one client that wait for a handler or run; 64 where absent. A gateway behind a proxy, on whatever machine, needs more.
    pub client_queries_at_once: Option<usize>,
    /// Bytes of bodies, of requests and of answers, of one client that are held at once. Likewise.
    pub client_body_bytes: usize,
    /// Commands under way at once; more are asked to come back.
    pub commands_at_once: usize,
    /// The same for the commands of one client; a quarter of them where absent. A gateway behind a proxy on another machine needs all.
    pub client_commands_at_once: Option<usize>,
    /// Cycles of a command that cannot be tried beforehand: while the gateway registers, or sends a heartbeat after its health ran out.
    pub command_cycles: u64,
    /// The most cycles that the gateway signs for in one command; one that needs more is refused.
    pub max_command_cycles: u64,
    /// The most cells, likewise.
    pub max_command_cells: u64,
    /// Cycles that it signs for in an hour in commands to one actor; 0 for any number.
    pub actor_cycles_per_hour: u64,
    /// The same for commands to one name.
    pub name_cycles_per_hour: u64,
    /// The same for commands from one client; the clients of a subnet have twice as many.
    pub client_cycles_per_hour: u64,
    /// Cells that it signs for in an hour in commands to one actor; 0 for any number.
    pub actor_cells_per_hour: u64,
    /// The same for commands to one name.
    pub name_cells_per_hour: u64,
    /// The same for commands from one client; the clients of a subnet have twice as many.
    pub client_cells_per_hour: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            requests_per_second: None,
            requests_at_once: None,
            client_requests_per_second: None,
            client_requests_at_once: None,
            connections: 10_000,
            connections_per_client: 256,
            head_timeout_ms: 10_000,
            body_timeout_ms: 30_000,
            idle_timeout_ms: 60_000,
            head_bytes: 64 * 1024,
            head_lines: 100,
            queries_at_once: None,
            client_queries_at_once: None,
            client_body_bytes: BODIES_OF_CLIENT,
            commands_at_once: 256,
            client_commands_at_once: None,
            command_cycles: 2_000_000,
            max_command_cycles: 5_000_000,
            max_command_cells: 1_000_000,
            actor_cycles_per_hour: 1_000_000_000,
            name_cycles_per_hour: 1_000_000_000,
            client_cycles_per_hour: 200_000_000,
            actor_cells_per_hour: 200_000_000,
            name_cells_per_hour: 200_000_000,
            client_cells_per_hour: 40_000_000,
        }
    }
}
