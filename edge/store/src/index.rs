//! The indexes over blocks and receipts, open for writing.

use crate::{
    StoreError,
    catalog::{self, Outline},
    position::Concern,
    tables::*,
};
use cowboy_types::{Block, Receipt};
use redb::{Table, WriteTransaction};

/// The index tables, open for writing.
pub(crate) struct Tables<'a> {
    by_digest: Table<'a, &'static [u8; 32], u64>,
    by_height: Table<'a, u64, u64>,
    by_id: Table<'a, &'static [u8; 32], (u64, u32)>,
    by_account: Table<'a, (&'static [u8; 20], u64, u32), ()>,
    by_emitter: Table<'a, (&'static [u8; 20], u64, u32, u32), ()>,
    by_origin: Table<'a, (&'static [u8; 32], u64, u32), ()>,
    by_deployer: Table<'a, (&'static [u8; 20], u64, u32), &'static [u8; 20]>,
    catalog: catalog::Tables<'a>,
}

impl<'a> Tables<'a> {
    pub(crate) fn open(write: &'a WriteTransaction) -> Result<Self, StoreError> {
        Ok(Self {
            by_digest: write.open_table(BY_DIGEST)?,
            by_height: write.open_table(BY_HEIGHT)?,
            by_id: write.open_table(BY_ID)?,
            by_account: write.open_table(BY_ACCOUNT)?,
            by_emitter: write.open_table(BY_EMITTER)?,
            by_origin: write.open_table(BY_ORIGIN)?,
            by_deployer: write.open_table(BY_DEPLOYER)?,
            catalog: catalog::Tables::open(write)?,
        })
    }

    pub(crate) fn delete(write: &WriteTransaction) -> Result<(), StoreError> {
        write.delete_table(BY_DIGEST)?;
        write.delete_table(BY_HEIGHT)?;
        write.delete_table(BY_ID)?;
        write.delete_table(BY_ACCOUNT)?;
        write.delete_table(BY_EMITTER)?;
        write.delete_table(BY_ORIGIN)?;
        write.delete_table(BY_DEPLOYER)?;
        catalog::Tables::delete(write)
    }

    pub(crate) fn index(
        &mut self,
        block: &Block,
        receipts: &[Receipt],
        concerns: &[Concern],
        outlines: &[Outline],
    ) -> Result<(), StoreError> {
        let number = block.header.number.0;
        // In the order of their keys, so that the rows of a page are written together: of a full block, pages leave the memory before it ends, and each that is
        // written to again has to be read.
        let mut ids: Vec<(&[u8; 32], u32)> = receipts.iter().zip(0..).map(|(receipt, index)| (&receipt.id.0, index)).collect();
        ids.sort_unstable();
        for (id, index) in ids {
            self.by_id.insert(id, (number, index))?;
        }
        let parties = receipts.iter().zip(0..).flat_map(|(receipt, index)| [(&receipt.sender.0, index), (&receipt.target.0, index)]);
        let mut accounts: Vec<(&[u8; 20], u32)> =
            concerns.iter().map(|concern| (&concern.address.0, concern.receipt)).chain(parties).collect();
        accounts.sort_unstable();
        accounts.dedup();
        for (account, index) in accounts {
            self.by_account.insert((account, number, index), ())?;
        }
        self.by_digest.insert(&block.digest().0, number)?;
        if block.header.height().0 != number {
            self.by_height.insert(block.header.height().0, number)?;
        }
        for (index, receipt) in (0..).zip(receipts) {
            if receipt.origin != receipt.id {
                self.by_origin.insert((&receipt.origin.0, number, index), ())?;
            }
            if let Some(actor) = &receipt.created {
                self.by_deployer.insert((&receipt.sender.0, number, index), &actor.0)?;
            }
            for (position, event) in (0..).zip(receipt.events.iter()) {
                self.by_emitter.insert((&event.emitter.0, number, index, position), ())?;
            }
        }
        self.catalog.index(block, receipts, outlines)
    }

    /// Removes the rows that lead to a block. Rows that tell of actors and tokens without naming the block stay.
    pub(crate) fn forget(&mut self, block: &Block, receipts: &[Receipt], concerns: &[Concern]) -> Result<(), StoreError> {
        let number = block.header.number.0;
        for concern in concerns {
            self.by_account.remove((&concern.address.0, number, concern.receipt))?;
        }
        self.by_digest.remove(&block.digest().0)?;
        self.by_height.remove(block.header.height().0)?;
        for (index, receipt) in (0..).zip(receipts) {
            self.by_id.remove(&receipt.id.0)?;
            self.by_account.remove((&receipt.sender.0, number, index))?;
            self.by_account.remove((&receipt.target.0, number, index))?;
            self.by_origin.remove((&receipt.origin.0, number, index))?;
            self.by_deployer.remove((&receipt.sender.0, number, index))?;
            for (position, event) in (0..).zip(receipt.events.iter()) {
                self.by_emitter.remove((&event.emitter.0, number, index, position))?;
            }
        }
        self.catalog.forget(number, receipts)
    }
}
