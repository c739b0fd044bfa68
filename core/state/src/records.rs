//! What the records hold. Formats are for ever: a field is added at the end of a new record, never here.

mod actors;
mod timers;

pub use actors::{Actor, ActorStatus};
pub use timers::{Answer, Asked, Interval, Timer, TimerBook, TimerRent};

use crate::key::{Key, Kind};
use crate::world::{Miss, World};
use cowboy_types::block::Seed;
use cowboy_types::instruction::HandlerName;
use cowboy_types::units::{Amount, Cells, Count, Cycles, Height, Nonce, Price, TimestampMs};
use cowboy_types::{Address, Blob, Hash, List, record};

/// The longest payload that a record carries: a timer's.
pub const MAX_PAYLOAD_BYTES: usize = 1_048_576;

/// A message's or timer's payload.
pub type Payload = Blob<MAX_PAYLOAD_BYTES>;

/// An actor's manifest, canonical CBOR.
pub type ManifestBytes = Blob<65_536>;

record! {
    /// What an address has.
    pub struct Account {
        /// How many transactions it sent.
        pub nonce: Nonce,
        /// CBY that it may spend.
        pub balance: Amount,
    }
}

impl Account {
    /// An address that was never seen.
    pub const UNSEEN: Self = Self { nonce: Nonce::ZERO, balance: Amount::ZERO };
}

record! {
    /// How much waits for an address.
    pub struct Mailbox {
        /// Messages.
        pub count: Count,
        /// Their bytes.
        pub bytes: Count,
    }
}

record! {
    /// A message on its way.
    pub struct Message {
        /// keccak256(sender ‖ nonce ‖ msg_hash) (003 §3.3).
        pub id: Hash,
        /// The transaction or timer where it began.
        pub origin: Hash,
        /// The receipt of the delivery that sent it.
        pub parent: Hash,
        /// Its number among the origin's messages, from 1.
        pub index: Count,
        /// How many messages led to it, from 1.
        pub depth: Count,
        /// The sender's address.
        pub sender: Address,
        /// The recipient's address.
        pub target: Address,
        /// The handler to run; empty means the actor's `handle_message`.
        pub handler: HandlerName,
        /// The handler's argument.
        pub payload: Payload,
        /// CBY that go with it, held here until it is delivered.
        pub value: Amount,
        /// The height at which it was sent.
        pub sent_at: Height,
    }
}

record! {
    /// The places of the message queue.
    pub struct Queue {
        /// The next to be delivered.
        pub head: Count,
        /// The next to be taken.
        pub tail: Count,
    }
}

record! {
    /// What the first message of the queue, or the first callback, used when it was tried and put back, because its lane had too little left.
    pub struct Tried {
        /// Cycles.
        pub cycles: Cycles,
        /// Cells.
        pub cells: Cells,
    }
}

record! {
    /// What is left of a transaction or timer whose messages are under way (decision 125).
    pub struct Origin {
        /// Who paid, and gets back what is left.
        pub payer: Address,
        /// CBY held: the rest of the limits at the maximum prices.
        pub held: Amount,
        /// Cycles left.
        pub cycles: Cycles,
        /// Cells left.
        pub cells: Cells,
        /// The most paid for a cycle.
        pub max_fee_per_cycle: Price,
        /// The most paid for a cell.
        pub max_fee_per_cell: Price,
        /// The tip for a cycle.
        pub priority_per_cycle: Price,
        /// The tip for a cell.
        pub priority_per_cell: Price,
        /// Messages enqueued so far.
        pub sent: Count,
        /// Messages not delivered yet.
        pub outstanding: Count,
    }
}

record! {
    /// The mark of a delivered message.
    pub struct Seen {
        /// The height of the delivery.
        pub height: Height,
    }
}

record! {
    /// What an actor has used of its quotas per block.
    pub struct Spent {
        /// The block that is counted.
        pub height: Height,
        /// CBY transferred in it.
        pub transferred: Amount,
        /// Cycles used in it.
        pub cycles: Cycles,
    }
}

record! {
    /// The base fees of the next block (003 §4.2).
    pub struct Markets {
        /// The base fee per cycle.
        pub base_fee_cycle: Price,
        /// The base fee per cell.
        pub base_fee_cell: Price,
    }
}

record! {
    /// All CBY there are (003 §8).
    pub struct Supply {
        /// What the chain began with.
        pub genesis: Amount,
        /// What was made since.
        pub minted: Amount,
        /// What was destroyed since.
        pub burned: Amount,
    }
}

