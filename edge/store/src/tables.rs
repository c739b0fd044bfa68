//! The tables of the ledger's file.

use redb::TableDefinition;

/// Block number → the block.
pub(crate) const BLOCKS: TableDefinition<u64, &[u8]> = TableDefinition::new("blocks");
/// Section, piece of it → bytes of blocks that are packed with their certificates and carries (`sections.rs`).
pub(crate) const SECTIONS: TableDefinition<(u64, u32), &[u8]> = TableDefinition::new("sections");
/// The name of a mark → a number: how far blocks are packed, and how far they are pruned.
pub(crate) const MARKS: TableDefinition<&str, u64> = TableDefinition::new("marks");
/// Block number, place in the block → receipt.
pub(crate) const RECEIPTS: TableDefinition<(u64, u32), &[u8]> = TableDefinition::new("receipts");
/// Block number → the finalization certificate, where this node has seen one of exactly this block.
pub(crate) const CERTIFICATES: TableDefinition<u64, &[u8]> = TableDefinition::new("certificates");
/// Block number, actor → what the source defines that the actor got there, as [`crate::catalog::Outline::to_text`] has it.
pub(crate) const OUTLINES: TableDefinition<(u64, &[u8; 20]), &str> = TableDefinition::new("outlines");
/// Block number → the addresses that each receipt concerns: 20 bytes and the receipt's place in big-endian, each. No row where there are none.
pub(crate) const CONCERNS: TableDefinition<u64, &[u8]> = TableDefinition::new("concerns");
/// Block number → what the driver needs to continue from it after a restart.
pub(crate) const CARRY: TableDefinition<u64, &[u8]> = TableDefinition::new("carry");
/// Block number, place in the block → the receipt's trace, where it says more than the receipt; at [`TRACED`] a mark
/// that the block's traces are kept. No mark where the block has no receipts.
pub(crate) const TRACES: TableDefinition<(u64, u32), &[u8]> = TableDefinition::new("traces");
/// Block number → the values that the block overwrote.
pub(crate) const OVERWRITTEN: TableDefinition<u64, &[u8]> = TableDefinition::new("overwritten");
/// Block number → a block before those of a ledger that does not begin with the first: the one that says who signs in them.
pub(crate) const INTRODUCTIONS: TableDefinition<u64, &[u8]> = TableDefinition::new("introductions");
/// Block number → a copy of the block, for the newest that end an epoch: no validator continues without them.
pub(crate) const BOUNDARIES: TableDefinition<u64, &[u8]> = TableDefinition::new("boundaries");
/// The number of each block that a repair could not save → nothing.
pub(crate) const LOST: TableDefinition<u64, ()> = TableDefinition::new("lost");
/// The hash of a chunk of storage that was pruned → the last height at which it is kept, and its bytes.
pub(crate) const CHUNKS: TableDefinition<&[u8; 32], (u64, &[u8])> = TableDefinition::new("chunks");
/// The last height at which a chunk is kept, its hash → nothing.
pub(crate) const CHUNKS_UNTIL: TableDefinition<(u64, &[u8; 32]), ()> = TableDefinition::new("chunks_until");
/// Block digest → block number.
pub(crate) const BY_DIGEST: TableDefinition<&[u8; 32], u64> = TableDefinition::new("by_digest");
/// Height → block number, where a dev chain skipped heights. On every other chain they are the same, and there is no row.
pub(crate) const BY_HEIGHT: TableDefinition<u64, u64> = TableDefinition::new("by_height");
/// Receipt id (a transaction's digest, or a delivery's) → place.
pub(crate) const BY_ID: TableDefinition<&[u8; 32], (u64, u32)> = TableDefinition::new("by_id");
/// Account, place → nothing: every receipt that an account sent or received.
pub(crate) const BY_ACCOUNT: TableDefinition<(&[u8; 20], u64, u32), ()> = TableDefinition::new("by_account");
/// Emitter, place, event's index → nothing.
pub(crate) const BY_EMITTER: TableDefinition<(&[u8; 20], u64, u32, u32), ()> = TableDefinition::new("by_emitter");
/// Origin, place → nothing: the deliveries that a transaction or timer set off.
pub(crate) const BY_ORIGIN: TableDefinition<(&[u8; 32], u64, u32), ()> = TableDefinition::new("by_origin");
/// Deployer, place → actor.
pub(crate) const BY_DEPLOYER: TableDefinition<(&[u8; 20], u64, u32), &[u8; 20]> = TableDefinition::new("by_deployer");

/// The place of the mark that a block's traces are kept. No block has as many receipts.
pub(crate) const TRACED: u32 = u32::MAX;
