//! The first step: what the block's rules are, and what is needed before it starts.

use super::{Execution, Halt, Turn};
use crate::admit::SignedTransaction;
use crate::delivery::Machine;
use crate::input::{BaseFees, BlockInvalid, Mode};
use crate::lanes::{Lane, Space};
use crate::order::{self, Placed};
use cowboy_state::records::{Deployers, Markets, Queue, SeedIndex, SeedRecord, keys};
use cowboy_state::{Directory, Key, Kind, Miss};
use cowboy_system::dispatcher::state as dispatcher;
use cowboy_system::entitlements;
use cowboy_system::standstill::{self, CLOCKS};
use cowboy_system::storage::sweep;
use cowboy_system::upkeep::AGENDAS;
use cowboy_system::{gateways, governance, rent_rate, secrets, staking, timers};
use cowboy_types::instruction::{Actor, Custom, Instruction, Ordinary, System};
use cowboy_types::units::Count;
use std::sync::Arc;

impl Execution {
    /// Reads the rules, asks for everything that the body obviously needs in one batch, and puts the body in order.
    pub(super) fn open(&mut self) -> Result<Turn, Halt> {
        let wanted = self.wanted();
        self.machine.world.require(&wanted)?;
        let (base_fees, scheduled) = rules(&mut self.machine)?;
        self.require_version(self.input.version.unwrap_or(scheduled))?;
        standstill::count(&mut self.machine.world, &self.machine.environment.paused, self.input.height)?;
        let declared = self.find_due()?;
        self.keep_seeds()?;
        self.queue_end = self.machine.world.read::<Queue>(&keys::queue())?.map(|queue| queue.tail.0);
        (self.block.base_fees, self.block.space) = (base_fees, Space::new(declared));
        self.arrange()?;
        Ok(Turn::Over)
    }

    /// Runs the block under a protocol version, where this build knows it.
    fn require_version(&mut self, version: u8) -> Result<(), Halt> {
        let (versions, height) = (self.input.chain.versions, self.input.height);
        let unknown = BlockInvalid::Version { height, version, newest: versions.newest() };
        self.machine.environment.rules = versions.rules(version).ok_or(Halt::Invalid(unknown))?;
        Ok(())
    }

    /// The records of the protocol, and those that the transactions name.
    fn wanted(&self) -> Vec<Key> {
        let mut wanted =
            vec![keys::markets(), keys::supply(), keys::parameters(), keys::deployers(), keys::queue(), keys::timers(), keys::seeds()];
        wanted.extend([
            keys::burning(),
            keys::tried_message(),
            keys::tried_callback(),
            dispatcher::agenda().first_key(),
            dispatcher::draws().first_key(),
            dispatcher::immediate().first_key(),
            dispatcher::waiting().first_key(),
            dispatcher::callbacks().first_key(),
        ]);
        wanted.extend(CLOCKS.map(|clock| clock.key()));
        wanted.extend([entitlements::state::deprecations(), governance::state::pauses_key(), governance::state::upgrades_key()]);
        wanted.extend([staking::state::total_key(), staking::inflation::rate_key(), Key::account(staking::state::rewards())]);
        wanted.push(gateways::state::epoch_key());
        wanted.extend([Directory::rents().first_key(), Directory::evictions().first_key(), rent_rate::key(), sweep::key()]);
        wanted.extend(AGENDAS.iter().map(|agenda| agenda.directory.first_key()));
        wanted.extend([Directory::timers(), Directory::timers_put_off(), Directory::seen()].map(Directory::first_key));
        wanted.push(Key::account(self.input.proposer));
        let transactions = match &self.input.mode {
            Mode::Propose { candidates, .. } => candidates,
            Mode::Verify { transactions } => transactions,
        };
        for signed in transactions {
            wanted.push(Key::account(signed.transaction().from));
            named(&signed.transaction().instruction, &mut wanted);
        }
        wanted
    }

    /// Keeps the header's seeds readable: a ring of the newest rounds (decision 115).
    fn keep_seeds(&mut self) -> Result<(), Miss> {
        if self.input.seeds.is_empty() {
            return Ok(());
        }
        let history = self.machine.environment.params.consensus.seed_history;
        let world = &mut self.machine.world;
        let zero = Count::ZERO;
        let first = SeedIndex { epoch: zero, base: zero, previous_epoch: zero, previous_base: zero, newest: zero };
        let mut index = world.read::<SeedIndex>(&keys::seeds())?.unwrap_or(first);
        for seed in &self.input.seeds {
            if seed.epoch != index.epoch.0 {
                (index.previous_epoch, index.previous_base) = (index.epoch, index.base);
                // Views count from 1, so that the first of an epoch follows the newest of the one before.
                (index.epoch, index.base) = (Count(seed.epoch), Count((index.newest.0 + 1).saturating_sub(seed.view)));
            }
            let place = index.base.0.saturating_add(seed.view);
            index.newest = Count(place);
            // Whatever stood at the place is overwritten unread.
            let record = SeedRecord { epoch: Count(seed.epoch), view: Count(seed.view), seed: seed.seed };
            world.write(keys::seed(place % history), &record);
        }
        world.write(keys::seeds(), &index);
        Ok(())
    }

