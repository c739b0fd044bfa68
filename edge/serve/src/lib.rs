//! What every server of a node shares, so that no request takes the node with it.
//!
//! - [`Slots`] and [`Server`]: connections, bounded in all, for each client and for each subnet, with deadlines for heads and for clients that do not read.
//! - [`Pool`]: worker threads that run what a request asks for, with their own stack, a bounded queue and a lower priority than consensus.
//! - [`Memory`]: bytes of requests and answers that are held at once, in all, for each client and for each subnet.
//! - [`ClientTurns`]: turns to work, of which each client has a part.
//! - [`Cached`]: what takes work to make, for clients that may ask at any rate.
//! - [`Rarely`]: lines of the log that clients cause.
//! - [`give_memory_back`]: what the start needed, and what the allocator keeps after a flood.
//! - [`Admission`]: what is bounded in all, for each client and for each [`Subnet`].
//! - [`quic`]: QUIC over TLS 1.3 between nodes.
//! - [`is_public`], [`is_of_use`]: whether an address that a stranger names is one of the internet, and whether it is gone to.
//! - [`free_bytes`], [`total_bytes`]: the space on the disk.
//! - [`metrics`]: numbers as Prometheus reads them, and a server for them alone.
//! - [`limits`]: what the operating system lets this process have, checked at the start.

mod admission;
mod allocator;
mod cached;
mod client;
mod disk;
mod idle;
mod keeping;
pub mod limits;
mod memory;
pub mod metrics;
mod pool;
#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod program;
mod public;
mod queue;
pub mod quic;
mod rarely;
mod sending;
mod server;
mod slots;
mod subnet;
mod taking;
mod turns;

pub use admission::{Admission, Caps, Full, Permit};
pub use allocator::give_memory_back;
pub use cached::Cached;
pub use client::Client;
pub use disk::{free_bytes, total_bytes};
pub use keeping::Keeping;
pub use memory::{Held, Memory};
pub use pool::{Bounds, Pool, Refused, STACK_BYTES, has_room, runtime};
pub use public::{is_of_use, is_public};
pub use rarely::Rarely;
pub use server::{Server, Settings};
pub use slots::Slots;
pub use subnet::Subnet;
pub use turns::{ClientTurn, ClientTurns};
