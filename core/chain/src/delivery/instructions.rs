//! What transactions ask for, one function an instruction.

use super::{Machine, Stage, Step, Stop, Work, call_trace};
use bytes::Bytes;
use cowboy_state::{Key, Kind};
use cowboy_types::instruction::{Actor, Custom, Instruction, Ordinary, System};
use cowboy_types::units::Amount;
use cowboy_types::{Address, error};

/// Who is asked, for which handler, and what goes along: for the receipt.
pub(super) fn describe(instruction: &Instruction) -> (Address, String, Amount) {
    let of_system = |system: &System| match system {
        System::Transfer { to, amount } => (*to, String::new(), *amount),
        System::TransferActorOwnership { actor, .. } => (*actor, String::new(), Amount::ZERO),
        System::CancelTimer { .. } | System::ExtendTimer { .. } => (Address::system(0x06), String::new(), Amount::ZERO),
        System::UpdateTimerConfig { .. } => (Address::system(0x09), String::new(), Amount::ZERO),
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

impl Machine {
    /// The first step: the intrinsic cost, then the work.
    pub(super) fn start(&mut self) -> Step<()> {
        let running = self.running();
        let (intrinsic, sender, work) = (running.envelope.intrinsic, running.envelope.sender, running.envelope.work.clone());
        let weight = self.environment.params.weights.delivery;
        self.running().meter.charge(intrinsic.cycles.0, intrinsic.cells.0, weight)?;
        match work {
            Work::Instruction(instruction) => self.instruct(sender, instruction),
            Work::Handler { .. } => Err(error::UNAVAILABLE.into()),
        }
    }

    fn end(&mut self, data: Bytes) -> Step<()> {
        self.running().stage = Stage::Ended(Ok(data));
        Ok(())
    }

    fn instruct(&mut self, sender: Address, instruction: Instruction) -> Step<()> {
        match instruction {
            Instruction::System(System::Transfer { to, amount }) => self.transfer(sender, to, amount),
            Instruction::System(System::TransferActorOwnership { actor, owner }) => self.transfer_ownership(sender, actor, owner),
            Instruction::Custom(Custom::SetBalance { account, balance }) => self.set_balance(account, balance),
            Instruction::Custom(Custom::Impersonate { sender, instruction }) => self.instruct(sender, instruction.into()),
            Instruction::System(_) | Instruction::Actor(_) => Err(error::UNAVAILABLE.into()),
        }
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
        Ok(())
    }

    fn transfer_ownership(&mut self, sender: Address, actor: Address, owner: Address) -> Step<()> {
        let mut record = self.world.actor(actor)?.ok_or(error::ACTOR_NOT_FOUND)?;
        if record.owner != sender {
            return Err(error::NOT_OWNER.into());
        }
        record.owner = owner;
        self.world.set_actor(actor, &record);
        self.end(Bytes::new())
    }

    fn set_balance(&mut self, account: Address, balance: Amount) -> Step<()> {
        if !self.environment.chain.is_dev {
            return Err(Stop::Abort(error::DEV_ONLY));
        }
        let mut record = self.world.account(account)?;
        let running = self.running();
        running.minted = balance.saturating_sub(record.balance);
        running.burned = record.balance.saturating_sub(balance);
        record.balance = balance;
        self.world.set_account(account, &record);
        self.end(Bytes::new())
    }
}
