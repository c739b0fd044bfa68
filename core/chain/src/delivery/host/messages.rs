//! Messages for later blocks, calls in this one, and children (003 §3.3; decisions 125, 128, 134).

use super::gate::Passed;
use super::{Arguments, length, read};
use crate::delivery::deploy::Deployment;
use crate::delivery::frames::{Entry, Gives, Price, Reply, SystemCall};
use crate::delivery::{Machine, Step, nested_id};
use commonware_codec::Write as _;
use cowboy_state::records::{Mailbox, Message, Payload, Queue, keys};
use cowboy_state::{Checkpoint, Directory, Key, Kind, SentMessage, Stop};
use cowboy_system::registry::Argument;
use cowboy_types::instruction::HandlerName;
use cowboy_types::units::{Amount, Count};
use cowboy_types::{Address, Hash, error, keccak256};

/// Bytes that a message takes of its mailbox.
pub(crate) fn mailbox_bytes(handler: &str, payload: &[u8]) -> u64 {
    length(handler.as_bytes()).saturating_add(length(payload))
}

/// A message's id: keccak256(sender ‖ nonce ‖ msg_hash), msg_hash = keccak256 of the encoding of target, handler,
/// value and payload; the nonce counts what the sender ever sent, eight bytes, big-endian (A-95, decision 128).
pub fn message_id(sender: &Address, nonce: u64, target: &Address, handler: &HandlerName, value: Amount, payload: &Payload) -> Hash {
    let mut encoded = Vec::new();
    target.write(&mut encoded);
    handler.write(&mut encoded);
    value.write(&mut encoded);
    payload.write(&mut encoded);
    keccak256(&[&sender.0, &nonce.to_be_bytes(), &keccak256(&[&encoded]).0])
}

impl Machine {
    /// (target, payload, value, handler): the limits that may follow are the origin's, whatever they say.
    pub(super) fn send_message(&mut self, arguments: Arguments<'_>) -> Step<Reply> {
        let (target, payload) = (read!(arguments.address(0)), read!(arguments.bytes(1)));
        let (value, handler) = (read!(arguments.number_or_zero(2)), read!(arguments.text_or_empty(3)));
        self.send(target, handler, payload, Amount(value))
    }

    /// (handler, payload): a message to itself, as older actors ask for the next block.
    pub(super) fn create_deferred_tx(&mut self, arguments: Arguments<'_>) -> Step<Reply> {
        let (handler, payload) = (read!(arguments.text(0)), read!(arguments.bytes(1)));
        let own = self.actor_address();
        self.send(own, handler, payload, Amount::ZERO)
    }

    fn send(&mut self, target: Address, handler: &str, payload: &[u8], value: Amount) -> Step<Reply> {
        let size = mailbox_bytes(handler, payload);
        let requests = self.require_for(target, payload)?.requests;
        let price = Price::cycles(self.environment.params.costs.send).with_cells(size);
        let (Some(handler), Some(payload)) = (HandlerName::new(handler), Payload::new(payload.to_vec())) else {
            return Reply::refuse(error::INVALID_ARGUMENT, price);
        };
        let rows = self.environment.params.execution.clone();
        let envelope = &self.running().envelope;
        let (depth, sent_before, origin, parent) = (envelope.depth, envelope.sent_before, envelope.origin, envelope.id);
        if depth >= rows.message_depth {
            return Err(error::CALL_DEPTH.into());
        }
        if sent_before.saturating_add(self.world.messages()) >= rows.fanout_per_tx {
            return Err(error::FANOUT.into());
        }
        let sender = self.actor_address();
        let mailbox_key = Key::of(Kind::Mailbox, target);
        self.world.require([&mailbox_key, &keys::queue(), &Directory::mailbox(target).first_key()])?;
        let mut mailbox = self.world.read::<Mailbox>(&mailbox_key)?.unwrap_or(Mailbox { count: Count::ZERO, bytes: Count::ZERO });
        mailbox.bytes = Count(mailbox.bytes.0.saturating_add(size));
        if mailbox.bytes.0 > rows.mailbox_capacity {
            return Err(error::MAILBOX_FULL.into());
        }
        self.require_transfer(value)?;
        if !self.take(value)? {
            return Reply::refuse(error::TRANSFER_FAILED, price);
        }
        let mut actor = self.world.actor(sender)?.expect("the actor that runs exists");
        let id = message_id(&sender, actor.messages_sent.0, &target, &handler, value, &payload);
        actor.messages_sent = Count(actor.messages_sent.0 + 1);
        self.world.set_actor(sender, &actor);
        mailbox.count = Count(mailbox.count.0 + 1);
        self.world.write(mailbox_key, &mailbox);
        let index = sent_before + self.world.messages() + 1;
        let sent = SentMessage { receipt: nested_id(&origin, index), id, target, handler: handler.to_string(), value };
        let sent_at = self.environment.height;
        self.enqueue(&Message {
            id,
            origin,
            parent,
            index: Count(index),
            depth: Count(depth + 1),
            sender,
            target,
            handler,
            payload,
            value,
            sent_at,
        })?;
        self.world.note_message(sent);
        self.count_requests(requests);
        Reply::none(price)
    }

