//! Lists out of the ledger's indexes.

use crate::{
    StoreError,
    position::{Place, place},
    tables::*,
    view::{View, decode},
};
use cowboy_types::{Address, Hash, Receipt};

impl View {
    /// Receipts that the account sent or received, newest first, older than `before` where given; at most `limit`.
    pub fn of_account(&self, account: &Address, before: Option<Place>, limit: usize) -> Result<Vec<Place>, StoreError> {
        let end = before.unwrap_or(Place { number: u64::MAX, index: u32::MAX });
        self.listed(
            || format!("the receipts of account {account}"),
            || {
                let rows = self.read.open_table(BY_ACCOUNT)?.range((&account.0, 0, 0)..(&account.0, end.number, end.index))?;
                rows.rev()
                    .take(limit)
                    .map(|row| row.map(|(key, _)| place(key.value().1, key.value().2)).map_err(Into::into))
                    .collect::<Result<_, _>>()
            },
        )
    }

    /// How many receipts a block has.
    pub fn receipt_count(&self, number: u64) -> Result<u64, StoreError> {
        let read = self.of(
            number,
            || format!("the receipts of block {number}"),
            || {
                let last = self.read.open_table(RECEIPTS)?.range((number, 0)..=(number, u32::MAX))?.next_back().transpose()?;
                Ok(last.map_or(0, |(key, _)| u64::from(key.value().1) + 1))
            },
        );
        self.copies.instead(number, read, |copy| u64::try_from(copy.receipts.len()).unwrap_or(u64::MAX))
    }

    /// The newest block below `before` that has a receipt.
    pub fn busy_before(&self, before: u64) -> Result<Option<u64>, StoreError> {
        let read = || Ok(self.read.open_table(RECEIPTS)?.range(..(before, 0))?.next_back().transpose()?.map(|(key, _)| key.value().0));
        self.complete(|| format!("the newest busy block before {before}"), read)
    }

    /// Receipts of all blocks, newest first, older than `before` where given; at most `limit`. Those of one block are in their order
    /// backwards.
    pub fn receipts_before(&self, before: Option<Place>, limit: usize) -> Result<Vec<(Place, Receipt)>, StoreError> {
        let end = before.unwrap_or(place(u64::MAX, u32::MAX));
        let read = || {
            let rows = self.read.open_table(RECEIPTS)?.range((0, 0)..(end.number, end.index))?;
            rows.rev()
                .take(limit)
                .map(|row| {
                    let (key, bytes) = row?;
                    let (number, index) = key.value();
                    Ok((place(number, index), decode("receipt", number, bytes.value())?))
                })
                .collect()
        };
        self.listed(|| "the newest receipts".into(), read)
    }

    /// Addresses from this one on that a receipt concerns, ascending; at most `limit`.
    pub fn accounts(&self, from: &Address, limit: usize) -> Result<Vec<Address>, StoreError> {
        let read = || {
            let table = self.read.open_table(BY_ACCOUNT)?;
            let (mut found, mut next) = (Vec::new(), (from.0, 0, 0));
            // One step a row: an account's receipts are jumped over.
            while found.len() < limit {
                let row = table.range((&next.0, next.1, next.2)..)?.next().transpose()?;
                let Some(address) = row.map(|(key, _)| *key.value().0) else { break };
                found.push(Address(address));
                next = (address, u64::MAX, u32::MAX);
            }
            Ok(found)
        };
        self.listed(|| format!("the accounts from {from} on"), read)
    }

    /// Events of the emitter from block `from` on, oldest first: the receipt's place and the event's index in it; at most `limit`.
    pub fn of_emitter(&self, emitter: &Address, from: Place, limit: usize) -> Result<Vec<(Place, u32)>, StoreError> {
        let start = (&emitter.0, from.number, from.index, 0);
        self.listed(
            || format!("the events of {emitter}"),
            || {
                let rows = self.read.open_table(BY_EMITTER)?.range(start..=(&emitter.0, u64::MAX, u32::MAX, u32::MAX))?;
                rows.take(limit)
                    .map(|row| {
                        let (key, _) = row?;
                        let (_, number, index, event) = key.value();
                        Ok((place(number, index), event))
                    })
                    .collect()
            },
        )
    }

    /// The deliveries that a transaction or timer set off, in order; at most `limit`.
    pub fn of_origin(&self, origin: &Hash, limit: usize) -> Result<Vec<Place>, StoreError> {
        self.listed(
            || format!("the deliveries of {origin}"),
            || {
                let rows = self.read.open_table(BY_ORIGIN)?.range((&origin.0, 0, 0)..=(&origin.0, u64::MAX, u32::MAX))?;
                rows.take(limit).map(|row| row.map(|(key, _)| place(key.value().1, key.value().2)).map_err(Into::into)).collect()
            },
        )
    }

    /// Actors that the account deployed, oldest first; at most `limit`.
    pub fn of_deployer(&self, deployer: &Address, after: Option<Place>, limit: usize) -> Result<Vec<(Place, Address)>, StoreError> {
        let start = after.map_or((0, 0), |place| (place.number, place.index.saturating_add(1)));
        self.listed(
            || format!("the actors of {deployer}"),
            || {
                let rows = self.read.open_table(BY_DEPLOYER)?.range((&deployer.0, start.0, start.1)..=(&deployer.0, u64::MAX, u32::MAX))?;
                rows.take(limit)
                    .map(|row| {
                        let (key, actor) = row?;
                        Ok((place(key.value().1, key.value().2), Address(*actor.value())))
                    })
                    .collect()
            },
        )
    }
}
