//! Jobs of the off-chain market as actors ask for them (002 §3; 000 §9).

use super::{Arguments, length, read};
use crate::delivery::frames::{Price, Reply, SystemCall};
use crate::delivery::{Machine, Step};
use cowboy_state::Stop;
use cowboy_system::dispatcher;
use cowboy_types::Address;
use cowboy_types::cbor::{self, Value};
use cowboy_types::job::JobKind;
use cowboy_types::units::Amount;

impl Machine {
    /// (job): hands a job to the Dispatcher; answers its id.
    pub(super) fn submit_job(&mut self, arguments: Arguments<'_>) -> Step<Reply> {
        let payload = read!(arguments.bytes(0));
        let mut price = Price::cycles(self.environment.params.costs.submit_job).with_cells(length(payload));
        let target = Address::system(dispatcher::NUMBER);
        self.require_job(target, payload)?;
        let (sender, checkpoint) = (self.actor_address(), self.world.checkpoint());
        match self.call_system(SystemCall { sender, target, method: "submit_job", payload, value: Amount::ZERO }) {
            Ok((id, work)) => {
                price.cycles = price.cycles.saturating_add(work.cycles);
                price.weight = price.weight.saturating_add(work.weight);
                // A canonical CBOR byte string: a head of two bytes, then the id.
                Reply::bytes(id[id.len() - 32..].to_vec(), price)
            }
            Err(Stop::Abort(abort)) => {
                self.world.rollback(&checkpoint);
                Reply::refuse(abort, price)
            }
            Err(miss) => Err(miss),
        }
    }

    /// Whether the handler that runs may ask the Dispatcher for this: the entitlement of the job's kind (000 §9).
    pub(super) fn require_job(&mut self, target: Address, payload: &[u8]) -> Step<()> {
        if target != Address::system(dispatcher::NUMBER) {
            return Ok(());
        }
        let Ok(value) = cbor::decode(payload) else { return Ok(()) };
        let kind = value.get("job_type").and_then(|kind| kind.as_text().or_else(|| kind.get("type").and_then(Value::as_text)));
        let entitlement = match kind.and_then(JobKind::from_name) {
            Some(JobKind::Llm) => "oracle.llm",
            Some(JobKind::Http) => "http.fetch",
            _ => return Ok(()),
        };
        self.top().grants.require(entitlement)?;
        Ok(())
    }
}
