//! What actors owe rent for, and the books of those that do (003 §17.5, State Rent; decisions 60 to 62). 0x0A collects it; whatever makes an actor's bytes more
//! enters the actor here.

use crate::timers;
use cowboy_params::Params;
use cowboy_state::records::{Actor, ActorStatus};
use cowboy_state::{Directory, Key, Kind, Miss, World};
use cowboy_types::units::{Amount, Count, Height};
use cowboy_types::{Address, actors, record};

record! {
    /// What an actor owes for its storage, and what it has put down.
    pub struct RentAccount {
        /// The height at which rent is collected next; its place in the directory of collections. A height, because governance may change how
        /// long an epoch is.
        pub next_at: Height,
        /// Paid ahead; held by 0x0A.
        pub prepaid: Amount,
        /// Rent of epochs that were not paid, each at its own rate.
        pub debt: Amount,
        /// How many those are.
        pub unpaid: Count,
        /// The bond for a quota beyond the base; held by 0x0A.
        pub bond: Amount,
        /// The address that posted it.
        pub poster: Address,
    }
}

/// Where a rent account stands whose actor owes nothing, and has rent that was prepaid: no block collects it until the actor owes something (decision 751).
pub const NEVER: Height = Height(u64::MAX);

/// An actor's rent account.
pub fn account_key(actor: Address) -> Key {
    Key::named(Kind::System, Address::system(actors::STORAGE), [&b"rent:"[..], &actor.0].concat())
}

/// An actor's place in the directory of collections: by height, then address.
pub fn listing(height: Height, actor: Address) -> Vec<u8> {
    [&height.0.to_be_bytes()[..], &actor.0].concat()
}

/// The height and actor of a place in the directory of collections.
pub fn listed(name: &[u8]) -> (Height, Address) {
    let (height, actor) = name.split_at(8);
    let height = u64::from_be_bytes(height.try_into().expect("a place begins with eight bytes"));
    (Height(height), Address(actor.try_into().expect("a place ends with an address")))
}

/// An actor's rent account, where it has one.
pub fn account(world: &World, actor: Address) -> Result<Option<RentAccount>, Miss> {
    world.read(&account_key(actor))
}

/// Writes an actor's rent account, and moves its place in the directory where that changed.
pub fn set_account(world: &mut World, actor: Address, record: &RentAccount) -> Result<(), Miss> {
    let before = account(world, actor)?.map(|before| before.next_at);
    if before != Some(record.next_at) {
        if let Some(before) = before {
            Directory::rents().remove(world, &listing(before, actor))?;
        }
        Directory::rents().insert(world, &listing(record.next_at, actor))?;
    }
    world.write(account_key(actor), record);
    Ok(())
}

/// Takes an actor out of the books of rent.
pub fn remove_account(world: &mut World, actor: Address) -> Result<(), Miss> {
    if let Some(account) = account(world, actor)? {
        Directory::rents().remove(world, &listing(account.next_at, actor))?;
        world.remove(account_key(actor));
    }
    Ok(())
}

/// The rent epoch of a height.
pub fn epoch_of(params: &Params, height: Height) -> u64 {
    height.0 / params.rent.epoch
}

/// The first height of the epoch behind that of a height.
pub fn next_collection(params: &Params, height: Height) -> Height {
    Height(epoch_of(params, height).saturating_add(1).saturating_mul(params.rent.epoch))
}

/// Bytes of an actor's code, of its manifest with those that it had before, and of its storage.
pub fn size(actor: &Actor) -> Count {
    actor.code_bytes.saturating_add(actor.manifest_bytes).saturating_add(actor.storage_bytes)
}

/// Bytes that an actor pays for: what its code, manifests, storage and timers with their payloads exceed the free bytes by, and the whole of what its quota
/// exceeds the base by (decisions 61, 559, 751). What waits in its mailbox is not counted: others put it there (decision 671).
pub fn billable(params: &Params, actor: &Actor) -> u64 {
    let timers = timers::occupied(params, actor.timers_live.0, actor.timer_bytes.0);
    let bytes = timers.saturating_add(size(actor).0);
    let extended = actor.storage_quota.0.saturating_sub(params.execution.storage_quota_per_actor);
    bytes.saturating_sub(params.rent.free_bytes).saturating_add(extended)
}

/// Enters an actor that pays rent from now on into the books, at the next epoch. Nothing for one that is there, owes nothing, is exempt, or is dormant: that one
/// comes back with its debt.
pub fn enlist(world: &mut World, params: &Params, height: Height, actor: Address, record: &Actor) -> Result<(), Miss> {
    if actor.is_rent_exempt() || record.status == ActorStatus::Dormant || billable(params, record) == 0 {
        return Ok(());
    }
    open(world, params, height, actor).map(|_| ())
}

/// An actor's rent account, made where it has none, and collected at the next epoch where nothing was collected any more.
pub fn open(world: &mut World, params: &Params, height: Height, actor: Address) -> Result<RentAccount, Miss> {
    let next_at = next_collection(params, height);
    let account = match account(world, actor)? {
        Some(account) if account.next_at != NEVER => return Ok(account),
        Some(account) => RentAccount { next_at, ..account },
        None => RentAccount {
            next_at,
            prepaid: Amount::ZERO,
            debt: Amount::ZERO,
            unpaid: Count::ZERO,
            bond: Amount::ZERO,
            poster: Address::ZERO,
        },
    };
    set_account(world, actor, &account)?;
    Ok(account)
}
