//! Jobs of the off-chain market as actors ask for them (002 §3).

use super::gate::Passed;
use super::{Arguments, read};
use crate::delivery::frames::{Price, Reply, SystemCall};
use crate::delivery::{Machine, Step};
use cowboy_system::dispatcher;
use cowboy_system::registry::Argument;
use cowboy_types::Address;
use cowboy_types::units::Amount;

impl Machine {
    /// (job): hands a job to the Dispatcher; answers its id.
    pub(super) fn submit_job(&mut self, arguments: Arguments<'_>) -> Step<Reply> {
        let payload = read!(arguments.bytes(0));
        let mut price = Price::cycles(self.environment.params.costs.submit_job);
        let target = Address::system(dispatcher::NUMBER);
        let Passed { requests, argument } = self.require_for(target, payload)?;
        let argument = argument.as_ref().map_or(Argument::Encoded(payload), Argument::Decoded);
        let (sender, checkpoint) = (self.actor_address(), self.world.checkpoint());
        let answer = self.call_system(SystemCall { sender, target, method: "submit_job", argument, value: Amount::ZERO })?;
        price = price.with_work(answer.work);
        match answer.result {
            Ok(id) => {
                self.count_requests(requests);
                // A canonical CBOR byte string: a head of two bytes, then the id.
                Reply::bytes(id[id.len() - 32..].to_vec(), price)
            }
            Err(abort) => {
                self.world.rollback(&checkpoint);
                Reply::refuse_with(abort, answer.explanation, price)
            }
        }
    }
}
