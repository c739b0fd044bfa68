//! An actor's own storage: priced, bounded by its quota, gated by storage.kv (003 §3.2, §17.3; 000 §9.4).

use super::{Arguments, length, read};
use crate::delivery::frames::{Price, Reply};
use crate::delivery::{Machine, Step};
use crate::engine::HostValue;
use bytes::Bytes;
use cowboy_state::{Directory, Key, Miss, Stop};
use cowboy_system::storage::{SCANNABLE_KEY_BYTES, rent};
use cowboy_types::units::Count;
use cowboy_types::{Address, error};

/// Keys that only the SDK's own marks use, through their own functions.
const RESERVED: [&[u8]; 2] = [b"__INITIALIZED__", b"cowboy.offchain.image.v1"];

/// The one mark that the SDK writes itself. It needs no entitlement.
const INITIALIZED: &[u8] = b"__INITIALIZED__";

/// Names that a scan reads together, whatever its limit: each page walks the directory's tree once.
const SCAN_PAGE: usize = 64;

/// What a scan returns where no limit is named.
const SCAN_DEFAULT: u64 = 100;

/// Refuses a key, a value or a blob that is longer than it may be, with both numbers (decision 714).
pub(super) fn too_long(part: &str, size: u64, max: u64, price: Price) -> Step<Reply> {
    let explanation = format!("The {part} has {size} bytes; at most {max} are allowed.");
    Reply::refuse_with(error::STORAGE_ENTRY_TOO_LARGE, Some(explanation), price)
}

impl Machine {
    fn require_storage(&mut self) -> Step<()> {
        self.top().grants.require("storage.kv")?;
        Ok(())
    }

    pub(super) fn read_price(&self, size: u64) -> Price {
        let costs = &self.environment.params.costs;
        Price::cycles(costs.storage_read).with_cells(size.div_ceil(costs.read_bytes_per_cell))
    }

    pub(super) fn get_state(&mut self, arguments: Arguments<'_>) -> Step<Reply> {
        let key = read!(arguments.bytes(0));
        if key != INITIALIZED {
            self.require_storage()?;
        }
        let actor = self.actor_address();
        let value = self.world.get(&Key::storage(actor, key.to_vec()))?.cloned();
        let price = self.read_price(value.as_ref().map_or(0, |value| length(value)));
        Ok(Reply::Value(value.map_or(HostValue::None, |value| HostValue::Bytes(value.to_vec())), price))
    }

    pub(super) fn set_state(&mut self, arguments: Arguments<'_>) -> Step<Reply> {
        let (key, value) = (read!(arguments.bytes(0)), read!(arguments.bytes(1)));
        self.require_storage()?;
        if RESERVED.contains(&key) {
            return Reply::refuse(error::INVALID_ARGUMENT, Price::default());
        }
        self.store(key, value)
    }

    pub(super) fn delete_state(&mut self, arguments: Arguments<'_>) -> Step<Reply> {
        let key = read!(arguments.bytes(0));
        self.require_storage()?;
        if RESERVED.contains(&key) {
            return Reply::refuse(error::INVALID_ARGUMENT, Price::default());
        }
        self.erase(key)
    }

    /// Notes a key whose value is deleted even if the delivery fails. In a handler that another one calls it has no effect: there the
    /// caller decides what a failure means. Costs what the deletion costs (decision 530).
    pub(super) fn delete_on_failure(&mut self, arguments: Arguments<'_>) -> Step<Reply> {
        let key = read!(arguments.bytes(0));
        self.require_storage()?;
        if RESERVED.contains(&key) {
            return Reply::refuse(error::INVALID_ARGUMENT, Price::default());
        }
        let price = self.erasure_price(key);
        let record = Key::storage(self.actor_address(), key.to_vec());
        let running = self.running();
        if running.frames.len() == 1 {
            running.deletions.push(record);
        }
        Reply::none(price)
    }

    /// Deletes what the failed delivery noted, as the state was before it. Whoever noted it has paid.
    pub(in crate::delivery) fn delete_noted(&mut self) -> Result<(), Miss> {
        for record in self.running().deletions.clone() {
            // An actor that the failed delivery deployed is gone with all it had.
            if self.world.actor(record.address)?.is_none() {
                continue;
            }
            match self.remove_entry(record) {
                Ok(()) => {}
                Err(Stop::Miss(miss)) => return Err(miss),
                Err(Stop::Abort(abort)) => unreachable!("a deletion needs no room, and was refused with {abort:?}"),
            }
        }
        Ok(())
    }

    pub(super) fn set_reserved_state(&mut self, arguments: Arguments<'_>) -> Step<Reply> {
        let (key, value) = (read!(arguments.bytes(0)), read!(arguments.bytes(1)));
        if key != INITIALIZED {
            return Reply::refuse(error::INVALID_ARGUMENT, Price::default());
        }
        self.store(key, value)
    }

    pub(super) fn delete_reserved_state(&mut self, arguments: Arguments<'_>) -> Step<Reply> {
        let key = read!(arguments.bytes(0));
        if key != INITIALIZED {
            return Reply::refuse(error::INVALID_ARGUMENT, Price::default());
        }
        self.erase(key)
    }

