//! The code of a volume: of k + m shards, any k give the file back (decisions 149, 152).

use cowboy_types::record;

/// The most shards that carry the file itself.
pub const MAX_DATA: u8 = 16;

/// The most shards beside them.
pub const MAX_PARITY: u8 = 8;

/// The most slots of a volume.
pub const MAX_SLOTS: usize = 24;

/// The longest cell: a shard has one of each stripe of the file.
pub const CELL_BYTES: u64 = 65_536;

/// What the length of a cell is a multiple of.
pub const CELL_UNIT: u64 = 64;

/// The longest file.
pub const OBJECT_BYTES: u64 = 1 << 30;

record! {
    /// How many shards there are.
    #[derive(Copy)]
    pub struct Code {
        /// Shards that carry the file: k.
        pub data: u8,
        /// Shards beside them, as many as may be lost: m.
        pub parity: u8,
    }
}

impl Code {
    /// The code, or none where no volume has it: 1 ≤ k ≤ 16, 1 ≤ m ≤ 8.
    pub fn new(data: u8, parity: u8) -> Option<Self> {
        ((1..=MAX_DATA).contains(&data) && (1..=MAX_PARITY).contains(&parity)).then_some(Self { data, parity })
    }

    /// Slots: k + m.
    pub fn slots(self) -> usize {
        usize::from(self.data).saturating_add(usize::from(self.parity))
    }

    /// Relays that must acknowledge a root before the chain takes it: k + ⌈m/2⌉ (decision 153).
    pub fn quorum(self) -> usize {
        usize::from(self.data).saturating_add(usize::from(self.parity.div_ceil(2)))
    }

    /// The cells of a file's shards: how many are whole, and the length of the last one, 0 where there is none.
    pub fn cells(self, length: u64) -> (u64, u64) {
        let data = u64::from(self.data).max(1);
        let stripe = data.saturating_mul(CELL_BYTES);
        let (whole, rest) = (length.checked_div(stripe).unwrap_or(0), length.checked_rem(stripe).unwrap_or(0));
        (whole, rest.div_ceil(data).next_multiple_of(CELL_UNIT))
    }

    /// The length of each shard of a file with `length` bytes of ciphertext.
    pub fn shard_bytes(self, length: u64) -> u64 {
        let (whole, last) = self.cells(length);
        whole.saturating_mul(CELL_BYTES).saturating_add(last)
    }
}
