//! What the host answers to an actor: one function a host function, by subject.

mod blobs;
mod facts;
mod forms;
mod gate;
mod jobs;
mod messages;
mod signatures;
mod storage;
mod timers;
mod tokens;
mod value;
mod volumes;

pub(crate) use messages::mailbox_bytes;
pub use messages::message_id;

use super::frames::{Price, Reply};
use super::meter::length;
use super::{Door, Machine, Step};
use crate::engine::{Access, HostCall, HostFn, HostValue};
use cowboy_types::{Abort, Address, error};

impl Machine {
    /// Answers a host call. A miss changes nothing; an abort ends the handler.
    pub(super) fn answer(&mut self, call: &HostCall) -> Step<Reply> {
        if self.running().envelope.door == Door::Query {
            let row = call.function.row();
            if row.access == Access::Delivery {
                self.running().side_effect = Some(row.name.to_owned());
                return Err(error::UNAVAILABLE.into());
            }
        }
        let arguments = Arguments(&call.args);
        match call.function {
            HostFn::Context => self.context(),
            HostFn::SelfAddress => self.self_address(),
            HostFn::CurrentBlock => self.current_block(),
            HostFn::RuntimeConfig => self.runtime_config(),
            HostFn::ActorOwner => self.actor_owner(),
            HostFn::ChargeGas => self.charge_gas(arguments),
            HostFn::EmitEvent => self.emit_event(arguments),
            HostFn::EntitlementParams => self.entitlement_params(arguments),
            HostFn::Randomness => self.randomness(arguments),
            HostFn::RandomnessAt => self.randomness_at(arguments),
            HostFn::VerifySignature => self.verify_signature(arguments),
            HostFn::Recover => self.recover(arguments),
            HostFn::GetState => self.get_state(arguments),
            HostFn::SetState => self.set_state(arguments),
            HostFn::DeleteState => self.delete_state(arguments),
            HostFn::DeleteOnFailure => self.delete_on_failure(arguments),
            HostFn::SetReservedState => self.set_reserved_state(arguments),
            HostFn::DeleteReservedState => self.delete_reserved_state(arguments),
            HostFn::ScanStatePrefix => self.scan_state_prefix(arguments),
            HostFn::SendMessage => self.send_message(arguments),
            HostFn::CreateDeferredTx => self.create_deferred_tx(arguments),
            HostFn::CallActor => self.call_actor(arguments),
            HostFn::SpawnActor => self.spawn_actor(arguments),
            HostFn::TransferBalance => self.transfer_balance(arguments),
            HostFn::Balance => self.balance(arguments),
            HostFn::ScheduleTimer => self.schedule_timer(arguments),
            HostFn::ScheduleTimerEx => self.schedule_timer_ex(arguments),
            HostFn::ExtendTimer => self.extend_timer(arguments),
            HostFn::CancelTimer => self.cancel_timer(arguments),
            HostFn::SetInterval => self.set_interval(arguments),
            HostFn::ResumeInterval => self.resume_interval(arguments),
            HostFn::SubmitJob => self.submit_job(arguments),
            HostFn::BlobCommit => self.blob_commit(arguments),
            HostFn::BlobRead => self.blob_read(arguments),
            HostFn::TokenCreate
            | HostFn::TokenTransfer
            | HostFn::TokenApprove
            | HostFn::TokenTransferFrom
            | HostFn::TokenMint
            | HostFn::TokenBurn
            | HostFn::TokenBalanceOf
            | HostFn::TokenAllowance
            | HostFn::TokenTotalSupply => self.token(call.function, arguments),
            HostFn::CreateVolume | HostFn::DeleteVolume | HostFn::BlobRef => self.volume(call.function, arguments),
            HostFn::UpgradeSelf => self.upgrade_self(arguments),
            // Names of parts that are not built, and of what lies outside the specification.
            _ => Reply::refuse(error::UNAVAILABLE, Price::default()),
        }
    }

    fn actor_address(&mut self) -> Address {
        self.top().actor
    }
}

/// Bytes, or a text's UTF-8.
fn bytes(value: &HostValue) -> Option<&[u8]> {
    value.as_bytes().or_else(|| value.as_str().map(str::as_bytes))
}

/// The arguments of a host call, read by place.
#[derive(Clone, Copy)]
pub(super) struct Arguments<'a>(&'a [HostValue]);

impl<'a> Arguments<'a> {
    fn at(self, place: usize) -> &'a HostValue {
        self.0.get(place).unwrap_or(&HostValue::None)
    }

    /// Bytes, or a text's UTF-8.
    fn bytes(self, place: usize) -> Result<&'a [u8], Abort> {
        bytes(self.at(place)).ok_or(error::INVALID_ARGUMENT)
    }

    fn text(self, place: usize) -> Result<&'a str, Abort> {
        self.at(place).as_str().ok_or(error::INVALID_ARGUMENT)
    }

    fn number(self, place: usize) -> Result<u64, Abort> {
        self.at(place).as_u64().ok_or(error::INVALID_ARGUMENT)
    }

    fn address(self, place: usize) -> Result<Address, Abort> {
        Ok(Address(self.bytes(place)?.try_into().map_err(|_| error::INVALID_ARGUMENT)?))
    }

    fn is_absent(self, place: usize) -> bool {
        *self.at(place) == HostValue::None
    }

    /// A number that may be left out; zero then.
    fn number_or_zero(self, place: usize) -> Result<u64, Abort> {
        if self.is_absent(place) { Ok(0) } else { self.number(place) }
    }

    /// A text that may be left out; empty then.
    fn text_or_empty(self, place: usize) -> Result<&'a str, Abort> {
        if self.is_absent(place) { Ok("") } else { self.text(place) }
    }

    /// Bytes that may be left out; empty then.
    fn bytes_or_empty(self, place: usize) -> Result<&'a [u8], Abort> {
        if self.is_absent(place) { Ok(b"") } else { self.bytes(place) }
    }
}

/// Reads arguments, or refuses them: bad input is the actor's to catch.
macro_rules! read {
    ($expression:expr) => {
        match $expression {
            Ok(value) => value,
            Err(abort) => return crate::delivery::frames::Reply::refuse(abort, crate::delivery::frames::Price::default()),
        }
    };
}
use read;
