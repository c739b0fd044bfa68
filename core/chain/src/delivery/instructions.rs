//! What transactions ask for, one function an instruction.

use super::deploy::Deployment;
use super::frames::{Entry, Gives, SystemCall};
use super::{Door, Machine, Stage, Step, Stop, Work, call_trace};
use crate::engine::Exception;
use bytes::Bytes;
use cowboy_state::records::{Payload, Supply, keys};
use cowboy_state::{Checkpoint, Key, Kind};
use cowboy_system::auction::{Bid, Tier};
use cowboy_system::registry::Argument;
use cowboy_system::schema::Refused;
use cowboy_system::{self as system, Context, instructions, registry, timers};
use cowboy_types::instruction::{Actor, Custom, Init, Instruction, Ordinary, System};
use cowboy_types::receipt::MAX_RETURN_BYTES;
use cowboy_types::units::Amount;
use cowboy_types::{Address, actors, error};
use cowboy_vm::CYCLE_WEIGHT;

/// All CBY that a dev chain may ever have made when an instruction makes more. As much again is left for what blocks make.
const MAX_MADE: Amount = Amount(u64::MAX / 2);

/// Who is asked, for which handler, and what goes along: for the receipt.
pub(super) fn describe(instruction: &Instruction) -> (Address, String, Amount) {
    let of_system = |system: &System| match system {
        System::Transfer { to, amount } => (*to, String::new(), *amount),
        System::TransferActorOwnership { actor, .. } => (*actor, String::new(), Amount::ZERO),
        System::EntitlementGrant { .. }
        | System::EntitlementRevoke { .. }
        | System::EntitlementDelegate { .. }
        | System::EntitlementCreateRole { .. }
        | System::EntitlementAssignRole { .. }
        | System::EntitlementRevokeRole { .. } => (Address::system(actors::ENTITLEMENTS), String::new(), Amount::ZERO),
        System::CancelTimer { .. } | System::ExtendTimer { .. } => (Address::system(actors::BASEFEE), String::new(), Amount::ZERO),
        System::UpdateTimerConfig { .. } => (Address::system(actors::GOVERNANCE), String::new(), Amount::ZERO),
        System::TimerSchedule { actor, handler, .. } => (*actor, handler.to_string(), Amount::ZERO),
    };
    let of_actor = |actor: &Actor| match actor {
        Actor::Deploy { init, endowment, .. } => {
            let handler = init.as_ref().map_or_else(String::new, |init| init.handler.to_string());
            (Address::ZERO, handler, *endowment)
        }
        Actor::Execute { target, handler, value, .. } => (*target, handler.to_string(), *value),
    };
    match instruction {
        Instruction::System(system) => of_system(system),
        Instruction::Actor(actor) => of_actor(actor),
        Instruction::Custom(Custom::SetBalance { account, balance }) => (*account, String::new(), *balance),
        Instruction::Custom(Custom::Impersonate { instruction, .. }) => match instruction {
            Ordinary::System(system) => of_system(system),
            Ordinary::Actor(actor) => of_actor(actor),
        },
    }
}

/// What the trace says of an argument that a method refused.
fn refusal(target: Address, method: &str, refused: Refused) -> Exception {
    let row = registry::at(target).and_then(|actor| actor.method(method));
    let message = row.map(|row| refused.text(row.arguments)).unwrap_or_default();
    let line = format!("InvalidArgument: {message}");
    Exception { name: "InvalidArgument".to_string(), message, traceback: vec![line] }
}

/// What the trace says of a call that was refused for numbers of its argument.
fn explained(abort: &cowboy_types::Abort, message: String) -> Exception {
    let name = error::row(abort.code).slug.to_string();
    let line = format!("{name}: {message}");
    Exception { name, message, traceback: vec![line] }
}

impl Machine {
    /// The first step: the intrinsic cost, then the work.
    pub(super) fn start(&mut self) -> Step<()> {
        let running = self.running();
        let (intrinsic, sender, work) = (running.envelope.intrinsic, running.envelope.sender, running.envelope.work.clone());
        let weight = self.environment.params.weights.delivery;
        self.running().meter.charge(intrinsic.cycles.0, intrinsic.cells.0, weight)?;
        match work {
            Work::Instruction(instruction) => self.instruct(sender, instruction),
            Work::Handler { target, handler, payload, value } => {
                let checkpoint = self.world.checkpoint();
                self.world.credit(target, value)?;
                self.enter(sender, target, &handler, &payload, value, checkpoint)
            }
        }
    }