record! {
    /// Where the seeds of the newest rounds stand in the ring of them (decision 115).
    pub struct SeedIndex {
        /// The epoch of the newest seed.
        pub epoch: Count,
        /// The place of its view 0.
        pub base: Count,
        /// The epoch before.
        pub previous_epoch: Count,
        /// The place of its view 0.
        pub previous_base: Count,
        /// The place of the newest seed.
        pub newest: Count,
    }
}

record! {
    /// One round's seed.
    pub struct SeedRecord {
        /// The round's epoch.
        pub epoch: Count,
        /// The round's view.
        pub view: Count,
        /// The threshold signature.
        pub seed: Seed,
    }
}

record! {
    /// Parameters that governance moved from their genesis value, by row number.
    pub struct ParameterChanges {
        /// Row and value, ascending by row.
        pub changes: List<ParameterChange, 1024>,
    }
}

record! {
    /// One moved parameter.
    pub struct ParameterChange {
        /// The row's number.
        pub row: u16,
        /// What it is now.
        pub value: u64,
    }
}

record! {
    /// Accounts that may use instructions of the system lane.
    pub struct Deployers {
        /// Ascending.
        pub accounts: List<Address, 64>,
    }
}

record! {
    /// A bucket of the genesis supply and how it is released (003 §8.3).
    pub struct Vesting {
        /// Who receives what is released.
        pub beneficiary: Address,
        /// The whole bucket.
        pub total: Amount,
        /// Released at genesis.
        pub released: Amount,
        /// Months before the first release after that.
        pub cliff_months: Count,
        /// Months over which the rest is released evenly; zero where a decision releases it.
        pub linear_months: Count,
        /// The chain's start time in ms since 1970.
        pub start: TimestampMs,
    }
}

record! {
    /// How much of a bucket left it, and to whom it goes.
    pub struct VestingClaim {
        /// Who receives what is released; nobody until governance names one.
        pub beneficiary: Option<Address>,
        /// What left the bucket so far.
        pub released: Amount,
    }
}

record! {
    /// A validator as genesis names it.
    pub struct GenesisValidator {
        /// The recipient's address.
        pub address: Address,
        /// secp256k1 public key, compressed: signs headers.
        pub signing_key: cowboy_types::wire::Fixed<33>,
        /// Ed25519 public key: speaks on the network.
        pub network_key: cowboy_types::wire::Fixed<32>,
        /// BLS12-381 public key: the proposer's VRF.
        pub vrf_key: cowboy_types::wire::Fixed<96>,
        /// CBY staked.
        pub stake: Amount,
    }
}

record! {
    /// The validators that genesis names.
    pub struct GenesisValidators {
        /// Ascending by network key.
        pub validators: List<GenesisValidator, 1024>,
    }
}

/// Keys of the protocol's own records.
pub mod keys {
    use super::{Hash, Key, Kind};
    use cowboy_types::{Address, actors};

    /// The base fees of the next block, held by the basefee actor.
    pub fn markets() -> Key {
        Key::system(actors::BASEFEE, "system:markets")
    }
    /// All CBY there are, held by the treasury.
    pub fn supply() -> Key {
        Key::system(actors::TREASURY, "system:supply")
    }
    /// Moved parameters, held by governance (003 §13.1).
    pub fn parameters() -> Key {
        Key::system(actors::GOVERNANCE, "system:gov:param")
    }
    /// Who may use the system lane, held by governance.
    pub fn deployers() -> Key {
        Key::system(actors::GOVERNANCE, "system:deployers")
    }
    /// The genesis validators, held by governance.
    pub fn validators() -> Key {
        Key::system(actors::GOVERNANCE, "system:validators")
    }
    /// A vesting schedule by its bucket's name, held by the treasury.
    pub fn vesting(bucket: &str) -> Key {
        Key::named(Kind::System, Address::system(actors::TREASURY), format!("system:vesting:{bucket}").into_bytes())
    }
    /// What left a bucket, by its name, held by the treasury.
    pub fn vesting_claim(bucket: &str) -> Key {
        Key::named(Kind::System, Address::system(actors::TREASURY), format!("system:vested:{bucket}").into_bytes())
    }
    /// The message queue.
    pub fn queue() -> Key {
        Key::system(actors::PROTOCOL, "system:queue")
    }
    /// What the first message of the queue used when it was put back; absent where it was not.
    pub fn tried_message() -> Key {
        Key::system(actors::PROTOCOL, "system:tried_message")
    }
    /// The same of the first callback that waits.
    pub fn tried_callback() -> Key {
        Key::system(actors::PROTOCOL, "system:tried_callback")
    }
    /// The timers of the chain, held by the basefee actor.
    pub fn timers() -> Key {
        Key::system(actors::BASEFEE, "system:timers")
    }
    /// Where seeds stand.
    pub fn seeds() -> Key {
        Key::system(actors::PROTOCOL, "system:seeds")
    }
    /// CBY that the running block destroys; gone when it closes.
    pub fn burning() -> Key {
        Key::system(actors::PROTOCOL, "system:burning")
    }
    /// A place of the ring of seeds.
    pub fn seed(place: u64) -> Key {
        Key::named(Kind::System, Address::ZERO, format!("system:seed:{place}").into_bytes())
    }
    /// A waiting message by its place in the queue.
    pub fn message(place: u64) -> Key {
        Key::named(Kind::Message, Address::ZERO, place.to_be_bytes().to_vec())
    }
    /// A timer by its id.
    pub fn timer(id: &Hash) -> Key {
        Key::global(Kind::Timer, id)
    }
    /// A timer's payload by the timer's id; absent where it is empty.
    pub fn timer_payload(id: &Hash) -> Key {
        Key::global(Kind::TimerPayload, id)
    }
    /// What is left of a transaction or timer.
    pub fn origin(id: &Hash) -> Key {
        Key::global(Kind::Origin, id)
    }
    /// The mark of a delivered message at its receiver.
    pub fn seen(receiver: Address, message: &Hash) -> Key {
        Key::named(Kind::Seen, receiver, message.0.to_vec())
    }
    /// Canonical source by its hash.
    pub fn code(hash: &Hash) -> Key {
        Key::global(Kind::Code, hash)
    }
}

