//! Who shares what an actor, a name or a gateway has for all clients (decision 574).

use cowboy_serve::{Client, Subnet};
use std::net::IpAddr;

/// Who shares it. Nobody, where the request comes from the gateway's own machine: a proxy there brings those of others.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sharer {
    pub(crate) client: Client,
    pub(crate) subnet: Subnet,
}

impl Sharer {
    /// Those of a request from this address.
    pub(crate) fn of(address: IpAddr) -> Option<Self> {
        (!cowboy_host::loopback::is_address(address)).then(|| Self { client: address.into(), subnet: Subnet::of(address) })
    }
}
