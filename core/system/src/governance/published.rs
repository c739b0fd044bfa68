//! The values of parameters where 003 §13.1 wants them: storage of 0x09, which nodes show and prove like any other storage.
//!
//! A group of parameters is canonical CBOR, a map from names of rows to numbers; it stands there from genesis on. A single parameter
//! is a number under `system:gov:param:<name>`, from its first change on: until then it is what genesis says. Both hold from the
//! block after the one that wrote them, as the parameters do. The transition itself reads the record of changes.

use super::NUMBER;
use bytes::Bytes;
use cowboy_params::{Params, Row};
use cowboy_state::{Directory, Key, Miss, World};
use cowboy_types::Address;
use cowboy_types::cbor::Value;
use cowboy_types::units::Count;

/// The keys of 003 §13.1, and the rows that stand there. The model of semantic similarity has a record of its own.
pub const GROUPS: &[(&str, &[&str])] = &[
    ("system:basefee_config", &["fees.alpha", "fees.cells_target", "fees.cycles_target", "fees.max_change_denominator"]),
    ("system:cip2:aggregator_config", &["jobs.aggregator_bonus"]),
    ("system:cip2:committee_config", &["jobs.committee_max", "jobs.committee_min"]),
    ("system:cip2:non_reveal_config", &["jobs.non_reveal_slash"]),
    ("system:cip2:reputation_config", &["jobs.aggregator_percentile", "jobs.reputation_half_life"]),
    ("system:cip2:slash_distribution", &["jobs.slash_burn", "jobs.slash_submitter", "jobs.slash_treasury"]),
    ("system:cip4:rent_config", &["rent.catch_up", "rent.epoch", "rent.rate"]),
    (
        "system:lane_fee_multipliers",
        &["lanes.runner_fee_multiplier", "lanes.system_fee_multiplier", "lanes.timer_fee_multiplier", "lanes.user_fee_multiplier"],
    ),
    ("system:settlement_config", &["jobs.payout_burn", "jobs.payout_runners", "jobs.payout_treasury"]),
    (
        "system:timer_config",
        &["timers.cells_per_fire", "timers.cleanup_cycles", "timers.cycles_per_fire", "timers.timers_per_actor", "timers.ttl_blocks"],
    ),
];

/// What a key of the generic registry begins with.
const PREFIX: &str = "system:gov:param:";

/// Writes every group. At genesis.
pub fn publish_groups(world: &mut World, params: &Params) -> Result<(), Miss> {
    GROUPS.iter().try_for_each(|(key, rows)| store(world, key, &group(params, rows)))
}

/// Writes a parameter that moved, and the group it stands in.
pub(super) fn publish(world: &mut World, params: &Params, row: &Row) -> Result<(), Miss> {
    store(world, &format!("{PREFIX}{}", row.name), &value(params, row.name))?;
    let groups = GROUPS.iter().filter(|(_, rows)| rows.contains(&row.name));
    for (key, rows) in groups {
        store(world, key, &group(params, rows))?;
    }
    Ok(())
}

fn value(params: &Params, name: &str) -> Value {
    let row = Params::row(name).expect("the tables name rows");
    Value::uint(params.get(row.id).expect("every row has a value"))
}

fn group(params: &Params, rows: &[&str]) -> Value {
    Value::dict(rows.iter().map(|name| (*name, value(params, name))))
}

/// Writes an entry of 0x09's storage, listed and counted as an actor's own are.
fn store(world: &mut World, name: &str, value: &Value) -> Result<(), Miss> {
    let owner = Address::system(NUMBER);
    let (key, bytes) = (Key::storage(owner, name.as_bytes().to_vec()), Bytes::from(value.encode()));
    let mut record = world.actor(owner)?.expect("genesis wrote the system actors");
    let size = |bytes: &Bytes| u64::try_from(name.len().saturating_add(bytes.len())).unwrap_or(u64::MAX);
    let freed = world.get(&key)?.map(size);
    if freed.is_none() {
        Directory::storage(owner).insert(world, name.as_bytes())?;
    }
    let counted = record.storage_bytes.0.saturating_sub(freed.unwrap_or_default()).saturating_add(size(&bytes));
    record.storage_bytes = Count(counted);
    world.set_actor(owner, &record);
    world.put(key, Some(bytes));
    Ok(())
}