    /// Writes a value: a cell a byte of key and value, and once more for a new key's name in the directory.
    pub(super) fn store(&mut self, key: &[u8], value: &[u8]) -> Step<Reply> {
        let params = &self.environment.params;
        let (key_size, value_size) = (length(key), length(value));
        let mut price = Price::cycles(params.costs.storage_write).with_cells(key_size.saturating_add(value_size));
        let limits = [("key", key_size, params.execution.storage_key_bytes), ("value", value_size, params.execution.return_bytes)];
        if let Some((part, size, max)) = limits.into_iter().find(|(_, size, max)| size > max) {
            return too_long(part, size, max, price);
        }
        let actor = self.actor_address();
        let record = Key::storage(actor, key.to_vec());
        let previous = self.world.get(&record)?.map(|previous| length(previous));
        let freed = previous.map_or(0, |previous| key_size + previous);
        self.resize(actor, freed, key_size + value_size)?;
        if previous.is_none() {
            price = price.with_cells(key_size);
            price.cycles = price.cycles.saturating_add(self.environment.params.costs.storage_write);
            Directory::storage(actor).insert(&mut self.world, key)?;
        }
        self.world.put(record, Some(Bytes::copy_from_slice(value)));
        Reply::none(price)
    }

    fn erase(&mut self, key: &[u8]) -> Step<Reply> {
        let price = self.erasure_price(key);
        let record = Key::storage(self.actor_address(), key.to_vec());
        self.remove_entry(record)?;
        Reply::none(price)
    }

    fn erasure_price(&self, key: &[u8]) -> Price {
        Price::cycles(self.environment.params.costs.storage_write).with_cells(length(key))
    }

    /// Removes an entry of an actor's storage, where it exists, with its bytes and its name in the index.
    fn remove_entry(&mut self, record: Key) -> Step<()> {
        let Some(previous) = self.world.get(&record)?.map(|previous| length(previous)) else { return Ok(()) };
        self.resize(record.address, length(&record.name) + previous, 0)?;
        Directory::storage(record.address).remove(&mut self.world, &record.name)?;
        self.world.remove(record);
        Ok(())
    }

    /// Counts an actor's bytes. Growing beyond its quota or its grant ends the handler (000 §11).
    fn resize(&mut self, actor: Address, freed: u64, taken: u64) -> Step<()> {
        let mut record = self.world.actor(actor)?.expect("the actor that runs exists");
        let bytes = record.storage_bytes.0.saturating_sub(freed).saturating_add(taken);
        if taken > freed {
            let quota = if record.storage_quota == Count::ZERO {
                self.environment.params.execution.storage_quota_per_actor
            } else {
                record.storage_quota.0
            };
            if bytes > quota {
                return Err(error::QUOTA_EXCEEDED.into());
            }
            let granted = self.top().grants.get("storage.kv").and_then(|grant| grant.number("max_bytes"));
            if granted.is_some_and(|most| bytes > most) {
                return Err(error::ENTITLEMENT_QUOTA.into());
            }
        }
        if taken != freed {
            record.storage_bytes = Count(bytes);
            self.world.set_actor(actor, &record);
            rent::enlist(&mut self.world, &self.environment.params, self.environment.height, actor, &record)?;
        }
        Ok(())
    }

    /// Keys of at most 64 bytes that begin with the prefix, ascending, with their values.
    pub(super) fn scan_state_prefix(&mut self, arguments: Arguments<'_>) -> Step<Reply> {
        let prefix = read!(arguments.bytes(0));
        let limit = if arguments.is_absent(1) { SCAN_DEFAULT } else { read!(arguments.number(1)) };
        self.require_storage()?;
        let params = &self.environment.params;
        let limit = limit.min(params.execution.scan_limit);
        let costs = params.costs.clone();
        let actor = self.actor_address();
        let (names, looked_at) = self.names_with(actor, prefix, usize::try_from(limit).expect("a scan's limit is small"))?;
        let records: Vec<Key> = names.iter().map(|name| Key::storage(actor, name.clone())).collect();
        self.world.require(&records)?;
        let mut found = Vec::with_capacity(records.len());
        let mut size = 0;
        for record in records {
            let value = self.world.get(&record)?.cloned().expect("the directory lists only keys that are there");
            size += length(&record.name) + length(&value);
            found.push(HostValue::List(vec![HostValue::Bytes(record.name.to_vec()), HostValue::Bytes(value.to_vec())]));
        }
        let keys = limit.max(u64::try_from(looked_at).unwrap_or(u64::MAX));
        let price = Price::cycles(costs.scan.saturating_add(costs.scan_key.saturating_mul(keys)))
            .with_cells(size.div_ceil(costs.read_bytes_per_cell));
        Ok(Reply::Value(HostValue::List(found), price))
    }

    /// Up to `limit` names with a prefix, and how many were looked at: long ones are passed over.
    fn names_with(&self, actor: Address, prefix: &[u8], limit: usize) -> Step<(Vec<Bytes>, usize)> {
        let (mut names, mut looked_at, mut from) = (Vec::new(), 0, prefix.to_vec());
        let most = usize::try_from(self.environment.params.execution.scan_limit).expect("a scan's limit is small");
        while names.len() < limit && looked_at < most {
            let page = Directory::storage(actor).list(&self.world, &from, SCAN_PAGE)?;
            let Some(last) = page.last() else { break };
            from = [&last[..], &[0]].concat();
            for name in page {
                if !name.starts_with(prefix) || names.len() >= limit || looked_at >= most {
                    return Ok((names, looked_at));
                }
                looked_at += 1;
                if name.len() <= SCANNABLE_KEY_BYTES {
                    names.push(name);
                }
            }
        }
        Ok((names, looked_at))
    }
}
