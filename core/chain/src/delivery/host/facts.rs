//! Facts of the block and the call, events, randomness.

use super::{Arguments, forms, length, read};
use crate::delivery::frames::{Price, Reply};
use crate::delivery::{Door, Machine, Step};
use crate::engine::HostValue;
use cowboy_types::{Blob, Event, Text, error};
use hkdf::Hkdf;
use sha2::Sha256;

/// What actors see as the VM's version.
const VM_VERSION: &str = "3.11.8";

/// HKDF-SHA256 without salt, 32 bytes (decision 130).
pub(crate) fn derive(seed: &[u8], label: &[u8]) -> [u8; 32] {
    let mut derived = [0; 32];
    Hkdf::<Sha256>::new(None, seed).expand(label, &mut derived).expect("32 bytes are less than HKDF's most");
    derived
}

impl Machine {
    pub(super) fn context(&mut self) -> Step<Reply> {
        let envelope = &self.running().envelope;
        let (origin, door) = (envelope.origin, envelope.door);
        let frame = self.top();
        let (sender, actor, value) = (frame.sender, frame.actor, frame.value);
        let environment = &self.environment;
        // A query has no caller (004 §8.3.1).
        let sender = if door == Door::Query { Vec::new() } else { sender.0.to_vec() };
        let (epoch, view) = environment.round;
        let pair = |name: &str, value: HostValue| (HostValue::Str(name.to_string()), value);
        let facts = vec![
            pair("sender", HostValue::Bytes(sender)),
            pair("actor_addr", HostValue::Bytes(actor.0.to_vec())),
            pair("value", HostValue::int(value.0)),
            pair("block_height", HostValue::int(environment.height.0)),
            pair("tx_hash", HostValue::Bytes(origin.0.to_vec())),
            pair("timestamp_ms", HostValue::int(environment.timestamp.0)),
            pair("chain_id", HostValue::int(environment.chain.chain_id.0)),
            pair("chain_instance_id", HostValue::Bytes(environment.chain.genesis.0.to_vec())),
            pair("pvm_version", HostValue::Str(VM_VERSION.to_string())),
            pair("round", HostValue::List(vec![HostValue::int(epoch), HostValue::int(view)])),
        ];
        Ok(Reply::Value(HostValue::Map(facts), Price::cycles(self.environment.params.costs.block_info)))
    }

    pub(super) fn self_address(&mut self) -> Step<Reply> {
        Reply::bytes(self.actor_address().0, Price::default())
    }

    pub(super) fn current_block(&mut self) -> Step<Reply> {
        Ok(Reply::Value(HostValue::int(self.environment.height.0), Price::cycles(self.environment.params.costs.block_info)))
    }

    pub(super) fn runtime_config(&mut self) -> Step<Reply> {
        let pair = |name: &str, value: HostValue| (HostValue::Str(name.to_string()), value);
        let result_ttl = HostValue::int(self.environment.params.gateways.result_ttl);
        let facts = vec![
            pair("continuation_mode", HostValue::Str("fsm".to_string())),
            pair("compile_time_fsm", HostValue::Bool(false)),
            pair("result_ttl", result_ttl),
        ];
        Ok(Reply::Value(HostValue::Map(facts), Price::default()))
    }

    pub(super) fn actor_owner(&mut self) -> Step<Reply> {
        let actor = self.actor_address();
        let record = self.world.actor(actor)?.expect("the actor that runs exists");
        Reply::bytes(record.owner.0, Price::cycles(self.environment.params.costs.storage_read))
    }

    pub(super) fn charge_gas(&mut self, arguments: Arguments<'_>) -> Step<Reply> {
        Reply::none(Price::cycles(read!(arguments.number(0))))
    }

    pub(super) fn emit_event(&mut self, arguments: Arguments<'_>) -> Step<Reply> {
        let (name, data) = (read!(arguments.text(0)), read!(arguments.bytes(1)));
        let costs = self.environment.params.costs.clone();
        let size = length(data);
        let price = Price::cycles(costs.event.saturating_add(costs.event_byte.saturating_mul(size)))
            .with_cells(size.div_ceil(costs.event_bytes_per_cell));
        if size > self.environment.params.execution.event_bytes {
            return Reply::refuse(error::EVENT_TOO_LARGE, price);
        }
        let Some(name) = Text::new(name) else { return Reply::refuse(error::INVALID_ARGUMENT, price) };
        let count = u64::try_from(self.world.announcements()).unwrap_or(u64::MAX);
        if count >= self.environment.params.execution.events_per_delivery {
            return Err(error::TOO_MANY_EVENTS.into());
        }
        let emitter = self.actor_address();
        self.world.push_event(Event::new(emitter, name, Blob::new(data.to_vec()).expect("the size was checked")));
        let pair = |name: &str, value: HostValue| (HostValue::Str(name.to_string()), value);
        let empty = || HostValue::List(Vec::new());
        let record = vec![pair("emit_id", HostValue::int(count + 1)), pair("sync_outcomes", empty()), pair("deferred_subs", empty())];
        Ok(Reply::Value(HostValue::Map(record), price))
    }

    pub(super) fn entitlement_params(&mut self, arguments: Arguments<'_>) -> Step<Reply> {
        let name = read!(arguments.text(0));
        let grants = self.top().grants.clone();
        let price = Price::cycles(self.environment.params.costs.storage_read);
        let Some(grant) = grants.get(name) else { return Ok(Reply::Value(HostValue::None, price)) };
        // Every item becomes an object of the actor's: they are paid for as an argument of that size is.
        let size = length(&grant.params.encode());
        let more = Price::cycles(size.saturating_mul(self.environment.params.costs.argument_byte));
        self.spend(more.with(self.reading(size)))?;
        Ok(Reply::Value(forms::any(&grant.params), price))
    }

    pub(super) fn randomness(&mut self, arguments: Arguments<'_>) -> Step<Reply> {
        let label = read!(arguments.bytes(0));
        Reply::bytes(derive(&self.environment.beacon, label), Price::cycles(self.environment.params.costs.randomness))
    }

    /// The randomness of a named round, which is over: one of the newest 256 (decision 115).
    pub(super) fn randomness_at(&mut self, arguments: Arguments<'_>) -> Step<Reply> {
        let (epoch, view, label) = (read!(arguments.number(0)), read!(arguments.number(1)), read!(arguments.bytes(2)));
        let costs = &self.environment.params.costs;
        let price = Price::cycles(costs.randomness.saturating_add(costs.storage_read));
        match self.seed_of(epoch, view)? {
            Some(seed) => Reply::bytes(derive(&seed, label), price),
            None => {
                let mut refusal = crate::delivery::frames::refusal(&error::INVALID_ARGUMENT);
                refusal.code = 3;
                refusal.message = format!(
                    "the seed of round ({epoch}, {view}) is not readable: rounds of this and the {} before are",
                    self.environment.params.consensus.seed_history
                );
                Ok(Reply::Refuse(refusal, price))
            }
        }
    }

    fn seed_of(&self, epoch: u64, view: u64) -> Step<Option<[u8; 48]>> {
        let history = self.environment.params.consensus.seed_history;
        Ok(self.world.seed(history, epoch, view)?.map(|seed| seed.0))
    }
}
