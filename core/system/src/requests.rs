//! The calls that services beside the chain send to system actors: runners, proxies, relays, gateways and nodes. Each is made of the arguments that
//! the actor's table declares, so that a field that is misspelt, missing or of another type does not compile.

pub mod market;
pub mod secrets;
pub mod volumes;

use crate::actor::Arguments;
use crate::schema::{Form, Refused};
use crate::{entitlements, gateways, staking};
use cowboy_types::cbor::Value;
use cowboy_types::{Address, Hash, List};

/// A call of a system actor.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    /// The actor's number.
    pub actor: u8,
    /// The method's name.
    pub method: &'static str,
    /// Its argument. What has its default is left out.
    pub argument: Value,
}

fn request<A: Arguments>(arguments: &A) -> Request {
    Request { actor: A::ACTOR, method: A::METHOD.name, argument: arguments.brief() }
}

/// A field that does not have its form.
fn wrong(name: &'static str) -> Refused {
    Refused { path: vec![name], is_missing: false }
}

/// A list that is not too long.
fn list<T: Form, const MAX: usize>(name: &'static str, items: impl IntoIterator<Item = Option<T>>) -> Result<List<T, MAX>, Refused> {
    items.into_iter().collect::<Option<Vec<T>>>().and_then(List::new).ok_or_else(|| wrong(name))
}

/// Registers a gateway, with the stake as value.
pub fn register_gateway(endpoint: String, http_port: u16) -> Request {
    request(&gateways::api::Register { endpoint, http_port: u64::from(http_port) })
}

/// Says that a gateway is up.
pub fn gateway_heartbeat() -> Request {
    request(&gateways::api::Heartbeat {})
}

/// Delivers a visitor's request to an actor.
pub fn dispatch(target: Address, envelope: Value, salt: Hash) -> Request {
    request(&gateways::api::Dispatch { target, envelope, salt })
}

/// Shows two headers of one round.
pub fn report_equivocation(validator: Address, first: Vec<u8>, second: Vec<u8>) -> Request {
    request(&staking::api::ReportEquivocation { validator, first, second })
}

/// Says that a validator committed a fault in a round, for the witness where that is not the sender.
pub fn attest_fault(validator: Address, witness: Option<Address>, fault: staking::types::Fault, (epoch, view): (u64, u64)) -> Request {
    request(&staking::api::AttestFault { validator, witness, fault, epoch, view })
}

/// Gives an actor whose entitlement was removed another manifest.
pub fn redeploy(actor: Address, manifest: Vec<u8>) -> Request {
    request(&entitlements::api::Redeploy { actor, manifest })
}

#[cfg(test)]
mod tests;
