//! Final blocks on their way to the ledger.

use super::{Chain, FinalizedBlock, Head, Output};
use crate::{block::SealedBlock, ending, traces};
use bytes::Bytes;
use commonware_runtime::{Clock, Spawner};
use cowboy_store::{BlockRecord, Ledger, StoreError, recent};
use std::sync::{Arc, OnceLock};

/// A final block that is executed, and not in the ledger yet.
#[derive(Clone, Debug)]
pub struct Final {
    /// The block.
    pub block: SealedBlock,
    /// What execution made of it.
    pub output: Arc<Output>,
    /// The encoded finalization of exactly this block, where there is one.
    pub certificate: Option<Vec<u8>>,
}

impl Final {
    /// What the ledger keeps of it.
    pub(super) fn record(&self) -> BlockRecord {
        let Self { block, output, certificate } = self;
        BlockRecord {
            block: block.block().clone(),
            receipts: output.receipts.to_vec(),
            concerns: output.concerns.clone(),
            certificate: certificate.clone(),
            carry: output.carry.to_bytes(),
            traces: traces::rows(&output.receipts, &output.traces),
            outlines: traces::outlines(&output.receipts, &output.traces),
            overwritten: recent::to_bytes(&output.before),
            pruned: output.pruned.clone(),
        }
    }
    /// The bytes of the values that it writes and overwrites: they are kept until it is on the disk.
    pub(crate) fn value_bytes(&self) -> usize {
        value_bytes(&self.output)
    }
}

impl Chain {
    /// Writes final blocks that follow each other to the ledger, and when they are on the disk tells everybody.
    ///
    /// A disk that fails stops the node: a block that is not in the ledger must not be acknowledged.
    pub async fn book<E: Spawner + Clock>(&self, runtime: E, finals: Vec<Final>) {
        let now = self.clock.now_ms(&runtime);
        self.write_down(runtime, &finals, Ledger::append_all).await;
        finals.into_iter().for_each(|last| self.tell(last, now));
    }

    /// Tells everybody of a final block that the engine has on the disk, and returns when the ledger has it there too: only then is it acknowledged. After a
    /// crash in between, the engine delivers it again
    /// ([decision 775](../../../../docs/decisions/0775-what-is-on-the-disk-when.md)).
    pub async fn publish<E: Spawner + Clock>(&self, runtime: E, last: Final) {
        // A task that ends takes with it those of the contexts below its own: so the first has the one below, and the second its parent.
        let (now, showing, ledger) = (self.clock.now_ms(&runtime), runtime.child("show"), self.ledger.clone());
        let show = |ledger: &Ledger, records: &[BlockRecord]| records.iter().try_for_each(|record| ledger.show(record));
        self.write_down(showing, std::slice::from_ref(&last), show).await;
        self.tell(last, now);
        written(runtime, move || ledger.sync()).await;
    }

    /// Writes final blocks to the ledger.
    async fn write_down<E: Spawner>(
        &self,
        runtime: E,
        finals: &[Final],
        write: impl FnOnce(&Ledger, &[BlockRecord]) -> Result<(), StoreError> + Send + 'static,
    ) {
        let records: Vec<BlockRecord> = finals.iter().map(Final::record).collect();
        let (ledger, committees) = (self.ledger.clone(), self.committees.clone());
        let book = move || {
            for record in records.iter().filter(|record| committees.is_boundary(record.block.header.number.0)) {
                ledger.keep_boundary(&record.block)?;
            }
            write(&ledger, &records)
        };
        written(runtime, book).await;
    }

    /// Tells everybody of a final block that is in the ledger.
    fn tell(&self, Final { block, output, certificate }: Final, now: u64) {
        self.mempool.advance(output.number, &output.writes, output.carry.base_fees);
        self.note_log(&block);
        self.note_final(block.header());
        self.pace.govern(&self.params());
        self.pace.arrived(block.header().height(), block.header().timestamp_ms, now);
        // After a restart the newest blocks may be booked a second time, and were told already.
        let is_new = self.head.borrow().number < output.number;
        if is_new {
            *self.newest.lock().expect("nothing panics while it holds the lock") = block.clone();
        }
        self.head.send_if_modified(|head| {
            // Whoever sees that nothing is under way any more finds the new head.
            self.forget_outputs(output.number);
            *head = if is_new { Head::of(&block) } else { *head };
            true
        });
        if !is_new {
            return;
        }
        self.log_revealed(&block);
        let next = block.header().height().next();
        let (receipts, traces) = (output.receipts.clone(), output.traces.clone());
        let told = FinalizedBlock { block, receipts, traces, certificate, index: OnceLock::new() };
        // Nobody listening is no error.
        let _ = self.blocks.send(Arc::new(told));
        self.told.send_replace(output.number);
        self.protocol.take(&output.writes, next);
    }
}

/// Writes to the ledger in a thread that may wait for the disk. Where the runtime is stopping it does not return: what is not written is not acknowledged, and is
/// booked again at the next start.
async fn written<E: Spawner>(runtime: E, write: impl FnOnce() -> Result<(), StoreError> + Send + 'static) {
    match runtime.shared(true).spawn(move |_| async move { write() }).await {
        Ok(Ok(())) => {}
        Ok(Err(error)) => ending::end(format!("a final block cannot be written to the ledger: {error}")),
        Err(_) => std::future::pending().await,
    }
}

fn value_bytes(output: &Output) -> usize {
    let values = output.writes.values().chain(output.before.values());
    values.flatten().fold(0usize, |bytes, value| bytes.saturating_add(Bytes::len(value)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chain::Carry;
    use cowboy_chain::{StateKey, input::BaseFees};
    use cowboy_types::units::Price;
    use std::collections::{BTreeMap, HashMap};

    /// A small block may write and overwrite much more than it has itself.
    #[test]
    fn values_are_counted() {
        let key = |byte: u8| StateKey([byte; 32]);
        let value = |length: usize| Some(Bytes::from(vec![7; length]));
        let base_fees = BaseFees { cycle: Price(1), cell: Price(1) };
        let output = Output {
            number: 1,
            receipts: Arc::default(),
            traces: Arc::default(),
            concerns: Vec::new(),
            before: Arc::new(HashMap::from([(key(1), value(100)), (key(2), None)])),
            writes: BTreeMap::from([(key(1), value(20)), (key(2), value(3)), (key(3), None)]),
            carry: Carry { has_work: false, next_timer: None, base_fees },
            pruned: Vec::new(),
        };
        assert_eq!(value_bytes(&output), 123);
    }
}