    /// Puts the body in order, or checks that it is.
    pub(super) fn arrange(&mut self) -> Result<(), Halt> {
        match &self.input.mode {
            Mode::Verify { transactions } => {
                let placed = self.place(transactions)?;
                if !order::is_sorted(&placed, &self.input.order_key) {
                    return Err(Halt::Invalid(BlockInvalid::Order));
                }
                self.transactions = placed;
            }
            Mode::Propose { candidates, .. } => {
                let kept = candidates.iter().filter(|candidate| !self.refused.contains(candidate.digest()));
                let mut body = self.choose(self.place(kept)?);
                order::sort(&mut body, &self.input.order_key);
                self.transactions = self.rehearse(body);
            }
        }
        Ok(())
    }

    /// Adds to each transaction its lane, from the state at the block's start: nothing has run yet.
    fn place<'a>(&self, transactions: impl IntoIterator<Item = &'a SignedTransaction>) -> Result<Vec<Placed>, Miss> {
        let world = &self.machine.world;
        let (mut placed, mut missing) = (Vec::new(), Vec::new());
        for signed in transactions {
            let transaction = signed.transaction();
            match Lane::of(world, transaction.from, &transaction.instruction) {
                Ok(lane) => placed.push(Placed { signed: signed.clone(), lane }),
                Err(Miss(keys)) => missing.extend(keys),
            }
        }
        if missing.is_empty() { Ok(placed) } else { Err(Miss(missing)) }
    }
}

/// Reads what governance has set into the executor's environment. Answers the base fees, and the protocol version that is scheduled
/// for the height: where this build does not know it, the environment has the rules of its newest one.
pub(crate) fn rules(machine: &mut Machine) -> Result<(BaseFees, u8), Miss> {
    let world = &machine.world;
    let of_governance = [governance::state::pauses_key(), governance::state::upgrades_key()];
    world.require(&[keys::markets(), keys::parameters(), keys::deployers(), of_governance[0].clone(), of_governance[1].clone()])?;
    let markets: Markets = world.read(&keys::markets())?.expect("genesis wrote the base fees");
    let deployers: Deployers = world.read(&keys::deployers())?.expect("genesis wrote the deployers");
    machine.environment.params = Arc::new(governance::state::parameters(world, &machine.environment.chain.params)?);
    machine.environment.paused = governance::pauses::paused(world, machine.environment.height)?;
    machine.environment.deployers = deployers.accounts.to_vec();
    let version = governance::state::upgrades(world)?.version_at(machine.environment.height);
    machine.environment.rules = machine.environment.chain.versions.nearest(version);
    Ok((BaseFees { cycle: markets.base_fee_cycle, cell: markets.base_fee_cell }, version))
}

/// The records that an instruction obviously needs.
fn named(instruction: &Instruction, wanted: &mut Vec<Key>) {
    let both = |address, wanted: &mut Vec<Key>| wanted.extend([Key::account(address), Key::of(Kind::Actor, address)]);
    let of_system = |system: &System, wanted: &mut Vec<Key>| match system {
        System::Transfer { to, .. } => both(*to, wanted),
        System::TransferActorOwnership { actor, .. } => {
            both(*actor, wanted);
            wanted.push(secrets::state::handed_key(*actor));
        }
        System::EntitlementGrant { grantee: holder, .. }
        | System::EntitlementDelegate { delegatee: holder, .. }
        | System::EntitlementAssignRole { assignee: holder, .. }
        | System::EntitlementRevokeRole { assignee: holder, .. } => wanted.push(entitlements::state::holder(*holder)),
        System::EntitlementRevoke { entitlement_id } => wanted.push(entitlements::state::permission(entitlement_id)),
        System::TimerSchedule { actor, .. } => {
            wanted.extend([Key::of(Kind::Actor, *actor), keys::timers()]);
            wanted.extend(timers::RENT_ACCOUNTS.map(Key::account));
        }
        System::EntitlementCreateRole { .. }
        | System::CancelTimer { .. }
        | System::ExtendTimer { .. }
        | System::UpdateTimerConfig { .. } => {}
    };
    match instruction {
        Instruction::System(system) => of_system(system, wanted),
        Instruction::Custom(Custom::SetBalance { account, .. }) => both(*account, wanted),
        Instruction::Custom(Custom::Impersonate { sender, instruction }) => {
            both(*sender, wanted);
            match instruction {
                Ordinary::System(System::Transfer { to, .. }) => both(*to, wanted),
                Ordinary::Actor(Actor::Execute { target, .. }) => both(*target, wanted),
                _ => {}
            }
        }
        Instruction::Actor(Actor::Execute { target, .. }) => {
            both(*target, wanted);
            wanted.push(Key::of(Kind::Manifest, *target));
        }
        Instruction::Actor(Actor::Deploy { .. }) => {}
    }
}