impl World {
    /// An address's nonce and balance; the unseen have none of either.
    pub fn account(&self, address: Address) -> Result<Account, Miss> {
        Ok(self.read(&Key::account(address))?.unwrap_or(Account::UNSEEN))
    }

    /// Changes an address's nonce and balance. An account with neither leaves the state.
    pub fn set_account(&mut self, address: Address, account: &Account) {
        let key = Key::account(address);
        if *account == Account::UNSEEN { self.remove(key) } else { self.write(key, account) }
    }

    /// What the protocol knows of an actor, `None` where none lives at the address.
    pub fn actor(&self, address: Address) -> Result<Option<Actor>, Miss> {
        self.read(&Key::of(Kind::Actor, address))
    }

    /// Changes what the protocol knows of an actor.
    pub fn set_actor(&mut self, address: Address, actor: &Actor) {
        self.write(Key::of(Kind::Actor, address), actor);
    }

    /// Gives CBY to an address. All CBY fit the field, so this never overflows.
    pub fn credit(&mut self, address: Address, amount: Amount) -> Result<(), Miss> {
        let mut account = self.account(address)?;
        if amount > Amount::ZERO {
            account.balance = account.balance.checked_add(amount).expect("all CBY there are fit a balance");
            self.set_account(address, &account);
        }
        Ok(())
    }

    /// Takes CBY from an address. Answers whether it had that much; where not, nothing changes.
    pub fn debit(&mut self, address: Address, amount: Amount) -> Result<bool, Miss> {
        let mut account = self.account(address)?;
        let Some(rest) = account.balance.checked_sub(amount) else { return Ok(false) };
        if amount > Amount::ZERO {
            account.balance = rest;
            self.set_account(address, &account);
        }
        Ok(true)
    }

    /// Destroys CBY that were taken from an address before. The block that closes counts them.
    pub fn burn(&mut self, amount: Amount) -> Result<(), Miss> {
        if amount > Amount::ZERO {
            let burning = self.read::<Amount>(&keys::burning())?.unwrap_or(Amount::ZERO);
            self.write(keys::burning(), &burning.checked_add(amount).expect("what is burned was there"));
        }
        Ok(())
    }

    /// The newest round whose seed is known: its epoch and view.
    pub fn newest_round(&self) -> Result<Option<(u64, u64)>, Miss> {
        let index = self.read::<SeedIndex>(&keys::seeds())?;
        Ok(index.map(|index| (index.epoch.0, index.newest.0.saturating_sub(index.base.0))))
    }

    /// The seed of a round, where it is one of the newest `history` (decision 115).
    pub fn seed(&self, history: u64, epoch: u64, view: u64) -> Result<Option<Seed>, Miss> {
        let Some(index) = self.read::<SeedIndex>(&keys::seeds())? else { return Ok(None) };
        let base = match epoch {
            epoch if epoch == index.epoch.0 => index.base.0,
            epoch if epoch == index.previous_epoch.0 => index.previous_base.0,
            _ => return Ok(None),
        };
        let place = base.saturating_add(view);
        if place > index.newest.0 || place.saturating_add(history) <= index.newest.0 {
            return Ok(None);
        }
        let record: Option<SeedRecord> = self.read(&keys::seed(place.checked_rem(history).unwrap_or_default()))?;
        Ok(record.filter(|record| record.epoch.0 == epoch && record.view.0 == view).map(|record| record.seed))
    }
}