    /// Ends the delivery with what it returns: as much as its receipt holds. A query has none (decision 780).
    fn end(&mut self, data: Bytes) -> Step<()> {
        if data.len() > MAX_RETURN_BYTES && self.running().envelope.door == Door::Block {
            return Err(error::RETURN_TOO_LARGE.into());
        }
        self.running().stage = Stage::Ended(Ok(data));
        Ok(())
    }

    fn instruct(&mut self, sender: Address, instruction: Instruction) -> Step<()> {
        match instruction {
            Instruction::System(System::Transfer { to, amount }) => self.transfer(sender, to, amount),
            Instruction::System(System::TransferActorOwnership { actor, owner }) => self.transfer_ownership(sender, actor, owner),
            Instruction::Custom(Custom::SetBalance { account, balance }) => self.set_balance(account, balance),
            Instruction::Custom(Custom::Impersonate { sender, instruction }) => {
                self.running().parties.insert(sender, ());
                self.instruct(sender, instruction.into())
            }
            Instruction::System(System::TimerSchedule { actor, height, handler, payload, cycles_limit, cells_limit, expires_at }) => {
                let payload = Payload::new(payload.to_vec()).ok_or(error::TIMER_PAYLOAD)?;
                let due = timers::Due::At(height);
                let (fee_payer, max_timers, bid) = (None, None, Bid::Agent(Tier::Standard));
                let request =
                    timers::Request { actor, due, handler, payload, fee_payer, cycles_limit, cells_limit, expires_at, max_timers, bid };
                let id = self.work(sender, |context| timers::schedule(context, request))?;
                self.end(Bytes::copy_from_slice(&id.0))
            }
            Instruction::System(method) => {
                let data = self.work(sender, |context| instructions::execute(context, &method))?;
                self.end(data.into())
            }
            Instruction::Actor(Actor::Execute { target, handler, payload, value }) => {
                let checkpoint = self.world.checkpoint();
                self.pay(sender, target, value)?;
                self.enter(sender, target, &handler, &payload, value, checkpoint)
            }
            Instruction::Actor(Actor::Deploy { code, salt, init, manifest, endowment }) => {
                self.deploy(sender, &code, &salt, init.as_ref(), manifest.as_ref().map(|manifest| &manifest[..]), endowment)
            }
        }
    }

