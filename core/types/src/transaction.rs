//! The signed envelope around an instruction (003 §2).

use crate::address::Address;
use crate::hash::{Hash, keccak256};
use crate::instruction::{Instruction, MAX_TRANSACTION_BYTES, Payload};
use crate::units::{Cells, ChainId, Cycles, Nonce, Price};
use crate::wire::{Fixed, List};
use bytes::BufMut;
use commonware_codec::{Buf, Decode as _, Encode as _, EncodeSize, Error, Read, ReadExt as _, Write};

/// An ECDSA signature over secp256k1: r ‖ s ‖ v, 65 bytes, v the recovery id 0 or 1.
pub type Signature = Fixed<65>;

crate::record! {
    /// Another account's signature over the same transaction.
    pub struct CoSignature {
        /// The signer's address.
        pub address: Address,
        /// The signature of the same signing hash.
        pub signature: Signature,
    }
}

/// The most co-signatures a transaction carries.
pub const MAX_CO_SIGNATURES: usize = 64;

/// What an account asks the chain to do, what it pays at most, and its signature.
///
/// The encoding is the fields in the order they stand here, which is frozen (003 §2.5). After `from`
/// stands one zero byte: the access list, reserved and always absent in version 1.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct Transaction {
    /// The chain it is for.
    pub chain_id: ChainId,
    /// How many transactions the sender sent before.
    pub nonce: Nonce,
    /// What to do.
    pub instruction: Instruction,
    /// The most cycles it may use.
    pub cycles_limit: Cycles,
    /// The most cells it may use.
    pub cells_limit: Cells,
    /// The most the sender pays for a cycle, tip included.
    pub max_fee_per_cycle: Price,
    /// The most the sender pays for a cell, tip included.
    pub max_fee_per_cell: Price,
    /// The tip for a cycle.
    pub max_priority_fee_per_cycle: Price,
    /// The tip for a cell.
    pub max_priority_fee_per_cell: Price,
    /// The sender.
    pub from: Address,
    /// Bytes of the caller's, bound into the signing hash.
    pub metadata: Payload,
    /// Only on deferred transactions that the system injects: the transaction they come from.
    pub origin_tx_hash: Option<Hash>,
    /// Only on deferred transactions: cycles left of the origin.
    pub origin_remaining_cycles: Option<Cycles>,
    /// Only on deferred transactions: cells left of the origin.
    pub origin_remaining_cells: Option<Cells>,
    /// The sender's signature of [`Transaction::digest`].
    pub signature: Signature,
    /// More signers, strictly ascending by address.
    pub additional_signers: List<CoSignature, MAX_CO_SIGNATURES>,
}

impl Transaction {
    /// A transaction without a signature, with the chain id, nonce, limits and prices zero.
    pub fn unsigned(from: Address, instruction: Instruction) -> Self {
        Self {
            chain_id: ChainId::ZERO,
            nonce: Nonce::ZERO,
            instruction,
            cycles_limit: Cycles::ZERO,
            cells_limit: Cells::ZERO,
            max_fee_per_cycle: Price::ZERO,
            max_fee_per_cell: Price::ZERO,
            max_priority_fee_per_cycle: Price::ZERO,
            max_priority_fee_per_cell: Price::ZERO,
            from,
            metadata: Payload::default(),
            origin_tx_hash: None,
            origin_remaining_cycles: None,
            origin_remaining_cells: None,
            signature: Signature::default(),
            additional_signers: List::default(),
        }
    }

    /// The signing hash, which is also the transaction's name: keccak256 of the encoding with every signature zeroed.
    pub fn digest(&self) -> Hash {
        let mut bytes = Vec::with_capacity(self.encode_size());
        self.write_unsigned(&mut bytes);
        Signature::default().write(&mut bytes);
        let unsigned =
            self.additional_signers.iter().map(|signer| CoSignature { address: signer.address, signature: Signature::default() }).collect();
        List::<_, MAX_CO_SIGNATURES>::new(unsigned).expect("as many signers as before").write(&mut bytes);
        keccak256(&[&bytes])
    }

