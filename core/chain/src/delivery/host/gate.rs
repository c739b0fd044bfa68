//! The gate to other parts of the protocol: what a request needs the manifest to grant (000 §6.3, §9). Whatever it refuses ends the
//! handler, also where the part behind it is not built.

use super::{Arguments, length, read};
use crate::delivery::frames::{Price, Reply};
use crate::delivery::{Machine, Step};
use cowboy_system::dispatcher::lower::{self, Offer};
use cowboy_system::entitlements::grants::domain_sets;
use cowboy_system::entitlements::needs::{self, JobNeeds, Requests};
use cowboy_system::registry::Argument;
use cowboy_types::cbor::Value;
use cowboy_types::{Address, actors, error};

/// What the gate found out about what is sent to another address.
#[derive(Default)]
pub(super) struct Passed {
    /// The requests to count once the address is asked, where it makes any.
    pub(super) requests: Option<Requests>,
    /// The argument, where the gate had to decode it: it is paid for.
    pub(super) argument: Option<Value>,
}

impl Machine {
    /// What asking another address with this payload needs. An argument that is looked at is paid for before it is decoded.
    pub(super) fn require_for(&mut self, target: Address, payload: &[u8]) -> Step<Passed> {
        let grants = self.top().grants.clone();
        // No system actor reads an argument that no transaction could carry.
        if target.is_reserved() && super::length(payload) > self.environment.params.execution.transaction_bytes {
            return Err(error::INVALID_ARGUMENT.into());
        }
        if target == Address::system(actors::DISPATCHER) {
            let Some(argument) = self.read_argument(payload)? else { return Ok(Passed::default()) };
            let requests = self.require_job(&argument, payload)?;
            return Ok(Passed { requests, argument: Some(argument) });
        }
        if target == Address::system(actors::BRIDGE) {
            needs::require_bridge(&grants)?;
            let message = self.read_argument(payload)?.unwrap_or(Value::Null);
            needs::check_bridge(&grants, &message)?;
        }
        if target == Address::system(actors::STORAGE) {
            grants.require("storage.blob")?;
        }
        Ok(Passed::default())
    }

    /// Pays for decoding the argument of a system method, and decodes it. Nothing where it is none: its method refuses it.
    fn read_argument(&mut self, payload: &[u8]) -> Step<Option<Value>> {
        let price = Argument::price(&self.environment.params, payload);
        self.spend(Price::default().with_work(price))?;
        Ok(Argument::decode(payload).ok())
    }

    fn require_job(&mut self, submission: &Value, payload: &[u8]) -> Step<Option<Requests>> {
        // The fields are read and checked, as the Dispatcher does again.
        self.spend(self.reading(length(payload)))?;
        let actor = self.actor_address();
        let params = &self.environment.params;
        let offer = Offer::reading(params, actor);
        // What is no job the Dispatcher refuses, by the same reading.
        let Ok((request, spec)) = lower::read(&offer, submission) else { return Ok(None) };
        let needs = JobNeeds::of(&request, &spec);
        let grants = self.top().grants.clone();
        let sets = domain_sets(&self.world, [&*grants])?;
        let before = self.running().requests.entries().get(&actor).copied().unwrap_or_default();
        Ok(Some(needs.check(&grants, &sets, before)?))
    }

    /// Counts requests that were made: over one execution, however often it comes back to the actor.
    pub(super) fn count_requests(&mut self, requests: Option<Requests>) {
        if let Some(requests) = requests {
            let actor = self.actor_address();
            self.running().requests.insert(actor, requests);
        }
    }

    /// (code, manifest, routes, sponsorship): the own code anew, for system actors (000 §9.2).
    pub(super) fn upgrade_self(&mut self, arguments: Arguments<'_>) -> Step<Reply> {
        let code = read!(arguments.bytes(0));
        let manifest = if arguments.is_absent(1) { None } else { Some(read!(arguments.bytes(1))) };
        self.top().grants.require("sys.upgrade")?;
        let size = length(code).saturating_add(manifest.map_or(0, length));
        let mut price = Price::cycles(self.environment.params.intrinsic.deploy_cycles).with_cells(size);
        if !arguments.is_absent(2) || !arguments.is_absent(3) {
            return Reply::refuse(error::UNAVAILABLE, price);
        }
        let left = self.top_left();
        let limits = self.limits(left.cycles.saturating_sub(price.cycles), left.cells.saturating_sub(price.cells), left.weight_ns);
        let (actor, checkpoint) = (self.actor_address(), self.world.checkpoint());
        let (upgraded, body) = match self.upgrade(actor, code, manifest, limits) {
            Ok(upgraded) => upgraded,
            Err(cowboy_state::Stop::Abort(abort)) => {
                self.world.rollback(&checkpoint);
                return Reply::refuse(abort, price);
            }
            Err(miss) => return Err(miss),
        };
        price = Price {
            cycles: price.cycles.saturating_add(body.cycles),
            cells: price.cells.saturating_add(body.cells),
            weight: price.weight.saturating_add(body.weight),
        };
        match upgraded {
            Ok(code_hash) => Reply::bytes(code_hash.0, price),
            Err(abort) => {
                self.world.rollback(&checkpoint);
                Reply::refuse(abort, price)
            }
        }
    }
}
