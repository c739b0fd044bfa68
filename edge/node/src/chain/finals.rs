//! Final blocks on their way to the ledger.

use super::Output;
use crate::{block::SealedBlock, traces};
use bytes::Bytes;
use cowboy_store::{BlockRecord, recent};
use std::sync::Arc;

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