    /// Decodes exactly these bytes. Anything but the one canonical encoding is refused, with the reason.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, DecodeError> {
        if bytes.len() > MAX_TRANSACTION_BYTES {
            return Err(DecodeError::TooLarge { size: bytes.len() });
        }
        Self::decode_cfg(bytes::Bytes::copy_from_slice(bytes), &()).map_err(|error| DecodeError::NotCanonical(error.to_string()))
    }

    /// The canonical encoding.
    pub fn to_bytes(&self) -> bytes::Bytes {
        self.encode()
    }

    fn write_unsigned(&self, buf: &mut impl BufMut) {
        self.chain_id.write(buf);
        self.nonce.write(buf);
        self.instruction.write(buf);
        self.cycles_limit.write(buf);
        self.cells_limit.write(buf);
        self.max_fee_per_cycle.write(buf);
        self.max_fee_per_cell.write(buf);
        self.max_priority_fee_per_cycle.write(buf);
        self.max_priority_fee_per_cell.write(buf);
        self.from.write(buf);
        None::<Hash>.write(buf);
        self.metadata.write(buf);
        self.origin_tx_hash.write(buf);
        self.origin_remaining_cycles.write(buf);
        self.origin_remaining_cells.write(buf);
    }
}

/// Why bytes are not a transaction.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    /// More bytes than any transaction has.
    #[error("the transaction has {size} bytes, and at most {MAX_TRANSACTION_BYTES} are allowed")]
    TooLarge {
        /// How many bytes there were.
        size: usize,
    },
    /// Some byte is not what the one canonical encoding has there.
    #[error("the bytes are not a canonical transaction: {0}")]
    NotCanonical(String),
}

impl Write for Transaction {
    fn write(&self, buf: &mut impl BufMut) {
        self.write_unsigned(buf);
        self.signature.write(buf);
        self.additional_signers.write(buf);
    }
}

impl EncodeSize for Transaction {
    #[expect(clippy::arithmetic_side_effects, reason = "the sizes of values in memory")]
    fn encode_size(&self) -> usize {
        let access_list = 1;
        self.chain_id.encode_size()
            + self.nonce.encode_size()
            + self.instruction.encode_size()
            + self.cycles_limit.encode_size()
            + self.cells_limit.encode_size()
            + self.max_fee_per_cycle.encode_size()
            + self.max_fee_per_cell.encode_size()
            + self.max_priority_fee_per_cycle.encode_size()
            + self.max_priority_fee_per_cell.encode_size()
            + self.from.encode_size()
            + access_list
            + self.metadata.encode_size()
            + self.origin_tx_hash.encode_size()
            + self.origin_remaining_cycles.encode_size()
            + self.origin_remaining_cells.encode_size()
            + self.signature.encode_size()
            + self.additional_signers.encode_size()
    }
}

impl Read for Transaction {
    type Cfg = ();
    fn read_cfg(buf: &mut impl Buf, (): &()) -> Result<Self, Error> {
        let chain_id = ChainId::read(buf)?;
        let nonce = Nonce::read(buf)?;
        let instruction = Instruction::read(buf)?;
        let cycles_limit = Cycles::read(buf)?;
        let cells_limit = Cells::read(buf)?;
        let max_fee_per_cycle = Price::read(buf)?;
        let max_fee_per_cell = Price::read(buf)?;
        let max_priority_fee_per_cycle = Price::read(buf)?;
        let max_priority_fee_per_cell = Price::read(buf)?;
        let from = Address::read(buf)?;
        if bool::read(buf)? {
            return Err(Error::Invalid("Transaction", "the access list is reserved and must be absent"));
        }
        Ok(Self {
            chain_id,
            nonce,
            instruction,
            cycles_limit,
            cells_limit,
            max_fee_per_cycle,
            max_fee_per_cell,
            max_priority_fee_per_cycle,
            max_priority_fee_per_cell,
            from,
            metadata: Payload::read(buf)?,
            origin_tx_hash: Option::read(buf)?,
            origin_remaining_cycles: Option::read(buf)?,
            origin_remaining_cells: Option::read(buf)?,
            signature: Signature::read(buf)?,
            additional_signers: List::read(buf)?,
        })
    }
}