    fn enqueue(&mut self, message: &Message) -> Step<()> {
        let mut queue = self.world.read::<Queue>(&keys::queue())?.unwrap_or(Queue { head: Count::ZERO, tail: Count::ZERO });
        Directory::mailbox(message.target).insert(&mut self.world, &queue.tail.0.to_be_bytes())?;
        self.world.write(keys::message(queue.tail.0), message);
        queue.tail = Count(queue.tail.0 + 1);
        self.world.write(keys::queue(), &queue);
        Ok(())
    }

    /// Whether as many handlers wait for each other as may, so that none may begin inside of the last one.
    fn is_too_deep(&mut self) -> bool {
        let waiting = u64::try_from(self.running().frames.len()).unwrap_or(u64::MAX);
        waiting >= self.environment.params.execution.reentrancy_depth
    }

    /// (target, method, payload, cycles limit, access limit, value): runs a handler in this transaction.
    pub(super) fn call_actor(&mut self, arguments: Arguments<'_>) -> Step<Reply> {
        let (target, method, payload) = (read!(arguments.address(0)), read!(arguments.text(1)), read!(arguments.bytes(2)));
        let (asked, value) = (read!(arguments.number_or_zero(3)), Amount(read!(arguments.number_or_zero(5))));
        self.call(target, method, payload, asked, value)
    }

    /// Runs a handler of another address in this transaction, with these cycles, or the usual ones where they are 0.
    pub(super) fn call(&mut self, target: Address, method: &str, payload: &[u8], asked: u64, value: Amount) -> Step<Reply> {
        let params = &self.environment.params;
        let mut price = Price::cycles(params.costs.call);
        let asked = if asked == 0 { params.execution.call_cycles_default } else { asked };
        if self.is_too_deep() {
            return Reply::refuse(error::CALL_DEPTH, price);
        }
        if method.len() > HandlerName::MAX {
            return Reply::refuse(error::INVALID_ARGUMENT, price);
        }
        let sender = self.actor_address();
        let Passed { requests, argument } = self.require_for(target, payload)?;
        let checkpoint = self.world.checkpoint();
        if value > Amount::ZERO {
            self.require_transfer(value)?;
            if !self.take(value)? {
                return Reply::refuse(error::TRANSFER_FAILED, price);
            }
            self.world.credit(target, value)?;
        }
        if cowboy_system::registry::at(target).is_some() {
            price.cycles = price.cycles.saturating_add(self.environment.params.execution.system_method_cycles);
            let argument = argument.as_ref().map_or(Argument::Encoded(payload), Argument::Decoded);
            let answer = self.call_system(SystemCall { sender, target, method, argument, value })?;
            price = price.with_work(answer.work);
            return match answer.result {
                Ok(data) => {
                    self.count_requests(requests);
                    match answer.forward {
                        None => Reply::bytes(data, price),
                        Some(forward) => self.enter_forwarded(target, &forward, asked, price, checkpoint),
                    }
                }
                Err(abort) => {
                    self.world.rollback(&checkpoint);
                    Reply::refuse_with(abort, answer.explanation, price)
                }
            };
        }
        let left = self.top_left();
        let limits =
            self.limits(asked.min(left.cycles.saturating_sub(price.cycles)), left.cells, left.weight_ns.saturating_sub(price.weight));
        let entry = Entry { sender, target, handler: method, payload, value, limits, gives: Gives::Data };
        match self.frame(entry, checkpoint) {
            Ok(frame) => Ok(Reply::Enter(Box::new(frame), price)),
            Err(Stop::Abort(abort)) => {
                self.world.rollback(&checkpoint);
                Reply::refuse(abort, price)
            }
            Err(miss) => Err(miss),
        }
    }