    /// Does the work of a system actor, and charges it whether it succeeds or not.
    fn work<T>(&mut self, sender: Address, work: impl FnOnce(&mut Context<'_>) -> Step<T>) -> Step<T> {
        let budget = self.budget();
        let mut context = self.system_context(sender);
        context.budget = budget;
        let done = work(&mut context);
        let mut used = context.work;
        // The intrinsic cycles of the instruction are the price of its method.
        used.weight = used.weight.saturating_add(self.running().envelope.intrinsic.cycles.0.saturating_mul(CYCLE_WEIGHT));
        self.charge_method(used)?;
        done
    }

    /// Charges a method to the delivery. Its cycles count as time, as the VM counts those of the methods that an actor calls.
    fn charge_method(&mut self, work: system::Work) -> Step<()> {
        let time = work.cycles.saturating_mul(CYCLE_WEIGHT);
        Ok(self.running().meter.charge(work.cycles, work.cells, work.weight.saturating_add(time))?)
    }

    /// Enters a handler of an actor or a method of a system actor. What was paid for it is undone with it.
    fn enter(
        &mut self,
        sender: Address,
        target: Address,
        handler: &str,
        payload: &[u8],
        value: Amount,
        checkpoint: Checkpoint,
    ) -> Step<()> {
        if registry::at(target).is_some() {
            let cycles = self.environment.params.execution.system_method_cycles;
            self.charge_method(system::Work { cycles, ..system::Work::default() })?;
            self.running().calls.push(call_trace(0, sender, target, handler, value));
            let answer = self.call_system(SystemCall { sender, target, method: handler, argument: Argument::Encoded(payload), value })?;
            // What a method did before it failed is paid for, too.
            self.charge_method(answer.work)?;
            let exception = match (answer.refused, answer.explanation, &answer.result) {
                (Some(refused), _, _) => Some(refusal(target, handler, refused)),
                (None, Some(explanation), Err(abort)) => Some(explained(abort, explanation)),
                _ => None,
            };
            if let Some(call) = self.running().calls.last_mut().filter(|_| exception.is_some()) {
                call.exception = exception;
            }
            let data = answer.result?;
            self.running().is_due = answer.is_due;
            let Some(forward) = answer.forward else { return self.end(data.into()) };
            let mut limits = self.outer_limits();
            limits.cycles = limits.cycles.min(forward.cycles.unwrap_or(u64::MAX));
            let frame = self.forwarded(target, &forward, limits, checkpoint)?;
            self.running().meter.charge(0, 0, frame.weight)?;
            self.push(frame);
            self.running().repays = forward.repays.map(|most| (forward.target, most));
            return Ok(());
        }
        let is_plain_payment = handler.is_empty() && payload.is_empty() && self.world.actor(target)?.is_none();
        if is_plain_payment {
            self.running().calls.push(call_trace(0, sender, target, handler, value));
            return self.end(Bytes::new());
        }
        let limits = self.outer_limits();
        let frame = self.frame(Entry { sender, target, handler, payload, value, limits, gives: Gives::Data }, checkpoint)?;
        self.running().meter.charge(0, 0, frame.weight)?;
        self.push(frame);
        Ok(())
    }

    fn deploy(
        &mut self,
        sender: Address,
        code: &[u8],
        salt: &[u8],
        init: Option<&Init>,
        manifest: Option<&[u8]>,
        endowment: Amount,
    ) -> Step<()> {
        let checkpoint = self.world.checkpoint();
        let limits = self.outer_limits();
        let (created, body) = self.create(&Deployment { creator: sender, code, salt, manifest, parent: None }, limits)?;
        self.running().meter.charge(body.cycles, body.cells, body.weight)?;
        let address = created?;
        self.pay(sender, address, endowment)?;
        let Some(init) = init else {
            self.running().calls.push(call_trace(0, sender, address, "", endowment));
            self.running().created = Some(address);
            return self.end(Bytes::new());
        };
        let limits = self.outer_limits();
        let gives = Gives::Address(address);
        let frame = self.frame(
            Entry { sender, target: address, handler: &init.handler, payload: &init.payload, value: endowment, limits, gives },
            checkpoint,
        )?;
        self.running().meter.charge(0, 0, frame.weight)?;
        self.push(frame);
        Ok(())
    }

    fn transfer(&mut self, sender: Address, to: Address, amount: Amount) -> Step<()> {
        self.world.require([&Key::account(sender), &Key::account(to), &Key::of(Kind::Actor, to)])?;
        self.running().calls.push(call_trace(0, sender, to, "", amount));
        self.pay(sender, to, amount)?;
        self.end(Bytes::new())
    }

    /// Moves CBY. The sender must have it.
    pub(super) fn pay(&mut self, from: Address, to: Address, amount: Amount) -> Step<()> {
        if !self.world.debit(from, amount)? {
            return Err(error::TRANSFER_FAILED.into());
        }
        self.world.credit(to, amount)?;
        self.running().parties.insert(to, ());
        Ok(())
    }

    fn transfer_ownership(&mut self, sender: Address, actor: Address, owner: Address) -> Step<()> {
        let mut record = self.world.actor(actor)?.ok_or(error::ACTOR_NOT_FOUND)?;
        if record.owner != sender {
            return Err(error::NOT_OWNER.into());
        }
        if owner != sender {
            system::secrets::state::note_handed_on(&mut self.world, actor)?;
        }
        record.owner = owner;
        self.world.set_actor(actor, &record);
        self.end(Bytes::new())
    }

    fn set_balance(&mut self, account: Address, balance: Amount) -> Step<()> {
        if !self.environment.chain.is_dev {
            return Err(Stop::Abort(error::DEV_ONLY));
        }
        let (mut record, supply) = (self.world.account(account)?, self.world.read::<Supply>(&keys::supply())?);
        let minted = balance.saturating_sub(record.balance);
        let supply = supply.expect("genesis wrote the supply");
        let total = [supply.minted, self.minted, minted].into_iter().fold(supply.genesis, Amount::saturating_add);
        if minted > Amount::ZERO && total > MAX_MADE {
            return Err(error::INVALID_ARGUMENT.into());
        }
        let running = self.running();
        running.minted = minted;
        running.burned = record.balance.saturating_sub(balance);
        running.parties.insert(account, ());
        record.balance = balance;
        self.world.set_account(account, &record);
        self.end(Bytes::new())
    }
}