    /// Continues in the handler to which a system actor passed an actor's call.
    pub(super) fn enter_forwarded(
        &mut self,
        from: Address,
        forward: &cowboy_system::Forward,
        asked: u64,
        price: Price,
        checkpoint: Checkpoint,
    ) -> Step<Reply> {
        // Functions of tokens come here without having asked.
        if self.is_too_deep() {
            self.world.rollback(&checkpoint);
            return Reply::refuse(error::CALL_DEPTH, price);
        }
        let left = self.top_left();
        let asked = asked.min(forward.cycles.unwrap_or(u64::MAX));
        let limits =
            self.limits(asked.min(left.cycles.saturating_sub(price.cycles)), left.cells, left.weight_ns.saturating_sub(price.weight));
        match self.forwarded(from, forward, limits, checkpoint) {
            Ok(frame) => Ok(Reply::Enter(Box::new(frame), price)),
            Err(Stop::Abort(abort)) => {
                self.world.rollback(&checkpoint);
                Reply::refuse(abort, price)
            }
            Err(miss) => Err(miss),
        }
    }

    /// (code, salt, init handler, init payload, manifest, endowment): deploys a child (000 §7, §9.1).
    pub(super) fn spawn_actor(&mut self, arguments: Arguments<'_>) -> Step<Reply> {
        let (code, salt) = (read!(arguments.bytes(0)), read!(arguments.bytes_or_empty(1)));
        let (handler, payload) = (read!(arguments.text_or_empty(2)), read!(arguments.bytes_or_empty(3)));
        let manifest = if arguments.is_absent(4) { None } else { Some(read!(arguments.bytes(4))) };
        let value = Amount(read!(arguments.number_or_zero(5)));
        let grants = self.top().grants.clone();
        let most = grants.require("exec.spawn")?.number("max_children");
        let creator = self.actor_address();
        let mut parent = self.world.actor(creator)?.expect("the actor that runs exists");
        if most.is_some_and(|most| parent.children.0 >= most) {
            return Err(error::ENTITLEMENT_QUOTA.into());
        }
        let calldata = length(code).saturating_add(length(payload)).saturating_add(manifest.map_or(0, length));
        let mut price = Price { cycles: self.environment.params.intrinsic.deploy_cycles, cells: calldata, weight: 0 };
        let left = self.top_left();
        let limits = self.limits(left.cycles.saturating_sub(price.cycles), left.cells.saturating_sub(price.cells), left.weight_ns);
        let checkpoint = self.world.checkpoint();
        if self.is_too_deep() {
            return Reply::refuse(error::CALL_DEPTH, price);
        }
        let deployment = Deployment { creator, code, salt, manifest, parent: Some(&grants) };
        let (created, body) = match self.create(&deployment, limits) {
            Ok(created) => created,
            Err(Stop::Abort(abort)) => return Reply::refuse(abort, price),
            Err(miss) => return Err(miss),
        };
        price = Price { cycles: price.cycles + body.cycles, cells: price.cells + body.cells, weight: price.weight + body.weight };
        let address = match created {
            Ok(address) => address,
            Err(abort) => {
                self.world.rollback(&checkpoint);
                return Reply::refuse(abort, price);
            }
        };
        self.require_transfer(value)?;
        if !self.take(value)? {
            self.world.rollback(&checkpoint);
            return Reply::refuse(error::TRANSFER_FAILED, price);
        }
        self.world.credit(address, value)?;
        self.running().parties.insert(address, ());
        parent.children = Count(parent.children.0 + 1);
        self.world.set_actor(creator, &parent);
        if handler.is_empty() {
            return Reply::bytes(address.0, price);
        }
        let limits = self.limits(
            left.cycles.saturating_sub(price.cycles),
            left.cells.saturating_sub(price.cells),
            left.weight_ns.saturating_sub(price.weight),
        );
        let entry = Entry { sender: creator, target: address, handler, payload, value, limits, gives: Gives::Address(address) };
        Ok(Reply::Enter(Box::new(self.frame(entry, checkpoint)?), price))
    }
}
